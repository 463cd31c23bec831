//! `workflow_trend`: changes at the nodes of a workflow, in the last period compared with the seven before it.
//!
//! ```text
//! executions of eight periods, oldest first -> the runs of their nodes -> what moved, and since when
//! ```

mod answer;
mod lines;

pub(in crate::tools) use lines::lines;

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexSet;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::not_read::NotRead;
use super::source::{MARK_TOKENS, Origin};
use crate::execution::node_runs::{NodeRuns, NodeRunsProjection};
use crate::execution::trend::{Line, MAX_OBSERVATIONS, MIN_LAST, Movements, Observation, PERIODS, Trend, What};
use crate::execution::{StoredExecution, StoredProjection};
use crate::n8n::Progress;
use crate::store::{self, Listed, Query, Row, Store, Unread, Visit, Visitor, Walk};
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Date, Effect, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool; it needs n8n's store.
pub static TOOL: Tool = Tool {
    name: "workflow_trend",
    title: "Trend of a workflow",
    description: "Say which nodes of a workflow became slower, fail more often, stopped or output other numbers of items in the last \
                  period than in the seven before, since which execution.",
    parameters: WorkflowTrend::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<WorkflowTrend>(),
};

/// The most executions that are read, and how long that may take.
const MAX_EXECUTIONS: u64 = 20_000;
const MAX_TIME: Duration = Duration::from_secs(15);

/// The shortest and the longest period.
const SHORTEST: SignedDuration = SignedDuration::from_hours(1);
const LONGEST: SignedDuration = SignedDuration::from_hours(30 * 24);

arguments! {
    pub(in crate::tools) struct WorkflowTrend {
        workflow_id: Text = "Its id.",
        period: Option<Text> = "1h to 30d, default 24h.",
        until: Option<Date> = "Default now.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
    }
}

/// The eight periods.
#[derive(Clone, Copy, Debug)]
struct Periods {
    until: Timestamp,
    length: SignedDuration,
}

/// The data that was read.
#[derive(Default)]
struct Seen {
    workflow_name: Option<String>,
    /// The executions that were read, oldest first.
    executions: Vec<SeenExecution>,
    /// Executions whose runs are not known.
    not_read: NotRead,
    /// Whether some of these are in the last period.
    is_last_incomplete: bool,
    /// Executions of the last period that have not ended.
    not_ended: u64,
    /// The versions of the workflow, in the order in which they first ran: as the movements number them.
    versions: IndexSet<Option<String>>,
    movements: Movements,
    /// The runs of each node in each period.
    lines: Vec<Line>,
}

/// An execution of one of the periods.
struct SeenExecution {
    id: String,
    at: String,
    version: Option<String>,
    period: u8,
    failed: bool,
}

impl Seen {
    /// Whether fewer executions of the last period have ended than a node needs runs to be judged, and others may still run it.
    fn waits_for_more(&self) -> bool {
        let ended = self.executions.iter().filter(|execution| execution.period == PERIODS - 1).count();
        self.not_ended > 0 && ended < MIN_LAST
    }
}

impl ToolCall for WorkflowTrend {
    async fn run(self, context: Arc<Context>, _progress: Progress) -> Result<String, Error> {
        let (locale, max_tokens) = (context.locale, self.max_tokens - MARK_TOKENS);
        let (periods, seen) = self.seen(&context).await?;
        let answer = answer::compose(&self.workflow_id, periods, &seen, max_tokens, locale);
        Ok(Origin::Store { deleted: false }.mark(answer))
    }
}

impl WorkflowTrend {
    /// Reads the executions of the periods.
    async fn seen(&self, context: &Context) -> Result<(Periods, Seen), Error> {
        let Some(store) = &context.store else { return Err(super::needs_store()) };
        let (periods, asked, reveal) = (self.periods()?, self.workflow_id.clone(), store.reveals());
        let seen = store.ask(move |store, cancel| read(store, cancel, &asked, periods, reveal)).await?;
        let seen = seen.ok_or_else(|| {
            Error::FailedPrecondition(format!(
                "There is more in these eight periods than can be read in one call ({MAX_EXECUTIONS} executions, {MAX_OBSERVATIONS} runs \
                 of nodes, {} s): choose a shorter period.",
                MAX_TIME.as_secs()
            ))
        })?;
        Ok((periods, seen))
    }

    fn periods(&self) -> Result<Periods, Error> {
        let problem = || Error::argument("period", "must be between 1h and 30d, such as 24h or 7d.");
        let length = match self.period.as_deref() {
            None => SignedDuration::from_hours(24),
            Some(period) => period_of(period).ok_or_else(problem)?,
        };
        let until = match &self.until {
            Some(until) => until.parse().map_err(|_| Error::argument("until", "must be a date, ISO 8601."))?,
            None => Timestamp::now(),
        };
        Ok(Periods { until, length })
    }
}

/// A length such as `24h` or `7d`.
fn period_of(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        _ => return None,
    };
    let length = SignedDuration::from_hours(number.parse::<u16>().ok()?.into());
    Some(length.checked_mul(hours)?).filter(|length| (SHORTEST..=LONGEST).contains(length))
}

impl Periods {
    /// When the earliest one begins.
    fn begin(self) -> Timestamp {
        self.until.checked_sub(self.length * i32::from(PERIODS)).unwrap_or(Timestamp::MIN)
    }

    /// When each one begins.
    fn begins(self) -> impl Iterator<Item = Timestamp> {
        (0..i32::from(PERIODS)).map(move |at| self.begin().checked_add(self.length * at).unwrap_or(Timestamp::MAX))
    }

    /// When the last one begins.
    fn last(self) -> Timestamp {
        self.until.checked_sub(self.length).unwrap_or(Timestamp::MIN)
    }

    /// The period of a time, if it is in one.
    fn of(self, at: Timestamp) -> Option<u8> {
        let since = at.duration_since(self.begin()).as_millis();
        let period = u8::try_from(since.checked_div(self.length.as_millis())?).ok()?;
        // The end belongs to the last period.
        let period = if at == self.until { PERIODS - 1 } else { period };
        (since >= 0 && period < PERIODS).then_some(period)
    }
}

/// Reads all executions of the periods; `None` if there are too many.
fn read(
    store: &Store,
    cancel: &CancellationToken,
    workflow: &str,
    periods: Periods,
    reveal: bool,
) -> Result<Option<Seen>, store::Error> {
    // Manual executions say nothing about others: their data may be pinned.
    let query = Query {
        workflow_id: Some(workflow.to_owned()),
        started_after: Some(periods.begin().to_string()),
        started_before: Some(periods.until.to_string()),
        without_manual: true,
        oldest_first: true,
        ..Query::default()
    };
    let unfinished = Query { unfinished: true, started_after: Some(periods.last().to_string()), ..query.clone() };
    let walk = Walk { query, most: MAX_EXECUTIONS, hits: u64::MAX, time: MAX_TIME, texts: Vec::new() };
    let mut reading = Reading { periods, reveal, seen: Seen::default(), trend: Trend::default(), is_full: false };
    if store.walk(&walk, cancel, &mut reading)?.is_some() || reading.is_full {
        return Ok(None);
    }
    let Reading { mut seen, trend, .. } = reading;
    (seen.lines, seen.movements) = (trend.lines(), trend.finish());
    seen.not_ended = store.count(&unfinished, cancel)?;
    if seen.is_last_incomplete || seen.waits_for_more() {
        // A node may have run in what was not read, or may still run.
        seen.movements.moved.retain(|moved| moved.what != What::Stopped);
        seen.movements.too_few.clear();
    }
    Ok(Some(seen))
}

/// A walk over the executions of the periods.
struct Reading {
    periods: Periods,
    reveal: bool,
    seen: Seen,
    trend: Trend,
    /// Whether there are more runs than are held.
    is_full: bool,
}

impl Visitor for Reading {
    /// `None` if it cannot be read.
    type View = Option<NodeRuns>;

    fn read(&self, execution: store::Execution<'_>) -> Self::View {
        let store::Execution { row, header, workflow, data } = execution;
        if !has_ended(row) {
            return Some(NodeRuns::default());
        }
        let stored = StoredExecution { header, workflow, data, reveal: self.reveal };
        NodeRunsProjection.read_stored(stored).ok()
    }

    fn take(&mut self, Listed { row, workflow_name }: Listed, visit: Visit<Self::View>) {
        // The last one has the newest name.
        self.seen.workflow_name = workflow_name.or(self.seen.workflow_name.take());
        let Some(execution) = seen_execution(&row, self.periods) else { return };
        let read = match visit.read() {
            // A node must have run for it to succeed.
            Ok(runs) if runs.nodes.is_empty() && !execution.failed => Err(Unread::NoData),
            read => read,
        };
        match read {
            Ok(runs) => self.add(execution, &runs),
            Err(reason) => {
                self.seen.not_read.add(reason);
                self.seen.is_last_incomplete |= execution.period == PERIODS - 1;
            }
        }
    }
}

impl Reading {
    fn add(&mut self, execution: SeenExecution, runs: &NodeRuns) {
        let number_of = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        self.is_full |= runs.left_out > 0;
        let version = self.seen.versions.insert_full(execution.version.clone()).0;
        for (name, run) in runs.nodes.iter().flat_map(|(name, runs)| runs.iter().map(move |run| (name, run))) {
            let observation = Observation {
                execution: number_of(self.seen.executions.len() as u64),
                ms: number_of(run.ms),
                items: number_of(run.items),
                version: u16::try_from(version).unwrap_or(u16::MAX),
                period: execution.period,
                failed: run.failed,
            };
            self.is_full |= !self.trend.push(name, observation);
        }
        self.seen.executions.push(execution);
    }
}

/// Whether it ended by itself: a canceled execution says nothing about its nodes.
fn has_ended(row: &Row) -> bool {
    matches!(row.status(), Some("success" | "error" | "crashed"))
}

fn seen_execution(row: &Row, periods: Periods) -> Option<SeenExecution> {
    let at = row.started_at()?;
    let period = periods.of(at.parse().ok()?)?;
    has_ended(row).then(|| SeenExecution {
        id: row.id().to_owned(),
        at: at.to_owned(),
        version: row.workflow_version().map(str::to_owned),
        period,
        failed: row.status() != Some("success"),
    })
}
