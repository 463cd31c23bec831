//! `accept_handoff`: accepts a handoff; one agent can.

use serde_json::{Value, json};

use super::{AGENT_ID, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::task;
use crate::coordination::rules::task::By;
use crate::coordination::store::{Change, Entity, Handoff, Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "accept_handoff",
    title: "Accept a handoff",
    description: "Accept a handoff that is addressed to you, or to nobody: then the task is yours. Only one agent can.",
    parameters: &[Parameter::required("handoff_id", Kind::Text, "The handoff, from get_pending_handoffs."), AGENT_ID],
    scopes: &[Scope::Agent],
    effect: Effect::Ensure,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (id, agent) = (given(arguments, "handoff_id"), given(arguments, "agent_id"));
    let handoff = work.handoff_to_change(&id)?.ok_or_else(|| not_found("Handoff", &id))?;
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    if handoff.to_agent_id.as_ref().is_some_and(|to| *to != agent) {
        return Err(Error::refused("Handoff is addressed to another agent"));
    }
    if handoff.accepted_by.as_ref() == Some(&agent) {
        return Ok(json!({"success": true, "handoff": handoff}));
    }
    if handoff.accepted_by.is_some() {
        return Err(Error::refused("Handoff already accepted"));
    }
    let task = task::find(work, &handoff.task_id)?;
    let moves = handoff.to_agent_id.is_none();
    if moves {
        // It must not take the task from whoever was given it since.
        if let Some(owner) = task.assignee_id.as_ref().filter(|owner| ![&handoff.from_agent_id, &agent].contains(owner))
        {
            return Err(Error::refused(format!("Task is assigned to another agent: {owner}")));
        }
        task::be_open(&task)?;
        task::be_active(work, &agent)?;
    }
    if !work.accept_handoff(&id, &agent)? {
        return Err(Error::refused("Handoff already accepted"));
    }
    if moves {
        task::assign(work, &task, Some(&agent), By { agent: Some(&agent), session: None })?;
    }
    work.record(&Change {
        project: Some(&task.project_id),
        actor: Some(&agent),
        ..Change::new(Entity::Handoff, &id, "accepted")
    })?;
    let accepted = Handoff { accepted_at: Some(work.now()), ..handoff };
    Ok(json!({"success": true, "handoff": accepted}))
}
