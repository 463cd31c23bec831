//! `admin agent …`: adds and lists agents, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID};
use crate::coordination::rules::find_agent;
use crate::coordination::secret;
use crate::coordination::store::{Agent, AgentStatus, AgentType, Entity, Event, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::tools::list_agents::ListAgents;
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Choice, Effect, Text, Texts, arguments};

/// `agent add`.
pub static ADD: Tool = Tool {
    name: "admin_agent_add",
    title: "Add an agent",
    description: "Add an agent. It also needs a passkey and an assignment to a project before it can work.",
    parameters: AddAgent::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<AddAgent>(&[]),
};

arguments! {
    struct AddAgent: snake_case {
        id: Option<Text> = NEW_ID,
        name: Text = "Its name.",
        ai_type: Option<Text> = "The type of AI that a Runner starts for it (default: claude).",
        role: Option<AnyText> = "Its role.",
        capabilities: Option<Texts> = "What it is good at.",
        system_prompt: Option<AnyText> = "The system prompt that authenticate returns.",
        r#type: Option<Choice<AgentType>> = "Whether it is a program or a person (default: ai).",
    }
}

/// `agent list`.
pub static LIST: Tool = Tool {
    name: "admin_agent_list",
    title: "List agents",
    description: "List all agents.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read::<ListAgents>(&[]),
};

/// `agent set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_agent_set_status",
    title: "Set an agent's status",
    description: "Set an agent's status. Only active agents can authenticate. A running agent continues until its session \
                  ends or is revoked.",
    parameters: SetAgentStatus::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<SetAgentStatus>(&[]),
};

arguments! {
    struct SetAgentStatus: snake_case {
        id: Text = ID,
        status: Choice<AgentStatus> = "Its new status.",
    }
}

impl Rule for AddAgent {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let now = work.now();
        let agent = Agent {
            id: self.id.clone().unwrap_or_else(|| secret::id("agt_")),
            name: self.name.clone(),
            role: self.role.clone(),
            capabilities: self.capabilities.clone().unwrap_or_default(),
            kind: self.r#type.unwrap_or(AgentType::Ai),
            ai_type: self.ai_type.clone().unwrap_or_else(|| DEFAULT_AI_TYPE.to_owned()),
            status: AgentStatus::Active,
            created_at: now,
            updated_at: now,
            system_prompt: self.system_prompt.clone(),
        };
        if !work.add_agent(&agent)? {
            return Err(Error::refused(format!("Agent already exists: {}", agent.id)));
        }
        record(work, &agent, "added")?;
        Ok(json!({"success": true, "agent": agent}))
    }
}

/// The type of AI that a Runner starts by default.
pub(super) const DEFAULT_AI_TYPE: &str = "claude";

impl Rule for SetAgentStatus {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        work.lock_agent(&self.id)?;
        let agent = find_agent(work, &self.id)?;
        let agent = Agent { status: self.status, updated_at: work.now(), ..agent };
        work.change_agent(&agent)?;
        record(work, &agent, "status_changed")?;
        Ok(json!({"success": true, "agent": agent}))
    }
}

/// Records an event with the agent's new state.
pub(super) fn record(work: &mut Work<'_>, agent: &Agent, event: &str) -> Result<(), Error> {
    work.record(&Event { after: Some(json!(agent)), ..Event::new(Entity::Agent, &agent.id, event) })?;
    Ok(())
}
