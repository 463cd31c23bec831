//! The lifecycle of an execution: it runs until its end is first reported, or until the server closes it.

use serde_json::json;

use crate::coordination::secret;
use crate::coordination::store::{Entity, Event, Execution, ExecutionStatus, Session, StoreError, Time, Work};

/// How an execution ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending<'a> {
    /// Its agent reported this exit code.
    Exit(i64),
    /// The server closed it without a report, for this reason.
    ByServer(&'a str),
}

/// The running execution of a task in a session; starts one if there is none.
pub(crate) fn find_or_start(work: &mut Work<'_>, session: &Session, task: &str) -> Result<Execution, StoreError> {
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
    let after = json!({ "task_id": execution.task_id });
    record(work, session, Event { after: Some(after), ..Event::new(Entity::Execution, &execution.id, "started") })?;
    Ok(execution)
}

/// Ends a running execution of a session.
pub(crate) fn end(
    work: &mut Work<'_>,
    session: &Session,
    running: Execution,
    ending: Ending<'_>,
) -> Result<(), StoreError> {
    let now = work.now();
    let (status, exit_code, why) = match ending {
        Ending::Exit(0) => (ExecutionStatus::Completed, Some(0), None),
        Ending::Exit(code) => (ExecutionStatus::Failed, Some(code), None),
        Ending::ByServer(why) => (ExecutionStatus::Error, None, Some(why)),
    };
    // Nothing ran after the session expired, however late the server notices.
    let end = if why.is_some() { now.min(session.expires_at) } else { now };
    let duration_seconds = Some(end.seconds_since(running.started_at));
    finish(work, session, Execution { status, exit_code, duration_seconds, ..running }, end, why).map(drop)
}

/// Ends a running execution of a session with the exit code, duration and log file that its agent reported.
pub(crate) fn end_as_reported(
    work: &mut Work<'_>,
    session: &Session,
    running: Execution,
    exit_code: i64,
    duration_seconds: f64,
    log_file_path: &str,
) -> Result<Execution, StoreError> {
    let status = if exit_code == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
    let ended = Execution {
        status,
        exit_code: Some(exit_code),
        duration_seconds: Some(duration_seconds),
        log_file_path: Some(log_file_path.to_owned()),
        ..running
    };
    let now = work.now();
    finish(work, session, ended, now, None)
}

fn finish(
    work: &mut Work<'_>,
    session: &Session,
    ended: Execution,
    end: Time,
    why: Option<&str>,
) -> Result<Execution, StoreError> {
    // The clock may have been set back: no execution ends before it started.
    let ended = Execution { completed_at: Some(end.max(ended.started_at)), ..ended };
    work.end_execution(&ended, why)?;
    let after = json!({"status": ended.status, "exit_code": ended.exit_code});
    record(
        work,
        session,
        Event { after: Some(after), reason: why, ..Event::new(Entity::Execution, &ended.id, "ended") },
    )?;
    Ok(ended)
}

/// Records an event of a session's execution.
fn record(work: &mut Work<'_>, session: &Session, event: Event<'_>) -> Result<(), StoreError> {
    work.record(&Event {
        project: Some(&session.project_id),
        actor: Some(&session.agent_id),
        session: Some(&session.id),
        ..event
    })
}
