//! The tools: one file each, grouped into toolsets, and one table of all of them. No tool knows through
//! which door it is called.

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
    /// Arguments that are accepted and not used; the schema does not name them.
    pub ignored: &'static [&'static str],
    /// What its answers are.
    pub answers: Answers,
    /// What it does to n8n.
    pub effect: Effect,
    /// Characters of the largest answer, where a client should know (`anthropic/maxResultSizeChars`).
    pub max_result_chars: Option<u64>,
    /// Runs it with arguments that were checked.
    pub call: fn(Arc<Context>, Arguments, n8n::Progress) -> Call,
}

/// Tools that belong together.
pub struct Toolset {
    /// The name for `--toolsets`.
    pub name: &'static str,
    /// How an agent goes about it, for the server's instructions: sentences, each with the tool that it needs.
    pub instructions: &'static [(&'static str, &'static str)],
    /// In the order in which an agent uses them.
    pub tools: &'static [&'static Tool],
    /// What people can start with them.
    pub prompts: &'static [&'static Prompt],
}

/// A call under way; dropping it cancels it.
pub type Call = Pin<Box<dyn Future<Output = Result<String, Error>> + Send>>;

/// What every tool may use.
#[derive(Clone)]
pub struct Context {
    /// The n8n to ask.
    pub n8n: n8n::Client,
    /// The language of messages.
    pub locale: Locale,
    /// Whether secret keys are masked in items.
    pub redact: bool,
    /// Where workflow files may be.
    pub files: Files,
    /// Workflows in memory.
    pub memory: Memory,
    /// The catalogue of node types.
    pub shelf: Shelf,
}

impl Context {
    /// The same for somebody with another key to n8n.
    pub fn with_key(&self, key: Secret) -> Self {
        Self { n8n: self.n8n.with_key(key), ..self.clone() }
    }
}

/// All tools.
pub static TOOLSETS: [&Toolset; 3] = [&executions::TOOLSET, &workflows::TOOLSET, &builder::TOOLSET];

impl Tool {
    /// Checks the arguments of a call, and runs it.
    pub fn run(&self, context: Arc<Context>, given: Map<String, Value>, progress: n8n::Progress) -> Call {
        match Arguments::check(self.parameters, self.ignored, given) {
            Ok(arguments) => (self.call)(context, arguments, progress),
            Err(refusal) => Box::pin(std::future::ready(Err(refusal.into()))),
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

    /// Whether n8n stays as it is.
    pub fn reads_only(&self) -> bool {
        self.effect == Effect::Read
    }
}
