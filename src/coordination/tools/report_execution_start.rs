//! `report_execution_start`: deprecated; starts an execution.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, TASK_ID};
use crate::coordination::caller::Concern;
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Secret, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_execution_start",
    title: "Report the start of an execution",
    description: "[DEPRECATED] get_my_task does this. Report that you are starting a task.",
    parameters: ReportExecutionStart::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::write::<ReportExecutionStart>(&[Scope::Agent]).deprecated(),
};

arguments! {
    struct ReportExecutionStart: snake_case {
        session_token: Secret = SESSION_TOKEN,
        task_id: Text = TASK_ID,
    }
}

impl Rule for ReportExecutionStart {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token), Concern::Task(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<Value, Error> {
        const REFUSED: &str = "Invalid session_token or task_id";
        let mut session = session::renew(work, &self.session_token, policy)?.ok_or_else(|| Error::refused(REFUSED))?;
        let task = work
            .task(&self.task_id)?
            .filter(|task| task.is_for(&session.agent_id) && task.project_id == session.project_id);
        let Some(task) = task else {
            return Err(Error::RefusedInSession(REFUSED));
        };
        if session.task_id.is_none() {
            session.task_id = Some(task.id.clone());
            work.change_session(&session)?;
        }
        let execution = execution::find_or_start(work, &session, &task.id)?;
        Ok(json!({"success": true, "execution_id": execution.id, "started_at": execution.started_at}))
    }
}
