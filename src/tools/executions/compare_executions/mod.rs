//! `compare_executions`: what is different from another execution, such as the last good one.

mod composer;

use std::sync::Arc;

use super::{IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, Read, execution};
use crate::blocking::blocking;
use crate::budget;
use crate::execution::compare::{Digest, DigestProjection};
use crate::n8n::{ExecutionRequest, Progress};
use crate::toolkit::answer::{BRIEF_TOKENS_PARAMETER, brief_tokens};
use crate::toolkit::{Arguments, Effect, Kind, Locale, Parameter};
use crate::tools::{Call, Context, Error, Handler, Tool};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "compare_executions",
    title: "Compare executions",
    description: "Show where an execution went apart from another one: nodes, item counts, fields, workflow.",
    parameters: &[
        Parameter::required("id", Kind::Id, "The execution's id."),
        Parameter::optional("with", Kind::Id, "Default: the last successful one before it."),
        BRIEF_TOKENS_PARAMETER,
        IGNORE_SIZE_LIMIT_AGAIN,
    ],
    effect: Effect::Read,
    handler: Handler::new(call).shared(),
};

/// What a call asks.
#[derive(Clone, Copy, Debug)]
pub struct CompareRequest {
    /// How both executions are read.
    pub projection: DigestProjection,
    /// The budget, tokens, without room for the mark of the source.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

impl CompareRequest {
    /// Reads the checked arguments of a call.
    pub fn new(arguments: &Arguments, redacts: bool, locale: Locale) -> Self {
        let max_tokens = brief_tokens(arguments) - MARK_TOKENS;
        Self { projection: DigestProjection { redacts }, max_tokens, locale }
    }
}

/// The two executions, each with the id that was requested, if it was requested by id.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The one that is asked about.
    pub this: (&'a Digest, Option<&'a str>),
    /// The one with which it is compared.
    pub other: (&'a Digest, Option<&'a str>),
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let request = CompareRequest::new(&arguments, context.redact, context.locale);
        let this = execution(&arguments);
        let with = arguments.text("with");
        let source = context.executions();
        check_ids(&this.id, with.as_deref())?;
        if with.is_none() && source.is_saved(&this.id) {
            return Err(Error::Argument(NEEDS_OTHER.to_owned()));
        }
        budget::preload();
        let Read { view, origin } = source.read(&this, &request.projection, &progress).await?;
        let digest = view?;
        let with = match with {
            Some(with) => with,
            None => source.last_success_before(&this.id, &digest.header, origin).await?,
        };
        let other = ExecutionRequest { id: with, ..this.clone() };
        let with = source.read(&other, &request.projection, &progress).await?.view?;
        let ids = (source.own_id(&this.id), source.own_id(&other.id));
        // Counting tokens takes time: not on the thread that downloads.
        blocking(move || {
            let pair = Pair { this: (&digest, ids.0.as_deref()), other: (&with, ids.1.as_deref()) };
            Ok(origin.mark(answer(pair, &request)))
        })
        .await
    })
}

/// The refusal of a saved execution without another one.
const NEEDS_OTHER: &str = "A file does not tell which execution was the last successful one: pass the other execution, an id \
                           or a file, as the second argument.";

/// Refuses to compare an execution with itself.
///
/// # Errors
/// Both ids are the same.
pub fn check_ids(id: &str, with: Option<&str>) -> Result<(), Error> {
    if with == Some(id) {
        let refusal = format!("Argument 'with' is the same execution, '{id}': pass another one, or leave it out.");
        return Err(Error::Argument(refusal));
    }
    Ok(())
}

/// The answer as it is sent.
pub fn answer(pair: Pair<'_>, request: &CompareRequest) -> String {
    composer::compose(pair, request)
}
