//! `create_handoff`: hands a task over to another agent, or offers it to all agents of the project.

use serde_json::{Value, json};

use super::{TASK_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::rules::task;
use crate::coordination::rules::task::Actor;
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Handoff, Scope, Task, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_handoff",
    title: "Create a handoff",
    description: "Hand a task over to another agent of its project. With to_agent_id the task is assigned to that agent at once; without it, the first agent to accept the handoff gets the task. Call save_context first.",
    parameters: &[
        TASK_ID,
        Parameter::required("from_agent_id", Kind::Text, "The agent that hands the task over: you."),
        Parameter::optional(
            "to_agent_id",
            Kind::Text,
            "The agent to continue with the task; omit it if that is undecided.",
        ),
        Parameter::required("summary", Kind::Text, "What has been done so far."),
        Parameter::optional("context", Kind::AnyText, "What the next agent needs to know."),
        Parameter::optional("recommendations", Kind::AnyText, "What the next agent should do."),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let task = task::find_for_update(work, &required_text(arguments, "task_id"))?;
    let handoff = Handoff {
        id: secret::id("hnd_"),
        task_id: task.id.clone(),
        from_agent_id: required_text(arguments, "from_agent_id"),
        to_agent_id: arguments.text("to_agent_id"),
        summary: required_text(arguments, "summary"),
        context: arguments.text("context"),
        recommendations: arguments.text("recommendations"),
        accepted_at: None,
        created_at: work.now(),
        accepted_by: None,
    };
    let from = &handoff.from_agent_id;
    if work.agent(from)?.is_none() {
        return Err(not_found("Agent", from));
    }
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
