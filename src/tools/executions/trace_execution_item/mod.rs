//! `trace_execution_item`: traces where an item came from, and where it went.

mod answer;

use std::sync::Arc;

use super::not_found::{check_node, from_0, no_run};
use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, Read, execution};
use crate::blocking::blocking;
use crate::execution::trace::{Absent, Direction, ItemsProjection, ItemsView, LineageProjection, Place, Trace};
use crate::execution::{self, StoredProjection};
use crate::json::{CUT_NAME_CHARS, Projection, quoted_name};
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Choice, Effect, Flag, Id, Index, Locale, Text, arguments, words};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};
use crate::units::counted;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "trace_execution_item",
    title: "Trace an item",
    description: "Trace an output item back to its sources, and what each node changed.",
    parameters: TraceExecutionItem::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<TraceExecutionItem>().shared(),
};

arguments! {
    struct TraceExecutionItem {
        id: Id = ID,
        node_name: Text = "Its node.",
        item: Index = "Its index.",
        run_index: Option<Index> = "Default: 0.",
        output_index: Option<Index> = "Default: 0.",
        direction: Option<Choice<Direction>> = "Default: back.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

words!(Direction { Back = "back", Forward = "forward", Both = "both" });

/// The request of a call.
#[derive(Clone, Debug)]
struct TraceRequest {
    /// The item.
    start: Place,
    /// Which way to trace.
    direction: Direction,
    /// Whether values of known secret keys in items are masked.
    redacts: bool,
    /// The token budget, not counting the source mark.
    max_tokens: usize,
    /// The language of the message.
    locale: Locale,
}

impl TraceRequest {
    /// The projection of the first pass: the steps.
    fn steps(&self) -> impl StoredProjection<View = Result<Trace, execution::Error>> + use<> {
        let (start, direction) = (self.start.clone(), self.direction);
        // On the thread that reads, so that the lineage is dropped early.
        LineageProjection.map(move |view| view.map(|view| Trace::new(view, &start, direction)))
    }

    /// The projection of the second pass, if there is something to show: the items.
    fn items(&self, trace: &Trace) -> Option<ItemsProjection> {
        let places = trace.places();
        (!places.is_empty()).then(|| ItemsProjection { places: places.into(), redacts: self.redacts })
    }
}

impl ToolCall for TraceExecutionItem {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let execution = execution(self.id, self.ignore_data_size_limit);
        let request = TraceRequest {
            start: Place {
                node: self.node_name,
                run: self.run_index.unwrap_or(0),
                output: self.output_index.unwrap_or(0),
                item: self.item,
            },
            direction: self.direction.unwrap_or(Direction::Back),
            redacts: context.redact,
            max_tokens: self.max_tokens - MARK_TOKENS,
            locale: context.locale,
        };
        let source = context.executions();
        let Read { view, origin } = source.read(&execution, &request.steps(), &progress).await?;
        let trace = view?;
        let items = match request.items(&trace) {
            Some(_) if source.is_read_once(&execution.id) => None,
            Some(projection) => Some(source.read(&execution, &projection, &progress).await?.view?),
            None => Some(ItemsView::new()),
        };
        let id = source.own_id(&execution.id);
        // Counting tokens takes time: keep it off the download thread.
        blocking(move || Ok(origin.mark(answer(&trace, items.as_ref(), id.as_deref(), &request)?))).await
    }
}

/// The answer as it is sent; without items, only the steps. `id` is the requested id, if the execution was requested by id.
///
/// # Errors
/// The execution does not have the item.
fn answer(trace: &Trace, items: Option<&ItemsView>, id: Option<&str>, request: &TraceRequest) -> Result<String, Error> {
    check_node(&request.start.node, &trace.names, &trace.header, id)?;
    match &trace.route {
        Ok(route) => Ok(answer::compose(trace, route, items, request)),
        Err(absent) => Err(Error::FailedPrecondition(refusal(*absent, &request.start, trace, id))),
    }
}

/// Why there is no such item, and which ones exist.
fn refusal(absent: Absent, start: &Place, trace: &Trace, id: Option<&str>) -> String {
    let id = trace.header.id.as_deref().or(id).unwrap_or("?");
    let node = format!("Node {}", quoted_name(&start.node, CUT_NAME_CHARS));
    let Place { run, output, item, .. } = start;
    match absent {
        Absent::Node => format!("{node} is not the only one with this name in execution '{id}': pass its full name."),
        Absent::Run(runs) => no_run(&start.node, runs, *run, id),
        Absent::Output(0) => {
            format!("{node} has no output in run {run}: look at its error with get_execution_by_node.")
        }
        Absent::Output(outputs) => {
            format!(
                "{node} has {} in run {run}: outputIndex {output} must be {}.",
                counted(outputs, "output", "outputs"),
                from_0(outputs - 1)
            )
        }
        Absent::Item(0) => format!("{node} has no items at output {output} of run {run}."),
        Absent::Item(items) => {
            format!(
                "{node} has {} at output {output} of run {run}: item {item} must be {}.",
                counted(items, "item", "items"),
                from_0(items - 1)
            )
        }
        Absent::NotHeld => {
            format!(
                "{node}, run {run}: the lineage of execution '{id}' is too large to be held so far. Trace an item of an earlier node."
            )
        }
    }
}
