//! `admin session …`: lists and revokes sessions.

use serde_json::{Value, json};

use super::{AGENT, PROJECT};
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::{find_agent, find_project, session};
use crate::coordination::store::{EndReason, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// `session list`.
pub static LIST: Tool = Tool {
    name: "admin_session_list",
    title: "List sessions",
    description: "List the open sessions that have not expired.",
    parameters: ListSessions::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListSessions>(&[]),
};

arguments! {
    struct ListSessions: snake_case {}
}

/// `session revoke`.
pub static REVOKE: Tool = Tool {
    name: "admin_session_revoke",
    title: "Revoke a session",
    description: "End the session of an agent in a project: its token becomes invalid, and the agent can be started \
                  again at once.",
    parameters: RevokeSession::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<RevokeSession>(&[]),
};

arguments! {
    struct RevokeSession: snake_case {
        agent: Text = AGENT,
        project: Text = PROJECT,
    }
}

impl Rule for ListSessions {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let mut sessions = work.open_sessions()?;
        sessions.retain(|session| session::is_alive(session, work.now()));
        Ok(json!({"success": true, "sessions": sessions}))
    }
}

impl Rule for RevokeSession {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let Self { agent, project } = self;
        work.lock_project(project)?;
        find_project(work, project)?;
        find_agent(work, agent)?;
        let open = work.open_session(agent, project)?;
        if let Some(session) = &open {
            let ending = Ending::ByServer("The session was revoked.");
            session::end(work, session, EndReason::Revoked, ending, None)?;
        }
        Ok(json!({"success": true, "agent_id": agent, "project_id": project, "revoked": open.is_some()}))
    }
}
