//! `get_pending_handoffs`: handoffs that have not been accepted.

use serde_json::{Value, json};

use super::OFFSET;
use crate::coordination::caller::Concern;
use crate::coordination::rules::find_agent;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Offset, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_handoffs",
    title: "Get pending handoffs",
    description: "List handoffs that have not been accepted: for an agent those addressed to it and unaddressed ones from other agents, otherwise all.",
    parameters: GetPendingHandoffs::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetPendingHandoffs>(&[Scope::Agent]),
};

arguments! {
    struct GetPendingHandoffs: snake_case {
        agent_id: Option<Text> = "Only those this agent can accept (default: all).",
        offset: Offset = OFFSET,
    }
}

impl Rule for GetPendingHandoffs {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![self.agent_id.as_deref().map_or(Concern::Everything, Concern::Agent)]
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        if let Some(agent) = &self.agent_id {
            find_agent(work, agent)?;
        }
        Ok(json!({"success": true, "handoffs": work.pending_handoffs(self.agent_id.as_deref())?}))
    }
}
