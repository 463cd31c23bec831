//! `get_agent_profile`: one agent.

use serde_json::{Value, json};

use super::AGENT_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::find_agent;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_agent_profile",
    title: "Get an agent's profile",
    description: "Get an agent's role, capabilities and status.",
    parameters: GetAgentProfile::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetAgentProfile>(&[Scope::Agent]),
};

arguments! {
    struct GetAgentProfile: snake_case {
        agent_id: Text = AGENT_ID,
    }
}

impl Rule for GetAgentProfile {
    fn concerns(&self) -> Vec<Concern<'_>> {
        // Any profile may be read, to choose an agent to hand a task to.
        vec![]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let agent = find_agent(work, &self.agent_id)?;
        Ok(json!({"success": true, "agent": agent}))
    }
}
