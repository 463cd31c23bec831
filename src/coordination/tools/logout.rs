//! `logout`: ends a session without a report.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, required_text};
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "logout",
    title: "Log out",
    description: "End your session without reporting a result. The task keeps its status.",
    parameters: &[SESSION_TOKEN],
    effect: Effect::Overwrite,
    handler: Handler::write(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let token = required_text(arguments, "session_token");
    let session = session::alive_or_recently_ended(work, &token)?;
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
