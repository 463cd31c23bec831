//! `list_agents`: all agents.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::caller::Concern;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Offset, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_agents",
    title: "List agents",
    description: "List all agents, for example to choose one to hand a task over to.",
    parameters: ListAgents::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListAgents>(&[Scope::Agent]),
};

arguments! {
    pub(crate) struct ListAgents: snake_case {
        offset: Offset = OFFSET,
    }
}

impl Rule for ListAgents {
    fn concerns(&self) -> Vec<Concern<'_>> {
        // A task can be handed to anyone.
        vec![]
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        Ok(json!({"success": true, "agents": work.agents()?}))
    }
}
