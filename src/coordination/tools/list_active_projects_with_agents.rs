//! `list_active_projects_with_agents`: the pairs that a Runner might have to start.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_active_projects_with_agents",
    title: "List active projects with their agents",
    description: "For the Runner: list all active projects, with their working directories and the ids of the active agents assigned to them.",
    parameters: ListActiveProjects::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<ListActiveProjects>(&[Scope::Runner]),
};

arguments! {
    struct ListActiveProjects: snake_case {}
}

impl Rule for ListActiveProjects {
    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let projects = work.active_projects()?.into_iter().map(|(project, agents)| {
            json!({
                "project_id": project.id,
                "project_name": project.name,
                "working_directory": project.working_directory,
                "agents": agents,
            })
        });
        Ok(json!({"success": true, "projects": projects.collect::<Vec<_>>()}))
    }
}
