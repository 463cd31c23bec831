//! The one walk over an execution: `data -> resultData -> runData -> node -> run -> data -> connection -> output -> item`.
//!
//! A projection is a [`RunObserver`]: it says which [`Parts`] it wants, from which the table of what is kept follows
//! ([`keep`]), and what it does with a node, an item and a run. Everything that is a rule is here:
//!
//! - Of several members with the same name the last one counts. Where that member is `data`, `resultData` or `runData`, the
//!   reader begins again with a new observer; below, it calls [`begin_node`](RunObserver::begin_node) and
//!   [`begin_lists`](RunObserver::begin_lists) again.
//! - A run failed if it has an `error` or a `redactedError`, or if its status says so ([`RunHead::failed`]).
//! - A node is `crashed` if one of its runs crashed, `error` if one failed, otherwise what its last run was
//!   ([`Tally::status`]).
//! - Values of an unexpected type are skipped.

use std::io::Read;
use std::marker::PhantomData;

use bytes::Bytes;

use super::Error;
use super::failure::{self, Failure};
use super::flow::{Children, Parent};
use super::header::{self, Header};
use super::order::{Start, Starts};
use super::run::{self, InputSource};
use super::stored_json::member;
use crate::json::{Cursor, Element, Excerpt, Keep, ReadError, hold_name};

/// Larger items are counted, but not read.
pub(super) const ITEM_BYTES: usize = 1024 * 1024;

/// Memory for the error of a run.
const ERROR_BYTES: usize = 64 * 1024;

/// A value of which only its presence is kept.
const PRESENCE: Keep = Keep::Members(&[]);

/// The items of a run, as far as they are in the window: `{connection: [[item, …], …]}`.
const ITEM_LISTS: Keep = Keep::EachMember(&Keep::EachElement(&Keep::Window));

/// The same, but nothing of the items except their lineage.
const LINEAGE_LISTS: Keep =
    Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&Keep::Members(&[("pairedItem", Keep::Whole)]))));

/// A node that n8n was to execute next.
const STACKED: Keep = Keep::Members(&[("node", Keep::Members(&[("name", Keep::Whole)]))]);

/// Which parts of an execution an observer wants: `Parts::START.and(Parts::OUTPUTS)`.
#[derive(Clone, Copy)]
pub(super) struct Parts(u16);

impl Parts {
    /// Whether n8n redacted the items.
    pub(super) const REDACTED: Self = Self(1);
    /// The execution that started this one.
    pub(super) const PARENT: Self = Self(1 << 1);
    /// Why the execution failed, and where it ended or is.
    pub(super) const END: Self = Self(1 << 2);
    /// When a run started.
    pub(super) const START: Self = Self(1 << 3);
    /// How long a run took.
    pub(super) const TIME: Self = Self(1 << 4);
    /// How a run ended: its status, and whether it has an error.
    pub(super) const STATUS: Self = Self(1 << 5);
    /// The error of a run.
    pub(super) const ERROR: Self = Self(1 << 6);
    /// Where the inputs of a run came from.
    pub(super) const SOURCES: Self = Self(1 << 7);
    /// The executions of sub-workflows that a run started.
    pub(super) const CHILDREN: Self = Self(1 << 8);
    /// Whether n8n stores the input of a run itself.
    pub(super) const OWN_INPUT: Self = Self(1 << 9);
    /// The items of that input.
    pub(super) const INPUTS: Self = Self(1 << 10);
    /// The items of the outputs of a run.
    pub(super) const OUTPUTS: Self = Self(1 << 11);
    /// Of these items their `pairedItem` alone: for a text in which skipping is cheaper than reading.
    pub(super) const LINEAGE: Self = Self(1 << 12);

    /// These parts, and others.
    pub(super) const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    const fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }

    /// The rule for a part: skipped unless it is wanted.
    const fn rule(self, part: Self, keep: Keep) -> Keep {
        if self.has(part) { keep } else { Keep::Skip }
    }
}

/// What a projection does with the runs of an execution.
///
/// The methods are called in the order of the text. Of several nodes with the same name the last one counts.
pub(super) trait RunObserver {
    /// What is wanted; nothing else has to be in the text.
    const PARTS: Parts;

    /// The runs of this node follow. What is known of an earlier node with this name no longer counts.
    fn begin_node(&mut self, name: String);

    /// The items of the inputs or the outputs of this run follow. What is known of earlier ones no longer counts.
    fn begin_lists(&mut self, _run: u64, _side: Side) {}

    /// The inputs or outputs of this type of connection follow.
    fn begin_connection(&mut self, _connection: &str) {}

    /// The items of an input or output follow; `index` counts those of its type of connection.
    fn begin_list(&mut self, _connection: &str, _index: u64) {}

    /// The next item of the list, or several that were left out. An [`Item::Unread`] must be read or skipped.
    fn item<R: Read>(&mut self, place: ItemPlace, item: Item<'_, R>) -> Result<(), ReadError>;

    /// The list has ended; `end.item` is the number of its items.
    fn end_list(&mut self, _end: ItemPlace) {}

    /// The run has ended.
    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError>;

    /// That was the last run of the node.
    fn end_node(&mut self) {}
}

/// Which items of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Side {
    /// Its input, if n8n stores that itself.
    Inputs,
    #[default]
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
pub(super) enum Item<'c, R: Read> {
    /// Its JSON text.
    Captured(Bytes),
    /// This many items.
    Omitted(u64),
    /// It is still to be read.
    Unread(&'c mut Cursor<R>),
}

/// The JSON text of an item.
pub(super) enum ItemText {
    Json(Bytes),
    /// It was left out.
    Omitted,
    /// It has more than 1 MiB.
    TooLarge,
}

impl<R: Read> Item<'_, R> {
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

/// What a run says about itself, as far as it is wanted.
#[derive(Default)]
pub(super) struct RunHead {
    /// Which of the node's runs, from 0.
    pub index: u64,
    pub start: Start,
    /// How long it took, ms.
    pub execution_time: Option<f64>,
    /// n8n's `executionStatus`.
    pub status: Option<String>,
    /// Whether it failed.
    pub failed: bool,
    /// The error, or what n8n's redaction left of it.
    pub error: Option<Excerpt>,
    /// The source of each input; `None` for an input without data.
    pub sources: Vec<Option<InputSource>>,
    /// The executions of sub-workflows that it started.
    pub children: Children,
    /// Whether n8n stores its input itself.
    pub has_own_input: bool,
    /// Whether this input has lists of items, as it should.
    pub has_input_lists: bool,
}

impl RunHead {
    /// How long it took, in whole ms.
    pub(super) fn ms(&self) -> u64 {
        self.execution_time.unwrap_or(0.0).max(0.0) as u64
    }

    fn read<R: Read, O: RunObserver>(cursor: &mut Cursor<R>, index: u64, observer: &mut O) -> Result<Self, ReadError> {
        let mut run = Self { index, ..Self::default() };
        let (mut error, mut redacted_error) = (RunError::default(), RunError::default());
        cursor.object(|cursor, member| {
            match member {
                "executionIndex" => run.start.index = cursor.number()?,
                "startTime" => run.start.time = cursor.number()?,
                "executionTime" => run.execution_time = cursor.number()?,
                "executionStatus" => run.status = run::read_status(cursor)?,
                "error" => error = RunError::read::<R, O>(cursor, |cursor| failure::read_whole(cursor, ERROR_BYTES))?,
                "redactedError" => redacted_error = RunError::read::<R, O>(cursor, failure::read_redacted)?,
                "source" => run.sources = run::read_sources(cursor)?,
                "metadata" => run.children = Children::read(cursor)?,
                "inputOverride" => run.read_input(cursor, observer)?,
                "data" => {
                    observer.begin_lists(index, Side::Outputs);
                    read_lists(cursor, index, observer)?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        let is_failure = matches!(run.status.as_deref(), Some("error" | "crashed"));
        run.failed = is_failure || error.is_present || redacted_error.is_present;
        run.error = error.text.or(redacted_error.text);
        Ok(run)
    }

    fn read_input<R: Read, O: RunObserver>(
        &mut self,
        cursor: &mut Cursor<R>,
        observer: &mut O,
    ) -> Result<(), ReadError> {
        self.has_input_lists = cursor.at_object()?;
        if self.has_input_lists && O::PARTS.has(Parts::INPUTS) {
            self.has_own_input = true;
            observer.begin_lists(self.index, Side::Inputs);
            return read_lists(cursor, self.index, observer);
        }
        self.has_own_input = cursor.skip_present()?;
        Ok(())
    }
}

/// An `error` or a `redactedError`.
#[derive(Default)]
struct RunError {
    is_present: bool,
    /// The error, if it is wanted.
    text: Option<Excerpt>,
}

impl RunError {
    fn read<R: Read, O: RunObserver>(
        cursor: &mut Cursor<R>,
        text: impl FnOnce(&mut Cursor<R>) -> Result<Option<Excerpt>, ReadError>,
    ) -> Result<Self, ReadError> {
        if !O::PARTS.has(Parts::ERROR) {
            return Ok(Self { is_present: cursor.skip_present()?, text: None });
        }
        let text = text(cursor)?;
        Ok(Self { is_present: text.is_some(), text })
    }
}

/// What the runs of a node add up to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub starts: Starts,
    /// How long all runs took, ms.
    pub execution_time: u64,
    /// Whether a run failed.
    pub failed: bool,
    crashed: bool,
    last_status: Option<String>,
}

impl Tally {
    /// Adds the next run.
    pub(super) fn add(&mut self, run: RunHead) {
        self.starts.add(run.start);
        self.execution_time = self.execution_time.saturating_add(run.ms());
        self.failed |= run.failed;
        self.crashed |= run.status.as_deref() == Some("crashed");
        self.last_status = run.status;
    }

    /// `crashed` if a run crashed, `error` if one failed in another way, otherwise the last run's status.
    pub(super) fn status(&self) -> &str {
        match (self.crashed, self.failed) {
            (true, _) => "crashed",
            (false, true) => "error",
            (false, false) => self.last_status.as_deref().unwrap_or("success"),
        }
    }
}

/// What was read of an execution.
pub(super) struct Execution<O, W> {
    pub header: Header,
    pub data: Data,
    /// What observed the runs.
    pub runs: O,
    pub workflow: W,
}

/// The member `data` without the runs, as far as it is wanted.
#[derive(Default)]
pub(super) struct Data {
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// The execution that started this one.
    pub parent: Option<Parent>,
    /// The node that n8n executed, or was to execute next, when it stored the data.
    pub current_node: Option<String>,
    pub result: ResultData,
}

/// The member `data.resultData` without the runs.
#[derive(Default)]
pub(super) struct ResultData {
    /// Why the execution failed.
    pub error: Option<Failure>,
    /// The same, as far as n8n's redaction left it.
    pub redacted_error: Option<Failure>,
    /// The node that was executed last.
    pub last_node: Option<String>,
}

/// The table for an execution: the whole header, what the observer wants of `data`, and the given rule for `workflowData`.
pub(super) const fn keep<O: RunObserver>(workflow: Keep) -> [(&'static str, Keep); header::FIELDS.len() + 2] {
    let mut table = [("", Keep::Skip); header::FIELDS.len() + 2];
    let mut at = 0;
    while at < header::FIELDS.len() {
        table[at] = (header::FIELDS[at], Keep::Whole);
        at += 1;
    }
    table[at] = ("data", Table::<O>::DATA);
    table[at + 1] = ("workflowData", workflow);
    table
}

/// The table of what an observer wants.
struct Table<O>(PhantomData<O>);

impl<O: RunObserver> Table<O> {
    const DATA: Keep = Keep::Members(&[
        ("redactionInfo", O::PARTS.rule(Parts::REDACTED, Keep::Members(&[("isRedacted", Keep::Whole)]))),
        ("parentExecution", O::PARTS.rule(Parts::PARENT, Parent::KEEP)),
        (
            "executionData",
            O::PARTS.rule(Parts::END, Keep::Members(&[("nodeExecutionStack", Keep::EachElement(&STACKED))])),
        ),
        (
            "resultData",
            Keep::Members(&[
                ("error", O::PARTS.rule(Parts::END, Failure::KEEP)),
                ("redactedError", O::PARTS.rule(Parts::END, Failure::KEEP)),
                ("lastNodeExecuted", O::PARTS.rule(Parts::END, Keep::Whole)),
                ("runData", Keep::EachMember(&Keep::EachElement(&Self::RUN))),
            ]),
        ),
    ]);

    const RUN: Keep = Keep::Members(&[
        ("executionIndex", O::PARTS.rule(Parts::START, Keep::Whole)),
        ("startTime", O::PARTS.rule(Parts::START, Keep::Whole)),
        ("executionTime", O::PARTS.rule(Parts::TIME, Keep::Whole)),
        ("executionStatus", O::PARTS.rule(Parts::STATUS, Keep::Whole)),
        ("error", Self::error(failure::WHOLE)),
        ("redactedError", Self::error(failure::REDACTED)),
        ("source", O::PARTS.rule(Parts::SOURCES, Keep::EachElement(&InputSource::KEEP))),
        ("metadata", O::PARTS.rule(Parts::CHILDREN, Children::KEEP)),
        (
            "inputOverride",
            if O::PARTS.has(Parts::INPUTS) { ITEM_LISTS } else { O::PARTS.rule(Parts::OWN_INPUT, PRESENCE) },
        ),
        ("data", if O::PARTS.has(Parts::OUTPUTS) { ITEM_LISTS } else { O::PARTS.rule(Parts::LINEAGE, LINEAGE_LISTS) }),
    ]);

    const fn error(whole: Keep) -> Keep {
        if O::PARTS.has(Parts::ERROR) { whole } else { O::PARTS.rule(Parts::STATUS, PRESENCE) }
    }
}

/// Reads an execution to its end. Each `runData` is read with a new observer, which gets what was read of the header
/// before it; `read_workflow` reads `workflowData`.
///
/// # Errors
/// When the text is broken or ends early, or is not an execution.
pub(super) fn read<R: Read, O: RunObserver, W: Default>(
    mut cursor: Cursor<R>,
    observer: impl Fn(&Header) -> O,
    read_workflow: impl Fn(&mut Cursor<R>) -> Result<W, ReadError>,
) -> Result<Execution<O, W>, Error> {
    let header = Header::default();
    let runs = observer(&header);
    let mut execution = Execution { header, data: Data::default(), runs, workflow: W::default() };
    let mut has_data = false;
    cursor.object(|cursor, member| {
        match member {
            "data" if cursor.at_object()? => {
                has_data = true;
                (execution.data, execution.runs) = read_data(cursor, || observer(&execution.header))?;
            }
            "workflowData" => execution.workflow = read_workflow(cursor)?,
            _ if execution.header.read(cursor, member)? => {}
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    if execution.header.id.is_none() && execution.header.status.is_none() && !has_data {
        return Err(Error::NotAnExecution);
    }
    Ok(execution)
}

fn read_data<R: Read, O: RunObserver>(
    cursor: &mut Cursor<R>,
    observer: impl Fn() -> O,
) -> Result<(Data, O), ReadError> {
    let (mut data, mut runs) = (Data::default(), observer());
    cursor.object(|cursor, name| {
        match name {
            "redactionInfo" => data.redacted = member(cursor, "isRedacted", Cursor::is_true)?,
            "parentExecution" => data.parent = Parent::read(cursor)?,
            "executionData" => data.current_node = read_current_node(cursor)?,
            "resultData" => (data.result, runs) = read_result(cursor, &observer)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok((data, runs))
}

fn read_result<R: Read, O: RunObserver>(
    cursor: &mut Cursor<R>,
    observer: impl Fn() -> O,
) -> Result<(ResultData, O), ReadError> {
    let (mut result, mut runs) = (ResultData::default(), observer());
    cursor.object(|cursor, member| {
        match member {
            "error" => result.error = Failure::read(cursor)?,
            "redactedError" => result.redacted_error = Failure::read(cursor)?,
            "lastNodeExecuted" => result.last_node = cursor.name()?,
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

/// The first node of the `nodeExecutionStack` in `executionData`.
fn read_current_node<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<String>, ReadError> {
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

fn read_nodes<R: Read, O: RunObserver>(cursor: &mut Cursor<R>, observer: &mut O) -> Result<(), ReadError> {
    cursor.object(|cursor, name| {
        observer.begin_node(hold_name(name));
        cursor.array(|cursor, index| {
            let run = RunHead::read(cursor, index, observer)?;
            observer.end_run(run)
        })?;
        observer.end_node();
        Ok(())
    })?;
    Ok(())
}

/// Reads `{connection: [[item, …], …]}`.
fn read_lists<R: Read, O: RunObserver>(cursor: &mut Cursor<R>, run: u64, observer: &mut O) -> Result<(), ReadError> {
    let mut output = 0;
    cursor.object(|cursor, connection| {
        observer.begin_connection(connection);
        let is_main = connection == "main";
        cursor.array(|cursor, index| {
            let mut place = ItemPlace { run, output, main_output: is_main.then_some(index), item: 0 };
            output += 1;
            observer.begin_list(connection, index);
            cursor.array(|cursor, _| {
                let item = read_item::<R, O>(cursor)?;
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

fn read_item<'c, R: Read, O: RunObserver>(cursor: &'c mut Cursor<R>) -> Result<Item<'c, R>, ReadError> {
    if O::PARTS.has(Parts::LINEAGE) {
        return Ok(Item::Unread(cursor));
    }
    Ok(match cursor.element()? {
        Element::Captured(json) => Item::Captured(json),
        Element::Omitted(items) => Item::Omitted(items),
        Element::Unread => Item::Unread(cursor),
    })
}
