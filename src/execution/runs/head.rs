//! A run's own members, and the totals of a node's runs.

use super::parts::{Rows, wanted};
use super::{ITEM_LISTS, Parts, RunObserver, Side, read_lists};
use crate::execution::failure;
use crate::execution::order::{Start, Starts};
use crate::execution::related::{Children, Metadata};
use crate::execution::source::{self, InputSource};
use crate::json::{Cursor, Excerpt, Keep, Members, ReadError};

/// Statuses of n8n are never longer; anything longer is cut.
const STATUS_CHARS: usize = 40;

/// Memory for the error of a run.
const ERROR_BYTES: usize = 64 * 1024;

/// The status of a run that was going on when n8n crashed.
const CRASHED: &str = "crashed";

/// n8n's status of what has not begun.
const NOT_BEGUN: &str = "new";

/// Keeps only whether a value is there.
const PRESENCE: Keep = Keep::Members(&[]);

/// The items of a run, but only their lineage.
const LINEAGE_LISTS: Keep =
    Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&Keep::Members(&[("pairedItem", Keep::Whole)]))));

/// What is kept of a run.
pub(in crate::execution) trait RunTable: RunObserver + Sized {
    /// What the observer wants of it.
    const RUN: Keep = Keep::Members(Self::ROWS.0.split_at(Self::ROWS.1).0);

    /// Its members, and how many there are.
    const ROWS: Rows<11> = wanted([
        ("executionIndex", Self::PARTS.rule(Parts::START, Keep::Whole)),
        ("startTime", Self::PARTS.rule(Parts::START, Keep::Whole)),
        ("executionTime", Self::PARTS.rule(Parts::TIME, Keep::Whole)),
        ("executionStatus", Self::PARTS.rule(Parts::STATUS, Keep::Whole)),
        ("error", error::<Self>(failure::WHOLE)),
        ("redactedError", error::<Self>(failure::REDACTED)),
        ("source", Self::PARTS.rule(Parts::SOURCES, source::SOURCES)),
        ("usedDynamicCredentials", Self::PARTS.rule(Parts::CREDENTIALS, Keep::Whole)),
        ("metadata", Self::PARTS.rule(Parts::CHILDREN, Metadata::KEEP)),
        (
            "inputOverride",
            if Self::PARTS.has(Parts::INPUTS) { ITEM_LISTS } else { Self::PARTS.rule(Parts::OWN_INPUT, PRESENCE) },
        ),
        (
            "data",
            if Self::PARTS.has(Parts::OUTPUTS) { ITEM_LISTS } else { Self::PARTS.rule(Parts::LINEAGE, LINEAGE_LISTS) },
        ),
    ]);
}

impl<O: RunObserver> RunTable for O {}

const fn error<O: RunObserver>(whole: Keep) -> Keep {
    if O::PARTS.has(Parts::ERROR) { whole } else { O::PARTS.rule(Parts::STATUS, PRESENCE) }
}

/// The wanted members of a run.
#[derive(Default)]
pub(in crate::execution) struct RunHead {
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
    /// Whether it used credentials of the user who started the execution.
    pub used_dynamic_credentials: bool,
    /// Whether n8n stores its input itself.
    pub has_own_input: bool,
    /// Whether this input has lists of items, as it should.
    pub has_input_lists: bool,
}

impl RunHead {
    /// How long it took, in whole ms.
    pub(in crate::execution) fn ms(&self) -> u64 {
        self.execution_time.unwrap_or(0.0).max(0.0) as u64
    }

    fn has_crashed(&self) -> bool {
        self.status.as_deref() == Some(CRASHED)
    }

    /// Whether it began: a run can be reserved for a call of a tool that never happened.
    pub(in crate::execution) fn has_begun(&self) -> bool {
        self.status.as_deref() != Some(NOT_BEGUN)
    }

    /// Its status; always `error` if it failed without crashing.
    pub(in crate::execution) fn outcome(&self) -> &str {
        outcome(self.has_crashed(), self.failed, self.status.as_deref())
    }

    /// Whether a retry that [began](crate::execution::Header::own_start_ms) at this time has copied it.
    pub(in crate::execution) fn is_copied(&self, own_start: Option<i64>) -> bool {
        own_start.zip(self.start.latest_ms()).is_some_and(|(own, start)| start < own as f64)
    }

    /// Reads a run; the observer receives its items.
    pub(super) fn read<O: RunObserver>(
        cursor: &mut Cursor<'_>,
        index: u64,
        observer: &mut O,
    ) -> Result<Self, ReadError> {
        let mut run = Self { index, ..Self::default() };
        let (mut error, mut redacted_error) = ((false, None), (false, None));
        cursor.object(|cursor, member| {
            match member {
                "executionIndex" => run.start.index = cursor.number()?,
                "startTime" => run.start.time = cursor.number()?,
                "executionTime" => run.execution_time = cursor.number()?,
                "executionStatus" => run.status = cursor.text(STATUS_CHARS)?,
                "error" => error = read_error::<O>(cursor, |cursor| failure::read_whole(cursor, ERROR_BYTES))?,
                "redactedError" => redacted_error = read_error::<O>(cursor, failure::read_redacted)?,
                "source" if observer.wants_sources() => run.sources = source::read_sources(cursor)?,
                "metadata" => run.children = Metadata::read_object(cursor)?.map(Children::from).unwrap_or_default(),
                "usedDynamicCredentials" => run.used_dynamic_credentials = cursor.is_true()?,
                "inputOverride" => run.read_input(cursor, observer)?,
                "data" => {
                    observer.begin_lists(index, Side::Outputs);
                    read_lists(cursor, index, observer)?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        if run.start.time == Some(0.0) && run.status.is_none() {
            run.await_its_call();
        }
        run.failed = error.0 || redacted_error.0 || run.status.as_deref().is_some_and(is_failure);
        run.error = error.1.or(redacted_error.1);
        Ok(run)
    }

    /// An agent asked for this call of a tool, and n8n reserved a run for it, but it never began: the execution waits, was canceled
    /// or crashed before (`initializeNodeRunData` in `packages/core/src/execution-engine/requests-response.ts`).
    fn await_its_call(&mut self) {
        (self.start, self.status) = (Start::default(), Some(NOT_BEGUN.to_owned()));
    }

    fn read_input<O: RunObserver>(&mut self, cursor: &mut Cursor<'_>, observer: &mut O) -> Result<(), ReadError> {
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

/// Whether there is an `error` or a `redactedError`; and the error, if it is wanted.
fn read_error<O: RunObserver>(
    cursor: &mut Cursor<'_>,
    whole: impl FnOnce(&mut Cursor<'_>) -> Result<Option<Excerpt>, ReadError>,
) -> Result<(bool, Option<Excerpt>), ReadError> {
    if !O::PARTS.has(Parts::ERROR) {
        return Ok((cursor.skip_present()?, None));
    }
    let error = whole(cursor)?;
    Ok((error.is_some(), error))
}

/// The totals of a node's runs.
#[derive(Debug, Default)]
pub(in crate::execution) struct Tally {
    pub starts: Starts,
    /// How long all runs took, ms.
    pub execution_time: u64,
    /// How many runs failed.
    pub failed_runs: u64,
    /// The first of them.
    pub first_failed: Option<u32>,
    /// The last of them.
    pub last_failed: Option<u32>,
    crashed: bool,
    /// Boxed, since every node has one.
    last_status: Option<Box<str>>,
}

impl Tally {
    /// Adds the next run.
    pub(in crate::execution) fn add(&mut self, run: RunHead) {
        self.starts.add(run.start);
        self.execution_time = self.execution_time.saturating_add(run.ms());
        if run.failed {
            self.failed_runs += 1;
            // Every node has both: small numbers, beyond any number of runs.
            let index = u32::try_from(run.index).unwrap_or(u32::MAX);
            self.first_failed.get_or_insert(index);
            self.last_failed = Some(index);
        }
        self.crashed |= run.has_crashed();
        if self.last_status.as_deref() != run.status.as_deref() {
            self.last_status = run.status.map(String::into_boxed_str);
        }
    }

    /// Whether a run failed.
    pub(in crate::execution) fn has_failed(&self) -> bool {
        self.failed_runs > 0
    }

    /// `crashed` if a run crashed, `error` if one failed in another way, otherwise the last run's status.
    pub(in crate::execution) fn status(&self) -> &str {
        outcome(self.crashed, self.has_failed(), self.last_status.as_deref())
    }
}

/// Whether this status of a run or an execution means that it failed.
pub fn is_failure(status: &str) -> bool {
    matches!(status, "error" | CRASHED)
}

/// n8n's status of a run, or of a node's last run, but always `crashed` or `error` where a run crashed or failed.
fn outcome(crashed: bool, failed: bool, status: Option<&str>) -> &str {
    match (crashed, failed) {
        (true, _) => CRASHED,
        (false, true) => "error",
        (false, false) => status.unwrap_or("success"),
    }
}
