//! One path by another: what the values with a path look like for each value of a second path of the same item.

use std::collections::HashMap;

use super::field::{Field, SharedByPaths, VALUE_BYTES, Wanted, shown_text};
use super::item_set::{ItemSet, NumberedPlace};
use super::table::{PathValues, is_below};
use super::{FieldView, NodePlace, shown};
use crate::execution::values::{Path, ValueVisitor, walk_item, without_indices};
use crate::json::{ReadError, Visitor, Written};

/// The maximum number of different values that have a row of their own.
const ROWS: usize = 16;

/// The rows for one path by another one.
#[derive(Clone, Debug, PartialEq)]
pub struct ByView {
    /// One for each value of the second path, in the order found, then one for other values, then one for items without
    /// a value. None if no item has a value with either path.
    pub rows: Vec<ByRow>,
}

/// The values in items with one value of a second path.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRow {
    /// The value of the second path.
    pub by: By,
    /// How many items have it.
    pub items: u64,
    /// The values; `missing` counts the places with this value of the second path and none of the first.
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

/// The values with one path of a node, by those with another.
#[derive(Debug)]
pub(super) struct FieldBy {
    path: String,
    by: String,
    /// How many lists the two paths share: their values are compared element by element.
    shared: usize,
    rows: Rows,
    /// The values of the second path in the item that is being read, by the elements that they are in.
    paired: HashMap<Vec<usize>, Paired>,
    items: u64,
    shared_by_paths: SharedByPaths,
}

/// The rows.
#[derive(Debug)]
struct Rows {
    of_values: Vec<Row>,
    others: Row,
    missing: Row,
}

/// The rows of the values of the second path that are in the same elements.
#[derive(Debug, Default)]
struct Paired {
    rows: Vec<RowKey>,
    /// Whether a value of the first path is there, too.
    is_taken: bool,
}

#[derive(Debug)]
struct Row {
    by: By,
    /// The raw text in which its value first occurred, and whether it is a string.
    written: Option<(bool, Box<[u8]>)>,
    items: ItemSet,
    /// The places with this value of the second path and none of the first.
    missing: u64,
    first_missing: Option<NodePlace>,
    field: Field,
}

/// Which row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKey {
    At(usize),
    Others,
    Missing,
}

impl Row {
    fn new(by: By, path: &str, shared: &SharedByPaths) -> Self {
        let field = Field::new(path, None, shared);
        Self { by, written: None, items: ItemSet::default(), missing: 0, first_missing: None, field }
    }

    fn view(&self, path: &str) -> ByRow {
        let present = self.field.present;
        let field = shown(path, &self.field, present + self.missing, present);
        let field = FieldView { missing: self.missing, first_absent: self.first_missing, ..field };
        ByRow { by: self.by.clone(), items: self.items.len, field }
    }
}

impl Rows {
    fn get(&mut self, key: RowKey) -> &mut Row {
        match key {
            RowKey::At(at) => &mut self.of_values[at],
            RowKey::Others => &mut self.others,
            RowKey::Missing => &mut self.missing,
        }
    }
}

impl FieldBy {
    /// The values with one path, by those with another.
    pub(super) fn new(path: &str, by: &str) -> Self {
        let shared_by_paths = SharedByPaths::new(Wanted::All);
        let lists = |path: &str| path.match_indices("[]").map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
        let (one, other) = (lists(path), lists(by));
        Self {
            path: path.to_owned(),
            by: by.to_owned(),
            shared: one.iter().zip(&other).take_while(|(one, other)| one == other).count(),
            rows: Rows {
                of_values: Vec::new(),
                others: Row::new(By::Others, path, &shared_by_paths),
                missing: Row::new(By::Missing, path, &shared_by_paths),
            },
            paired: HashMap::new(),
            items: 0,
            shared_by_paths,
        }
    }

    /// The next item.
    pub(super) fn item(&mut self, place: NodePlace, json: &[u8], redacts: bool) -> Result<bool, ReadError> {
        self.items += 1;
        let place = NumberedPlace::new(self.items, place);
        self.paired.clear();
        walk_item(json, redacts, &mut Finder { by: self, path: Path::default(), place })?;
        let is_marked = walk_item(json, redacts, &mut Reader { by: self, path: Path::default(), place })?;
        // An item with neither.
        let missing = &mut self.rows.missing;
        if self.paired.is_empty() && missing.items.last() != place.number {
            missing.items.add(&place);
            missing.missing += 1;
            missing.first_missing.get_or_insert(place.place);
        }
        // Values of the second path without one of the first.
        for paired in self.paired.values().filter(|paired| !paired.is_taken) {
            for key in &paired.rows {
                let row = self.rows.get(*key);
                row.missing += 1;
                row.first_missing.get_or_insert(place.place);
            }
        }
        Ok(is_marked)
    }

    /// How many items there were.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// No more items follow.
    pub(super) fn end(&mut self) {
        let Rows { of_values, others, missing } = &mut self.rows;
        of_values.iter_mut().chain([others, missing]).for_each(|row| row.field.end());
    }

    pub(super) fn view(&self) -> ByView {
        let Rows { of_values, others, missing } = &self.rows;
        let has_values = !of_values.is_empty() || others.items.len > 0 || missing.field.present > 0;
        let others = [others, missing].into_iter().filter(|row| row.items.len > 0 && has_values);
        ByView { rows: of_values.iter().chain(others).map(|row| row.view(&self.path)).collect() }
    }

    /// The row for a value, a new one if there is room.
    fn key(&mut self, written: Written<'_>, is_string: bool) -> RowKey {
        let rows = &mut self.rows.of_values;
        let is_same =
            |row: &Row| row.written.as_ref().is_some_and(|(string, bytes)| *string == is_string && written.is(bytes));
        if let Some(at) = rows.iter().position(is_same) {
            return RowKey::At(at);
        }
        let Some(text) = written.text_within(VALUE_BYTES) else { return RowKey::Others };
        let by = By::Value(if is_string { shown_text(&text) } else { text.into_owned() });
        if let Some(at) = rows.iter().position(|row| row.by == by) {
            return RowKey::At(at);
        }
        if rows.len() == ROWS {
            return RowKey::Others;
        }
        let row = Row::new(by, &self.path, &self.shared_by_paths);
        rows.push(Row { written: Some((is_string, written.bytes.into())), ..row });
        RowKey::At(rows.len() - 1)
    }

    /// The elements, in the lists that both paths share, that contain a value.
    fn elements(&self, path: &Path) -> Vec<usize> {
        path.elements().take(self.shared).map(|element| element.index).collect()
    }
}

/// Finds the values of the second path in an item.
struct Finder<'b> {
    by: &'b mut FieldBy,
    path: Path,
    place: NumberedPlace,
}

impl Finder<'_> {
    fn end(&mut self, key: impl FnOnce(&mut FieldBy) -> RowKey) {
        if without_indices(self.path.as_str()) == self.by.by {
            let key = key(self.by);
            self.by.rows.get(key).items.add(&self.place);
            let elements = self.by.elements(&self.path);
            let rows = &mut self.by.paired.entry(elements).or_default().rows;
            // A value paired with several of the same row counts once.
            if !rows.contains(&key) {
                rows.push(key);
            }
        }
        self.path.end_value();
    }
}

/// Reads the values of the first path into the rows.
struct Reader<'b> {
    by: &'b mut FieldBy,
    path: Path,
    place: NumberedPlace,
}

impl Reader<'_> {
    fn end(&mut self, add: impl Fn(&mut Field, &NumberedPlace)) {
        if without_indices(self.path.as_str()) == self.by.path {
            let elements = self.by.elements(&self.path);
            let FieldBy { rows, paired, .. } = &mut *self.by;
            let paired = paired.get_mut(&elements);
            if paired.is_none() {
                rows.missing.items.add(&self.place);
            }
            let keys = paired.map_or(&[RowKey::Missing][..], |paired| {
                paired.is_taken = true;
                paired.rows.as_slice()
            });
            keys.iter().for_each(|key| add(&mut rows.get(*key).field, &self.place));
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

    fn passes_over(&mut self, name: Written<'_>, _: u8) -> bool {
        self.path.name(name);
        !is_below(&self.by.by, &without_indices(self.path.as_str()))
    }

    fn name(&mut self, _: Written<'_>) {}

    fn string(&mut self, text: Written<'_>) {
        self.end(|by| by.key(text, true));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.end(|by| by.key(json, false));
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

    fn passes_over(&mut self, name: Written<'_>, _: u8) -> bool {
        self.path.name(name);
        !is_below(&self.by.path, &without_indices(self.path.as_str()))
    }

    fn name(&mut self, _: Written<'_>) {}

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
