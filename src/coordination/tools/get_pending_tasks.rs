//! `get_pending_tasks`: deprecated; the tasks in progress of a session's agent and project.

use serde_json::{Value, json};

use super::{OFFSET, SESSION_TOKEN};
use crate::coordination::caller::Concern;
use crate::coordination::rules::{find_project, session};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Offset, Secret, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_pending_tasks",
    title: "Get pending tasks",
    description: "[DEPRECATED] Use get_my_task. List your tasks in progress.",
    parameters: GetPendingTasks::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::write::<GetPendingTasks>(&[Scope::Agent]).deprecated(),
};

arguments! {
    struct GetPendingTasks: snake_case {
        session_token: Secret = SESSION_TOKEN,
        offset: Offset = OFFSET,
    }
}

impl Rule for GetPendingTasks {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token)]
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<Value, Error> {
        let session = session::renew_or_refuse(work, &self.session_token, policy)?;
        let project = find_project(work, &session.project_id)?;
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
}
