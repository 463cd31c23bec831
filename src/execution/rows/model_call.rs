//! What a sub-node of an AI agent records about a call of its language model
//! (`packages/@n8n/ai-utilities/src/utils/n8n-llm-tracing.ts`; seen on n8n 2.41).
//!
//! ```text
//! input:  {json: {options: {model}}}
//! output: {json: {tokenUsage: {promptTokens, completionTokens}, response: {generations: [[{generationInfo: {finish_reason}}]]}}}
//! ```

use std::io::Read;

use serde::{Deserialize, Serialize};

use crate::json::{Cursor, Keep, Members, ReadError, member, members};

/// Names of models and reasons to finish are never longer; anything longer is cut.
const NAME_CHARS: usize = 200;

/// The type of the connection that a language model serves.
pub(super) const CONNECTION: &str = "ai_languageModel";

/// A call of a language model, without what n8n only estimates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The model that was asked for.
    pub model: Option<String>,
    /// Tokens of the prompt, as the model's service counted them.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Why the answer ended.
    pub finish_reason: Option<String>,
}

impl ModelCall {
    /// Adds what an item of the input says.
    pub(super) fn add_input(&mut self, item: &[u8]) -> Result<(), ReadError> {
        let read = |cursor: &mut Cursor<_>| member(cursor, "options", Options::read_or_default);
        let options = member(&mut Cursor::unpruned(item), "json", read)?;
        self.model = options.model.or(self.model.take());
        Ok(())
    }

    /// Adds what an item of the output says.
    pub(super) fn add_output(&mut self, item: &[u8]) -> Result<(), ReadError> {
        let answer = member(&mut Cursor::unpruned(item), "json", Answer::read_or_default)?;
        self.input_tokens = answer.usage.input;
        self.output_tokens = answer.usage.output;
        self.finish_reason = answer.finish_reason;
        Ok(())
    }
}

#[derive(Default)]
struct Options {
    model: Option<String>,
}

members!(Options, |options, cursor| match name {
    ("model", Keep::Whole) => options.model = cursor.text(NAME_CHARS)?,
    ("modelName", Keep::Whole) => options.model = options.model.take().or(cursor.text(NAME_CHARS)?),
    ("model_name", Keep::Whole) => options.model = options.model.take().or(cursor.text(NAME_CHARS)?),
});

#[derive(Default)]
struct Answer {
    usage: Usage,
    finish_reason: Option<String>,
}

members!(Answer, |answer, cursor| match name {
    ("tokenUsage", Keep::Whole) => answer.usage = Usage::read_or_default(cursor)?,
    ("response", Keep::Whole) => answer.finish_reason = member(cursor, "generations", read_finish_reason)?,
});

#[derive(Default)]
struct Usage {
    input: Option<u64>,
    output: Option<u64>,
}

members!(Usage, |usage, cursor| match name {
    ("promptTokens", Keep::Whole) => usage.input = cursor.number()?,
    ("completionTokens", Keep::Whole) => usage.output = cursor.number()?,
});

/// The reason of the first of the `generations`, which are lists of lists.
fn read_finish_reason<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<String>, ReadError> {
    let mut reason = None;
    cursor.array(|cursor, _| {
        cursor.array(|cursor, _| {
            let read = |cursor: &mut Cursor<R>| member(cursor, "finish_reason", |cursor| cursor.text(NAME_CHARS));
            let found = member(cursor, "generationInfo", read)?;
            reason = reason.take().or(found);
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(reason)
}
