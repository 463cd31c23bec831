//! `get_agent_profile`: one agent.

use serde_json::{Value, json};

use super::{AGENT_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_agent_profile",
    title: "Get an agent's profile",
    description: "Get an agent's role, capabilities and status.",
    parameters: &[AGENT_ID],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = required_text(arguments, "agent_id");
    let agent = work.agent(&id)?.ok_or_else(|| not_found("Agent", &id))?;
    Ok(json!({"success": true, "agent": agent}))
}
