//! Sessions.

use serde_json::{Value, json};

use super::{AGENT, PROJECT, given};
use crate::coordination::error::not_found;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// `session list`.
pub static LIST: Tool = Tool {
    name: "admin_session_list",
    title: "List sessions",
    description: "List the sessions that are alive.",
    parameters: &[],
    scopes: &[],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(list),
};

/// `session revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_session_revoke",
    title: "Revoke a session",
    description: "End the session of an agent in a project: its token is worth nothing any more, and the agent can be \
                  started again at once.",
    parameters: &[AGENT, PROJECT],
    scopes: &[],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(revoke),
};

fn list(work: &mut Work<'_>, _arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let mut sessions = work.open_sessions()?;
    sessions.retain(|session| session::is_alive(session, work.now()));
    Ok(json!({"success": true, "sessions": sessions}))
}

fn revoke(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let (agent, project) = (given(arguments, "agent"), given(arguments, "project"));
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
