//! `get_my_task`: the one task that an instance should work on.

use serde_json::{Value, json};

use super::SESSION_TOKEN;
use crate::coordination::caller::Concern;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{execution, find_project, session};
use crate::coordination::store::{Scope, Session, Task, TaskStatus, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Secret, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_my_task",
    title: "Get my task",
    description: "Get the one task to work on now, with its context and any handoff. Call it right after authenticate; calling it again returns the same task. It records the start of your execution.",
    parameters: GetMyTask::PARAMETERS,
    effect: Effect::Ensure,
    handler: Handler::write::<GetMyTask>(&[Scope::Agent]),
};

arguments! {
    struct GetMyTask: snake_case {
        session_token: Secret = SESSION_TOKEN,
    }
}

impl Rule for GetMyTask {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token)]
    }

    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<Value, Error> {
        let mut session = session::renew_or_refuse(work, &self.session_token, policy)?;
        if session.began_at.is_none() {
            session.began_at = Some(work.now());
            work.change_session(&session)?;
        }
        let mut tasks = work.tasks_in_progress(&session.agent_id, &session.project_id)?;
        // The session keeps its task while that is in progress.
        let bound = tasks.iter().position(|task| Some(&task.id) == session.task_id.as_ref()).unwrap_or(0);
        if tasks.is_empty() {
            let instruction =
                policy.locale.choose("現在割り当てられたタスクはありません", "No task is assigned to you now.");
            return Ok(json!({"success": true, "has_task": false, "instruction": instruction}));
        }
        let task = tasks.swap_remove(bound);
        if session.task_id.as_ref() != Some(&task.id) {
            end_other_executions(work, &session, &task.id)?;
            session.task_id = Some(task.id.clone());
            work.change_session(&session)?;
        }
        // An execution whose end was reported is not started again.
        if !work.has_execution(&session.id, &task.id)? {
            execution::find_or_start(work, &session, &task.id)?;
        }
        let instruction = policy.locale.choose(
            "タスクを完了したら report_completed を呼び出してください",
            "Call report_completed when you have completed the task.",
        );
        let task = show(work, &task)?;
        Ok(json!({"success": true, "has_task": true, "task": task, "instruction": instruction}))
    }
}

/// Ends the session's executions of other tasks. Their outcome follows from the status of those tasks.
fn end_other_executions(work: &mut Work<'_>, session: &Session, task: &str) -> Result<(), Error> {
    for running in work.running(&session.id)?.into_iter().filter(|running| running.task_id != task) {
        let ending = match work.task(&running.task_id)?.map(|task| task.status) {
            Some(TaskStatus::Done) => Ending::Exit(0),
            Some(TaskStatus::Blocked) => Ending::Exit(1),
            _ => Ending::ByServer("The session moved on to another task."),
        };
        execution::end(work, session, running, ending)?;
    }
    Ok(())
}

fn show(work: &mut Work<'_>, task: &Task) -> Result<Value, Error> {
    let project = find_project(work, &task.project_id)?;
    let context = work.latest_context(&task.id)?.unwrap_or_default();
    let mut shown = json!({
        "task_id": task.id,
        "title": task.title,
        "description": task.description,
        "working_directory": project.working_directory,
        "context": context,
    });
    if let Some(handoff) = work.latest_handoff(&task.id)? {
        shown["handoff"] = json!(handoff);
    }
    Ok(shown)
}
