//! `get_my_task`: the one task that an instance is to do.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{execution, session};
use crate::coordination::store::{Scope, Session, Task, TaskStatus, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_my_task",
    title: "Get my task",
    description: "Get the one task that you are to do now, with what was noted about it and any handoff. Call it first after authenticate; calling it again gives the same task. Your execution begins with it.",
    parameters: &[SESSION_TOKEN],
    scopes: &[Scope::Agent],
    effect: Effect::Ensure,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, terms: &Terms) -> Result<Value, Error> {
    let mut session = session::valid(work, &given(arguments, "session_token"), terms)?;
    if session.began_at.is_none() {
        session.began_at = Some(work.now());
        work.change_session(&session)?;
    }
    let mut tasks = work.tasks_in_progress(&session.agent_id, &session.project_id)?;
    // The task of this session stays the same for as long as it is to be done.
    let bound = tasks.iter().position(|task| Some(&task.id) == session.task_id.as_ref()).unwrap_or(0);
    if tasks.is_empty() {
        let instruction =
            terms.locale.choose("現在割り当てられたタスクはありません", "No task is assigned to you now.");
        return Ok(json!({"success": true, "has_task": false, "instruction": instruction}));
    }
    let task = tasks.swap_remove(bound);
    if session.task_id.as_ref() != Some(&task.id) {
        leave(work, &session, &task.id)?;
        session.task_id = Some(task.id.clone());
        work.change_session(&session)?;
    }
    // One that was reported to have ended is not begun again.
    if !work.has_execution(&session.id, &task.id)? {
        execution::running_or_new(work, &session, &task.id)?;
    }
    let instruction = terms.locale.choose(
        "タスクを完了したら report_completed を呼び出してください",
        "Call report_completed when you have completed the task.",
    );
    let task = show(work, &task)?;
    Ok(json!({"success": true, "has_task": true, "task": task, "instruction": instruction}))
}

/// Ends what runs for another task than the one that is next: how, its state says.
fn leave(work: &mut Work<'_>, session: &Session, next: &str) -> Result<(), Error> {
    for running in work.running(&session.id)?.into_iter().filter(|running| running.task_id != next) {
        let ending = match work.task(&running.task_id)?.map(|task| task.status) {
            Some(TaskStatus::Done) => Ending::Exit(0),
            Some(TaskStatus::Blocked) => Ending::Exit(1),
            _ => Ending::ByServer("The agent was given another task."),
        };
        execution::end(work, running, ending)?;
    }
    Ok(())
}

fn show(work: &mut Work<'_>, task: &Task) -> Result<Value, Error> {
    let project = work.project(&task.project_id)?.ok_or_else(|| not_found("Project", &task.project_id))?;
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
