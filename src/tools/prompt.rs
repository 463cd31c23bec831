//! Prompts: ways of using the tools that a person starts.

use serde_json::{Map, Value};

/// A prompt, as every door offers it.
pub struct Prompt {
    /// The name that clients ask for.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The tools that it speaks of.
    pub needs: &'static [&'static str],
    /// What can be said; none of it is needed.
    pub arguments: &'static [Argument],
    /// What the agent is told.
    pub text: fn(&Map<String, Value>) -> String,
}

/// One argument of a prompt: a text.
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it means, for a person.
    pub description: &'static str,
}
