//! The builder: workflows step by step, in files, in n8n, or in memory.
//!
//! Results are plain objects with `success`; the fields are those of the builder's contract.

mod answer;
pub mod connection_create;
pub mod node_add;
pub mod node_replace;
pub mod node_search;
mod place;
mod shelf;
pub mod test_workflow;
pub mod workflow_create;
pub mod workflow_list;
pub mod workflow_load;
pub mod workflow_save;

pub use place::Memory;
pub use shelf::Shelf;

use super::Toolset;
use crate::toolkit::{Kind, Parameter};

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "builder",
    instructions: &[
        (
            "node_add",
            "Build a workflow step by step: workflow_create makes a file (or a workflow in n8n, or one in memory), \
             node_search finds node types, node_add, node_replace and connection_create edit it, workflow_save and \
             workflow_load write and read files.",
        ),
        ("test_workflow", "test_workflow calls an active workflow with a webhook, a form or a chat: a production run."),
    ],
    tools: &[
        &node_search::TOOL,
        &node_add::TOOL,
        &node_replace::TOOL,
        &workflow_create::TOOL,
        &workflow_save::TOOL,
        &workflow_load::TOOL,
        &workflow_list::TOOL,
        &connection_create::TOOL,
        &test_workflow::TOOL,
    ],
    prompts: &[],
};

const WORKFLOW_ID: Parameter = Parameter::required(
    "workflowId",
    Kind::Text,
    "A workflow file (a path, or a name that ends in .json), an id in n8n, or mem-… of workflow_create.",
);

const PARAMETERS: Parameter = Parameter::optional("parameters", Kind::Object, "The node's parameters.");
