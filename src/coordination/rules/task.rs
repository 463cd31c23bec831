//! The life of a task: who has it, where it stands, and what was noted about it.

use serde_json::{Value, json};

use crate::coordination::Error;
use crate::coordination::error::not_found;
use crate::coordination::secret;
use crate::coordination::store::{AgentStatus, Change, Context, Entity, Session, Task, TaskStatus, Work};

/// Who changes a task, as far as that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct By<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

impl<'a> From<&'a Session> for By<'a> {
    fn from(session: &'a Session) -> Self {
        Self { agent: Some(&session.agent_id), session: Some(&session.id) }
    }
}

/// The task of this id.
pub(crate) fn find(work: &mut Work<'_>, id: &str) -> Result<Task, Error> {
    work.task(id)?.ok_or_else(|| not_found("Task", id))
}

/// The same, to be changed.
pub(crate) fn find_to_change(work: &mut Work<'_>, id: &str) -> Result<Task, Error> {
    work.task_to_change(id)?.ok_or_else(|| not_found("Task", id))
}

/// A state, by its word.
pub(crate) fn status(word: &str) -> Result<TaskStatus, Error> {
    TaskStatus::parse(word).ok_or_else(|| Error::refused(format!("Invalid status: {word}")))
}

/// Whether a task that stands at one state may go to another.
fn may_become(from: TaskStatus, to: TaskStatus) -> bool {
    use TaskStatus::{Backlog, Blocked, Cancelled, Done, InProgress, Todo};
    matches!(
        (from, to),
        (Backlog, Todo | Cancelled)
            | (Todo, InProgress | Backlog | Cancelled)
            | (InProgress, Done | Blocked | Todo)
            | (Blocked, InProgress | Cancelled)
    )
}

/// Moves a task to another state.
pub(crate) fn move_to(work: &mut Work<'_>, task: &Task, to: TaskStatus, by: By<'_>) -> Result<Task, Error> {
    if !may_become(task.status, to) {
        return Err(Error::refused(format!("Invalid status transition: {} -> {}", task.status.word(), to.word())));
    }
    let now = work.now();
    let completed_at = (to == TaskStatus::Done).then_some(now);
    let moved = Task { status: to, updated_at: now, completed_at, ..task.clone() };
    let (before, after) = (json!({ "status": task.status }), json!({ "status": to }));
    change(work, &moved, "status_changed", before, after, by)?;
    Ok(moved)
}

/// Gives a task to an agent, or to nobody. The same one again changes nothing.
pub(crate) fn assign(work: &mut Work<'_>, task: &Task, to: Option<&str>, by: By<'_>) -> Result<Task, Error> {
    if task.assignee_id.as_deref() == to {
        return Ok(task.clone());
    }
    if let Some(agent) = to {
        be_member(work, &task.project_id, agent)?;
    }
    let now = work.now();
    let assigned =
        Task { assignee_id: to.map(str::to_owned), assigned_at: to.map(|_| now), updated_at: now, ..task.clone() };
    let (before, after) = (json!({ "assignee_id": task.assignee_id }), json!({ "assignee_id": to }));
    change(work, &assigned, "assigned", before, after, by)?;
    Ok(assigned)
}

/// Refuses an agent that is not there, or not in the project.
pub(crate) fn be_member(work: &mut Work<'_>, project: &str, agent: &str) -> Result<(), Error> {
    if work.agent(agent)?.is_none() {
        return Err(not_found("Agent", agent));
    }
    if !work.is_assigned(project, agent)? {
        return Err(Error::refused(NOT_ASSIGNED));
    }
    Ok(())
}

/// Refuses an agent that could not be started.
pub(crate) fn be_active(work: &mut Work<'_>, agent: &str) -> Result<(), Error> {
    match work.agent(agent)? {
        None => Err(not_found("Agent", agent)),
        Some(found) if found.status != AgentStatus::Active => {
            Err(Error::refused(format!("Agent is not active: {agent}")))
        }
        Some(_) => Ok(()),
    }
}

/// Refuses a task that nobody works on any more.
pub(crate) fn be_open(task: &Task) -> Result<(), Error> {
    match task.status {
        TaskStatus::Done | TaskStatus::Cancelled => {
            Err(Error::refused(format!("Task is {}: {}", task.status.word(), task.id)))
        }
        _ => Ok(()),
    }
}

/// What an agent is answered that is not in the project.
pub(crate) const NOT_ASSIGNED: &str = "Agent not assigned to project";

/// Writes a changed task, and that it changed.
pub(crate) fn change(
    work: &mut Work<'_>,
    task: &Task,
    event: &str,
    before: Value,
    after: Value,
    by: By<'_>,
) -> Result<(), Error> {
    work.change_task(task)?;
    work.record(&Change {
        project: Some(&task.project_id),
        actor: by.agent,
        session: by.session,
        before: Some(before),
        after: Some(after),
        ..Change::new(Entity::Task, &task.id, event)
    })?;
    Ok(())
}

/// What is to be noted about a task.
#[derive(Debug, Default)]
pub(crate) struct Note {
    pub(crate) progress: Option<String>,
    pub(crate) findings: Option<String>,
    pub(crate) blockers: Option<String>,
    pub(crate) next_steps: Option<String>,
}

impl Note {
    /// Whether there is nothing to note.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.progress, &self.findings, &self.blockers, &self.next_steps].into_iter().all(Option::is_none)
    }
}

/// Notes something. What the newest note says is not noted twice: a client that did not get the answer asks
/// again, and gets it.
pub(crate) fn note(work: &mut Work<'_>, task: &Task, note: Note, by: By<'_>) -> Result<Context, Error> {
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
    if let Some(newest) = work.newest_context(&task.id)?.filter(|newest| newest.says_what(&context)) {
        return Ok(newest);
    }
    work.add_context(&context, by.agent.zip(by.session))?;
    work.record(&Change {
        project: Some(&task.project_id),
        actor: by.agent,
        session: by.session,
        after: Some(json!({ "task_id": task.id })),
        ..Change::new(Entity::Context, &context.id, "saved")
    })?;
    Ok(context)
}
