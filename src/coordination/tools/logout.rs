//! `logout`: ends a session without a report.

use serde_json::{Value, json};

use super::{SESSION_TOKEN, given};
use crate::coordination::rules::execution::Ending;
use crate::coordination::rules::session;
use crate::coordination::store::{EndReason, Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "logout",
    title: "Log out",
    description: "End your session without reporting a result. The task stays as it is.",
    parameters: &[SESSION_TOKEN],
    scopes: &[Scope::Agent],
    effect: Effect::Overwrite,
    deprecated: false,
    run: Run::Write(run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    let token = given(arguments, "session_token");
    let session = session::remembered(work, &token)?;
    match session.end_reason {
        None => {
            let ending = Ending::ByServer("The agent logged out without a report.");
            session::end(work, &session, EndReason::Logout, ending, None)?;
        }
        // The answer got lost, and the client asks again.
        Some(EndReason::Logout) => {}
        Some(_) => return Err(Error::refused(session::INVALID)),
    }
    Ok(json!({"success": true}))
}
