//! `search_execution`: where in an execution a value occurs.

mod answer;

use std::sync::Arc;

use serde_json::Value;

use super::not_found::check_node;
use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::search::{
    Condition, PathEnd, Scalar, SearchProjection, SearchView, TextPattern, ValueKind, ValueQuery,
};
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{self, Choice, Effect, Flag, Id, IntegerOr, Locale, Number, Switch, Text, arguments, words};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The most hits of an answer.
const MAX_HITS: u64 = 100;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "search_execution",
    title: "Search an execution",
    description: "Find where a value occurs in output items and errors: counts per node, first hits. \
                  Pass `text`, `path` or both, and at most one condition; `path` alone lists values.",
    parameters: SearchExecution::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<SearchExecution>().shared(),
};

arguments! {
    struct SearchExecution {
        id: Id = ID,
        text: Option<Text> = "Part of a string, or a whole number or literal; smart case.",
        regex: Switch = "text is a regex.",
        path: Option<Text> = "End of its path: lines[].taxRate.",
        is: Option<Choice<ValueKind>> = "missing: items without `path`.",
        equals: Option<toolkit::Scalar> = "Only this value.",
        not_equals: Option<toolkit::Scalar> = "Only others.",
        above: Option<Number> = "Only numbers.",
        below: Option<Number> = "Only numbers.",
        node_name: Option<Text> = "Only this node.",
        limit: IntegerOr<20, 1, MAX_HITS> = "Hits to list.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

words!(ValueKind {
    Null = "null",
    Missing = "missing",
    Empty = "empty",
    String = "string",
    Number = "number",
    Boolean = "boolean",
    Array = "array",
    Object = "object",
});

/// What a call searches.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Which values.
    pub projection: SearchProjection,
    /// The budget, tokens, without room for the mark of the source.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

impl ToolCall for SearchExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let query = self.query()?;
        let execution = execution(self.id, self.ignore_data_size_limit);
        let (node, limit) = (self.node_name, self.limit as usize);
        let request = SearchRequest {
            projection: SearchProjection { query, node, limit, redacts: context.redact },
            max_tokens: self.max_tokens - MARK_TOKENS,
            locale: context.locale,
        };
        let source = context.executions();
        let id = source.own_id(&execution.id);
        let projection = request.projection.clone();
        let compose = move |view| answer(&view, id.as_deref(), &request);
        source.answer(&execution, projection, &progress, compose).await
    }
}

/// The answer as it is sent. `id` is the requested id, if the execution was requested by id.
///
/// # Errors
/// The execution does not have the node.
pub fn answer(view: &SearchView, id: Option<&str>, request: &SearchRequest) -> Result<String, Error> {
    if let Some(node) = &request.projection.node {
        check_node(node, &view.names, &view.header, id)?;
    }
    Ok(answer::compose(view, request))
}

impl SearchExecution {
    /// What the arguments ask of a value.
    ///
    /// # Errors
    /// They do not say what to search, contradict each other, or have an invalid regular expression.
    fn query(&self) -> Result<ValueQuery, Error> {
        let path = self.path.as_deref().map(PathEnd::new);
        let query = ValueQuery { text: self.pattern()?, path, condition: self.condition()? };
        let is_missing = query.condition == Some(Condition::Is(ValueKind::Missing));
        match (&query.text, &query.path) {
            (None, None) => Err(Error::argument("text", "or 'path' is missing: say which value to search.")),
            (Some(_), _) if is_missing => {
                Err(Error::arguments("'is: missing' finds items without 'path': leave out 'text'."))
            }
            (_, None) if is_missing => {
                Err(Error::arguments("'is: missing' finds items without 'path': pass 'path', too."))
            }
            _ => Ok(query),
        }
    }

    fn pattern(&self) -> Result<Option<TextPattern>, Error> {
        match (&self.text, self.regex) {
            (None, true) => Err(Error::arguments("'regex: true' needs 'text', the regular expression.")),
            (None, false) => Ok(None),
            (Some(text), true) => TextPattern::regex(text)
                .map(Some)
                .map_err(|why| Error::argument("text", format!("is not a valid regular expression: {why}."))),
            (Some(text), false) => TextPattern::literal(text)
                .map(Some)
                .map_err(|why| Error::argument("text", format!("cannot be searched: {why}. Search a part of it."))),
        }
    }

    fn condition(&self) -> Result<Option<Condition>, Error> {
        let mut conditions = [
            self.is.map(Condition::Is),
            self.equals.as_ref().and_then(scalar).map(Condition::Equals),
            self.not_equals.as_ref().and_then(scalar).map(Condition::NotEquals),
            self.above.map(Condition::Above),
            self.below.map(Condition::Below),
        ]
        .into_iter()
        .flatten();
        match (conditions.next(), conditions.next()) {
            (_, Some(_)) => Err(Error::arguments(
                "Pass only one of is, equals, notEquals, above, below; search again for another one.",
            )),
            (condition, None) => Ok(condition),
        }
    }
}

fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Number(number) => Some(Scalar::Number(number.to_string())),
        Value::Bool(boolean) => Some(Scalar::Boolean(*boolean)),
        _ => None,
    }
}
