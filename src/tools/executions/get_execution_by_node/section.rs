//! The inputs, or the outputs, of a node: their items, or rows of a table.

use serde::Serialize;
use serde_json::value::RawValue;

use super::entry_lists::{EntryLists, Pages};
use super::rows::Table;
use crate::toolkit::answer::json;

/// The inputs, or the outputs, of a node.
pub(super) struct Section {
    pub(super) lists: EntryLists,
    table: Option<Table>,
    /// Whether its items were requested.
    is_wanted: bool,
}

/// The items of a section in one of their forms; empty if they were not requested.
#[derive(Serialize)]
pub(super) struct ShownItems {
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Box<RawValue>>,
}

impl Section {
    pub(super) fn new(lists: EntryLists, is_wanted: bool) -> Self {
        Self { lists, table: None, is_wanted }
    }

    /// The items as rows, if they are similar.
    pub(super) fn into_rows(mut self) -> Self {
        if let Some((table, lists)) = Table::new(&self.lists) {
            (self.table, self.lists) = (Some(table), lists);
        }
        self
    }

    pub(super) fn shown(&self, pages: &Pages) -> ShownItems {
        let rows = self.table.as_ref().map(|table| json(&table.json(pages)));
        let items = (self.is_wanted && rows.is_none()).then(|| json(&pages.json()));
        ShownItems { items, rows }
    }

    /// How many items these pages show; `None` if a row has fewer cells than the table has columns.
    pub(super) fn count(&self, pages: &Pages) -> Option<usize> {
        let is_whole = self.table.is_none() || pages.0.iter().all(|page| page.short == 0);
        is_whole.then(|| pages.0.iter().map(|page| page.shown).sum())
    }

    /// The number of items of the longest list, if items were requested.
    pub(super) fn longest(&self) -> u64 {
        if self.is_wanted { self.lists.longest() } else { 0 }
    }
}
