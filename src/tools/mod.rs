//! The tools: one file each, and one table of all of them. No tool knows through which door it is
//! called.

mod answer;
mod arguments;
mod error;
pub mod get_execution;
pub mod get_execution_by_node;
pub mod list_executions;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use answer::Locale;
pub use arguments::{Arguments, Kind, Parameter};
pub use error::Error;

use crate::n8n;

/// A tool, as every door offers it.
pub struct Tool {
    /// The name that clients call.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it does and when to use it, for an agent.
    pub description: &'static str,
    /// Its arguments.
    pub parameters: &'static [Parameter],
    /// Whether n8n stays as it is.
    pub read_only: bool,
    /// Characters of the largest answer, where a client should know (`anthropic/maxResultSizeChars`).
    pub max_result_chars: Option<u64>,
    /// Runs it.
    pub call: fn(Arc<Context>, Map<String, Value>, n8n::Progress) -> Call,
}

/// A call under way; dropping it cancels it.
pub type Call = Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>;

/// What every tool may use.
pub struct Context {
    /// The n8n to ask.
    pub n8n: n8n::Client,
    /// The language of messages.
    pub locale: Locale,
    /// Whether secret keys are masked in items.
    pub redact: bool,
}

/// All tools, in the order in which an agent uses them.
pub static TOOLS: [&Tool; 3] = [&list_executions::TOOL, &get_execution::TOOL, &get_execution_by_node::TOOL];

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        arguments::schema(self.parameters)
    }
}
