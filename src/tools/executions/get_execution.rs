//! `get_execution`: what happened in an execution of any size, in at most 1,000 tokens.

use std::sync::Arc;

use super::{IGNORE_SIZE_LIMIT, execution, summary_answer};
use crate::execution::summary::SummaryProjection;
use crate::n8n::Progress;
use crate::toolkit::{Arguments, Effect, Kind, Parameter};
use crate::tools::{Call, Context, Handler, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_execution",
    title: "Summarize an execution",
    description: "Summarize an n8n execution of any size in at most 1,000 tokens: status, error, and each executed node \
                  with its item count, failed nodes first. Start here, then call get_execution_by_node for a node that \
                  looks wrong.",
    parameters: &[
        Parameter::required("id", Kind::Id, "The execution's id."),
        Parameter::optional(
            "offset",
            Kind::Integer { range: 0..=u64::MAX, default: Some(0) },
            "Skip this many of availableNodes; from nextOffset.",
        ),
        IGNORE_SIZE_LIMIT,
    ],
    effect: Effect::Read,
    handler: Handler::new(call).shared(),
};

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let execution = execution(&arguments);
        let (source, locale) = (context.executions(), context.locale);
        let id = source.own_id(&execution.id);
        let offset = arguments.integer("offset").unwrap_or(0);
        let compose = move |summary| Ok(summary_answer::compose(&summary, id.as_deref(), offset, locale));
        source.answer(&execution, SummaryProjection, &progress, compose).await
    })
}
