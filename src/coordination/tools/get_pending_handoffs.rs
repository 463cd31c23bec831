//! `get_pending_handoffs`: handoffs that have not been accepted.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_handoffs",
    title: "Get pending handoffs",
    description: "List handoffs that have not been accepted: for an agent those addressed to it and unaddressed ones from other agents, otherwise all.",
    parameters: &[
        Parameter::optional("agent_id", Kind::Text, "Only those this agent can accept (default: all)."),
        OFFSET,
    ],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let agent = arguments.text("agent_id");
    if let Some(agent) = &agent
        && work.agent(agent)?.is_none()
    {
        return Err(not_found("Agent", agent));
    }
    Ok(json!({"success": true, "handoffs": work.pending_handoffs(agent.as_deref())?}))
}
