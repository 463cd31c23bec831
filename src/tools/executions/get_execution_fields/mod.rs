//! `get_execution_fields`: what all items look like, and which value is odd.

mod composer;

use std::sync::Arc;

use super::not_found::{check_node, no_run};
use super::{IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::fields::{FieldsProjection, FieldsView};
use crate::execution::search::PathEnd;
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS_PARAMETER, brief_tokens};
use crate::toolkit::{Arguments, Effect, Kind, Locale, Parameter};
use crate::tools::{Call, Context, Error, Handler, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_execution_fields",
    title: "Show the fields of an execution",
    description: "Show what a node's output items look like: each path with types, ranges, values, and the first odd \
                  one. Without `nodeName`: the odd values of all nodes.",
    parameters: &[
        Parameter::required("id", Kind::Id, "The execution's id."),
        Parameter::optional("nodeName", Kind::Text, "Only this node."),
        Parameter::optional("runIndex", Kind::Integer { range: 0..=u64::MAX, default: None }, "Only this run."),
        Parameter::optional("outputIndex", Kind::Integer { range: 0..=u64::MAX, default: None }, "Only this output."),
        Parameter::optional("path", Kind::Text, "Only below this path."),
        BRIEF_TOKENS_PARAMETER,
        IGNORE_SIZE_LIMIT_AGAIN,
    ],
    effect: Effect::Read,
    handler: Handler::new(call).shared(),
};

/// What a call asks.
#[derive(Clone, Debug)]
pub struct FieldsRequest {
    /// Which items and paths.
    pub projection: FieldsProjection,
    /// The budget, tokens, without room for the mark of the source.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

impl FieldsRequest {
    /// Reads the checked arguments of a call.
    pub fn new(arguments: &Arguments, redacts: bool, locale: Locale) -> Self {
        Self {
            projection: FieldsProjection {
                node: arguments.text("nodeName"),
                run: arguments.integer("runIndex"),
                output: arguments.integer("outputIndex"),
                below: arguments.text("path").map(|path| PathEnd::new(&path).as_str().to_owned()),
                redacts,
            },
            max_tokens: brief_tokens(arguments) - MARK_TOKENS,
            locale,
        }
    }
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let request = FieldsRequest::new(&arguments, context.redact, context.locale);
        let execution = execution(&arguments);
        let source = context.executions();
        let id = source.own_id(&execution.id);
        let projection = request.projection.clone();
        let compose = move |view| answer(&view, id.as_deref(), &request);
        source.answer(&execution, projection, &progress, compose).await
    })
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
    Ok(composer::compose(view, request))
}

fn check_run(view: &FieldsView, id: Option<&str>, requested: Option<u64>) -> Result<(), Error> {
    let (Some(run), Some(node)) = (requested.filter(|run| *run >= view.runs), &view.node) else { return Ok(()) };
    let id = view.header.id.as_deref().or(id).unwrap_or("?");
    Err(Error::FailedPrecondition(no_run(node, view.runs, run, id)))
}
