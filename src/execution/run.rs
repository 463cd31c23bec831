//! One run of a node: n8n's `ITaskData`. The order of its members differs between kinds of nodes.

use super::items::ItemLists;
use super::order::Start;
use super::runs::RunHead;
use super::source::InputSource;
use crate::json::Excerpt;

/// One run of a node.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Which of the node's runs, from 0.
    pub index: u64,
    /// Milliseconds since 1970; seconds in a crashed execution (see [`start_ms`](Self::start_ms)).
    pub start_time: Option<f64>,
    /// How long the run took, ms.
    pub execution_time: Option<f64>,
    /// n8n's `executionStatus`, but always `error` if it failed without crashing.
    pub status: String,
    /// Whether it failed.
    pub failed: bool,
    /// The error, if there is one.
    pub error: Option<Excerpt>,
    /// The source of each input; `None` for an input without data.
    pub sources: Vec<Option<InputSource>>,
    /// The input itself, if n8n stores it (for AI sub-nodes and tools).
    pub input_override: Option<ItemLists>,
    /// The execution of the sub-workflow that it started, if it is one.
    pub sub_execution: Option<String>,
    /// The output items.
    pub outputs: ItemLists,
}

impl Run {
    /// A run with its items.
    pub(super) fn new(mut head: RunHead, inputs: ItemLists, outputs: ItemLists) -> Self {
        Self {
            index: head.index,
            start_time: head.start.time,
            execution_time: head.execution_time,
            status: head.outcome().to_owned(),
            failed: head.failed,
            error: head.error,
            sources: head.sources,
            input_override: head.has_input_lists.then_some(inputs),
            sub_execution: head.children.ids.pop(),
            outputs,
        }
    }

    /// `startTime` in milliseconds since 1970.
    pub fn start_ms(&self) -> Option<f64> {
        Start { index: None, time: self.start_time }.ms()
    }
}
