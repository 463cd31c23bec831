//! `get_project`: one project, with its agents.

use serde_json::{Value, json};

use super::PROJECT_ID;
use crate::coordination::caller::Concern;
use crate::coordination::rules::find_project;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Rule, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Effect, Text, arguments};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Get a project, with the ids of the agents assigned to it.",
    parameters: GetProject::PARAMETERS,
    effect: Effect::Read,
    handler: Handler::read::<GetProject>(&[Scope::Agent]),
};

arguments! {
    struct GetProject: snake_case {
        project_id: Text = PROJECT_ID,
    }
}

impl Rule for GetProject {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Project(&self.project_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<Value, Error> {
        let project = project(work, &self.project_id)?;
        Ok(json!({"success": true, "project": project}))
    }
}

/// A project, with the ids of its agents.
pub(crate) fn project(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let project = find_project(work, id)?;
    let mut shown = json!(project);
    shown["agents"] = json!(work.agents_of(id)?);
    Ok(shown)
}
