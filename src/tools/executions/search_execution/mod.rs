//! `search_execution`: finds where a value occurs in an execution.

mod answer;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::asked_value::{pattern, scalar};
use super::not_found::check_node;
use super::{ID, IGNORE_SIZE_LIMIT_AGAIN, MARK_TOKENS, execution};
use crate::execution::search::{
    Also, Condition, Operand, PathEnd, SearchProjection, SearchView, TextPattern, ValueKind, ValueQuery,
};
use crate::n8n::Progress;
use crate::toolkit::answer::{BRIEF_TOKENS, FEW_TOKENS, Tokens};
use crate::toolkit::{
    self, Arguments, Choice, Effect, Flag, FromArguments, Id, Index, IntegerOr, Locale, ScalarOrPath, Switch, Text,
    arguments, words,
};
use crate::tools::{Context, Error, Handler, Tool, ToolCall};

/// The most hits of an answer.
const MAX_HITS: u64 = 100;

/// The tool.
pub static TOOL: Tool = Tool {
    name: "search_execution",
    title: "Search an execution",
    description: "Find where a value occurs in output items, errors and calls of AI sub-nodes: counts per node, first \
                  hits. Pass `text`, `path` or both, and at most one condition; `path` alone lists values.",
    parameters: SearchExecution::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::of::<SearchExecution>().shared(),
};

arguments! {
    struct SearchExecution {
        id: Id = ID,
        text: Option<Text> = "Part of a string, or a whole number or literal; only capitals make case matter.",
        regex: Switch = "text is a regex.",
        path: Option<Text> = "End of its path: lines[].taxRate.",
        is: Option<Choice<ValueKind>> = "missing: items without `path`.",
        equals: Option<toolkit::Operand> = "This value, or {\"path\": …} of the same item.",
        not_equals: Option<toolkit::Operand> = "Another value.",
        above: Option<toolkit::Operand> = "More than a number, date or {\"path\": …}.",
        below: Option<toolkit::Operand> = "Less.",
        r#as: Option<Choice<Reading>> = "Read strings as numbers.",
        r#where: Option<toolkit::Object> = "{path, one condition} of another value of the item.",
        node_name: Option<Text> = "Only this node.",
        output_index: Option<Index> = "Only this output.",
        limit: IntegerOr<20, 0, MAX_HITS> = "Hits to list; 0 only counts.",
        max_tokens: Tokens<BRIEF_TOKENS> = FEW_TOKENS,
        ignore_data_size_limit: Option<Flag> = IGNORE_SIZE_LIMIT_AGAIN,
    }
}

/// How strings are read.
#[derive(Clone, Copy, Debug)]
enum Reading {
    Number,
}

words!(Reading { Number = "number" });

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

/// The request of a call.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Which values.
    pub projection: SearchProjection,
    /// The token budget, not counting the source mark.
    pub max_tokens: usize,
    /// The language of the message.
    pub locale: Locale,
}

impl ToolCall for SearchExecution {
    async fn run(self, context: Arc<Context>, progress: Progress) -> Result<String, Error> {
        let query = self.query()?;
        let execution = execution(self.id, self.ignore_data_size_limit);
        let (node, output, limit) = (self.node_name, self.output_index, self.limit as usize);
        let request = SearchRequest {
            projection: SearchProjection { query, node, output, limit, redacts: context.redact },
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
/// The execution does not have the node.
pub fn answer(view: &SearchView, id: Option<&str>, request: &SearchRequest) -> Result<String, Error> {
    if let Some(node) = &request.projection.node {
        check_node(node, &view.names, &view.header, id)?;
    }
    Ok(answer::compose(view, request))
}

impl SearchExecution {
    /// What the arguments require of a value.
    ///
    /// # Errors
    /// They do not say what to search for, contradict each other, or have an invalid regular expression.
    fn query(&self) -> Result<ValueQuery, Error> {
        let path = self.path.as_deref().map(PathEnd::new);
        let also = match &self.r#where {
            Some(members) => Some(Where::of(members.clone())?.also()?),
            None => None,
        };
        let (text, condition) = (self.pattern()?, self.conditions().only()?);
        let query = ValueQuery { text, path, condition, as_numbers: self.r#as.is_some(), also };
        let is_missing = query.condition == Some(Condition::Is(ValueKind::Missing));
        match (&query.text, &query.path) {
            (None, None) => Err(Error::argument("text", "or 'path' is missing: say which value to search.")),
            (Some(_), _) if is_missing => {
                Err(Error::arguments("A missing value has no text: search for it by its path alone."))
            }
            (_, None) if is_missing => {
                Err(Error::arguments("A missing value is found by its path: name the path, too."))
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
            (Some(text), false) => pattern(text).map(Some),
        }
    }

    fn conditions(&self) -> Conditions<'_> {
        let [equals, not_equals, above, below] = [&self.equals, &self.not_equals, &self.above, &self.below];
        Conditions { is: self.is, equals, not_equals, above, below }
    }
}

arguments! {
    /// The condition of `where` on another value of the same item.
    struct Where {
        path: Text = "The end of its path.",
        is: Option<Choice<ValueKind>> = "Its kind.",
        equals: Option<toolkit::Operand> = "Only this value.",
        not_equals: Option<toolkit::Operand> = "Only others.",
        above: Option<toolkit::Operand> = "Only above this.",
        below: Option<toolkit::Operand> = "Only below this.",
    }
}

impl Where {
    fn of(members: Map<String, Value>) -> Result<Self, Error> {
        let read = Arguments::check(Self::PARAMETERS, &[], members).and_then(Self::read);
        read.map_err(|why| why.inside("where").into())
    }

    fn also(self) -> Result<Also, Error> {
        let [equals, not_equals, above, below] = [&self.equals, &self.not_equals, &self.above, &self.below];
        let condition = Conditions { is: self.is, equals, not_equals, above, below }.only()?;
        if condition == Some(Condition::Is(ValueKind::Missing)) {
            return Err(Error::argument(
                "where",
                "cannot say 'is: missing': search for the missing value, and say in 'where' what is there.",
            ));
        }
        Ok(Also { path: PathEnd::new(&self.path), condition })
    }
}

/// The conditions of a call.
struct Conditions<'c> {
    is: Option<ValueKind>,
    equals: &'c Option<ScalarOrPath>,
    not_equals: &'c Option<ScalarOrPath>,
    above: &'c Option<ScalarOrPath>,
    below: &'c Option<ScalarOrPath>,
}

impl Conditions<'_> {
    /// The only condition, if any.
    ///
    /// # Errors
    /// There are several.
    fn only(&self) -> Result<Option<Condition>, Error> {
        let of = |operand: &Option<ScalarOrPath>, condition: fn(Operand) -> Condition| {
            operand.as_ref().map(|it| condition(read(it)))
        };
        let mut conditions = [
            self.is.map(Condition::Is),
            of(self.equals, Condition::Equals),
            of(self.not_equals, Condition::NotEquals),
            of(self.above, Condition::Above),
            of(self.below, Condition::Below),
        ]
        .into_iter()
        .flatten();
        match (conditions.next(), conditions.next()) {
            (_, Some(_)) => Err(Error::arguments(
                "Pass only one of is, equals, notEquals, above, below; a second one goes into 'where'.",
            )),
            (condition, None) => Ok(condition),
        }
    }
}

fn read(operand: &ScalarOrPath) -> Operand {
    match operand {
        ScalarOrPath::Path(path) => Operand::Path(PathEnd::new(path)),
        ScalarOrPath::Scalar(value) => Operand::Scalar(scalar(value)),
    }
}
