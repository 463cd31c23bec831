//! `admin agent …`: adds and lists agents, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{Agent, AgentStatus, AgentType, Entity, Event, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::tools::list_agents;
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `agent add`.
pub static ADD: Tool = Tool {
    name: "admin_agent_add",
    title: "Add an agent",
    description: "Add an agent. It also needs a passkey and an assignment to a project before it can work.",
    parameters: &[
        NEW_ID,
        Parameter::required("name", Kind::Text, "Its name."),
        Parameter::optional("ai_type", Kind::Text, "The type of AI that a Runner starts for it (default: claude)."),
        Parameter::optional("role", Kind::AnyText, "Its role."),
        Parameter::optional("capabilities", Kind::Texts, "What it is good at."),
        Parameter::optional("system_prompt", Kind::AnyText, "The system prompt that authenticate returns."),
        Parameter::optional(
            "type",
            Kind::Choice(AgentType::VALUES),
            "Whether it is a program or a person (default: ai).",
        ),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[], add),
};

/// `agent list`.
pub static LIST: Tool = Tool {
    name: "admin_agent_list",
    title: "List agents",
    description: "List all agents.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read(&[], list_agents::run),
};

/// `agent set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_agent_set_status",
    title: "Set an agent's status",
    description: "Set an agent's status. Only active agents can authenticate. A running agent continues until its session \
                  ends or is revoked.",
    parameters: &[ID, Parameter::required("status", Kind::Choice(AgentStatus::VALUES), "Its new status.")],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], set_status),
};

fn add(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = arguments.text("id").unwrap_or_else(|| secret::id("agt_"));
    let now = work.now();
    let agent = Agent {
        id,
        name: required_text(arguments, "name"),
        role: arguments.text("role"),
        capabilities: arguments.texts("capabilities"),
        kind: arguments.text("type").and_then(|text| AgentType::parse(&text)).unwrap_or(AgentType::Ai),
        ai_type: arguments.text("ai_type").unwrap_or_else(|| DEFAULT_AI_TYPE.to_owned()),
        status: AgentStatus::Active,
        created_at: now,
        updated_at: now,
        system_prompt: arguments.text("system_prompt"),
    };
    if !work.add_agent(&agent)? {
        return Err(Error::refused(format!("Agent already exists: {}", agent.id)));
    }
    record(work, &agent, "added")?;
    Ok(json!({"success": true, "agent": agent}))
}

/// The type of AI that a Runner starts by default.
pub(super) const DEFAULT_AI_TYPE: &str = "claude";

fn set_status(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = required_text(arguments, "id");
    work.lock_agent(&id)?;
    let agent = work.agent(&id)?.ok_or_else(|| not_found("Agent", &id))?;
    let status = AgentStatus::parse(&required_text(arguments, "status")).unwrap_or(agent.status);
    let agent = Agent { status, updated_at: work.now(), ..agent };
    work.change_agent(&agent)?;
    record(work, &agent, "status_changed")?;
    Ok(json!({"success": true, "agent": agent}))
}

/// Records an event with the agent's new state.
pub(super) fn record(work: &mut Work<'_>, agent: &Agent, event: &str) -> Result<(), Error> {
    work.record(&Event { after: Some(json!(agent)), ..Event::new(Entity::Agent, &agent.id, event) })?;
    Ok(())
}
