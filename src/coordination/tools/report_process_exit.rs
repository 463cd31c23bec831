//! `report_process_exit`: ends the session of an instance whose process has exited, so that its agent can be started
//! again at once instead of when the session expires.

use serde_json::{Value, json};

use super::{AGENT_ID, PROJECT_ID};
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{find_agent, find_project, session};
use crate::coordination::store::{EndReason, Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "report_process_exit",
    title: "Report the exit of a process",
    description: "For the Runner: report that the process of an instance has exited. If it did not report its result, its session ends, and the agent can be started again at once. Other instances are not affected. running says whether one runs.",
    parameters: ReportProcessExit::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<ReportProcessExit>(&[Scope::Runner]),
};

arguments! {
    struct ReportProcessExit: snake_case {
        agent_id: Text = AGENT_ID,
        project_id: Text = PROJECT_ID,
        instance_id: Text = "The instance_id that the process authenticated with: choose one for each start, and give it to the agent.",
    }
}

impl Rule for ReportProcessExit {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { agent_id: agent, project_id: project, instance_id: instance } = self;
        work.lock_project(project)?;
        find_project(work, project)?;
        find_agent(work, agent)?;
        let alive = work.open_session(agent, project)?.filter(|open| session::is_alive(open, work.now()));
        // Only the instance that exited: another one may be running by now.
        let is_running = match &alive {
            Some(session) if session.instance_id.as_ref() == Some(instance) => {
                let ending = Ending::ByServer("The process exited without a report.");
                session::end(work, session, EndReason::Revoked, ending, None)?;
                false
            }
            other => other.is_some(),
        };
        Ok(json!({"success": true, "running": is_running}))
    }
}
