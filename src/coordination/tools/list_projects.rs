//! `list_projects`: all projects.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_projects",
    title: "List projects",
    description: "List all projects.",
    parameters: &[],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Runner], run),
};

pub(crate) fn run(work: &mut Work<'_>, _arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    Ok(json!({"success": true, "projects": work.projects()?}))
}
