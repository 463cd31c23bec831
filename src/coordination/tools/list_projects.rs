//! `list_projects`: all projects.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_projects",
    title: "List projects",
    description: "List all projects.",
    parameters: ListProjects::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListProjects>(&[Scope::Runner]),
};

arguments! {
    pub(crate) struct ListProjects: snake_case {}
}

impl Rule for ListProjects {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        Ok(json!({"success": true, "projects": work.projects()?}))
    }
}
