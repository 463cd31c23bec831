//! Workflows: look, connect, change.

mod change;
pub mod create_workflow;
pub mod create_workflow_from_file;
pub mod delete_workflow;
pub mod get_workflow;
pub mod get_workflow_connections;
pub mod list_workflows;
mod raw;
pub mod replace_workflow_from_file;
pub mod update_workflow;

pub(super) use change::{Target, Writing};

use super::{Error, Toolset};
use crate::json::ReadError;
use crate::toolkit::{Kind, Parameter};

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "workflows",
    instructions: &[
        ("list_workflows", "list_workflows finds n8n workflows; lists go on with nextCursor."),
        ("get_workflow_connections", "get_workflow_connections shows how the nodes of one are connected."),
        ("get_workflow", "get_workflow with node shows one node whole, with raw: true all of a workflow."),
        (
            "update_workflow",
            "Before update_workflow read what you change with get_workflow raw: true, and give whole nodes or \
             connections: what you give replaces what is there. Never write a clipped object back. Neither creating nor \
             updating activates a workflow.",
        ),
    ],
    tools: &[
        &list_workflows::TOOL,
        &get_workflow::TOOL,
        &get_workflow_connections::TOOL,
        &create_workflow::TOOL,
        &update_workflow::TOOL,
        &delete_workflow::TOOL,
        &create_workflow_from_file::TOOL,
        &replace_workflow_from_file::TOOL,
    ],
    prompts: &[],
};

/// The budget of n8n's own objects, tokens.
const MAX_RAW_TOKENS: usize = 25_000;

const ID: Parameter = Parameter::required("id", Kind::Text, "The workflow's id.");

const RAW: Parameter = Parameter::optional("raw", Kind::FLAG, "Answer with n8n's own object.");

/// Members of a whole workflow that agents hand on, and n8n writes itself or takes elsewhere.
const NOT_SENT: [&str; 17] = [
    "active",
    "tags",
    "id",
    "createdAt",
    "updatedAt",
    "isArchived",
    "versionId",
    "versionCounter",
    "activeVersion",
    "activeVersionId",
    "triggerCount",
    "meta",
    "shared",
    "sourceWorkflowId",
    "staticData",
    "pinData",
    "description",
];

const FILE_PATH: Parameter =
    Parameter::required("filePath", Kind::Text, "A JSON file with one workflow, such as n8n exports.");

/// What was read of a workflow, if the answer held one.
fn there<T>(read: Result<Option<T>, ReadError>) -> Result<T, Error> {
    read?.ok_or_else(|| Error::NotThere("n8n's answer holds no workflow. Is N8N_URL right?".to_owned()))
}
