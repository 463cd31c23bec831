//! `accept_handoff`: accepts a handoff. Exactly one agent can.

use serde_json::{Value, json};

use super::AGENT_ID;
use crate::coordination::caller::Concern;
use crate::coordination::error::not_found;
use crate::coordination::rules::task::Actor;
use crate::coordination::rules::{find_agent, task};
use crate::coordination::store::{Entity, Event, Handoff, Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "accept_handoff",
    title: "Accept a handoff",
    description: "Accept a handoff that is addressed to you or to no one in particular. An unaddressed one makes the task yours. Only one agent can accept a handoff.",
    parameters: AcceptHandoff::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::write::<AcceptHandoff>(&[Scope::Agent]),
};

arguments! {
    struct AcceptHandoff: snake_case {
        handoff_id: Text = "The handoff, from get_pending_handoffs.",
        agent_id: Text = AGENT_ID,
    }
}

impl Rule for AcceptHandoff {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Agent(&self.agent_id), Concern::Handoff(&self.handoff_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { handoff_id: id, agent_id: agent } = self;
        let handoff = work.handoff_for_update(id)?.ok_or_else(|| not_found("Handoff", id))?;
        find_agent(work, agent)?;
        if handoff.to_agent_id.as_ref().is_some_and(|to| to != agent) {
            return Err(Error::refused("Handoff is addressed to another agent"));
        }
        if handoff.accepted_by.as_ref() == Some(agent) {
            return Ok(json!({"success": true, "handoff": handoff}));
        }
        if handoff.accepted_by.is_some() {
            return Err(Error::refused("Handoff already accepted"));
        }
        let task = task::find(work, &handoff.task_id)?;
        let is_addressed = handoff.to_agent_id.is_some();
        let assignee = task.assignee_id.as_ref();
        // The task may have been assigned to another agent since the handoff was created.
        let may_have = |other: &String| other == agent || (!is_addressed && *other == handoff.from_agent_id);
        if let Some(other) = assignee.filter(|other| !may_have(other)) {
            return Err(Error::refused(format!("Task is assigned to another agent: {other}")));
        }
        // With an addressed handoff, the task moved when that was created, and may have lost its agent again.
        let moves = !is_addressed || (assignee.is_none() && task::require_open(&task).is_ok());
        if moves {
            task::require_open(&task)?;
            task::require_active(work, agent)?;
        }
        if !work.accept_handoff(id, agent)? {
            return Err(Error::refused("Handoff already accepted"));
        }
        if moves {
            task::assign(work, &task, Some(agent), Actor { agent: Some(agent), session: None })?;
        }
        work.record(&Event {
            project: Some(&task.project_id),
            actor: Some(agent),
            ..Event::new(Entity::Handoff, id, "accepted")
        })?;
        let accepted = Handoff { accepted_at: Some(work.now()), ..handoff };
        Ok(json!({"success": true, "handoff": accepted}))
    }
}
