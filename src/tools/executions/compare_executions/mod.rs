//! `compare_executions`: how an execution differs from another one, such as the last good one.

mod answer;

use std::sync::Arc;

use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, Read, execution};
use crate::blocking::blocking;
use crate::execution::compare::{Digest, DigestProjection, ValueDifference, first_places, first_values};
use crate::execution::recording::RecordingProjection;
use crate::execution::trace::ItemsProjection;
use crate::n8n::{ExecutionRequest, Progress};
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{Effect, Flag, Id, Locale, arguments};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "compare_executions",
    title: "Compare executions",
    description: "Show where two executions diverge: nodes, item counts, fields, workflow.",
    parameters: CompareExecutions::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<CompareExecutions>().shared(),
};

arguments! {
    struct CompareExecutions {
        id: Id = ID,
        with: Option<Id> = "Default: what it retries, or the last successful one.",
        values: Option<Flag> = "Also the first value that differs at each node.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

/// The request of a call.
#[derive(Clone, Copy, Debug)]
struct CompareRequest {
    /// How both executions are read.
    projection: DigestProjection,
    /// The token budget, not counting the source mark.
    max_tokens: usize,
    /// The language of the message.
    locale: Locale,
}

/// The two executions, each with the id that was requested, if it was requested by id.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    /// The execution that the caller asked about.
    this: (&'a Digest, Option<&'a str>),
    /// The execution that it is compared with.
    other: (&'a Digest, Option<&'a str>),
}

impl ToolCall for CompareExecutions {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let Self { id, with, values, max_tokens, ignore_data_size_limit } = self;
        let projection = DigestProjection { redacts: context.redact };
        let request = CompareRequest { projection, max_tokens: max_tokens - MARK_TOKENS, locale: context.locale };
        let this = execution(id, ignore_data_size_limit);
        let source = context.executions();
        check_ids(&this.id, with.as_deref())?;
        if with.is_none() && source.is_saved(&this.id) {
            return Err(Error::arguments(NEEDS_OTHER));
        }
        let Read { view, origin } = source.read(&this, &request.projection, &progress).await?;
        let digest = view?;
        let read = async |id: String| {
            let other = ExecutionRequest { id, ..this.clone() };
            let view = source.read(&other, &request.projection, &progress).await?.view?;
            Ok::<_, Error>((other, view))
        };
        let retried = match &digest.header.retry_of {
            // The execution that it retries may have been deleted.
            Some(retried) if with.is_none() => read(retried.clone()).await.ok(),
            _ => None,
        };
        let (other, with) = match (retried, with) {
            (Some(retried), _) => retried,
            (None, Some(with)) => read(with).await?,
            (None, None) => read(source.last_success_before(&this.id, &digest.header, origin).await?).await?,
        };
        let ids = (source.own_id(&this.id), source.own_id(&other.id));
        let values = match values {
            Some(true) => values_of(&context, [&this, &other], &progress).await?,
            _ => Vec::new(),
        };
        // Counting tokens takes time: keep it off the download thread.
        blocking(move || {
            let pair = Pair { this: (&digest, ids.0.as_deref()), other: (&with, ids.1.as_deref()) };
            Ok(origin.mark(answer::compose(pair, values, &request)))
        })
        .await
    }
}

/// The first value of each node that differs.
async fn values_of(
    context: &Context,
    [this, other]: [&ExecutionRequest; 2],
    progress: &Progress,
) -> Result<Vec<ValueDifference>, Error> {
    let source = context.executions();
    let hashes = RecordingProjection::of_values();
    let one = source.read(this, &hashes, progress).await?.view?;
    let another = source.read(other, &hashes, progress).await?.view?;
    let places = first_places(&one, &another, Some);
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let [here, there] = [0, 1].map(|side| {
        let places = places.iter().map(|place| place[side].clone()).collect();
        ItemsProjection { places, redacts: context.redact }
    });
    let here = source.read(this, &here, progress).await?.view?;
    let there = source.read(other, &there, progress).await?.view?;
    Ok(first_values(&places, &here, &there))
}

/// The refusal of a saved execution with nothing to compare it with.
const NEEDS_OTHER: &str = "A file does not say which execution was the last successful one: pass the other execution, an id \
                           or a file, as the second argument.";

/// Refuses to compare an execution with itself.
///
/// # Errors
/// Both ids are the same.
fn check_ids(id: &str, with: Option<&str>) -> Result<(), Error> {
    if with == Some(id) {
        let problem = format!("is the same execution, '{id}': pass another one, or leave it out.");
        return Err(Error::argument("with", problem));
    }
    Ok(())
}
