//! Prompts: ways to use the tools, started by a person.

use serde_json::{Map, Value};

/// A prompt, as every door offers it.
pub struct Prompt {
    /// The name that clients ask for.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The tools that its text mentions.
    pub needs: &'static [&'static str],
    /// Its arguments; all are optional.
    pub arguments: &'static [PromptArgument],
    /// The instructions for the agent.
    pub text: fn(&Map<String, Value>) -> String,
}

/// One argument of a prompt, a string.
pub struct PromptArgument {
    /// The name.
    pub name: &'static str,
    /// What it means, for a person.
    pub description: &'static str,
}
