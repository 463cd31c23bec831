//! `report_execution_complete`: deprecated; ends an execution but not the session.

use serde_json::{Value, json};

use super::SESSION_TOKEN;
use crate::coordination::caller::Concern;
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{ExecutionStatus, Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Amount, AnyText, Effect, Secret, Signed, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_execution_complete",
    title: "Report the end of an execution",
    description: "[DEPRECATED] Use report_completed. Report how an execution ended; the session continues.",
    parameters: ReportExecutionComplete::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<ReportExecutionComplete>(&[Scope::Agent]).deprecated(),
};

arguments! {
    struct ReportExecutionComplete: snake_case {
        session_token: Secret = SESSION_TOKEN,
        execution_id: Text = "The execution, from report_execution_start.",
        exit_code: Signed = "0 for success.",
        duration_seconds: Amount = "How long it took, in seconds.",
        log_file_path: AnyText = "The path of its log file.",
    }
}

impl Rule for ReportExecutionComplete {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token)]
    }

    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<Value, Error> {
        const REFUSED: &str = "Invalid execution_id or session_token";
        let session = session::renew(work, &self.session_token, policy)?;
        let session = session.ok_or_else(|| Error::refused(REFUSED))?;
        let execution = work.execution(&self.execution_id)?;
        let Some(mut execution) = execution.filter(|execution| execution.session_id == session.id) else {
            return Err(Error::RefusedInSession(REFUSED));
        };
        // The first report counts; a repeated call returns its result.
        if execution.status == ExecutionStatus::Running {
            execution = execution::end_as_reported(
                work,
                &session,
                execution,
                self.exit_code,
                self.duration_seconds,
                &self.log_file_path,
            )?;
        }
        Ok(json!({
            "success": true,
            "execution_id": execution.id,
            "completed_at": execution.completed_at,
            "status": execution.status,
        }))
    }
}
