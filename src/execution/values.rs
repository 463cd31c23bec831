//! The values inside an item, each with its path: what the search and the fields are about.
//!
//! They are those of `json`, whose paths begin inside it (`customer.address`), the metadata of files (`binary.…`), and
//! the item's error (`error.…`). Elements of arrays have no number: `lines[].taxRate`.

use std::io::Read;

use bytes::Bytes;

use super::failure;
use super::items::read_binary;
use crate::json::{
    CUT_NAME_CHARS, Cursor, Detail, Element, Excerpt, FaultKind, Keep, ReadError, Visitor, Written, cut_name, walk,
};
use crate::secrets::redact;

/// The items of a run, all captured: `{connection: [[item, …], …]}`.
pub(super) const ITEM_LISTS: Keep = Keep::EachMember(&Keep::EachElement(&Keep::Window));

/// Larger items are counted, but not read.
pub(super) const ITEM_BYTES: usize = 1024 * 1024;

/// An item as it is read.
pub(super) enum Item {
    /// Its JSON text.
    Json(Bytes),
    /// It has nothing that is sought.
    Passed(u64),
    /// It is too large.
    TooLarge,
}

/// Where an item is: the output, counted across all types of connections, and the item's number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemPlace {
    pub output: u64,
    pub item: u64,
    /// The output, counted across those of the type `main`; `None` if it is of another type.
    pub main_output: Option<u64>,
}

/// Reads the items of a run; `each` is told of every one.
pub(super) fn read_items<R: Read>(
    cursor: &mut Cursor<R>,
    mut each: impl FnMut(ItemPlace, Item) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut output = 0;
    cursor.object(|cursor, connection| {
        let is_main = connection == "main";
        cursor
            .array(|cursor, index| {
                let mut place = ItemPlace { output, item: 0, main_output: is_main.then_some(index) };
                output += 1;
                cursor
                    .array(|cursor, _| {
                        let item = match cursor.element()? {
                            Element::Captured(json) => Item::Json(json),
                            Element::Omitted(items) => Item::Passed(items),
                            Element::Unread => {
                                cursor.json(ITEM_BYTES)?.map_or(Item::TooLarge, |json| Item::Json(json.into()))
                            }
                        };
                        let items = if let Item::Passed(items) = item { items } else { 1 };
                        each(place, item)?;
                        place.item += items;
                        Ok(())
                    })
                    .map(drop)
            })
            .map(drop)
    })?;
    Ok(())
}

/// Is told the values of an item, or of an error.
pub(super) trait ValueVisitor: Visitor {
    /// The values of this part follow: `""` for `json`.
    fn begin(&mut self, part: &'static str);
}

/// Tells the visitor the values of an item; those of known secret keys masked, if `redacts`.
pub(super) fn walk_item(item: &[u8], redacts: bool, visitor: &mut impl ValueVisitor) -> Result<(), ReadError> {
    let mut parts = Parts { visitor, redacts, level: 0, part: Part::Other, passes: false, result: Ok(()) };
    walk(item, &mut parts).map_err(in_an_item)?;
    parts.result
}

/// Tells the visitor the values of a run's error.
pub(super) fn walk_error(error: &Excerpt, visitor: &mut impl ValueVisitor) -> Result<(), ReadError> {
    walk_excerpt("error", error, visitor)
}

fn walk_excerpt(part: &'static str, value: &Excerpt, visitor: &mut impl ValueVisitor) -> Result<(), ReadError> {
    let (mut json, mut clipped) = (String::new(), 0);
    value.write(Detail::WHOLE, &mut json, &mut clipped);
    visitor.begin(part);
    walk(json.as_bytes(), visitor).map_err(in_an_item)
}

fn in_an_item(kind: FaultKind) -> ReadError {
    ReadError::Syntax(format!("{kind} in an item"))
}

/// The members of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Json,
    Binary,
    Error,
    Other,
}

/// Passes on the values of `json`; reads the other parts as they are shown, once they are complete.
struct Parts<'v, V> {
    visitor: &'v mut V,
    redacts: bool,
    /// How many containers are open.
    level: usize,
    part: Part,
    /// Whether the values of the part are passed on.
    passes: bool,
    result: Result<(), ReadError>,
}

impl<V: ValueVisitor> Parts<'_, V> {
    /// Reads a part that is complete.
    fn shown(&self, json: &[u8]) -> Result<Option<(&'static str, Excerpt)>, ReadError> {
        let cursor = || Cursor::unpruned(json);
        Ok(match self.part {
            Part::Json => {
                let mut value = cursor().excerpt(4 * ITEM_BYTES)?;
                redact::item(&mut value);
                Some(("", value))
            }
            Part::Binary => read_binary(&mut cursor(), ITEM_BYTES)?.map(|binary| ("binary", binary)),
            Part::Error => failure::read_whole(&mut cursor(), ITEM_BYTES)?.map(|error| ("error", error)),
            Part::Other => None,
        })
    }

    fn end_part(&mut self, json: &[u8]) {
        let walked = self.shown(json).and_then(|shown| match shown {
            Some((part, value)) => walk_excerpt(part, &value, self.visitor),
            None => Ok(()),
        });
        if self.result.is_ok() {
            self.result = walked;
        }
    }
}

impl<V: ValueVisitor> Visitor for Parts<'_, V> {
    fn open(&mut self, object: bool) {
        if self.passes {
            self.visitor.open(object);
        }
        self.level += 1;
    }

    fn member(&mut self, text: &[u8]) -> Option<usize> {
        if self.passes && self.level > 1 { self.visitor.member(text) } else { None }
    }

    fn name(&mut self, name: Written<'_>) {
        if self.level > 1 {
            if self.passes {
                self.visitor.name(name);
            }
            return;
        }
        self.part = match &*name.text() {
            "json" => Part::Json,
            "binary" => Part::Binary,
            "error" => Part::Error,
            _ => Part::Other,
        };
        self.passes = self.part == Part::Json && !self.redacts;
        if self.passes {
            self.visitor.begin("");
        }
    }

    fn string(&mut self, text: Written<'_>) {
        if self.passes {
            self.visitor.string(text);
        }
    }

    fn scalar(&mut self, json: Written<'_>) {
        if self.passes {
            self.visitor.scalar(json);
        }
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.level -= 1;
        // The end of the item is none of a part.
        if self.passes && self.level > 0 {
            self.visitor.close(parts, json);
        } else if self.level == 1 {
            self.end_part(json);
        }
    }
}

/// The path of the value that is being visited, such as `lines[].taxRate`.
#[derive(Debug, Default)]
pub(super) struct Path {
    text: String,
    containers: Vec<Container>,
}

/// A container that is open.
#[derive(Debug)]
struct Container {
    /// How much of the text is its path.
    path: usize,
    /// In an array: how many elements are complete.
    elements: Option<usize>,
}

impl Path {
    pub(super) fn begin(&mut self, part: &str) {
        self.text.clear();
        self.text.push_str(part);
        self.containers.clear();
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The path with the number of each element: `lines[26].taxRate`.
    pub(super) fn numbered(&self) -> String {
        let (mut numbered, mut from) = (String::new(), 0);
        for (path, element) in self.containers.iter().filter_map(|open| Some((open.path, open.elements?))) {
            let bracket = path + "[".len();
            numbered.push_str(&self.text[from..bracket]);
            numbered.push_str(&element.to_string());
            from = bracket;
        }
        numbered + &self.text[from..]
    }

    pub(super) fn open(&mut self, object: bool) {
        self.containers.push(Container { path: self.text.len(), elements: (!object).then_some(0) });
        if !object {
            self.text.push_str("[]");
        }
    }

    pub(super) fn name(&mut self, name: Written<'_>) {
        self.text.truncate(self.containers.last().map_or(0, |open| open.path));
        if !self.text.is_empty() {
            self.text.push('.');
        }
        let name = name.text();
        if name.len() <= CUT_NAME_CHARS {
            self.text.push_str(&name);
        } else {
            self.text.push_str(&cut_name(name.into_owned()));
        }
    }

    /// Continues with the container itself.
    pub(super) fn close(&mut self) {
        let container = self.containers.pop().map_or(0, |open| open.path);
        self.text.truncate(container);
    }

    /// The value is complete: in an array, the next element follows.
    pub(super) fn end_value(&mut self) {
        if let Some(Container { elements: Some(elements), .. }) = self.containers.last_mut() {
            *elements += 1;
        }
    }
}
