//! A tool as every transport publishes it.

use serde_json::{Map, Value};

use super::{Effect, Parameter, schema};

/// A tool: its declaration, and the handler that its server runs.
pub struct Tool<H> {
    /// The name used in calls.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// What it does and when to use it, for an agent.
    pub description: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it does to the system it works on.
    pub effect: Effect,
    /// How its server runs it.
    pub handler: H,
}

impl<H> Tool<H> {
    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema(self.parameters)
    }

    /// Whether it changes nothing.
    pub fn reads_only(&self) -> bool {
        self.effect == Effect::Read
    }
}
