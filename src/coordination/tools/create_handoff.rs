//! `create_handoff`: hands a task over to another agent.

use serde_json::{Value, json};

use super::{TASK_ID, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::task;
use crate::coordination::rules::task::By;
use crate::coordination::secret;
use crate::coordination::store::{Change, Entity, Handoff, Scope, Task, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "create_handoff",
    title: "Create a handoff",
    description: "Hand a task over to another agent of its project, who is given the task at once; without to_agent_id whoever accepts it gets it. Save the context first.",
    parameters: &[
        TASK_ID,
        Parameter::required("from_agent_id", Kind::Text, "Who hands it over: you."),
        Parameter::optional("to_agent_id", Kind::Text, "Who is to go on; leave it out if that is not decided."),
        Parameter::required("summary", Kind::Text, "What was done so far."),
        Parameter::optional("context", Kind::AnyText, "What the other must know."),
        Parameter::optional("recommendations", Kind::AnyText, "What the other should do."),
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let task = task::find_to_change(work, &given(arguments, "task_id"))?;
    let handoff = Handoff {
        id: secret::id("hnd_"),
        task_id: task.id.clone(),
        from_agent_id: given(arguments, "from_agent_id"),
        to_agent_id: arguments.text("to_agent_id"),
        summary: given(arguments, "summary"),
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
    if let Some(before) = asked_before(work, &task, &handoff)? {
        return Ok(json!({"success": true, "handoff": before}));
    }
    task::be_open(&task)?;
    // What is somebody else's is not this agent's to give.
    if let Some(owner) = task.assignee_id.as_ref().filter(|owner| *owner != from) {
        return Err(Error::refused(format!("Task is assigned to another agent: {owner}")));
    }
    let by = By { agent: Some(from), session: None };
    // The other can be started only when the task is its own.
    if let Some(to) = &handoff.to_agent_id {
        task::be_active(work, to)?;
        task::assign(work, &task, Some(to), by)?;
    }
    work.add_handoff(&handoff)?;
    work.record(&Change {
        project: Some(&task.project_id),
        actor: Some(from),
        after: Some(json!({"task_id": task.id, "to_agent_id": handoff.to_agent_id})),
        ..Change::new(Entity::Handoff, &handoff.id, "created")
    })?;
    Ok(json!({"success": true, "handoff": handoff}))
}

/// The same handoff, for a client that did not get its answer and asks again: one after which the task went on
/// to others, or one to anybody that nobody accepted yet.
fn asked_before(work: &mut Work<'_>, task: &Task, new: &Handoff) -> Result<Option<Handoff>, Error> {
    let says = |handoff: &Handoff| {
        let Handoff { from_agent_id, to_agent_id, summary, context, recommendations, .. } = handoff.clone();
        (from_agent_id, to_agent_id, summary, context, recommendations)
    };
    let is_gone = task.assignee_id.as_ref() != Some(&new.from_agent_id);
    let same = work.handoffs(&task.id)?.into_iter().find(|before| says(before) == says(new));
    Ok(same.filter(|before| is_gone || (before.to_agent_id.is_none() && before.accepted_at.is_none())))
}
