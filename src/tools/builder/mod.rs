//! The toolset `builder`: builds workflows step by step, in files, in n8n, or in memory.
//!
//! Answers are plain objects with `success`; the fields are those of the builder's contract.

mod answer;
mod catalogue_cache;
pub mod connection_create;
pub mod node_add;
pub mod node_replace;
pub mod node_search;
pub mod test_workflow;
pub mod workflow_create;
pub mod workflow_list;
pub mod workflow_load;
pub mod workflow_save;

pub use catalogue_cache::CatalogueCache;

use serde_json::{Map, Value};

use super::{Error, Toolset};
use crate::json::is_clipped;

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
        (
            "test_workflow",
            "test_workflow calls an active workflow that has a webhook, form or chat trigger: a production run.",
        ),
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

/// Descriptions of arguments that several tools share.
const WORKFLOW_ID: &str =
    "A workflow file (a path, or a name ending in .json), an id in n8n, or the mem-… id of workflow_create.";
const NODE_TYPE: &str = "The full type, as node_search returns it, or a display name such as Code.";

/// The parameters of a call, which must not be from a clipped answer.
fn whole(parameters: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    if serde_json::to_string(&parameters).is_ok_and(|given| is_clipped(&given)) {
        return Err(Error::argument(
            "parameters",
            "are from a clipped answer and not complete. Change a part of them with edit_workflow.",
        ));
    }
    Ok(parameters)
}
