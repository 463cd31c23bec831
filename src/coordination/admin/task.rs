//! `admin task …`: adds and lists tasks, and sets their status.

use serde_json::{Value, json};

use super::{ID, NEW_ID, PROJECT};
use crate::coordination::rules::task::Actor;
use crate::coordination::rules::{find_project, task};
use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Priority, Task, TaskFilter, TaskStatus, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Choice, Effect, Text, arguments, words};

words! {
    /// The statuses that a new task can have.
    enum InitialStatus {
        Backlog = "backlog",
        Todo = "todo",
        InProgress = "in_progress",
    }
}

impl From<InitialStatus> for TaskStatus {
    fn from(status: InitialStatus) -> Self {
        match status {
            InitialStatus::Backlog => Self::Backlog,
            InitialStatus::Todo => Self::Todo,
            InitialStatus::InProgress => Self::InProgress,
        }
    }
}

/// `task add`.
pub static ADD: Tool = Tool {
    name: "admin_task_add",
    title: "Add a task",
    description: "Add a task to a project. An agent is started for tasks that are assigned to it and in_progress.",
    parameters: AddTask::PARAMETERS,
    effect: Effect::Add,
    handler: Handler::write::<AddTask>(&[]),
};

arguments! {
    struct AddTask: snake_case {
        id: Option<Text> = NEW_ID,
        project: Text = PROJECT,
        title: Text = "Its title.",
        description: Option<AnyText> = "What to do.",
        status: Option<Choice<InitialStatus>> = "Its status (default: backlog).",
        priority: Option<Choice<Priority>> = "How urgent it is (default: medium).",
        assignee: Option<Text> = "The agent to assign it to.",
    }
}

/// `task list`.
pub static LIST: Tool = Tool {
    name: "admin_task_list",
    title: "List tasks",
    description: "List the tasks of a project, most urgent first.",
    parameters: ListTasks::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListTasks>(&[]),
};

arguments! {
    struct ListTasks: snake_case {
        project: Text = PROJECT,
    }
}

/// `task set-status`.
pub static SET_STATUS: Tool = Tool {
    name: "admin_task_set_status",
    title: "Set a task's status",
    description: "Move a task to another status, under the same rules as update_task_status.",
    parameters: SetTaskStatus::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<SetTaskStatus>(&[]),
};

arguments! {
    struct SetTaskStatus: snake_case {
        id: Text = ID,
        status: Choice<TaskStatus> = "Its new status.",
    }
}

impl Rule for AddTask {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let id = self.id.clone().unwrap_or_else(|| secret::id("tsk_"));
        let (project, title, status) = (self.project.clone(), self.title.clone(), self.status.map(Into::into));
        let task = new(work, id, project, title, status, self.priority);
        let task = Task { description: self.description.clone(), ..task };
        create(work, task, self.assignee.clone()).map(|task| json!({"success": true, "task": task}))
    }
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
    find_project(work, &task.project_id)?;
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

impl Rule for ListTasks {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let project = &self.project;
        find_project(work, project)?;
        let filter = TaskFilter { project: Some(project), ..TaskFilter::default() };
        Ok(json!({"success": true, "tasks": work.tasks(&filter)?}))
    }
}

impl Rule for SetTaskStatus {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let task = task::find_for_update(work, &self.id)?;
        let task = task::move_to(work, &task, self.status, Actor::default())?;
        Ok(json!({"success": true, "task": task}))
    }
}
