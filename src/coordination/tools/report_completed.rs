//! `report_completed`: ends a task, its execution and the session.

use serde_json::{Value, json};

use super::SESSION_TOKEN;
use crate::coordination::caller::Concern;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::task::Note;
use crate::coordination::rules::{execution, session, task};
use crate::coordination::store::{EndReason, Scope, Session, Task, TaskStatus, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{AnyText, Choice, Effect, Secret, arguments, words};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_completed",
    title: "Report the result",
    description: "Report how your task ended: success, failed or blocked. This ends your execution and your session; exit afterwards. summary and next_steps are saved in the task's context.",
    parameters: ReportCompleted::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<ReportCompleted>(&[Scope::Agent]),
};

arguments! {
    struct ReportCompleted: snake_case {
        session_token: Secret = SESSION_TOKEN,
        result: Choice<Outcome> = "How the task ended.",
        summary: Option<AnyText> = "What was done, or why it was not.",
        next_steps: Option<AnyText> = "What to do next.",
    }
}

words! {
    /// How a task ended.
    enum Outcome {
        Success = "success",
        Failed = "failed",
        Blocked = "blocked",
    }
}

impl Rule for ReportCompleted {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token)]
    }

    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { session_token: token, result, summary, next_steps } = self;
        let request = json!({"result": result, "summary": summary, "next_steps": next_steps});
        let session = session::alive_or_recently_ended(work, token)?;
        if session.ended_at.is_some() {
            return stored_answer(&session, &request);
        }
        let session = session::renew_or_refuse(work, token, policy)?;
        let Some(task) = reported_task(work, &session)? else {
            return Err(Error::RefusedInSession("No in_progress task found for this agent"));
        };
        let has_moved = task.assignee_id.as_ref() != Some(&session.agent_id);
        let handoff = if has_moved { work.latest_handoff(&task.id)? } else { None };
        // If it handed the task over, this agent's part is complete whatever the result.
        let handed_over = handoff.is_some_and(|handoff| handoff.from_agent_id == session.agent_id);
        let (status, exit_code) = match result {
            Outcome::Success => (TaskStatus::Done, 0),
            Outcome::Failed | Outcome::Blocked => (TaskStatus::Blocked, i64::from(!handed_over)),
        };
        if task.is_for(&session.agent_id) {
            task::move_to(work, &task, status, (&session).into())?;
        }
        if summary.is_some() || next_steps.is_some() {
            let blockers = summary.clone().filter(|_| *result == Outcome::Blocked && !has_moved);
            let note = Note { progress: summary.clone(), blockers, next_steps: next_steps.clone(), ..Note::default() };
            task::save_note(work, &task, note, (&session).into())?;
        }
        let instruction = policy
            .locale
            .choose("タスクが完了しました。セッションを終了します。", "The task is completed. The session ends.");
        let answer = json!({"success": true, "instruction": instruction});
        let reply = json!({"request": request, "answer": answer}).to_string();
        for running in work.running(&session.id)? {
            if running.task_id == task.id {
                execution::end(work, &session, running, Ending::Exit(exit_code))?;
            }
        }
        let ending = Ending::ByServer("The session ended with a report on another task.");
        session::end(work, &session, EndReason::Completed, ending, Some(&reply))?;
        Ok(answer)
    }
}

/// The task that the report is about: the session's task, unless it was moved to `backlog`, `todo` or `cancelled`.
/// If the session has no task yet, it is the one that `get_my_task` would return.
fn reported_task(work: &mut Work<'_>, session: &Session) -> Result<Option<Task>, Error> {
    use TaskStatus::{Blocked, Done, InProgress};
    let bound = match &session.task_id {
        Some(task) => work.task(task)?,
        None => None,
    };
    let has_moved = |task: &Task| task.assignee_id.as_ref() != Some(&session.agent_id);
    let can_be_reported = |task: &Task| has_moved(task) || matches!(task.status, InProgress | Done | Blocked);
    match &session.task_id {
        Some(_) => Ok(bound.filter(can_be_reported)),
        None => Ok(work.tasks_in_progress(&session.agent_id, &session.project_id)?.into_iter().next()),
    }
}

/// The stored answer to the same report, for a client that lost it.
fn stored_answer(session: &Session, request: &Value) -> Result<Value, Error> {
    let reply = session.reply.as_deref().and_then(|reply| serde_json::from_str::<Value>(reply).ok());
    let answer = reply.filter(|reply| reply.get("request") == Some(request));
    let answer = answer.and_then(|mut reply| reply.get_mut("answer").map(Value::take));
    answer.ok_or_else(|| Error::refused(session::INVALID_TOKEN))
}
