//! `list_agents`: all agents.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_agents",
    title: "List agents",
    description: "List all agents, for example to choose one to hand a task over to.",
    parameters: &[OFFSET],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

pub(crate) fn run(work: &mut Work<'_>, _arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    Ok(json!({"success": true, "agents": work.agents()?}))
}
