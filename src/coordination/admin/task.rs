//! Tasks.

use serde_json::{Value, json};

use super::{ID, NEW_ID, PROJECT, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::task::{self, By};
use crate::coordination::secret;
use crate::coordination::store::{Change, Entity, Priority, Task, TaskFilter, TaskStatus, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// What a task may begin as.
const BEGINNINGS: &[&str] = &["backlog", "todo", "in_progress"];

/// `task add`.
pub static ADD: Tool = Tool {
    name: "admin_task_add",
    title: "Add a task",
    description: "Add a task to a project. An agent is started for those that are its own and in_progress.",
    parameters: &[
        NEW_ID,
        PROJECT,
        Parameter::required("title", Kind::Text, "Its title."),
        Parameter::optional("description", Kind::AnyText, "What is to be done."),
        Parameter::optional("status", Kind::Choice(BEGINNINGS), "Where it stands (default: backlog)."),
        Parameter::optional("priority", Kind::Choice(Priority::WORDS), "How urgent it is (default: medium)."),
        Parameter::optional("assignee", Kind::Text, "The agent that is to do it."),
    ],
    scopes: &[],
    effect: Effect::Add,
    deprecated: false,
    run: Run::Write(add),
};

/// `task list`.
pub static LIST: Tool = Tool {
    name: "admin_task_list",
    title: "List tasks",
    description: "List the tasks of a project, the most urgent first.",
    parameters: &[PROJECT],
    scopes: &[],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(list),
};

/// `task set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_task_set_status",
    title: "Set a task's status",
    description: "Move a task to another status, as update_task_status does.",
    parameters: &[ID, Parameter::required("status", Kind::Choice(TaskStatus::WORDS), "Its new status.")],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(set_status),
};

fn add(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let id = arguments.text("id").unwrap_or_else(|| secret::id("tsk_"));
    let (status, priority) = (arguments.text("status"), arguments.text("priority"));
    let task = new(
        work,
        id,
        given(arguments, "project"),
        given(arguments, "title"),
        status.and_then(|word| TaskStatus::parse(&word)),
        priority.and_then(|word| Priority::parse(&word)),
    );
    let task = Task { description: arguments.text("description"), ..task };
    create(work, task, arguments.text("assignee")).map(|task| json!({"success": true, "task": task}))
}

/// A task of nobody, with the usual status and priority where there is none.
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

/// Adds a task, for an agent of its project or for nobody.
pub(super) fn create(work: &mut Work<'_>, task: Task, assignee: Option<String>) -> Result<Task, Error> {
    work.lock_project(&task.project_id)?;
    if work.project(&task.project_id)?.is_none() {
        return Err(not_found("Project", &task.project_id));
    }
    if let Some(agent) = &assignee {
        task::be_member(work, &task.project_id, agent)?;
    }
    let assigned_at = assignee.as_ref().map(|_| work.now());
    let task = Task { assignee_id: assignee, assigned_at, ..task };
    if !work.add_task(&task)? {
        return Err(Error::refused(format!("Task already exists: {}", task.id)));
    }
    work.record(&Change {
        project: Some(&task.project_id),
        after: Some(json!({"status": task.status, "assignee_id": task.assignee_id})),
        ..Change::new(Entity::Task, &task.id, "added")
    })?;
    Ok(task)
}

fn list(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let project = given(arguments, "project");
    if work.project(&project)?.is_none() {
        return Err(not_found("Project", &project));
    }
    let filter = TaskFilter { project: Some(&project), ..TaskFilter::default() };
    Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
}

fn set_status(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let task = task::find_to_change(work, &given(arguments, "id"))?;
    let task = task::move_to(work, &task, task::status(&given(arguments, "status"))?, By::default())?;
    Ok(json!({"success": true, "task": task}))
}
