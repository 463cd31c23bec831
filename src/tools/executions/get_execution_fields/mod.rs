//! `get_execution_fields`: the fields that all items have, and the outliers among their values.

mod answer;

use std::sync::Arc;

use super::not_found::{check_node, no_run};
use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::fields::{FieldsProjection, FieldsView};
use crate::execution::search::PathEnd;
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Effect, Flag, Id, Index, Locale, Text, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_execution_fields",
    title: "Show the fields of an execution",
    description: "Show what a node's output items look like: each path with types, ranges, values and the first outlier; \
                  with `by`, for each value of another path. Without `nodeName`: what divides the items of all nodes.",
    parameters: GetExecutionFields::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<GetExecutionFields>().shared(),
};

arguments! {
    struct GetExecutionFields {
        id: Id = ID,
        node_name: Option<Text> = "Only this node.",
        run_index: Option<Index> = "Only this run.",
        output_index: Option<Index> = "Only this output.",
        path: Option<Text> = "Only below this path.",
        by: Option<Text> = "With `path`: one row for each value of this path of the same item.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

/// The request of a call.
#[derive(Clone, Debug)]
pub struct FieldsRequest {
    /// Which items and paths.
    pub projection: FieldsProjection,
    /// The token budget, not counting the source mark.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

impl ToolCall for GetExecutionFields {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        if self.by.is_some() && (self.node_name.is_none() || self.path.is_none()) {
            return Err(Error::argument(
                "by",
                "needs 'nodeName' and 'path': it shows the values of 'path' for each value of 'by'.",
            ));
        }
        let path = |path: String| PathEnd::new(&path).as_str().to_owned();
        let execution = execution(self.id, self.ignore_data_size_limit);
        let request = FieldsRequest {
            projection: FieldsProjection {
                node: self.node_name,
                run: self.run_index,
                output: self.output_index,
                below: self.path.map(path),
                by: self.by.map(path),
                redacts: context.redact,
            },
            max_tokens: self.max_tokens - MARK_TOKENS,
            locale: context.locale,
        };
        let projection = request.projection.clone();
        let compose = move |view, id: Option<&str>| answer(&view, id, &request);
        context.executions().answer(&execution, projection, &progress, compose).await
    }
}

/// The answer as it is sent. `id` is the requested id, if the execution was requested by id.
///
/// # Errors
/// The execution does not have the node, or the node does not have the run.
pub fn answer(view: &FieldsView, id: Option<&str>, request: &FieldsRequest) -> Result<String, Error> {
    if let Some(node) = &request.projection.node {
        check_node(node, &view.names, &view.header, id)?;
        check_run(view, id, request.projection.run)?;
    }
    Ok(answer::compose(view, request))
}

fn check_run(view: &FieldsView, id: Option<&str>, requested: Option<u64>) -> Result<(), Error> {
    let (Some(run), Some(node)) = (requested.filter(|run| *run >= view.runs), &view.node) else { return Ok(()) };
    let id = view.header.id.as_deref().or(id).unwrap_or("?");
    Err(Error::FailedPrecondition(no_run(node, view.runs, run, id)))
}
