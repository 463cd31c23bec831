//! `report_completed`: ends a task, its execution and the session.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, given, refusal};
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::task::Note;
use crate::coordination::rules::{execution, session, task};
use crate::coordination::store::{EndReason, Scope, Session, Task, TaskStatus, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_completed",
    title: "Report the result",
    description: "Report how your task ended: success, failed or blocked. It ends your execution and your session; exit after it. summary and next_steps are kept with the task.",
    parameters: &[
        SESSION_TOKEN,
        Parameter::required("result", Kind::Choice(&["success", "failed", "blocked"]), "How it ended."),
        Parameter::optional("summary", Kind::AnyText, "What was done, or why not."),
        Parameter::optional("next_steps", Kind::AnyText, "What is to be done next."),
    ],
    scopes: &[Scope::Agent],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, terms: &Terms) -> Result<Value, Error> {
    let (token, result) = (given(arguments, "session_token"), given(arguments, "result"));
    let (summary, next_steps) = (arguments.text("summary"), arguments.text("next_steps"));
    let request = json!({"result": result, "summary": summary, "next_steps": next_steps});
    let session = session::remembered(work, &token)?;
    if session.ended_at.is_some() {
        return again(&session, &request);
    }
    let session = session::valid(work, &token, terms)?;
    let Some(task) = reported(work, &session)? else {
        return Ok(refusal("No in_progress task found for this agent"));
    };
    let is_mine = task.assignee_id.as_ref() == Some(&session.agent_id);
    // What was handed over is done as far as this agent goes.
    let (status, exit_code) = match result.as_str() {
        "success" => (TaskStatus::Done, 0),
        _ => (TaskStatus::Blocked, i64::from(is_mine)),
    };
    if task.is_for(&session.agent_id) {
        task::move_to(work, &task, status, (&session).into())?;
    }
    if summary.is_some() || next_steps.is_some() {
        let blockers = summary.clone().filter(|_| result == "blocked" && is_mine);
        let note = Note { progress: summary, blockers, next_steps, ..Note::default() };
        task::note(work, &task, note, (&session).into())?;
    }
    let instruction = terms
        .locale
        .choose("タスクが完了しました。セッションを終了します。", "The task is completed. The session ends.");
    let answer = json!({"success": true, "instruction": instruction});
    let reply = json!({"request": request, "answer": answer}).to_string();
    for running in work.running(&session.id)? {
        if running.task_id == task.id {
            execution::end(work, running, Ending::Exit(exit_code))?;
        }
    }
    let ending = Ending::ByServer("The session ended with the report of another task.");
    session::end(work, &session, EndReason::Completed, ending, Some(&reply))?;
    Ok(answer)
}

/// The task that was begun, unless somebody took it back; if none was, the one that would have been.
fn reported(work: &mut Work<'_>, session: &Session) -> Result<Option<Task>, Error> {
    use TaskStatus::{Blocked, Done, InProgress};
    let begun = match &session.task_id {
        Some(task) => work.task(task)?,
        None => None,
    };
    let is_moved = |task: &Task| task.assignee_id.as_ref() != Some(&session.agent_id);
    let is_reported = |task: &Task| is_moved(task) || matches!(task.status, InProgress | Done | Blocked);
    match &session.task_id {
        Some(_) => Ok(begun.filter(is_reported)),
        None => Ok(work.tasks_in_progress(&session.agent_id, &session.project_id)?.into_iter().next()),
    }
}

/// The answer of the same report, for a client that did not get it.
fn again(session: &Session, request: &Value) -> Result<Value, Error> {
    let reply = session.reply.as_deref().and_then(|reply| serde_json::from_str::<Value>(reply).ok());
    let answer = reply.filter(|reply| reply.get("request") == Some(request));
    let answer = answer.and_then(|mut reply| reply.get_mut("answer").map(Value::take));
    answer.ok_or_else(|| Error::refused(session::INVALID))
}
