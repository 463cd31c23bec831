//! `get_pending_tasks`: deprecated; the tasks in progress of a session's agent and project.

use serde_json::{Value, json};

use super::{OFFSET, SESSION_TOKEN, required_text};
use crate::coordination::error::not_found;
use crate::coordination::rules::session;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_tasks",
    title: "Get pending tasks",
    description: "[DEPRECATED] Use get_my_task. List your tasks in progress.",
    parameters: &[SESSION_TOKEN, OFFSET],
    effect: Effect::Ensure,
    handler: Handler::write(&[Scope::Agent], run).deprecated(),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, policy: &SessionPolicy) -> Result<Value, Error> {
    let session = session::renew_or_refuse(work, &required_text(arguments, "session_token"), policy)?;
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
