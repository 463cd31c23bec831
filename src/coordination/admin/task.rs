//! `admin task …`: adds and lists tasks, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID, PROJECT, required_text};
use crate::coordination::error::not_found;
use crate::coordination::rules::task::{self, Actor};
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Priority, Task, TaskFilter, TaskStatus, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The statuses that a new task can have.
const INITIAL_STATUSES: &[&str] = &["backlog", "todo", "in_progress"];

/// `task add`.
pub static ADD: Tool = Tool {
    name: "admin_task_add",
    title: "Add a task",
    description: "Add a task to a project. An agent is started for tasks that are assigned to it and in_progress.",
    parameters: &[
        NEW_ID,
        PROJECT,
        Parameter::required("title", Kind::Text, "Its title."),
        Parameter::optional("description", Kind::AnyText, "What to do."),
        Parameter::optional("status", Kind::Choice(INITIAL_STATUSES), "Its status (default: backlog)."),
        Parameter::optional("priority", Kind::Choice(Priority::VALUES), "How urgent it is (default: medium)."),
        Parameter::optional("assignee", Kind::Text, "The agent to assign it to."),
    ],
    effect: Effect::Add,
    handler: Handler::write(&[], add),
};

/// `task list`.
pub static LIST: Tool = Tool {
    name: "admin_task_list",
    title: "List tasks",
    description: "List the tasks of a project, most urgent first.",
    parameters: &[PROJECT],
    effect: Effect::Read,
    handler: Handler::read(&[], list),
};

/// `task set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_task_set_status",
    title: "Set a task's status",
    description: "Move a task to another status, under the same rules as update_task_status.",
    parameters: &[ID, Parameter::required("status", Kind::Choice(TaskStatus::VALUES), "Its new status.")],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], set_status),
};

fn add(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let id = arguments.text("id").unwrap_or_else(|| secret::id("tsk_"));
    let (status, priority) = (arguments.text("status"), arguments.text("priority"));
    let task = new(
        work,
        id,
        required_text(arguments, "project"),
        required_text(arguments, "title"),
        status.and_then(|text| TaskStatus::parse(&text)),
        priority.and_then(|text| Priority::parse(&text)),
    );
    let task = Task { description: arguments.text("description"), ..task };
    create(work, task, arguments.text("assignee")).map(|task| json!({"success": true, "task": task}))
}

/// A new task without an assignee. The status defaults to backlog and the priority to medium.
pub(super) fn new(
    work: &Work<'_>,
    id: String,
    project_id: String,
    title: String,
    status: Option<TaskStatus>,
    priority: Option<Priority>,
) -> Task {
    let now = work.now();
    Task {
        id,
        project_id,
        title,
        description: None,
        status: status.unwrap_or(TaskStatus::Backlog),
        priority: priority.unwrap_or(Priority::Medium),
        assignee_id: None,
        created_at: now,
        updated_at: now,
        completed_at: None,
        assigned_at: None,
    }
}

/// Adds a task, assigned to an agent of its project or to no one.
pub(super) fn create(work: &mut Work<'_>, task: Task, assignee: Option<String>) -> Result<Task, Error> {
    work.lock_project(&task.project_id)?;
    if work.project(&task.project_id)?.is_none() {
        return Err(not_found("Project", &task.project_id));
    }
    if let Some(agent) = &assignee {
        task::require_member(work, &task.project_id, agent)?;
    }
    let assigned_at = assignee.as_ref().map(|_| work.now());
    let task = Task { assignee_id: assignee, assigned_at, ..task };
    if !work.add_task(&task)? {
        return Err(Error::refused(format!("Task already exists: {}", task.id)));
    }
    work.record(&Event {
        project: Some(&task.project_id),
        after: Some(json!({"status": task.status, "assignee_id": task.assignee_id})),
        ..Event::new(Entity::Task, &task.id, "added")
    })?;
    Ok(task)
}

fn list(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let project = required_text(arguments, "project");
    if work.project(&project)?.is_none() {
        return Err(not_found("Project", &project));
    }
    let filter = TaskFilter { project: Some(&project), ..TaskFilter::default() };
    Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
}

fn set_status(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let task = task::find_for_update(work, &required_text(arguments, "id"))?;
    let task = task::move_to(work, &task, task::parse_status(&required_text(arguments, "status"))?, Actor::default())?;
    Ok(json!({"success": true, "task": task}))
}
