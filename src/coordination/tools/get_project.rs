//! `get_project`: one project, with its agents.

use serde_json::{Value, json};

use super::{PROJECT_ID, required_text};
use crate::coordination::error::not_found;
use crate::coordination::store::{Scope, Work};
use crate::coordination::tool::{Handler, Tool};
use crate::coordination::{Error, SessionPolicy};
use crate::toolkit::{Arguments, Effect};

/// The tool.
pub static TOOL: Tool = Tool {
    name: "get_project",
    title: "Get a project",
    description: "Get a project, with the ids of the agents assigned to it.",
    parameters: &[PROJECT_ID],
    effect: Effect::Read,
    handler: Handler::read(&[Scope::Agent], run),
};

fn run(work: &mut Work<'_>, arguments: &Arguments, _policy: &SessionPolicy) -> Result<Value, Error> {
    let project = project(work, &required_text(arguments, "project_id"))?;
    Ok(json!({"success": true, "project": project}))
}

/// A project, with the ids of its agents.
pub(crate) fn project(work: &mut Work<'_>, id: &str) -> Result<Value, Error> {
    let project = work.project(id)?.ok_or_else(|| not_found("Project", id))?;
    let mut shown = json!(project);
    shown["agents"] = json!(work.agents_of(id)?);
    Ok(shown)
}
