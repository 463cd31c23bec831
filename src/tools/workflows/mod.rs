//! The toolset `workflows`: read, create, change, activate and delete the workflows of an n8n.

mod change;
pub mod create_workflow;
pub mod create_workflow_from_file;
pub mod delete_workflow;
pub mod get_workflow;
pub mod get_workflow_connections;
pub mod list_workflows;
mod publishing;
mod raw;
pub mod replace_workflow_from_file;
pub mod set_workflow_active;
pub mod update_workflow;

pub(super) use change::{Target, Writing};
pub(super) use publishing::{Outcome, PUBLISH, Publishing};

use super::{Error, Toolset};
use crate::json::ReadError;
use crate::toolkit::{Kind, Parameter};

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "workflows",
    instructions: &[
        ("list_workflows", "list_workflows finds n8n workflows; nextCursor continues a list."),
        ("get_workflow_connections", "get_workflow_connections shows which output of a node leads where."),
        ("get_workflow", "get_workflow with node shows one node in full, with raw: true the whole workflow."),
        (
            "update_workflow",
            "Before update_workflow, read what you change with get_workflow raw: true and give complete nodes or \
             connections: what you give replaces what is there. Never write a clipped object back. Changing an active \
             workflow changes production at once.",
        ),
        ("set_workflow_active", "Only set_workflow_active activates or deactivates a workflow."),
    ],
    tools: &[
        &list_workflows::TOOL,
        &get_workflow::TOOL,
        &get_workflow_connections::TOOL,
        &create_workflow::TOOL,
        &update_workflow::TOOL,
        &set_workflow_active::TOOL,
        &delete_workflow::TOOL,
        &create_workflow_from_file::TOOL,
        &replace_workflow_from_file::TOOL,
    ],
    prompts: &[],
};

/// The token budget of an answer with n8n's own object.
const MAX_RAW_TOKENS: usize = crate::toolkit::answer::MAX_TOKENS;

const ID: Parameter = Parameter::required("id", Kind::Text, "The workflow's id.");

const RAW: Parameter = Parameter::optional("raw", Kind::Flag { default: None }, "Answer with n8n's own object.");

const NODES: Parameter = Parameter::required(
    "nodes",
    Kind::Objects,
    "Nodes: {id, name, type, typeVersion, position: [x, y], parameters, credentials?, …}.",
);

const CONNECTIONS: Parameter = Parameter::required(
    "connections",
    Kind::Object,
    "{\"Source\": {\"main\": [[{\"node\": \"Target\", \"type\": \"main\", \"index\": 0}]]}}.",
);

const SETTINGS: Parameter = Parameter::optional("settings", Kind::Object, "n8n's workflow settings.");

/// Members of a workflow that agents pass on, and that n8n sets itself or accepts only elsewhere. The answer
/// names those that were given.
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
    Parameter::required("filePath", Kind::Text, "A JSON file with one workflow, as n8n exports it.");

/// The workflow that was read.
///
/// # Errors
/// [`Error::Workflow`] if the body is broken, [`Error::FailedPrecondition`] if it holds no workflow.
fn require_workflow<T>(read: Result<Option<T>, ReadError>) -> Result<T, Error> {
    read?.ok_or_else(|| Error::FailedPrecondition("n8n's response contains no workflow. Check N8N_URL.".to_owned()))
}
