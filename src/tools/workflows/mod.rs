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

use super::{Kind, Parameter, Toolset};

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "workflows",
    instructions: "Work on n8n workflows: list_workflows finds one, get_workflow_connections shows how its nodes are \
                   connected, get_workflow with node shows one node whole. Before update_workflow read what you change \
                   with raw: true; give whole nodes or connections, since what you give replaces what is there. Never \
                   write a clipped object back. Creating and updating do not activate a workflow.",
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

/// The budget of small answers, tokens.
const MAX_TOKENS: usize = 20_000;

/// The budget of n8n's own objects, tokens.
const MAX_RAW_TOKENS: usize = 25_000;

const ID: Parameter = Parameter::required("id", Kind::Text, "The workflow's id.");

const RAW: Parameter = Parameter::optional("raw", Kind::FLAG, "Answer with n8n's own object.");

const FILE_PATH: Parameter =
    Parameter::required("filePath", Kind::Text, "A JSON file with one workflow, such as n8n exports.");
