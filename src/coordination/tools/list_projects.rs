//! `list_projects`: all projects.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_projects",
    title: "List projects",
    description: "List all projects.",
    parameters: &[],
    scopes: &[Scope::Runner],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

pub(crate) fn run(work: &mut Work<'_>, _arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
    Ok(json!({"success": true, "projects": work.projects()?}))
}
