//! The one walk over an execution: `data -> resultData -> runData -> node -> run -> data -> connection -> output -> item`.
//!
//! A projection is a [`RunObserver`]: it declares which [`Parts`] it wants, which determines the table of what is kept
//! ([`keep`]), and what it does with a node, an item and a run. All rules are here:
//!
//! - If several members have the same name, the last one counts. Where that member is `data`, `resultData` or `runData`, the
//!   reader begins again with a new observer; below, it calls [`begin_node`](RunObserver::begin_node) and
//!   [`begin_lists`](RunObserver::begin_lists) again.
//! - A run failed if it has an `error` or a `redactedError`, or if its status says so ([`RunHead::failed`]).
//! - A node is `crashed` if one of its runs crashed, `error` if one failed, otherwise what its last run was
//!   ([`Tally::status`]).
//! - Values of an unexpected type are skipped.

mod head;
mod parts;

use std::collections::BTreeSet;

use bytes::Bytes;

use self::head::RunTable;
pub use self::head::is_failure;
pub(super) use self::head::{RunHead, Tally};
pub(super) use self::parts::Parts;
use super::Error;
use super::failure::Failure;
use super::header::Header;
use super::related::Parent;
use crate::json::{Cursor, Element, Keep, Members, ReadError, hold_name, member};

/// Larger items are counted, but not read.
pub(super) const ITEM_BYTES: usize = 1024 * 1024;

/// The items of a run that are in the window: `{connection: [[item, …], …]}`.
const ITEM_LISTS: Keep = Keep::EachMember(&Keep::EachElement(&Keep::Window));

/// A node that n8n was to execute next.
const STACKED: Keep = Keep::Members(&[("node", Keep::Members(&[("name", Keep::Whole)]))]);

/// What a projection does with the runs of an execution.
///
/// The methods are called in the order of the text. If several nodes have the same name, the last one counts.
pub(super) trait RunObserver {
    /// What is wanted; nothing else has to be in the text.
    const PARTS: Parts;

    /// The runs of this node follow. What is known of an earlier node with this name no longer counts.
    fn begin_node(&mut self, name: &str);

    /// The items of the inputs or the outputs of this run follow. What is known of earlier ones no longer counts.
    fn begin_lists(&mut self, _run: u64, _side: Side) {}

    /// The inputs or outputs of this type of connection follow.
    fn begin_connection(&mut self, _connection: &str) {}

    /// The items of an input or output follow; `index` counts those of its type of connection.
    fn begin_list(&mut self, _connection: &str, _index: u64) {}

    /// The next item of the list, or several that were left out. An [`Item::Unread`] must be read or skipped.
    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError>;

    /// The list has ended; `end.item` is the number of its items.
    fn end_list(&mut self, _end: ItemPlace) {}

    /// Whether it still wants to know where the inputs of the next run came from, if they are among its parts.
    fn wants_sources(&self) -> bool {
        true
    }

    /// The run has ended.
    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError>;

    /// The last run of this node has ended.
    fn end_node(&mut self, _name: String) {}
}

/// Which items of a run.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// Its input, if n8n stores that itself.
    Inputs,
    Outputs,
}

/// Where an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemPlace {
    /// Which of the node's runs, from 0.
    pub run: u64,
    /// The output, counted across all types of connections.
    pub output: u64,
    /// The output, counted across those of the type `main`; `None` if it is of another type.
    pub main_output: Option<u64>,
    /// The item's number in this output.
    pub item: u64,
}

/// An item, or several that were left out.
pub(super) enum Item<'c, 't> {
    /// Its JSON text.
    Captured(Bytes),
    /// This many items.
    Omitted(u64),
    /// It is still to be read.
    Unread(&'c mut Cursor<'t>),
}

/// The JSON text of an item.
pub(super) enum ItemText {
    Json(Bytes),
    /// It was left out.
    Omitted,
    /// It has more than 1 MiB.
    TooLarge,
}

impl Item<'_, '_> {
    /// Its text.
    pub(super) fn text(self) -> Result<ItemText, ReadError> {
        Ok(match self {
            Self::Captured(json) => ItemText::Json(json),
            Self::Omitted(_) => ItemText::Omitted,
            Self::Unread(cursor) => match cursor.json(ITEM_BYTES)? {
                Some(json) => ItemText::Json(json.into()),
                None => ItemText::TooLarge,
            },
        })
    }

    /// Skips it.
    pub(super) fn skip(self) -> Result<(), ReadError> {
        if let Self::Unread(cursor) = self { cursor.skip() } else { Ok(()) }
    }

    /// How many items it stands for.
    pub(super) fn count(&self) -> u64 {
        if let Self::Omitted(items) = self { *items } else { 1 }
    }
}

/// What was read of an execution.
pub(super) struct Execution<O, W> {
    pub header: Header,
    pub data: DataHead,
    /// What observed the runs.
    pub runs: O,
    pub workflow: W,
}

/// The wanted parts of the member `data`, without the runs.
#[derive(Default)]
pub(super) struct DataHead {
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// The execution that started this one.
    pub parent: Option<Parent>,
    /// The node that n8n executed, or was to execute next, when it stored the data.
    pub current_node: Option<String>,
    pub result: ResultData,
    /// Whether there was any.
    pub has_result: bool,
}

/// The member `data.resultData` without the runs.
#[derive(Default)]
pub(super) struct ResultData {
    /// Why the execution failed.
    pub error: Option<Failure>,
    /// What n8n's redaction left of it.
    pub redacted_error: Option<Failure>,
    /// The node that was executed last.
    pub last_node: Option<String>,
    /// The nodes whose output was pinned: n8n returned it instead of running them, unless they are disabled
    /// (`packages/core/src/execution-engine/workflow-execute.ts`).
    pub pinned: BTreeSet<String>,
}

/// The table for an execution: the whole header, what the observer wants of `data`, and the given rule for `workflowData`.
pub(super) const fn keep<O: RunObserver>(workflow: Keep) -> [(&'static str, Keep); Header::MEMBERS.len() + 2] {
    Keep::extended(Header::MEMBERS, [("data", O::DATA), ("workflowData", workflow)])
}

/// What is kept of the member `data`.
pub(super) trait DataTable: RunTable {
    /// What the observer wants of it.
    const DATA: Keep = Keep::Members(&[
        ("redactionInfo", Self::PARTS.rule(Parts::REDACTED, Keep::Members(&[("isRedacted", Keep::Whole)]))),
        ("parentExecution", Self::PARTS.rule(Parts::PARENT, Parent::KEEP)),
        (
            "executionData",
            Self::PARTS.rule(Parts::END, Keep::Members(&[("nodeExecutionStack", Keep::EachElement(&STACKED))])),
        ),
        (
            "resultData",
            Keep::Members(&[
                ("error", Self::PARTS.rule(Parts::END, Failure::KEEP)),
                ("redactedError", Self::PARTS.rule(Parts::END, Failure::KEEP)),
                ("lastNodeExecuted", Self::PARTS.rule(Parts::END, Keep::Whole)),
                ("pinData", Self::PARTS.rule(Parts::PINNED, Keep::EachMember(&Keep::Skip))),
                ("runData", Keep::EachMember(&Keep::EachElement(&Self::RUN))),
            ]),
        ),
    ]);
}

impl<O: RunObserver> DataTable for O {}

/// Reads an execution to its end. Each `runData` is read with a new observer, which receives the header as read so far;
/// `read_workflow` reads `workflowData`.
///
/// # Errors
/// When the text is broken or ends early, or is not an execution.
pub(super) fn read<'t, O: RunObserver, W: Default>(
    mut cursor: Cursor<'t>,
    observer: impl Fn(&Header) -> O,
    read_workflow: impl Fn(&mut Cursor<'t>) -> Result<W, ReadError>,
) -> Result<Execution<O, W>, Error> {
    let header = Header::default();
    let runs = observer(&header);
    let mut execution = Execution { header, data: DataHead::default(), runs, workflow: W::default() };
    cursor.object(|cursor, member| {
        match member {
            "data" if cursor.at_object()? => {
                (execution.data, execution.runs) = read_data(cursor, || observer(&execution.header))?;
            }
            "workflowData" => execution.workflow = read_workflow(cursor)?,
            _ if execution.header.read_member(cursor, member)? => {}
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    if execution.header.id.is_none() && execution.header.status.is_none() && !execution.data.has_result {
        return Err(Error::NotAnExecution);
    }
    Ok(execution)
}

/// Reads the member `data`. Each `runData` in it is read with a new observer.
pub(super) fn read_data<O: RunObserver>(
    cursor: &mut Cursor<'_>,
    observer: impl Fn() -> O,
) -> Result<(DataHead, O), ReadError> {
    let (mut data, mut runs) = (DataHead::default(), observer());
    cursor.object(|cursor, name| {
        match name {
            "redactionInfo" => data.redacted = member(cursor, "isRedacted", Cursor::is_true)?,
            "parentExecution" => data.parent = Parent::read_object(cursor)?,
            "executionData" => data.current_node = read_current_node(cursor)?,
            "resultData" => {
                data.has_result = true;
                (data.result, runs) = read_result(cursor, &observer)?;
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok((data, runs))
}

fn read_result<O: RunObserver>(
    cursor: &mut Cursor<'_>,
    observer: impl Fn() -> O,
) -> Result<(ResultData, O), ReadError> {
    let (mut result, mut runs) = (ResultData::default(), observer());
    cursor.object(|cursor, member| {
        match member {
            "error" => result.error = Failure::read(cursor)?,
            "redactedError" => result.redacted_error = Failure::read(cursor)?,
            "lastNodeExecuted" => result.last_node = cursor.name()?,
            "pinData" => result.pinned = read_names(cursor)?,
            "runData" => {
                runs = observer();
                read_nodes(cursor, &mut runs)?;
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok((result, runs))
}

fn read_names(cursor: &mut Cursor<'_>) -> Result<BTreeSet<String>, ReadError> {
    let mut names = BTreeSet::new();
    cursor.object(|cursor, name| {
        names.insert(hold_name(name));
        cursor.skip()
    })?;
    Ok(names)
}

/// The first node of the `nodeExecutionStack` in `executionData`.
fn read_current_node(cursor: &mut Cursor<'_>) -> Result<Option<String>, ReadError> {
    member(cursor, "nodeExecutionStack", |cursor| {
        let mut first = None;
        cursor.array(|cursor, at| {
            let node = member(cursor, "node", |cursor| member(cursor, "name", Cursor::name))?;
            if at == 0 {
                first = node;
            }
            Ok(())
        })?;
        Ok(first)
    })
}

fn read_nodes<O: RunObserver>(cursor: &mut Cursor<'_>, observer: &mut O) -> Result<(), ReadError> {
    cursor.object(|cursor, name| {
        let name = hold_name(name);
        observer.begin_node(&name);
        cursor.array(|cursor, index| {
            let run = RunHead::read(cursor, index, observer)?;
            observer.end_run(run)
        })?;
        observer.end_node(name);
        Ok(())
    })?;
    Ok(())
}

/// Reads `{connection: [[item, …], …]}`.
fn read_lists<O: RunObserver>(cursor: &mut Cursor<'_>, run: u64, observer: &mut O) -> Result<(), ReadError> {
    let mut output = 0;
    cursor.object(|cursor, connection| {
        observer.begin_connection(connection);
        let is_main = connection == "main";
        cursor.array(|cursor, index| {
            let mut place = ItemPlace { run, output, main_output: is_main.then_some(index), item: 0 };
            output += 1;
            observer.begin_list(connection, index);
            cursor.array(|cursor, _| {
                let item = read_item::<O>(cursor)?;
                let items = item.count();
                observer.item(place, item)?;
                place.item += items;
                Ok(())
            })?;
            observer.end_list(place);
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

fn read_item<'c, 't, O: RunObserver>(cursor: &'c mut Cursor<'t>) -> Result<Item<'c, 't>, ReadError> {
    if O::PARTS.has(Parts::LINEAGE) {
        return Ok(Item::Unread(cursor));
    }
    Ok(match cursor.element()? {
        Element::Captured(json) => Item::Captured(json),
        Element::Omitted(items) => Item::Omitted(items),
        Element::Unread => Item::Unread(cursor),
    })
}
