//! `get_execution_fields`: the fields that all items have, and the outliers among their values.

mod answer;

use std::sync::Arc;

use super::not_found::{check_node, no_run};
use super::{ExecutionRequest, ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, Source, execution};
use crate::execution::fields::{By, ByView, FieldsProjection, FieldsView};
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
        let execution = execution(self.id, self.ignore_data_size_limit);
        let request = |begin: &str| {
            let path = |path: &String| PathEnd::new(&format!("{begin}{path}")).as_str().to_owned();
            FieldsRequest {
                projection: FieldsProjection {
                    node: self.node_name.clone(),
                    run: self.run_index,
                    output: self.output_index,
                    below: self.path.as_ref().map(path),
                    by: self.by.as_ref().map(path),
                    redacts: context.redact,
                },
                max_tokens: self.max_tokens - MARK_TOKENS,
                locale: context.locale,
            }
        };
        let executions = context.executions();
        let (is_empty, answer) = ask(&executions, &execution, request(""), &progress).await?;
        // `json.id` usually means `id`, but items can also have a member with the name `json`.
        let begins_in_json = |path: &Option<String>| path.as_ref().is_some_and(|path| path.starts_with("json."));
        if is_empty
            && (begins_in_json(&self.path) || begins_in_json(&self.by))
            && !executions.is_read_once(&execution.id)
        {
            return Ok(ask(&executions, &execution, request("json."), &progress).await?.1);
        }
        Ok(answer)
    }
}

/// Whether no item has both paths.
fn lacks_a_path(by: &ByView) -> bool {
    by.rows.iter().all(|row| row.by == By::Missing || row.field.present == 0)
}

/// Whether the items have none of the requested paths, and the answer as it is sent.
async fn ask(
    executions: &Source,
    execution: &ExecutionRequest,
    request: FieldsRequest,
    progress: &Progress,
) -> Result<(bool, String), Error> {
    let projection = request.projection.clone();
    let compose = move |view: FieldsView, id: Option<&str>| {
        let is_empty = view.fields.is_empty() && view.by.as_ref().is_none_or(lacks_a_path);
        Ok((is_empty, answer(&view, id, &request)?))
    };
    executions.answer_and(execution, projection, progress, compose).await
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
