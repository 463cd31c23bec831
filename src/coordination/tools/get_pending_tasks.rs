//! `get_pending_tasks`: deprecated; the tasks of a session that are in progress.

use serde_json::{Value, json};

use super::{OFFSET, SESSION_TOKEN, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::session;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_tasks",
    title: "Get pending tasks",
    description: "[DEPRECATED] Use get_my_task. List your tasks that are in progress.",
    parameters: &[SESSION_TOKEN, OFFSET],
    scopes: &[Scope::Agent],
    effect: Effect::Ensure,
    deprecated: true,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, terms: &Terms) -> Result<Value, Error> {
    let session = session::valid(work, &given(arguments, "session_token"), terms)?;
    let project = work.project(&session.project_id)?.ok_or_else(|| not_found("Project", &session.project_id))?;
    let tasks = work.tasks_in_progress(&session.agent_id, &session.project_id)?.into_iter().map(|task| {
        json!({
            "taskId": task.id,
            "projectId": task.project_id,
            "title": task.title,
            "description": task.description,
            "priority": task.priority,
            "workingDirectory": project.working_directory,
            "assignedAt": task.assigned_at,
        })
    });
    Ok(json!({"success": true, "tasks": tasks.collect::<Vec<_>>()}))
}
