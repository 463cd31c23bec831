//! `create_handoff`: hands a task over to another agent, or offers it to all agents of the project.

use serde_json::{Value, json};

use super::TASK_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::task::Actor;
use crate::coordination::rules::{find_agent, task};
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Handoff, Scope, Task, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_handoff",
    title: "Create a handoff",
    description: "Hand a task over to another agent of its project. With to_agent_id the task is assigned to that agent at once; without it, the first agent to accept the handoff gets the task. Call save_context first.",
    parameters: CreateHandoff::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<CreateHandoff>(&[Scope::Agent]),
};

arguments! {
    struct CreateHandoff: snake_case {
        task_id: Text = TASK_ID,
        from_agent_id: Text = "The agent that hands the task over: you.",
        to_agent_id: Option<Text> = "The agent to continue with the task; omit it if that is undecided.",
        summary: Text = "What has been done so far.",
        context: Option<AnyText> = "What the next agent needs to know.",
        recommendations: Option<AnyText> = "What the next agent should do.",
    }
}

impl Rule for CreateHandoff {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Agent(&self.from_agent_id), Concern::Task(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let task = task::find_for_update(work, &self.task_id)?;
        let handoff = Handoff {
            id: secret::id("hnd_"),
            task_id: task.id.clone(),
            from_agent_id: self.from_agent_id.clone(),
            to_agent_id: self.to_agent_id.clone(),
            summary: self.summary.clone(),
            context: self.context.clone(),
            recommendations: self.recommendations.clone(),
            accepted_at: None,
            created_at: work.now(),
            accepted_by: None,
        };
        let from = &handoff.from_agent_id;
        find_agent(work, from)?;
        if let Some(existing) = find_repeated(work, &task, &handoff)? {
            return Ok(json!({"success": true, "handoff": existing}));
        }
        task::require_open(&task)?;
        // An agent can hand over only its own tasks and unassigned ones.
        if let Some(other) = task.assignee_id.as_ref().filter(|assignee| *assignee != from) {
            return Err(Error::refused(format!("Task is assigned to another agent: {other}")));
        }
        let actor = Actor { agent: Some(from), session: None };
        // The next agent is started only if the task is already assigned to it.
        if let Some(to) = &handoff.to_agent_id {
            task::require_active(work, to)?;
            task::assign(work, &task, Some(to), actor)?;
        }
        work.add_handoff(&handoff)?;
        work.record(&Event {
            project: Some(&task.project_id),
            actor: Some(from),
            after: Some(json!({"task_id": task.id, "to_agent_id": handoff.to_agent_id})),
            ..Event::new(Entity::Handoff, &handoff.id, "created")
        })?;
        Ok(json!({"success": true, "handoff": handoff}))
    }
}

/// The same handoff, if a client that lost the answer repeats the call: either the task has moved on to another
/// agent since, or the handoff is unaddressed and has not been accepted.
fn find_repeated(work: &mut Work<'_>, task: &Task, new: &Handoff) -> Result<Option<Handoff>, Error> {
    let content = |handoff: &Handoff| {
        let Handoff { from_agent_id, to_agent_id, summary, context, recommendations, .. } = handoff.clone();
        (from_agent_id, to_agent_id, summary, context, recommendations)
    };
    let has_moved = task.assignee_id.as_ref() != Some(&new.from_agent_id);
    let same = work.handoffs(&task.id)?.into_iter().find(|handoff| content(handoff) == content(new));
    Ok(same.filter(|handoff| has_moved || (handoff.to_agent_id.is_none() && handoff.accepted_at.is_none())))
}
