//! The tools: one file each, grouped into toolsets, and one table of them all. No tool knows which transport calls
//! it.

pub mod builder;
mod error;
pub mod executions;
mod toolbox;
pub mod workflows;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use builder::{Memory, Shelf};
pub use error::Error;
pub use toolbox::{Selection, Toolbox, Unavailable};

use crate::n8n;
use crate::secrets::Secret;
use crate::toolkit::{Answers, Arguments, Effect, Locale, Parameter, Prompt, schema};
use crate::workflow::file::Files;

/// A tool, as every transport offers it.
pub struct Tool {
    /// The name that clients call.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// What it does and when to use it, for an agent.
    pub description: &'static str,
    /// Its arguments.
    pub parameters: &'static [Parameter],
    /// Arguments that are accepted and ignored; the schema does not list them.
    pub ignored: &'static [&'static str],
    /// The shape of its answers.
    pub answers: Answers,
    /// How it changes n8n.
    pub effect: Effect,
    /// Size of the largest answer in characters, if clients need to know it (`anthropic/maxResultSizeChars`).
    pub max_result_chars: Option<u64>,
    /// Runs it with checked arguments.
    pub call: fn(Arc<Context>, Arguments, n8n::Progress) -> Call,
}

/// Tools that belong together.
pub struct Toolset {
    /// The name for `--toolsets`.
    pub name: &'static str,
    /// How to use the tools, for the server's instructions: sentences, each with the tool that it is about.
    pub instructions: &'static [(&'static str, &'static str)],
    /// The tools, in the order in which an agent uses them.
    pub tools: &'static [&'static Tool],
    /// Prompts that use the tools.
    pub prompts: &'static [&'static Prompt],
}

/// A call in progress; dropping it cancels it.
pub type Call = Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>;

/// What every tool can use.
#[derive(Clone)]
pub struct Context {
    /// The client of n8n.
    pub n8n: n8n::Client,
    /// The language of messages.
    pub locale: Locale,
    /// Whether the values of known secret keys in items are masked.
    pub redact: bool,
    /// Where workflow files can be.
    pub files: Files,
    /// Workflows in memory.
    pub memory: Memory,
    /// The catalogue of node types.
    pub shelf: Shelf,
}

impl Context {
    /// The same context with another n8n API key.
    pub fn with_key(&self, key: Secret) -> Self {
        Self { n8n: self.n8n.with_key(key), ..self.clone() }
    }
}

/// All toolsets.
pub static TOOLSETS: [&Toolset; 3] = [&executions::TOOLSET, &workflows::TOOLSET, &builder::TOOLSET];

impl Tool {
    /// Checks the arguments of a call and runs it.
    pub fn run(&self, context: Arc<Context>, arguments: Map<String, Value>, progress: n8n::Progress) -> Call {
        match Arguments::check(self.parameters, self.ignored, arguments) {
            Ok(arguments) => (self.call)(context, arguments, progress),
            Err(error) => Box::pin(std::future::ready(Err(error.into()))),
        }
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema(self.parameters)
    }

    /// The JSON Schema of its answers.
    pub fn output_schema(&self) -> Value {
        let envelope: &[_] = &[("success", "boolean"), ("message", "string"), ("data", "object")];
        let fields = match self.answers {
            Answers::Envelope => envelope,
            Answers::Plain(fields) => fields,
        };
        let properties: Map<String, Value> =
            fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
        json!({"type": "object", "properties": properties})
    }

    /// Whether it changes nothing.
    pub fn reads_only(&self) -> bool {
        self.effect == Effect::Read
    }
}
