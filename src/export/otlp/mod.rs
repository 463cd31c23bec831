//! An execution as an OpenTelemetry trace, with the names of n8n's own spans and attributes
//! (`packages/cli/src/modules/otel`, n8n 2.19 and newer).
//!
//! ```text
//! workflow.execute                the execution; its links lead to the one that started it and the one that it retries
//! ├── node.execute                a run of a node
//! └── node.execute                a run of an AI agent
//!     ├── node.execute            a call of its model or of one of its tools, with attributes gen_ai.*
//!     └── …
//! ```
//!
//! Ids are hashes of the execution's own, so that a second export sends the same spans.

mod attributes;
mod ids;
mod json;

use std::collections::HashMap;
use std::io;

use jiff::Timestamp;

use self::ids::{node_span, trace, workflow_span};
use self::json::{Event, Link, Span, Status, nanoseconds};
use super::Out;
use crate::execution::is_failure;
use crate::execution::rows::{ExecutionRuns, RunRow};
use crate::store::Listed;

/// A request holds at most about this many bytes; collectors take some megabytes.
const REQUEST: usize = 512 * 1024;

/// What is around the spans of a request: the service is called as n8n calls itself by default.
const BEGIN: &str = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"n8n"}}]},"scopeSpans":[{"scope":{"name":"n8n-workflow"},"spans":["#;
const END: &str = "]}]}]}\n";

/// The maximum number of runs whose numbers of output items are held. Spans of later runs do not say how many items
/// they took.
const MAX_RUNS: usize = 100_000;

/// Whether an execution has ended, so that its trace will not change.
pub(super) fn has_ended(listed: &Listed) -> bool {
    !matches!(listed.row.status(), Some("new" | "running" | "waiting"))
}

/// What the spans of an execution need to know about all of its runs.
#[derive(Default)]
struct Runs {
    /// The items of each `main` output, by node and run.
    outputs: HashMap<(String, u64), Vec<u64>>,
    /// Whether these are all runs.
    is_whole: bool,
    first: Option<f64>,
    last: Option<f64>,
}

impl Runs {
    fn of(view: &mut ExecutionRuns) -> io::Result<Self> {
        let mut runs = Self { is_whole: true, ..Self::default() };
        view.rows.each(|node, run| {
            if !run.copied {
                let (from, to) = times(&run);
                runs.first = from.map(|from| runs.first.map_or(from, |first| first.min(from))).or(runs.first);
                runs.last = to.map(|to| runs.last.map_or(to, |last| last.max(to))).or(runs.last);
            }
            if runs.outputs.len() < MAX_RUNS {
                runs.outputs.insert((node.to_owned(), run.run), run.main_outputs().collect());
            } else {
                runs.is_whole = false;
            }
            Ok(())
        })?;
        Ok(runs)
    }

    /// How many items a run took from the `main` outputs that its inputs came from, as n8n counts them.
    fn taken(&self, run: &RunRow) -> Option<u64> {
        let items = run.sources.iter().flatten().map(|source| {
            let outputs = self.outputs.get(&(source.node.clone(), source.run))?;
            outputs.get(usize::try_from(source.output).ok()?).copied()
        });
        self.is_whole.then(|| items.map(Option::unwrap_or_default).sum())
    }
}

/// When a run began and ended, milliseconds since 1970.
fn times(run: &RunRow) -> (Option<f64>, Option<f64>) {
    (run.start, run.start.map(|start| start + run.ms as f64))
}

fn milliseconds(date: Option<&str>) -> Option<f64> {
    let date: Timestamp = date?.parse().ok()?;
    Some(date.as_millisecond() as f64)
}

/// Writes the spans of an execution; `is_line`: in lines of its own. Runs that a retry has copied are spans of the execution that it
/// retries.
pub(super) fn spans(out: &mut Out, listed: &Listed, mut view: ExecutionRuns, is_line: bool) -> io::Result<()> {
    let runs = Runs::of(&mut view)?;
    let row = &listed.row;
    let (start, stop) = (milliseconds(row.started_at()).or(runs.first), milliseconds(row.stopped_at()).or(runs.last));
    // It never began.
    let Some(start) = start else { return Ok(()) };
    let trace_id = trace(row.workflow_id(), row.id());
    let root = workflow_span(&trace_id);
    let stop = stop.unwrap_or(start).max(start);
    let mut write = |span: &Span<'_>| out.element(span, BEGIN, END, REQUEST);
    // The status of a single bundle is not known.
    let failed = row.status().map_or(view.error.is_some(), is_failure);
    write(&Span {
        trace_id: &trace_id,
        span_id: root.clone(),
        parent_span_id: None,
        name: "workflow.execute",
        kind: json::INTERNAL,
        start_time_unix_nano: nanoseconds(start),
        end_time_unix_nano: nanoseconds(stop),
        attributes: attributes::of_execution(listed, &view, failed),
        events: view
            .error
            .as_ref()
            .filter(|_| failed)
            .map(|error| Event::of_failure(error, stop))
            .into_iter()
            .collect(),
        links: links(listed, &view),
        status: Status::of(failed),
    })?;
    let ExecutionRuns { nodes, rows, .. } = &mut view;
    rows.each(|name, run| {
        let (Some(from), Some(to)) = times(&run) else { return Ok(()) };
        if run.copied {
            return Ok(());
        }
        let node = nodes.get(name);
        let is_call = run.is_call() || (run.outputs.is_empty() && node.is_some_and(|node| node.serves));
        let agent = run.sources.first().and_then(Option::as_ref).filter(|_| is_call);
        let parent = agent.filter(|agent| runs.outputs.contains_key(&(agent.node.clone(), agent.run)));
        write(&Span {
            trace_id: &trace_id,
            span_id: node_span(&trace_id, name, run.run),
            parent_span_id: Some(parent.map_or_else(|| root.clone(), |of| node_span(&trace_id, &of.node, of.run))),
            name: "node.execute",
            kind: json::INTERNAL,
            start_time_unix_nano: nanoseconds(from),
            end_time_unix_nano: nanoseconds(to),
            attributes: attributes::of_run(name, node, &run, if is_call { Some(0) } else { runs.taken(&run) }),
            events: run.error.as_ref().map(|error| Event::of_run_error(error, to)).into_iter().collect(),
            links: Vec::new(),
            status: Status::of(is_failure(&run.status)),
        })
    })?;
    if is_line { out.flush() } else { Ok(()) }
}

/// The executions that this one belongs to: the one that started it, and the one that it retries.
fn links(listed: &Listed, view: &ExecutionRuns) -> Vec<Link> {
    let row = &listed.row;
    let parent = view.parent.as_ref().and_then(|parent| parent.workflow_id.as_deref().zip(parent.id.as_deref()));
    let retried = row.retry_of().map(|id| (row.workflow_id(), id));
    let ids = parent.into_iter().chain(retried).map(|(workflow, id)| trace(workflow, id));
    ids.map(|trace_id| Link { span_id: workflow_span(&trace_id), trace_id }).collect()
}
