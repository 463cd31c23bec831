//! `list_agents`: all agents.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_agents",
    title: "List agents",
    description: "List all agents: to whom can a task be handed over?",
    parameters: &[OFFSET],
    scopes: &[Scope::Agent],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

pub(crate) fn run(work: &mut Work<'_>, _arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    Ok(json!({"success": true, "agents": work.agents()?}))
}
