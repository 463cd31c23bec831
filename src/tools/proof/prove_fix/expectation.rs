//! What the changed workflow is expected to return, beyond not failing.

use serde::Deserialize;
use serde_json::Value;

use crate::execution::recording::Recording;
use crate::execution::search::{Condition, Operand, PathEnd, Scalar, SearchProjection, ValueQuery};
use crate::tools::Error;

/// The most expectations of a call.
const MAX: usize = 5;

/// The argument that contains them.
const ARGUMENT: &str = "expect";

/// Values that should occur, or should not.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Expectation {
    /// In the items of this node, as the changed workflow calls it.
    pub node_name: String,
    /// At this path, or one that ends with it.
    path: Option<String>,
    equals: Value,
    hits: Hits,
}

/// How often the values should occur.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Hits {
    None,
    Some,
}

impl Expectation {
    /// Reads the argument.
    pub(super) fn all(given: Vec<Value>) -> Result<Vec<Self>, Error> {
        if given.len() > MAX {
            return Err(Error::argument(ARGUMENT, format!("must have at most {MAX} elements.")));
        }
        let read = |one: Value| {
            let expectation: Self = serde_json::from_value(one).map_err(|error| {
                Error::argument(ARGUMENT, format!("must be {{nodeName, path, equals, hits: none|some}}: {error}."))
            })?;
            expectation.scalar()?;
            Ok(expectation)
        };
        given.into_iter().map(read).collect()
    }

    fn scalar(&self) -> Result<Scalar, Error> {
        match &self.equals {
            Value::String(text) => Ok(Scalar::Text(text.clone())),
            Value::Number(number) => Ok(Scalar::Number(number.to_string())),
            Value::Bool(bool) => Ok(Scalar::Boolean(*bool)),
            _ => Err(Error::argument(ARGUMENT, "equals must be a text, a number, true or false.")),
        }
    }

    /// Counts the values, in the items of the node that has this name; there may be none.
    pub(super) fn search(&self, node: Option<&str>) -> Result<Option<SearchProjection>, Error> {
        let query = ValueQuery {
            path: self.path.as_deref().map(PathEnd::new),
            condition: Some(Condition::Equals(Operand::Scalar(self.scalar()?))),
            ..ValueQuery::default()
        };
        let search = |node: &str| SearchProjection {
            query,
            node: Some(node.to_owned()),
            output: None,
            limit: 0,
            redacts: false,
        };
        Ok(node.map(search))
    }

    /// Whether this many hits are as expected.
    pub(super) fn is_met_by(&self, hits: u64) -> bool {
        (hits > 0) == (self.hits == Hits::Some)
    }

    /// Whether it is met only because its node returned no item.
    pub(super) fn is_idle(&self, now: &Recording) -> bool {
        self.hits == Hits::None && now.nodes.get(&self.node_name).is_none_or(|node| node.items() == 0)
    }

    /// In words: `no 'a' at id in Ship parcel`.
    pub(super) fn words(&self) -> String {
        let some = if self.hits == Hits::Some { "some" } else { "no" };
        let at = self.path.as_ref().map(|path| format!(" at {path}")).unwrap_or_default();
        format!("{some} {}{at} in {}", self.equals, self.node_name)
    }
}
