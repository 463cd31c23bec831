//! Prompts: ways to use the tools, started by a person.

use super::{ArgumentError, Arguments, Parameter};

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
    /// Its arguments, which are texts.
    pub parameters: &'static [Parameter],
    /// The instructions for the agent.
    pub text: fn(Arguments) -> Result<String, ArgumentError>,
    /// Sentences with the tools that they mention: the first whose tools are all available ends the instructions.
    pub endings: &'static [(&'static [&'static str], &'static str)],
}
