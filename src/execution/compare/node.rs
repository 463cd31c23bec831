//! What is held of a node so that it can be compared with the same one of another execution.

use std::io::Read;

use indexmap::IndexMap;

use super::kinds::{First, KindsOfPath};
use crate::execution::fields::table::Table;
use crate::execution::fields::{Kind, Place};
use crate::execution::order::Start;
use crate::execution::run;
use crate::execution::values::{ITEM_LISTS, Item, ItemPlace, read_items, walk_item};
use crate::json::{Cursor, Keep, ReadError};

/// Of a run: how it ended, and its items.
pub(super) const RUN: Keep = Keep::Members(&[
    ("executionIndex", Keep::Whole),
    ("startTime", Keep::Whole),
    ("executionTime", Keep::Whole),
    ("executionStatus", Keep::Whole),
    ("error", Keep::Members(&[])),
    ("redactedError", Keep::Members(&[])),
    ("data", ITEM_LISTS),
]);

/// The most outputs whose items are counted one by one.
const OUTPUTS: usize = 32;

/// The memory of a field besides its texts, bytes: an estimate.
const FIELD_OVERHEAD_BYTES: usize = 80;

/// The memory of the first value of a kind besides its text, bytes.
const FIRST_OVERHEAD_BYTES: usize = 64;

/// A node of an execution.
#[derive(Debug, Default)]
pub(super) struct NodeDigest {
    /// When its first run started.
    pub start: Start,
    /// How many runs are the first of a counter.
    pub first_runs: u64,
    pub runs: u64,
    /// Milliseconds of all runs.
    pub execution_time: u64,
    /// Items in the `main` outputs of all runs.
    pub items: u64,
    /// Those of each of the first outputs.
    pub outputs: Vec<u64>,
    /// Items of all outputs whose fields were read.
    pub read: u64,
    /// The first value of each kind, by path, in document order.
    pub fields: IndexMap<String, Kinds>,
    /// Whether there are more fields.
    pub is_partial: bool,
    failed: bool,
    crashed: bool,
    last_status: Option<String>,
}

/// The first value of each kind that there is, in the order of [`KINDS`](crate::execution::fields::KINDS).
pub(super) type Kinds = Vec<(Kind, First)>;

impl NodeDigest {
    /// Reads the runs of a node; its fields are held if there is room for so many bytes.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, redacts: bool, room: &mut usize) -> Result<Self, ReadError> {
        let (mut node, mut table) = (Self::default(), Table::new(None));
        cursor.array(|cursor, run| node.read_run(cursor, run, redacts, &mut table))?;
        node.read = table.items;
        node.is_partial |= table.is_full;
        node.hold_fields(&table, room);
        Ok(node)
    }

    /// `crashed` if a run crashed, `error` if one failed in another way, otherwise the last run's status.
    pub(super) fn status(&self) -> &str {
        match (self.crashed, self.failed) {
            (true, _) => "crashed",
            (false, true) => "error",
            (false, false) => self.last_status.as_deref().unwrap_or("success"),
        }
    }

    fn read_run<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        run: u64,
        redacts: bool,
        table: &mut Table<KindsOfPath>,
    ) -> Result<(), ReadError> {
        let (mut start, mut status, mut failed) = (Start::default(), None, [false; 2]);
        cursor.object(|cursor, member| {
            match member {
                "executionIndex" => start.index = cursor.number()?,
                "startTime" => start.time = cursor.number()?,
                "executionTime" => {
                    let time = cursor.number::<f64>()?.unwrap_or(0.0).max(0.0) as u64;
                    self.execution_time = self.execution_time.saturating_add(time);
                }
                "executionStatus" => status = run::read_status(cursor)?,
                "error" => failed[0] = cursor.skip_present()?,
                "redactedError" => failed[1] = cursor.skip_present()?,
                "data" => self.read_items(cursor, run, redacts, table)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        if self.runs == 0 {
            self.start = start;
        }
        self.first_runs += u64::from(start.is_first());
        self.runs += 1;
        self.crashed |= status.as_deref() == Some("crashed");
        self.failed |= failed.contains(&true) || run::is_failure(status.as_deref());
        self.last_status = status;
        Ok(())
    }

    fn read_items<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        run: u64,
        redacts: bool,
        table: &mut Table<KindsOfPath>,
    ) -> Result<(), ReadError> {
        read_items(cursor, |place, item| {
            self.count(place);
            match item {
                Item::Json(json) => {
                    table.begin_item(Place { run, output: place.output, item: place.item });
                    return walk_item(&json, redacts, table);
                }
                Item::TooLarge => self.is_partial = true,
                // The window holds every item.
                Item::Passed(_) => {}
            }
            Ok(())
        })
    }

    fn count(&mut self, place: ItemPlace) {
        let Some(output) = place.main_output else { return };
        self.items += 1;
        let Some(output) = usize::try_from(output).ok().filter(|output| *output < OUTPUTS) else { return };
        if self.outputs.len() <= output {
            self.outputs.resize(output + 1, 0);
        }
        self.outputs[output] += 1;
    }

    fn hold_fields(&mut self, table: &Table<KindsOfPath>, room: &mut usize) {
        // Of an empty array, the path of its elements has no values.
        for (path, kinds, _) in table.fields().filter(|(_, kinds, _)| !kinds.firsts.is_empty()) {
            let values: usize = kinds.firsts.iter().map(|(_, first)| FIRST_OVERHEAD_BYTES + first.value.len()).sum();
            let bytes = FIELD_OVERHEAD_BYTES + path.len() + values;
            if *room < bytes {
                self.is_partial = true;
                return;
            }
            *room -= bytes;
            // A name with a dot may be another spelling of a path.
            let known = self.fields.entry(path.to_owned()).or_default();
            let new = kinds.firsts.iter().filter(|(kind, _)| known.iter().all(|(known, _)| known != kind)).cloned();
            known.extend(new.collect::<Kinds>());
            known.sort_by_key(|(kind, _)| *kind as usize);
            known.shrink_to_fit();
        }
        self.fields.shrink_to_fit();
    }
}
