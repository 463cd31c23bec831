//! `get_agent_profile`: one agent.

use serde_json::{Value, json};

use super::{AGENT_ID, given};
use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_agent_profile",
    title: "Get an agent's profile",
    description: "Get an agent's role, specialties and state.",
    parameters: &[AGENT_ID],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let id = given(arguments, "agent_id");
    let agent = work.agent(&id)?.ok_or_else(|| not_found("Agent", &id))?;
    Ok(json!({"success": true, "agent": agent}))
}
