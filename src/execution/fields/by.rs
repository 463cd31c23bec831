//! One path by another: what the values with a path look like for each value of a second path of the same item.

use std::collections::{HashMap, HashSet};

use super::field::{Field, VALUE_BYTES, shown_text};
use super::item_set::{ItemSet, NumberedPlace};
use super::repeated::Room;
use super::table::PathValues;
use super::{FieldView, NodePlace, shown};
use crate::execution::values::{Path, ValueVisitor, walk_item};
use crate::json::{ReadError, Visitor, Written};

/// The most different values that have a row of their own.
const ROWS: usize = 16;

/// The rows for one path by another one.
#[derive(Clone, Debug, PartialEq)]
pub struct ByView {
    /// One for each value of the second path, in the order in which they were found, then one for others, then one for none.
    pub rows: Vec<ByRow>,
}

/// What values look like beside one value of a second path.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRow {
    /// The value beside which they are.
    pub by: By,
    /// How many items have it.
    pub items: u64,
    /// The values; `missing` counts the places without one, beside this value.
    pub field: FieldView,
}

/// A value of the second path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// This one, as JSON.
    Value(String),
    /// One of the others: after 16 different ones, a string of more than 64 bytes, or a container.
    Others,
    /// The item has no value there.
    Missing,
}

/// The values of a node, by those of another path.
#[derive(Debug)]
pub(super) struct FieldBy {
    path: String,
    by: String,
    /// How many lists the two paths share: their values are compared element by element.
    shared: usize,
    rows: Vec<Row>,
    others: Row,
    missing: Row,
    items: u64,
    room: Room,
}

#[derive(Debug)]
struct Row {
    by: By,
    items: ItemSet,
    /// The places beside this value without a value of the path.
    missing: u64,
    first_missing: Option<NodePlace>,
    field: Field,
}

/// Which row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKey {
    At(usize),
    Others,
    Missing,
}

impl Row {
    fn new(by: By, room: &Room) -> Self {
        Self { by, items: ItemSet::default(), missing: 0, first_missing: None, field: Field::new(None, room) }
    }

    fn view(&self, path: &str) -> ByRow {
        let present = self.field.present;
        let field = shown(path, &self.field, present + self.missing, present);
        let field = FieldView { missing: self.missing, first_absent: self.first_missing, ..field };
        ByRow { by: self.by.clone(), items: self.items.len, field }
    }
}

impl FieldBy {
    /// The values with a path, by those of another one.
    pub(super) fn new(path: &str, by: &str) -> Self {
        let room = Room::default();
        let lists = |path: &str| path.match_indices("[]").map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
        let (one, other) = (lists(path), lists(by));
        Self {
            path: path.to_owned(),
            by: by.to_owned(),
            shared: one.iter().zip(&other).take_while(|(one, other)| one == other).count(),
            rows: Vec::new(),
            others: Row::new(By::Others, &room),
            missing: Row::new(By::Missing, &room),
            items: 0,
            room,
        }
    }

    /// The next item.
    pub(super) fn item(&mut self, place: NodePlace, json: &[u8], redacts: bool) -> Result<(), ReadError> {
        self.items += 1;
        let place = NumberedPlace::new(self.items, place);
        let mut finder = Finder { by: self, path: Path::default(), place, found: HashMap::new() };
        walk_item(json, redacts, &mut finder)?;
        let found = finder.found;
        let mut reader = Reader { by: self, path: Path::default(), place, found, taken: HashSet::new() };
        walk_item(json, redacts, &mut reader)?;
        let Reader { found, taken, .. } = reader;
        // What has no value beside it.
        for (elements, keys) in found {
            let taken = taken.contains(&elements);
            for key in keys.into_iter().filter(|_| !taken) {
                let row = self.row(key);
                row.missing += 1;
                row.first_missing.get_or_insert(place.place);
            }
        }
        Ok(())
    }

    /// How many items there were.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    pub(super) fn view(&self) -> ByView {
        let others = [&self.others, &self.missing].into_iter().filter(|row| row.items.len > 0);
        ByView { rows: self.rows.iter().chain(others).map(|row| row.view(&self.path)).collect() }
    }

    fn row(&mut self, key: RowKey) -> &mut Row {
        match key {
            RowKey::At(at) => &mut self.rows[at],
            RowKey::Others => &mut self.others,
            RowKey::Missing => &mut self.missing,
        }
    }

    /// The row for a value, a new one if there is room.
    fn key(&mut self, json: String) -> RowKey {
        let by = By::Value(json);
        if let Some(at) = self.rows.iter().position(|row| row.by == by) {
            return RowKey::At(at);
        }
        if self.rows.len() == ROWS {
            return RowKey::Others;
        }
        self.rows.push(Row::new(by, &self.room));
        RowKey::At(self.rows.len() - 1)
    }

    /// In which elements of the lists that both paths share a value is.
    fn elements(&self, path: &Path) -> Vec<usize> {
        path.elements().iter().take(self.shared).map(|element| element.index).collect()
    }
}

/// Finds the values of the second path in an item.
struct Finder<'b> {
    by: &'b mut FieldBy,
    path: Path,
    place: NumberedPlace,
    /// The rows that they belong to, by the elements that they are in.
    found: HashMap<Vec<usize>, Vec<RowKey>>,
}

impl Finder<'_> {
    fn end(&mut self, key: impl FnOnce(&mut FieldBy) -> RowKey) {
        if self.path.as_str() == self.by.by {
            let key = key(self.by);
            self.by.row(key).items.add(&self.place);
            self.found.entry(self.by.elements(&self.path)).or_default().push(key);
        }
        self.path.end_value();
    }
}

/// Reads the values of the first path into the rows.
struct Reader<'b> {
    by: &'b mut FieldBy,
    path: Path,
    place: NumberedPlace,
    found: HashMap<Vec<usize>, Vec<RowKey>>,
    /// The elements in which a value was found.
    taken: HashSet<Vec<usize>>,
}

impl Reader<'_> {
    fn end(&mut self, add: impl Fn(&mut Field, &NumberedPlace)) {
        if self.path.as_str() == self.by.path {
            let elements = self.by.elements(&self.path);
            let keys = self.found.get(&elements).map_or(&[RowKey::Missing][..], Vec::as_slice);
            for key in keys {
                let row = self.by.row(*key);
                if *key == RowKey::Missing {
                    row.items.add(&self.place);
                }
                row.field.in_item(&self.place);
                add(&mut row.field, &self.place);
            }
            self.taken.insert(elements);
        }
        self.path.end_value();
    }
}

impl ValueVisitor for Finder<'_> {
    fn begin(&mut self, part: &'static str) {
        self.path.begin(part);
    }
}

impl Visitor for Finder<'_> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        self.end(|by| match text.text_within(VALUE_BYTES) {
            Some(text) => by.key(shown_text(&text)),
            None => RowKey::Others,
        });
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.end(|by| match json.text_within(VALUE_BYTES) {
            Some(text) => by.key(text.into_owned()),
            None => RowKey::Others,
        });
    }

    fn close(&mut self, _: u64, _: &[u8]) {
        self.path.close();
        self.end(|_| RowKey::Others);
    }
}

impl ValueVisitor for Reader<'_> {
    fn begin(&mut self, part: &'static str) {
        self.path.begin(part);
    }
}

impl Visitor for Reader<'_> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        self.end(|field, place| field.string(text, place));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.end(|field, place| field.scalar(json, place));
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        let object = json.first() == Some(&b'{');
        self.end(|field, place| field.container(object, parts, json, place));
    }
}
