//! The life of an execution: it runs until the first word of its end.

use serde_json::json;

use crate::coordination::secret;
use crate::coordination::store::{Change, Entity, Execution, ExecutionStatus, Fault, Session, Time, Work};

/// How an execution ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending<'a> {
    /// Its agent said so.
    Exit(i64),
    /// Nobody said so, and why.
    ByServer(&'a str),
}

/// The execution of a task in a session: the one that runs, or a new one.
pub(crate) fn running_or_new(work: &mut Work<'_>, session: &Session, task: &str) -> Result<Execution, Fault> {
    if let Some(running) = work.running(&session.id)?.into_iter().find(|running| running.task_id == task) {
        return Ok(running);
    }
    let execution = Execution {
        id: secret::id("exec_"),
        task_id: task.to_owned(),
        agent_id: session.agent_id.clone(),
        status: ExecutionStatus::Running,
        exit_code: None,
        duration_seconds: None,
        started_at: work.now(),
        completed_at: None,
        log_file_path: None,
        session_id: session.id.clone(),
    };
    work.add_execution(&execution)?;
    record(work, &execution, session, "started")?;
    Ok(execution)
}

/// Ends one that runs.
pub(crate) fn end(work: &mut Work<'_>, running: Execution, ending: Ending<'_>) -> Result<(), Fault> {
    let now = work.now();
    let (status, exit_code, why) = match ending {
        Ending::Exit(0) => (ExecutionStatus::Completed, Some(0), None),
        Ending::Exit(code) => (ExecutionStatus::Failed, Some(code), None),
        Ending::ByServer(why) => (ExecutionStatus::Error, None, Some(why)),
    };
    let duration_seconds = Some(now.seconds_since(running.started_at));
    finish(work, Execution { status, exit_code, duration_seconds, ..running }, now, why).map(drop)
}

/// Ends one that runs, with what its agent measured.
pub(crate) fn end_as_measured(
    work: &mut Work<'_>,
    running: Execution,
    exit_code: i64,
    duration_seconds: f64,
    log_file_path: &str,
) -> Result<Execution, Fault> {
    let status = if exit_code == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
    let ended = Execution {
        status,
        exit_code: Some(exit_code),
        duration_seconds: Some(duration_seconds),
        log_file_path: Some(log_file_path.to_owned()),
        ..running
    };
    let now = work.now();
    finish(work, ended, now, None)
}

fn finish(work: &mut Work<'_>, ended: Execution, now: Time, why: Option<&str>) -> Result<Execution, Fault> {
    let ended = Execution { completed_at: Some(now), ..ended };
    work.end_execution(&ended, why)?;
    work.record(&Change {
        actor: Some(&ended.agent_id),
        session: Some(&ended.session_id),
        after: Some(json!({"status": ended.status, "exit_code": ended.exit_code})),
        reason: why,
        ..Change::new(Entity::Execution, &ended.id, "ended")
    })?;
    Ok(ended)
}

fn record(work: &mut Work<'_>, execution: &Execution, session: &Session, event: &str) -> Result<(), Fault> {
    work.record(&Change {
        project: Some(&session.project_id),
        actor: Some(&session.agent_id),
        session: Some(&session.id),
        after: Some(json!({ "task_id": execution.task_id })),
        ..Change::new(Entity::Execution, &execution.id, event)
    })
}
