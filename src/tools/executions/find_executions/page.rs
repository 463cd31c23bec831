//! A page of a search, as the cursor encodes it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FindExecutions;
use crate::execution::search::{Condition, Operand, PathEnd, SearchProjection, ValueQuery};
use crate::n8n::{ListCursor, ListQuery};
use crate::store::Query;
use crate::toolkit::{ArgumentError, Kind, ScalarOrPath, Words, cursor};
use crate::tools::Error;
use crate::tools::executions::asked_value::{pattern, scalar};
use crate::tools::executions::list_executions::Status;

/// The question, and where it continues.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FindPage {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The value of a condition, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    equals: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_before: Option<String>,
    pub(super) limit: u64,
    /// The id of the last execution that was visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl FindPage {
    pub(super) fn new(asked: FindExecutions) -> Result<Self, Error> {
        if let Some(cursor) = &asked.cursor {
            return match cursor::decode::<Self>(cursor)? {
                page if page.is_of_a_cursor() => Ok(page),
                _ => Err(cursor::refused().into()),
            };
        }
        let page = Self {
            equals: json("equals", asked.equals)?,
            above: json("above", asked.above)?,
            below: json("below", asked.below)?,
            text: asked.text,
            path: asked.path,
            node_name: asked.node_name,
            workflow_id: asked.workflow_id,
            status: status(asked.status)?,
            started_after: asked.started_after,
            started_before: asked.started_before,
            limit: asked.limit,
            after: None,
        };
        page.check()?;
        Ok(page)
    }

    /// Whether a cursor of this tool encodes it.
    fn is_of_a_cursor(&self) -> bool {
        let is_id = |after: &String| after.parse::<i64>().is_ok();
        cursor::LIMITS.contains(&self.limit) && self.is_complete() && self.after.as_ref().is_none_or(is_id)
    }

    /// Whether it says what to search for: the cursor of another tool does not.
    fn is_complete(&self) -> bool {
        self.text.is_some() || self.path.is_some() || self.equals.is_some()
    }

    fn check(&self) -> Result<(), Error> {
        let conditions = [&self.equals, &self.above, &self.below].into_iter().flatten().count();
        if conditions > 1 {
            return Err(Error::arguments("Pass only one of equals, above, below."));
        }
        if self.path.is_none() && (self.above.is_some() || self.below.is_some()) {
            return Err(Error::arguments("'above' and 'below' need 'path'."));
        }
        if !self.is_complete() {
            return Err(Error::argument("text", "or 'path' is missing: say which value to find."));
        }
        Ok(())
    }

    /// How each execution is searched.
    pub(super) fn search(&self, redacts: bool) -> Result<SearchProjection, Error> {
        let operand = |json: &Option<String>| {
            let value: Option<Value> = json.as_deref().and_then(|json| serde_json::from_str(json).ok());
            value.as_ref().map(|value| Operand::Scalar(scalar(value)))
        };
        let equals = operand(&self.equals).map(Condition::Equals);
        let bound =
            || operand(&self.above).map(Condition::Above).or_else(|| operand(&self.below).map(Condition::Below));
        let query = ValueQuery {
            text: self.text.as_deref().map(pattern).transpose()?,
            path: self.path.as_deref().map(PathEnd::new),
            condition: equals.or_else(bound),
            ..ValueQuery::default()
        };
        Ok(SearchProjection { query, node: self.node_name.clone(), output: None, limit: 1, redacts })
    }

    /// The executions that are searched.
    pub(super) fn query(&self) -> Query {
        Query {
            workflow_id: self.workflow_id.clone(),
            status: self.status.clone(),
            started_after: self.started_after.clone(),
            started_before: self.started_before.clone(),
            below: self.after.as_ref().and_then(|id| id.parse().ok()),
            ..Query::default()
        }
    }

    /// The same, as n8n's API lists them.
    pub(super) fn list_query(&self) -> ListQuery {
        ListQuery {
            workflow_id: self.workflow_id.clone(),
            status: self.status.clone(),
            started_after: self.started_after.clone(),
            started_before: self.started_before.clone(),
            cursor: self.after.clone().map(ListCursor::After),
            ..ListQuery::default()
        }
    }

    /// The cursor of the next page, after this execution.
    pub(super) fn continued(&self, after: &str) -> String {
        cursor::encode(&Self { after: Some(after.to_owned()), ..self.clone() })
    }

    /// The arguments that find the value in one of these executions.
    pub(super) fn of_search(&self) -> String {
        let quoted = |value: &String| Value::from(value.as_str()).to_string();
        let texts = [("text", &self.text), ("path", &self.path), ("nodeName", &self.node_name)];
        let texts = texts.into_iter().filter_map(|(name, value)| Some((name, quoted(value.as_ref()?))));
        let values = [("equals", &self.equals), ("above", &self.above), ("below", &self.below)];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        texts.chain(values).map(|(name, value)| format!(", {name}: {value}")).collect()
    }
}

/// A status that an execution can have; its words in the schema would cost every client tokens.
fn status(asked: Option<String>) -> Result<Option<String>, Error> {
    match asked {
        Some(word) if Status::named(&word).is_none() => {
            Err(ArgumentError::not_allowed("status", &Kind::Choice(Status::WORDS), &word.into()).into())
        }
        asked => Ok(asked),
    }
}

/// The value of a condition.
fn json(name: &'static str, operand: Option<ScalarOrPath>) -> Result<Option<String>, Error> {
    match operand {
        None => Ok(None),
        Some(ScalarOrPath::Scalar(value)) => Ok(Some(value.to_string())),
        Some(ScalarOrPath::Path(_)) => Err(Error::argument(
            name,
            "must be a string, a number or a boolean; search_execution compares with other values.",
        )),
    }
}
