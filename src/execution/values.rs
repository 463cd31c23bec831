//! The values inside an item, each with its path: what the search and the fields are about.
//!
//! They are those of `json`, whose paths begin inside it (`customer.address`), the metadata of files (`binary.…`), and
//! the item's error (`error.…`). Elements of arrays have no number: `lines[].taxRate`.

use std::borrow::Cow;

use super::failure;
use super::items::read_binary;
use super::runs::ITEM_BYTES;
use crate::json::{
    CUT_NAME_CHARS, Cursor, Detail, Excerpt, FaultKind, ReadError, Visitor, WALKED_LEVELS, Written, begins_with,
    cut_name, walk,
};
use crate::secrets::mask;

/// Receives the values of an item, or of an error.
pub(super) trait ValueVisitor: Visitor {
    /// The values of this part follow: `""` for `json`.
    fn begin(&mut self, part: &'static str);
}

/// The names of members that mark an item: one that may stand for an error, or name the execution of a sub-workflow.
const MARKS: [&[u8]; 2] = [b"\"error\"", b"\"metadata\""];

/// Passes the values of an item to the visitor; those of known secret keys masked, if `redacts`. Returns whether the item,
/// or its `json`, has a member that marks it.
pub(super) fn walk_item(item: &[u8], redacts: bool, visitor: &mut impl ValueVisitor) -> Result<bool, ReadError> {
    let item = if redacts { mask(item).map_err(in_an_item)? } else { item.into() };
    let mut parts = Parts { visitor, level: 0, part: Part::Other, passes: false, is_marked: false, result: Ok(()) };
    walk(&item, &mut parts).map_err(in_an_item)?;
    parts.result.map(|()| parts.is_marked)
}

/// Passes the values of a run's error to the visitor.
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

impl Part {
    fn named(name: &str) -> Self {
        match name {
            "json" => Self::Json,
            "binary" => Self::Binary,
            "error" => Self::Error,
            _ => Self::Other,
        }
    }
}

/// Passes on the values of `json`; reads the other parts once they are complete, in the form in which they are shown.
struct Parts<'v, V> {
    visitor: &'v mut V,
    /// How many containers are open.
    level: usize,
    part: Part,
    /// Whether the values of the part are passed on.
    passes: bool,
    is_marked: bool,
    result: Result<(), ReadError>,
}

impl<V: ValueVisitor> Parts<'_, V> {
    /// Reads a part that is complete.
    fn shown(&self, json: &[u8]) -> Result<Option<(&'static str, Excerpt)>, ReadError> {
        let cursor = || Cursor::unpruned(json);
        Ok(match self.part {
            Part::Binary => read_binary(&mut cursor(), ITEM_BYTES)?.map(|binary| ("binary", binary)),
            // A list is its message, as in the error of a run.
            Part::Error if json.first() == Some(&b'[') => {
                failure::read_whole(&mut cursor(), ITEM_BYTES)?.map(|error| ("error", error))
            }
            Part::Error => Some(("error", failure::read_of_item(&mut cursor(), ITEM_BYTES, failure::STACK_LINES)?)),
            Part::Json | Part::Other => None,
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
        if self.level <= 2 {
            self.is_marked |= MARKS.iter().any(|mark| begins_with(text, mark));
        }
        if self.passes && self.level > 1 { self.visitor.member(text) } else { None }
    }

    fn passes_over(&mut self, name: Written<'_>, value: u8) -> bool {
        if self.level > 1 {
            return !self.passes || self.visitor.passes_over(name, value);
        }
        self.part = Part::named(&name.text());
        self.part == Part::Other
    }

    fn name(&mut self, name: Written<'_>) {
        if self.level > 1 {
            return self.visitor.name(name);
        }
        self.passes = self.part == Part::Json;
        if self.passes {
            self.visitor.begin("");
        }
    }

    fn string(&mut self, text: Written<'_>) {
        if self.passes {
            self.visitor.string(text);
        } else if self.level == 1 {
            self.end_part(&[b"\"", text.bytes, b"\""].concat());
        }
    }

    fn scalar(&mut self, json: Written<'_>) {
        if self.passes {
            self.visitor.scalar(json);
        } else if self.level == 1 && json.bytes != b"null" {
            self.end_part(json.bytes);
        }
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.level -= 1;
        // The end of the item is not the end of a part.
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

/// An element of a list, on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementPlace {
    /// How much of the value's path is that of the list.
    pub path_len: usize,
    /// Which element, from 0.
    pub index: usize,
}

/// A path with the number of each element that leads to its value: `lines[26].taxRate`.
pub(super) fn numbered(path: &str, elements: &[ElementPlace]) -> String {
    let (mut numbered, mut from) = (String::new(), 0);
    for element in elements {
        let bracket = element.path_len + "[".len();
        numbered.push_str(&path[from..bracket]);
        numbered.push_str(&element.index.to_string());
        from = bracket;
    }
    numbered + &path[from..]
}

/// A path without the numbers of elements: `lines[].taxRate`.
pub(super) fn without_indices(path: &str) -> Cow<'_, str> {
    let has_index = |(at, _): (usize, &str)| path[at + 1..].starts_with(|char: char| char.is_ascii_digit());
    if !path.match_indices('[').any(has_index) {
        return path.into();
    }
    let (mut bare, mut rest) = (String::new(), path);
    while let Some((before, after)) = rest.split_once('[') {
        bare.push_str(before);
        bare.push('[');
        rest = after.trim_start_matches(|char: char| char.is_ascii_digit());
        if !rest.starts_with(']') {
            rest = after;
        }
    }
    (bare + rest).into()
}

impl Path {
    /// The elements of lists that lead to the value, the outermost first.
    pub(super) fn elements(&self) -> impl Iterator<Item = ElementPlace> {
        let open = self.containers.iter().filter_map(|open| Some((open.path, open.elements?)));
        open.map(|(path_len, index)| ElementPlace { path_len, index })
    }

    pub(super) fn begin(&mut self, part: &str) {
        self.text.clear();
        self.text.push_str(part);
        self.containers.clear();
    }

    /// Whether the container that was closed last is nested so deep that the values inside it were not visited.
    pub(super) fn is_deep(&self) -> bool {
        // `json` itself is inside the item.
        self.containers.len() + 1 == WALKED_LEVELS
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The path with the number of each element: `lines[26].taxRate`.
    pub(super) fn numbered(&self) -> String {
        numbered(&self.text, &self.elements().collect::<Vec<_>>())
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
