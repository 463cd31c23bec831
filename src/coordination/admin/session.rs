//! `admin session …`: lists and revokes sessions.

use serde_json::{Value, json};

use super::{AGENT, PROJECT, required_text};
use crate::coordination::error::not_found;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// `session list`.
pub static LIST: Tool = Tool {
    name: "admin_session_list",
    title: "List sessions",
    description: "List the open sessions that have not expired.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read(&[], list),
};

/// `session revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_session_revoke",
    title: "Revoke a session",
    description: "End the session of an agent in a project: its token becomes invalid, and the agent can be started \
                  again at once.",
    parameters: &[AGENT, PROJECT],
    effect: Effect::Overwrite,
    handler: Handler::write(&[], revoke),
};

fn list(work: &mut Work<'_>, _arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let mut sessions = work.open_sessions()?;
    sessions.retain(|session| session::is_alive(session, work.now()));
    Ok(json!({"success": true, "sessions": sessions}))
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let (agent, project) = (required_text(arguments, "agent"), required_text(arguments, "project"));
    work.lock_project(&project)?;
    if work.project(&project)?.is_none() {
        return Err(not_found("Project", &project));
    }
    if work.agent(&agent)?.is_none() {
        return Err(not_found("Agent", &agent));
    }
    let open = work.open_session(&agent, &project)?;
    if let Some(session) = &open {
        let ending = Ending::ByServer("The session was revoked.");
        session::end(work, session, EndReason::Revoked, ending, None)?;
    }
    Ok(json!({"success": true, "agent_id": agent, "project_id": project, "revoked": open.is_some()}))
}
