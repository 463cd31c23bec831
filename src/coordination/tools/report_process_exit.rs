//! `report_process_exit`: ends the session of an instance whose process has exited, so that its agent can be started
//! again at once instead of when the session expires.

use serde_json::{Value, json};

use super::{AGENT_ID, PROJECT_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect, Kind, Parameter};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_process_exit",
    title: "Report the exit of a process",
    description: "For the Runner: report that the process of an instance has exited. If it did not report its result, its session ends, and the agent can be started again at once. Other instances are not affected. running says whether one runs.",
    parameters: &[
        AGENT_ID,
        PROJECT_ID,
        Parameter::required(
            "instance_id",
            Kind::Text,
            "The instance_id that the process authenticated with: choose one for each start, and give it to the agent.",
        ),
    ],
    effect: Effect::Overwrite,
    handler: Handler::write(&[Scope::Runner], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let (agent, project) = (required_text(arguments, "agent_id"), required_text(arguments, "project_id"));
    let instance = required_text(arguments, "instance_id");
    work.lock_project(&project)?;
    if work.project(&project)?.is_none() {
        return Err(not_found("Project", &project));
    }
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    let alive = work.open_session(&agent, &project)?.filter(|open| session::is_alive(open, work.now()));
    // Only the instance that exited: by now another one may run.
    let is_running = match &alive {
        Some(session) if session.instance_id.as_ref() == Some(&instance) => {
            let ending = Ending::ByServer("The process exited without a report.");
            session::end(work, session, EndReason::Revoked, ending, None)?;
            false
        }
        other => other.is_some(),
    };
    Ok(json!({"success": true, "running": is_running}))
}
