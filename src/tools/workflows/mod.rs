//! The toolset `workflows`: read, create, change, activate and delete the workflows of an n8n.

mod change;
pub mod check_workflow;
pub mod create_workflow;
pub mod create_workflow_from_file;
pub mod delete_workflow;
pub mod edit_workflow;
mod edited;
pub mod get_workflow;
pub mod get_workflow_connections;
pub mod list_workflows;
mod location;
mod memory_store;
mod publishing;
mod ran;
mod raw;
mod refusal;
pub mod replace_workflow_from_file;
pub mod set_workflow_active;
pub mod update_workflow;

pub(super) use change::{Target, Writing, members};
pub(super) use edited::{EditRequest, Edited};
pub(super) use location::WorkflowLocation;
pub use location::is_workflow_file;
pub use memory_store::MemoryStore;
pub(super) use publishing::{Outcome, PUBLISH, Publishing};
pub(super) use ran::{RanWorkflow, workflow_that_ran};
pub(super) use refusal::refused;

use super::{Error, Toolset};
use crate::json::ReadError;

/// The toolset.
pub static TOOLSET: Toolset = Toolset {
    name: "workflows",
    instructions: &[
        ("list_workflows", "list_workflows finds n8n workflows; nextCursor continues a list."),
        ("get_workflow_connections", "get_workflow_connections shows which output of a node leads where."),
        ("get_workflow", "get_workflow with node shows one node in full, with raw: true the whole workflow."),
        (
            "edit_workflow",
            "After the cause is found: edit_workflow changes parts as a draft, then check_workflow with the failing execution \
             looks the expressions up in its items.",
        ),
        (
            "update_workflow",
            "update_workflow replaces whole nodes or connections: read them with get_workflow raw: true, pass complete ones, and \
             never write a clipped object back. Changing an active workflow changes production at once.",
        ),
        ("set_workflow_active", "Only set_workflow_active activates or deactivates a workflow."),
    ],
    tools: &[
        &list_workflows::TOOL,
        &get_workflow::TOOL,
        &get_workflow_connections::TOOL,
        &create_workflow::TOOL,
        &edit_workflow::TOOL,
        &check_workflow::TOOL,
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

/// Descriptions of arguments that several tools share.
const ID: &str = "The workflow's id.";
const RAW: &str = "Answer with n8n's own object.";
pub(super) const NAME: &str = "1 to 128 characters.";
pub(super) const SETTINGS: &str = "n8n's workflow settings.";
const FILE_PATH: &str = "A JSON file with one workflow, as n8n exports it.";

/// Members of a workflow that agents pass although they are not parameters: n8n sets them itself or accepts them only
/// elsewhere. The answer names the ones that were passed, after `active` and `tags`.
const NOT_SENT: &[&str] = &[
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

/// The workflow that was read.
///
/// # Errors
/// [`Error::Workflow`] if the body is broken, [`Error::FailedPrecondition`] if it is not a workflow.
fn require_workflow<T>(read: Result<Option<T>, ReadError>) -> Result<T, Error> {
    read?.ok_or_else(|| Error::FailedPrecondition("n8n's response contains no workflow. Check N8N_URL.".to_owned()))
}
