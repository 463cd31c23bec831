//! The shape of the answer, in the order of its keys.

use serde::Serialize;
use serde_json::value::RawValue;

use super::section::ShownItems;
use crate::toolkit::answer::Truncated;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeAnswer<'a> {
    pub execution_id: &'a str,
    pub node_name: String,
    pub node_type: String,
    pub status: String,
    /// Whether the node did not run, since its output was pinned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    pub execution_time: Option<serde_json::Number>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub run: ShownRun<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    pub error: Box<RawValue>,
    pub input: InputSection,
    pub output: OutputSection,
    pub parameters: Box<RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownRun<'a> {
    pub index: u64,
    pub total: u64,
    pub failed: &'a [u64],
    /// The execution of the sub-workflow that this run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_execution: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct InputSection {
    pub total: u64,
    #[serde(flatten)]
    pub items: ShownItems,
    pub sources: Vec<ShownSource>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownSource {
    pub input_index: u64,
    pub node_name: String,
    pub output_index: u64,
    pub run_index: u64,
    pub total: u64,
    pub offset: u64,
}

#[derive(Serialize)]
pub(super) struct OutputSection {
    pub total: u64,
    #[serde(flatten)]
    pub items: ShownItems,
    pub outputs: Vec<ShownOutput>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownOutput {
    pub output_index: u64,
    pub total: u64,
    pub offset: u64,
    pub returned: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}
