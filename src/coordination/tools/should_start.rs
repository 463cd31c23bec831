//! `should_start`: whether an instance of an agent is to be started in a project.

use serde_json::{Value, json};

use super::given;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "should_start",
    title: "Should the agent be started?",
    description: "For the Runner: whether an instance of this agent is to be started in this project now. True only if none runs and it has a task to do; then ai_type says what to start.",
    parameters: &[
        Parameter::required("agent_id", Kind::AnyText, "The agent's id."),
        Parameter::required("project_id", Kind::AnyText, "The project's id."),
    ],
    scopes: &[Scope::Runner],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (agent, project) = (given(arguments, "agent_id"), given(arguments, "project_id"));
    Ok(match work.startable(&agent, &project)? {
        Some(ai_type) => json!({"should_start": true, "ai_type": ai_type}),
        None => json!({"should_start": false}),
    })
}
