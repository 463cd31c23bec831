//! `get_pending_handoffs`: handoffs that nobody accepted yet.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_handoffs",
    title: "Get pending handoffs",
    description: "List handoffs that nobody accepted yet: those addressed to an agent and those to anybody else's, or all.",
    parameters: &[Parameter::optional("agent_id", Kind::Text, "For this agent; all if left out."), OFFSET],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let agent = arguments.text("agent_id");
    if let Some(agent) = &agent
        && work.agent(agent)?.is_none()
    {
        return Err(not_found("Agent", agent));
    }
    Ok(json!({"success": true, "handoffs": work.pending_handoffs(agent.as_deref())?}))
}
