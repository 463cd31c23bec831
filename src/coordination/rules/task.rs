//! The lifecycle of a task: its assignee, its status and its context.

use serde_json::{Value, json};

use super::find_agent;
use crate::coordination::Error;
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{AgentStatus, Context, Entity, Event, NoteOrigin, Session, Task, TaskStatus, Work};
use crate::toolkit::Words;

/// Who changes a task, if known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Actor<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

impl<'a> From<&'a Session> for Actor<'a> {
    fn from(session: &'a Session) -> Self {
        Self { agent: Some(&session.agent_id), session: Some(&session.id) }
    }
}

/// The task with this id.
pub(crate) fn find(work: &mut Work<'_>, id: &str) -> Result<Task, Error> {
    work.task(id)?.ok_or_else(|| not_found("Task", id))
}

/// The task with this id, locked for a change.
pub(crate) fn find_for_update(work: &mut Work<'_>, id: &str) -> Result<Task, Error> {
    work.task_for_update(id)?.ok_or_else(|| not_found("Task", id))
}

/// The status with this name.
pub(crate) fn parse_status(name: &str) -> Result<TaskStatus, Error> {
    TaskStatus::named(name).ok_or_else(|| Error::refused(format!("Invalid status: {name}")))
}

/// Whether a task can move from one status to another.
fn can_become(from: TaskStatus, to: TaskStatus) -> bool {
    use TaskStatus::{Backlog, Blocked, Cancelled, Done, InProgress, Todo};
    matches!(
        (from, to),
        (Backlog, Todo | Cancelled)
            | (Todo, InProgress | Backlog | Cancelled)
            | (InProgress, Done | Blocked | Todo)
            | (Blocked, InProgress | Cancelled)
    )
}

/// Moves a task to another status.
pub(crate) fn move_to(work: &mut Work<'_>, task: &Task, to: TaskStatus, actor: Actor<'_>) -> Result<Task, Error> {
    if !can_become(task.status, to) {
        return Err(Error::refused(format!("Invalid status transition: {} -> {}", task.status.word(), to.word())));
    }
    let now = work.now();
    let completed_at = (to == TaskStatus::Done).then_some(now);
    let moved = Task { status: to, updated_at: now, completed_at, ..task.clone() };
    let (before, after) = (json!({ "status": task.status }), json!({ "status": to }));
    change(work, &moved, "status_changed", before, after, actor)?;
    Ok(moved)
}

/// Assigns a task to an agent, or to no one. Repeating an assignment changes nothing.
pub(crate) fn assign(work: &mut Work<'_>, task: &Task, to: Option<&str>, actor: Actor<'_>) -> Result<Task, Error> {
    if task.assignee_id.as_deref() == to {
        return Ok(task.clone());
    }
    if let Some(agent) = to {
        require_member(work, &task.project_id, agent)?;
    }
    let now = work.now();
    let assigned =
        Task { assignee_id: to.map(str::to_owned), assigned_at: to.map(|_| now), updated_at: now, ..task.clone() };
    let (before, after) = (json!({ "assignee_id": task.assignee_id }), json!({ "assignee_id": to }));
    change(work, &assigned, "assigned", before, after, actor)?;
    Ok(assigned)
}

/// Refuses an agent that does not exist or is not assigned to the project.
pub(crate) fn require_member(work: &mut Work<'_>, project: &str, agent: &str) -> Result<(), Error> {
    find_agent(work, agent)?;
    if !work.is_assigned(project, agent)? {
        return Err(Error::refused(NOT_ASSIGNED));
    }
    Ok(())
}

/// Refuses an agent that does not exist or is not active: it could not be started.
pub(crate) fn require_active(work: &mut Work<'_>, agent: &str) -> Result<(), Error> {
    match find_agent(work, agent)?.status {
        AgentStatus::Active => Ok(()),
        _ => Err(Error::refused(format!("Agent is not active: {agent}"))),
    }
}

/// Refuses a task that is done or cancelled.
pub(crate) fn require_open(task: &Task) -> Result<(), Error> {
    match task.status {
        TaskStatus::Done | TaskStatus::Cancelled => {
            Err(Error::refused(format!("Task is {}: {}", task.status.word(), task.id)))
        }
        _ => Ok(()),
    }
}

/// The refusal for an agent that is not assigned to the project.
pub(crate) const NOT_ASSIGNED: &str = "Agent not assigned to project";

/// Stores a changed task and records the event.
pub(crate) fn change(
    work: &mut Work<'_>,
    task: &Task,
    event: &str,
    before: Value,
    after: Value,
    actor: Actor<'_>,
) -> Result<(), Error> {
    work.change_task(task)?;
    work.record(&Event {
        project: Some(&task.project_id),
        actor: actor.agent,
        session: actor.session,
        before: Some(before),
        after: Some(after),
        ..Event::new(Entity::Task, &task.id, event)
    })?;
    Ok(())
}

/// The fields of a note about a task; `None` leaves a field as it was, `""` clears it.
#[derive(Debug, Default)]
pub(crate) struct Note {
    pub(crate) progress: Option<String>,
    pub(crate) findings: Option<String>,
    pub(crate) blockers: Option<String>,
    pub(crate) next_steps: Option<String>,
}

impl Note {
    /// Whether no field is set.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.progress, &self.findings, &self.blockers, &self.next_steps].into_iter().all(Option::is_none)
    }
}

/// Saves a note about a task. A note identical to the newest one is not saved again, so that a client that lost
/// the answer can repeat the call.
pub(crate) fn save_note(work: &mut Work<'_>, task: &Task, note: Note, actor: Actor<'_>) -> Result<Context, Error> {
    let Note { progress, findings, blockers, next_steps } = note;
    let context = Context {
        id: secret::id("ctx_"),
        task_id: task.id.clone(),
        progress,
        findings,
        blockers,
        next_steps,
        created_at: work.now(),
    };
    if let Some(newest) = work.newest_context(&task.id)?.filter(|newest| newest.says_the_same_as(&context)) {
        return Ok(newest);
    }
    // Notes that the new assignee wrote about the task are newer than the previous assignee's report.
    let is_late = match actor.agent {
        Some(agent) if task.assignee_id.as_deref().is_some_and(|assignee| assignee != agent) => {
            work.has_notes_since_it_left(&task.id, agent)?
        }
        _ => false,
    };
    work.add_context(&context, NoteOrigin { author: actor.agent.zip(actor.session), is_late })?;
    work.record(&Event {
        project: Some(&task.project_id),
        actor: actor.agent,
        session: actor.session,
        after: Some(json!({ "task_id": task.id })),
        ..Event::new(Entity::Context, &context.id, "saved")
    })?;
    Ok(context)
}
