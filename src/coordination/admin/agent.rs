//! Agents.

use serde_json::{Value, json};

use super::{ID, NEW_ID, given};
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{Agent, AgentStatus, AgentType, Change, Entity, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::tools::list_agents;
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// `agent add`.
pub static ADD: Tool = Tool {
    name: "admin_agent_add",
    title: "Add an agent",
    description: "Add an agent. Give it a passkey and assign it to projects, too.",
    parameters: &[
        NEW_ID,
        Parameter::required("name", Kind::Text, "Its name."),
        Parameter::optional("ai_type", Kind::Text, "What a Runner starts for it (default: claude)."),
        Parameter::optional("role", Kind::AnyText, "Its role."),
        Parameter::optional("capabilities", Kind::Texts, "Its specialties."),
        Parameter::optional("system_prompt", Kind::AnyText, "What it is told when it authenticates."),
        Parameter::optional("type", Kind::Choice(AgentType::WORDS), "What it is (default: ai)."),
    ],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Write(add),
};

/// `agent list`.
pub static LIST: Tool = Tool {
    name: "admin_agent_list",
    title: "List agents",
    description: "List all agents.",
    parameters: &[],
    scopes: &[],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(list_agents::run),
};

/// `agent set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_agent_set_status",
    title: "Set an agent's status",
    description: "Let an agent work, or not. Only active ones can authenticate; one that runs goes on until its session \
                  is revoked.",
    parameters: &[ID, Parameter::required("status", Kind::Choice(AgentStatus::WORDS), "Its new status.")],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(set_status),
};

fn add(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let id = arguments.text("id").unwrap_or_else(|| secret::id("agt_"));
    let now = work.now();
    let agent = Agent {
        id,
        name: given(arguments, "name"),
        role: arguments.text("role"),
        capabilities: arguments.texts("capabilities"),
        kind: arguments.text("type").and_then(|word| AgentType::parse(&word)).unwrap_or(AgentType::Ai),
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

/// What a Runner starts unless it is told.
pub(super) const DEFAULT_AI_TYPE: &str = "claude";

fn set_status(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let id = given(arguments, "id");
    work.lock_agent(&id)?;
    let agent = work.agent(&id)?.ok_or_else(|| not_found("Agent", &id))?;
    let status = AgentStatus::parse(&given(arguments, "status")).unwrap_or(agent.status);
    let agent = Agent { status, updated_at: work.now(), ..agent };
    work.change_agent(&agent)?;
    record(work, &agent, "status_changed")?;
    Ok(json!({"success": true, "agent": agent}))
}

/// Keeps what became of an agent.
pub(super) fn record(work: &mut Work<'_>, agent: &Agent, event: &str) -> Result<(), Error> {
    work.record(&Change { after: Some(json!(agent)), ..Change::new(Entity::Agent, &agent.id, event) })?;
    Ok(())
}
