//! Items as rows of a table: similar items share one list of names instead of repeating them.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::entry_lists::{EntryList, EntryLists, Pages};
use crate::budget::Entry;
use crate::json::Excerpt;

/// Wider tables are not worthwhile.
const MAX_COLUMNS: usize = 100;

/// The columns of the items of all outputs, or of all inputs.
pub(super) struct Table {
    columns: Vec<String>,
    missing: Vec<Missing>,
}

/// A cell without a value, by the index of its list, of its item there, and of its column.
struct Missing {
    list: usize,
    item: usize,
    column: usize,
}

impl Table {
    /// A table, and the items as its rows; `None` if they are not similar.
    pub(super) fn new(lists: &EntryLists) -> Option<(Self, EntryLists)> {
        let items = lists.0.iter().map(|list| list.entries.iter().map(cells).collect::<Option<Vec<_>>>());
        let items = items.collect::<Option<Vec<_>>>()?;
        let mut columns = IndexMap::new();
        for (column, _) in items.iter().flatten().flatten() {
            let next = columns.len();
            columns.entry(column.clone()).or_insert(next);
        }
        let mut table = Self { columns: columns.into_keys().collect(), missing: Vec::new() };
        let rows: usize = items.iter().map(Vec::len).sum();
        let filled: usize = items.iter().flatten().map(IndexMap::len).sum();
        if rows == 0 || table.columns.len() > MAX_COLUMNS || filled * 2 < rows * table.columns.len() {
            return None;
        }
        let lists = lists.0.iter().zip(items).enumerate().map(|(at, (list, items))| {
            let rows = items.into_iter().enumerate().map(|(item, cells)| table.row(at, item, &cells));
            EntryList { total: list.total, entries: rows.collect() }
        });
        let lists = EntryLists(lists.collect());
        Some((table, lists))
    }

    fn row(&mut self, list: usize, item: usize, cells: &IndexMap<String, Excerpt>) -> Entry {
        let mut row = Vec::new();
        for (column, name) in self.columns.iter().enumerate() {
            let cell = cells.get(name).cloned();
            if cell.is_none() {
                self.missing.push(Missing { list, item, column });
            }
            row.push(cell.unwrap_or_else(Excerpt::null));
        }
        Entry { value: Excerpt::array(row), tag: None }
    }

    /// `{columns, rows, missing?}`, with the rows that are shown.
    pub(super) fn json(&self, pages: &Pages) -> String {
        let columns = json!(self.columns);
        let missing = self.missing(pages);
        let missing =
            if missing.is_empty() { String::new() } else { format!(",\"missing\":{}", Value::Object(missing)) };
        format!("{{\"columns\":{columns},\"rows\":{}{missing}}}", pages.json())
    }

    /// The rows that lack a value, by path.
    fn missing(&self, pages: &Pages) -> Map<String, Value> {
        let mut missing = Map::new();
        for cell in self.missing.iter().filter(|cell| cell.item < pages.shown(cell.list)) {
            let before: usize = (0..cell.list).map(|list| pages.shown(list)).sum();
            let rows = missing.entry(&self.columns[cell.column]).or_insert_with(|| json!([]));
            if let Value::Array(rows) = rows {
                rows.push((before + cell.item).into());
            }
        }
        missing
    }
}

/// The values of an item by column: the members of its `json`, and its other members; `None` if it is not a complete
/// object.
fn cells(entry: &Entry) -> Option<IndexMap<String, Excerpt>> {
    let mut cells = IndexMap::new();
    for (name, value) in whole(&entry.value)? {
        match value {
            Excerpt::Object { total: 1.., .. } if name == "json" => {
                cells.extend(whole(value)?.iter().map(|(name, value)| (format!("json.{name}"), value.clone())));
            }
            _ => drop(cells.insert(name.clone(), value.clone())),
        }
    }
    if let Some((tag, index)) = entry.tag {
        cells.insert(tag.to_owned(), Excerpt::Scalar(index.to_string()));
    }
    Some(cells)
}

/// The members of an object, if all of them were copied.
fn whole(value: &Excerpt) -> Option<&[(String, Excerpt)]> {
    match value {
        Excerpt::Object { kept, total } if kept.len() as u64 == *total => Some(kept),
        _ => None,
    }
}
