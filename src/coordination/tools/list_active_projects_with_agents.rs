//! `list_active_projects_with_agents`: where a Runner may have to start whom.

use serde_json::{Value, json};

use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Run, Tool};
use crate::coordination::{Error, Terms};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "list_active_projects_with_agents",
    title: "List active projects with their agents",
    description: "For the Runner: all active projects, where each works, and the ids of the active agents assigned to it.",
    parameters: &[],
    scopes: &[Scope::Runner],
    effect: Effect::Read,
    deprecated: false,
    run: Run::Read(run),
};

fn run(work: &mut Work<'_>, _arguments: &Arguments, _terms: &Terms) -> Result<Value, Error> {
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
