//! `logout`: ends a session without a report.

use serde_json::{Value, json};

use super::SESSION_TOKEN;
use crate::coordination::caller::Concern;
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Secret, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "logout",
    title: "Log out",
    description: "End your session without reporting a result. The task keeps its status.",
    parameters: Logout::PARAMETERS,
    effect: Effect::Overwrite,
    handler: Handler::write::<Logout>(&[Scope::Agent]),
};

arguments! {
    struct Logout: snake_case {
        session_token: Secret = SESSION_TOKEN,
    }
}

impl Rule for Logout {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Session(&self.session_token)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let session = session::alive_or_recently_ended(work, &self.session_token)?;
        match session.end_reason {
            None => {
                let ending = Ending::ByServer("The agent logged out without a report.");
                session::end(work, &session, EndReason::Logout, ending, None)?;
            }
            // The client lost the answer and repeats the call.
            Some(EndReason::Logout) => {}
            Some(_) => return Err(Error::refused(session::INVALID_TOKEN)),
        }
        Ok(json!({"success": true}))
    }
}
