//! The fields: what all items of a node look like, and which value is odd.

mod field;
mod known;
mod odd;
mod odd_ones;
mod recent;
pub(super) mod table;

use std::io::Read;

use indexmap::IndexMap;

use self::field::Field;
pub use self::field::{KINDS, Range};
pub(super) use self::field::{Kind, shown_container, shown_text};
pub use self::odd::Odd;
use self::odd_ones::OddOnes;
use self::table::Table;
use super::header::Header;
use super::order::{Order, Start};
use super::values::{ITEM_LISTS, Item, read_items, walk_item};
use super::{Error, body, stored_json};
use crate::json::{Capture, Cursor, Keep, Projection, Pruner, ReadError, hold_name, is_name};

/// Of a run: when it started, and its items.
const RUN: Keep = Keep::Members(&[("executionIndex", Keep::Whole), ("startTime", Keep::Whole), ("data", ITEM_LISTS)]);

const DATA: Keep = Keep::Members(&[
    ("redactionInfo", Keep::Members(&[("isRedacted", Keep::Whole)])),
    ("resultData", Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))])),
]);

/// The most different values that are listed.
const LISTED_VALUES: usize = 6;

/// Reads a [`FieldsView`]: the paths of a node's items, or the odd values of all nodes.
///
/// Memory is bounded by 400 paths of one node, and 64 values and 16 longer strings of each.
///
/// ```
/// use n8n_lens::execution::fields::FieldsProjection;
/// use n8n_lens::json::Projection;
///
/// let items: Vec<_> = (0..30).map(|n| format!(r#"{{"json":{{"id":{n},"paid":{}}}}}"#, n != 17)).collect();
/// let body = format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{"Read":[{{"data":{{"main":[[{}]]}}}}]}}}}}}}}"#, items.join(","));
///
/// let fields = FieldsProjection { node: Some("Read".to_owned()), ..FieldsProjection::default() };
/// let view = fields.read_from(body.as_bytes())?;
/// assert_eq!(view.fields.iter().map(|field| &*field.path).collect::<Vec<_>>(), ["id", "paid"]);
/// let odd = view.fields[1].odd.as_ref().expect("one item of thirty differs");
/// assert_eq!((odd.place.item, odd.value.as_deref()), (17, Some("false")));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FieldsProjection {
    /// The node, or its shortened name; `None` for the odd values of all nodes.
    pub node: Option<String>,
    /// Only this run, from 0.
    pub run: Option<u64>,
    /// Only this output, counted across all types of connections.
    pub output: Option<u64>,
    /// Only this path and those below it.
    pub below: Option<String>,
    /// Whether values of known secret keys in items are masked.
    pub redacts: bool,
}

/// What items look like.
#[derive(Debug, Default)]
pub struct FieldsView {
    /// The execution's metadata.
    pub header: Header,
    /// The names of all executed nodes, in document order.
    pub names: Vec<String>,
    /// The requested node.
    pub node: Option<String>,
    /// How many runs it has.
    pub runs: u64,
    /// How many items were read.
    pub items: u64,
    /// The fields of the requested node, in document order.
    pub fields: Vec<FieldView>,
    /// The odd values of all nodes, each at the first node that has it.
    pub odd: Vec<OddOne>,
    /// Whether a node has more than 400 paths.
    pub has_more_paths: bool,
    /// Items of more than 1 MiB, which were not read.
    pub too_large: u64,
    /// Whether n8n redacted the items.
    pub redacted: bool,
}

/// The values with one path.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldView {
    /// The path, such as `lines[].taxRate`.
    pub path: String,
    /// How many values of each of [`KINDS`].
    pub kinds: [u64; 6],
    /// How many items have none.
    pub missing: u64,
    /// The least and the greatest number.
    pub numbers: Range,
    /// The least and the greatest length of strings, in characters, and of arrays.
    pub lengths: Range,
    /// How many different strings, numbers and booleans; `None` if there are more than 64.
    pub distinct: Option<usize>,
    /// These values as JSON, with their counts, if there are at most 6.
    pub values: Vec<(String, u64)>,
    /// The first of them, as JSON.
    pub example: Option<String>,
    /// The first value that differs from almost all others.
    pub odd: Option<Odd>,
}

/// An odd value of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct OddOne {
    /// The node's name.
    pub node: String,
    /// The path.
    pub path: String,
    /// The value.
    pub odd: Odd,
}

/// Where an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The run, from 0.
    pub run: u64,
    /// The output, counted across all types of connections.
    pub output: u64,
    /// The item.
    pub item: u64,
}

impl Projection for FieldsProjection {
    type View = Result<FieldsView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA, Keep::Skip));

    fn window(&self) -> std::ops::Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::all()).with_focus(self.node.as_deref())
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, _| Reader::read(cursor, self), Cursor::skip)?;
        Ok(body.data.unwrap_or_default().view(body.header))
    }
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    view: FieldsView,
    /// Each node, and how many of its runs are the first of a counter.
    nodes: IndexMap<String, u64>,
    odd: OddOnes,
}

impl Reader {
    fn read<R: Read>(cursor: &mut Cursor<R>, projection: &FieldsProjection) -> Result<Self, ReadError> {
        let (mut reader, mut redacted) = (Self::default(), false);
        cursor.object(|cursor, member| {
            match member {
                "redactionInfo" => redacted = stored_json::member(cursor, "isRedacted", Cursor::is_true)?,
                "resultData" => {
                    reader = stored_json::member(cursor, "runData", |cursor| {
                        let mut reader = Self::default();
                        cursor.object(|cursor, name| reader.read_node(cursor, hold_name(name), projection))?;
                        Ok(reader)
                    })?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        reader.view.redacted = redacted;
        Ok(reader)
    }

    fn read_node<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        name: String,
        projection: &FieldsProjection,
    ) -> Result<(), ReadError> {
        let mut node = NodeFields::new(projection);
        let is_exact = projection.node.as_ref() == Some(&name);
        let is_similar = projection.node.as_ref().is_some_and(|requested| is_name(requested, &name));
        let has_exact = self.view.node.is_some() && self.view.node == projection.node;
        let is_wanted = projection.node.is_none() || is_exact || (is_similar && !has_exact);
        node.read(cursor, is_wanted)?;
        match projection.node {
            None => self.add_odd(&name, &node),
            Some(_) if is_wanted => self.show(&name, &node),
            Some(_) => {}
        }
        self.nodes.insert(name, node.first_runs);
        Ok(())
    }

    /// The fields of the requested node.
    fn show(&mut self, name: &str, node: &NodeFields<'_>) {
        let view = &mut self.view;
        (view.node, view.runs, view.items) = (Some(name.to_owned()), node.runs, node.table.items);
        (view.has_more_paths, view.too_large) = (node.table.is_full, node.too_large);
        view.fields =
            node.table.fields().map(|(path, field, objects)| shown(path, field, objects, view.items)).collect();
    }

    fn add_odd(&mut self, name: &str, node: &NodeFields<'_>) {
        self.view.items += node.table.items;
        self.view.too_large += node.too_large;
        self.view.has_more_paths |= node.table.is_full;
        // The last of several nodes with the same name counts.
        self.odd.remove(name);
        for (path, field, objects) in node.table.fields() {
            let Some(odd) = field.odd(objects) else { continue };
            let start = node.start.unwrap_or_default();
            let one = OddOne { node: name.to_owned(), path: path.to_owned(), odd };
            self.odd.add(start, &one);
        }
    }

    fn view(self, header: Header) -> FieldsView {
        let odd = self.odd.into_ones(Order::new(self.nodes.values().sum()));
        FieldsView { header, names: self.nodes.into_keys().collect(), odd, ..self.view }
    }
}

fn shown(path: &str, field: &Field, objects: u64, items: u64) -> FieldView {
    let mut kinds = [0; KINDS.len()];
    for (kind, group) in field.kinds.iter() {
        kinds[*kind as usize] = group.count;
    }
    let distinct = (!field.values.is_full()).then_some(field.values.len());
    let is_listed = distinct.is_some_and(|distinct| distinct <= LISTED_VALUES);
    let values = field.values.iter().filter(|_| is_listed).map(|(_, group)| (group.shown.clone(), group.count));
    FieldView {
        path: path.to_owned(),
        kinds,
        missing: items - field.items,
        numbers: field.numbers,
        lengths: field.lengths,
        distinct,
        values: values.collect(),
        example: field.example.clone(),
        odd: field.odd(objects),
    }
}

/// The items of a node.
struct NodeFields<'p> {
    projection: &'p FieldsProjection,
    table: Table<Field>,
    runs: u64,
    start: Option<Start>,
    /// How many runs are the first of a counter.
    first_runs: u64,
    too_large: u64,
}

impl<'p> NodeFields<'p> {
    fn new(projection: &'p FieldsProjection) -> Self {
        Self {
            projection,
            table: Table::new(projection.below.clone()),
            runs: 0,
            start: None,
            first_runs: 0,
            too_large: 0,
        }
    }

    fn read<R: Read>(&mut self, cursor: &mut Cursor<R>, is_wanted: bool) -> Result<(), ReadError> {
        cursor.array(|cursor, run| {
            self.runs += 1;
            let mut start = Start::default();
            let is_wanted = is_wanted && self.projection.run.is_none_or(|wanted| wanted == run);
            cursor.object(|cursor, member| {
                match member {
                    "executionIndex" => start.index = cursor.number()?,
                    "startTime" => start.time = cursor.number()?,
                    "data" => self.read_items(cursor, run, is_wanted)?,
                    _ => cursor.skip()?,
                }
                Ok(())
            })?;
            self.start.get_or_insert(start);
            self.first_runs += u64::from(start.is_first());
            Ok(())
        })?;
        self.table.end_item();
        Ok(())
    }

    fn read_items<R: Read>(&mut self, cursor: &mut Cursor<R>, run: u64, is_wanted: bool) -> Result<(), ReadError> {
        read_items(cursor, |place, item| {
            if !is_wanted || self.projection.output.is_some_and(|wanted| wanted != place.output) {
                return Ok(());
            }
            match item {
                Item::Json(json) => {
                    self.table.begin_item(Place { run, output: place.output, item: place.item });
                    walk_item(&json, self.projection.redacts, &mut self.table)
                }
                Item::TooLarge => {
                    self.too_large += 1;
                    Ok(())
                }
                Item::Passed(_) => Ok(()),
            }
        })
    }
}
