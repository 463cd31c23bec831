//! `search_execution`: where in an execution a value occurs.

mod composer;

use std::sync::Arc;

use serde_json::Value;

use super::not_found::check_node;
use super::{IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::search::{
    Condition, PathEnd, Scalar, SearchProjection, SearchView, TextPattern, ValueKind, ValueQuery,
};
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS_PARAMETER, brief_tokens};
use crate::toolkit::{Arguments, Effect, Kind, Locale, Parameter};
use crate::tools::{Call, Context, Error, Handler, Tool};

/// The most hits of an answer.
pub const MAX_HITS: u64 = 100;

/// The hits of an answer by default.
const DEFAULT_HITS: u64 = 20;

/// What `is` allows.
pub const KINDS: [&str; 8] = ["null", "missing", "empty", "string", "number", "boolean", "array", "object"];

/// The parameters that are conditions.
const CONDITIONS: [&str; 5] = ["is", "equals", "notEquals", "above", "below"];

/// The tool.
pub static TOOL: Tool = Tool {
    name: "search_execution",
    title: "Search an execution",
    description: "Find where a value occurs in output items and errors: counts per node, first hits. \
                  Pass `text`, `path` or both, and at most one condition; `path` alone lists values.",
    parameters: &[
        Parameter::required("id", Kind::Id, "The execution's id."),
        Parameter::optional("text", Kind::Text, "Part of a string, or a whole number or literal; smart case."),
        Parameter::optional("regex", Kind::FLAG, "text is a regex."),
        Parameter::optional("path", Kind::Text, "End of its path: lines[].taxRate."),
        Parameter::optional("is", Kind::Choice(&KINDS), "missing: items without `path`."),
        Parameter::optional("equals", Kind::Scalar, "Only this value."),
        Parameter::optional("notEquals", Kind::Scalar, "Only others."),
        Parameter::optional("above", Kind::Number, "Only numbers."),
        Parameter::optional("below", Kind::Number, "Only numbers."),
        Parameter::optional("nodeName", Kind::Text, "Only this node."),
        Parameter::optional(
            "limit",
            Kind::Integer { range: 1..=MAX_HITS, default: Some(DEFAULT_HITS) },
            "Hits to list.",
        ),
        BRIEF_TOKENS_PARAMETER,
        IGNORE_SIZE_LIMIT_AGAIN,
    ],
    effect: Effect::Read,
    handler: Handler::new(call).shared(),
};

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

impl SearchRequest {
    /// Reads the checked arguments of a call.
    ///
    /// # Errors
    /// When they do not say what to search, contradict each other, or have an invalid regular expression.
    pub fn new(arguments: &Arguments, redacts: bool, locale: Locale) -> Result<Self, Error> {
        Ok(Self {
            projection: SearchProjection {
                query: query(arguments)?,
                node: arguments.text("nodeName"),
                limit: arguments.integer("limit").unwrap_or(DEFAULT_HITS) as usize,
                redacts,
            },
            max_tokens: brief_tokens(arguments) - MARK_TOKENS,
            locale,
        })
    }
}

fn call(context: Arc<Context>, arguments: Arguments, progress: Progress) -> Call {
    Box::pin(async move {
        let request = SearchRequest::new(&arguments, context.redact, context.locale)?;
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
/// The execution does not have the node.
pub fn answer(view: &SearchView, id: Option<&str>, request: &SearchRequest) -> Result<String, Error> {
    if let Some(node) = &request.projection.node {
        check_node(node, &view.names, &view.header, id)?;
    }
    Ok(composer::compose(view, request))
}

/// What the arguments ask of a value.
fn query(arguments: &Arguments) -> Result<ValueQuery, Error> {
    let path = arguments.text("path").map(|path| PathEnd::new(&path));
    let query = ValueQuery { text: pattern(arguments)?, path, condition: condition(arguments)? };
    let is_missing = query.condition == Some(Condition::Is(ValueKind::Missing));
    let refusal = match (&query.text, &query.path) {
        (None, None) => "Argument 'text' or 'path' is missing: say which value to search.",
        (Some(_), _) if is_missing => "'is: missing' finds items without 'path': leave out 'text'.",
        (_, None) if is_missing => "'is: missing' finds items without 'path': pass 'path', too.",
        _ => return Ok(query),
    };
    Err(Error::Argument(refusal.to_owned()))
}

fn pattern(arguments: &Arguments) -> Result<Option<TextPattern>, Error> {
    let Some(text) = arguments.text("text") else {
        return match arguments.flag("regex") {
            true => Err(Error::Argument("'regex: true' needs 'text', the regular expression.".to_owned())),
            false => Ok(None),
        };
    };
    if arguments.flag("regex") {
        let invalid = |why| format!("Argument 'text' is not a valid regular expression: {why}.");
        return TextPattern::regex(&text).map(Some).map_err(|why| Error::Argument(invalid(why)));
    }
    TextPattern::literal(&text)
        .map(Some)
        .map_err(|why| Error::Argument(format!("Argument 'text' cannot be searched: {why}. Search a part of it.")))
}

fn condition(arguments: &Arguments) -> Result<Option<Condition>, Error> {
    if arguments.names(&CONDITIONS).nth(1).is_some() {
        let conditions = CONDITIONS.join(", ");
        return Err(Error::Argument(format!("Pass only one of {conditions}; search again for another one.")));
    }
    let kind = arguments.text("is").and_then(|word| ValueKind::named(&word)).map(Condition::Is);
    let scalar = |name| arguments.scalar(name).and_then(scalar);
    let above = arguments.amount("above").map(Condition::Above);
    let below = arguments.amount("below").map(Condition::Below);
    let equals = scalar("equals").map(Condition::Equals);
    Ok(kind.or(equals).or(scalar("notEquals").map(Condition::NotEquals)).or(above).or(below))
}

fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Number(number) => Some(Scalar::Number(number.to_string())),
        Value::Bool(boolean) => Some(Scalar::Boolean(*boolean)),
        _ => None,
    }
}
