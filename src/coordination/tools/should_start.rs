//! `should_start`: whether to start an instance of an agent in a project.

use serde_json::{Value, json};

use super::required_text;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "should_start",
    title: "Should the agent be started?",
    description: "For the Runner: check whether to start an instance of this agent in this project now. True only if none is running there and the agent has a task to do; ai_type then says what to start.",
    parameters: &[
        Parameter::required("agent_id", Kind::AnyText, "The agent's id."),
        Parameter::required("project_id", Kind::AnyText, "The project's id."),
    ],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Runner], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let (agent, project) = (required_text(arguments, "agent_id"), required_text(arguments, "project_id"));
    Ok(match work.ai_type_to_start(&agent, &project)? {
        Some(ai_type) => json!({"should_start": true, "ai_type": ai_type}),
        None => json!({"should_start": false}),
    })
}
