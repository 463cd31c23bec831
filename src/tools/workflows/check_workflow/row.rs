//! A problem as an answer shows it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::execution::lookup::Place;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::toolkit::answer::is_zero;
use crate::workflow::problems::{Problem, Severity};

/// The most characters shown of a reference.
const REFERENCE_CHARS: usize = 120;

/// A problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Row {
    pub rule: &'static str,
    pub severity: &'static str,
    pub node_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub have: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_default: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "is_one")]
    pub times: usize,
}

/// An item that shows the problem; `run` and `output` only if they are not 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct First {
    node_name: String,
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    item: u64,
}

impl First {
    pub(super) fn of(place: &Place) -> Self {
        let Place { node, run, output, item } = place.clone();
        Self { node_name: node, run, output, item }
    }
}

impl Row {
    pub(super) fn new(rule: &'static str, severity: &'static str, node: &str) -> Self {
        Self {
            rule,
            severity,
            node_name: node.to_owned(),
            parameter: None,
            reference: None,
            items: None,
            have: None,
            types: None,
            first: None,
            near: None,
            has_default: false,
            detail: None,
            times: 1,
        }
    }

    /// What it says, whatever the number of times and the place: the rule, the node, the reference, whether a missing value is
    /// provided for, and the detail.
    pub(super) fn statement(&self) -> (&'static str, &str, Option<&str>, bool, Option<&str>) {
        (self.rule, &self.node_name, self.reference.as_deref(), self.has_default, self.detail.as_deref())
    }

    /// The same row, with texts cut to `chars` characters.
    pub(in crate::tools) fn clipped(mut self) -> Self {
        self.node_name = shorten(&self.node_name, CUT_NAME_CHARS);
        for text in [&mut self.parameter, &mut self.reference, &mut self.detail, &mut self.near].into_iter().flatten() {
            *text = shorten(text, REFERENCE_CHARS);
        }
        self
    }
}

impl From<Problem> for Row {
    fn from(problem: Problem) -> Self {
        let Problem { rule, severity, node, parameter, reference, detail, times } = problem;
        let severity = if severity == Severity::Error { "error" } else { "warning" };
        let row = Self::new(rule.name(), severity, &node);
        Self { parameter, reference, detail, times, ..row }
    }
}

fn is_one(times: &usize) -> bool {
    *times == 1
}
