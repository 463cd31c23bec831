//! `report_execution_complete`: deprecated; ends an execution but not the session.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, required_text};
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{ExecutionStatus, Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_execution_complete",
    title: "Report the end of an execution",
    description: "[DEPRECATED] Use report_completed. Report how an execution ended; the session continues.",
    parameters: &[
        SESSION_TOKEN,
        Parameter::required("execution_id", Kind::Text, "The execution, from report_execution_start."),
        Parameter::required("exit_code", Kind::Signed, "0 for success."),
        Parameter::required("duration_seconds", Kind::Amount, "How long it took, in seconds."),
        Parameter::required("log_file_path", Kind::AnyText, "The path of its log file."),
    ],
    effect: Effect::Overwrite,
    handler: Handler::write(&[Scope::Agent], run).deprecated(),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, policy: &SessionPolicy) -> Result<Value, Error> {
    const REFUSED: &str = "Invalid execution_id or session_token";
    let session = session::renew(work, &required_text(arguments, "session_token"), policy)?;
    let session = session.ok_or_else(|| Error::refused(REFUSED))?;
    let execution = work.execution(&required_text(arguments, "execution_id"))?;
    let Some(mut execution) = execution.filter(|execution| execution.session_id == session.id) else {
        return Err(Error::RefusedInSession(REFUSED));
    };
    // The first report counts; a repeated call gets its result.
    if execution.status == ExecutionStatus::Running {
        let exit_code = arguments.signed("exit_code").unwrap_or_default();
        let duration = arguments.amount("duration_seconds").unwrap_or_default();
        execution = execution::end_as_reported(
            work,
            &session,
            execution,
            exit_code,
            duration,
            &required_text(arguments, "log_file_path"),
        )?;
    }
    Ok(json!({
        "success": true,
        "execution_id": execution.id,
        "completed_at": execution.completed_at,
        "status": execution.status,
    }))
}
