//! `report_execution_complete`: deprecated; ends an execution, not the session.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, given, refusal};
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{ExecutionStatus, Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_execution_complete",
    title: "Report the end of an execution",
    description: "[DEPRECATED] Use report_completed. Say how an execution ended; the session goes on.",
    parameters: &[
        SESSION_TOKEN,
        Parameter::required("execution_id", Kind::Text, "The execution, from report_execution_start."),
        Parameter::required("exit_code", Kind::Signed, "0 for success."),
        Parameter::required("duration_seconds", Kind::Amount, "How long it took."),
        Parameter::required("log_file_path", Kind::AnyText, "Where its log is."),
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Overwrite,
    deprecated: true,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, terms: &Terms) -> Result<Value, Error> {
    const REFUSED: &str = "Invalid execution_id or session_token";
    let session = session::alive(work, &given(arguments, "session_token"), terms)?;
    let session = session.ok_or_else(|| Error::refused(REFUSED))?;
    let execution = work.execution(&given(arguments, "execution_id"))?;
    let Some(mut execution) = execution.filter(|execution| execution.session_id == session.id) else {
        // The session was used, and lives on.
        return Ok(refusal(REFUSED));
    };
    // The first word of its end counts; whoever asks again is told that.
    if execution.status == ExecutionStatus::Running {
        let exit_code = arguments.signed("exit_code").unwrap_or_default();
        let duration = arguments.amount("duration_seconds").unwrap_or_default();
        execution =
            execution::end_as_measured(work, execution, exit_code, duration, &given(arguments, "log_file_path"))?;
    }
    Ok(json!({
        "success": true,
        "execution_id": execution.id,
        "completed_at": execution.completed_at,
        "status": execution.status,
    }))
}
