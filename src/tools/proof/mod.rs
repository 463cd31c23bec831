//! The toolset `proof`: prove a fix with the data that failed, publish exactly what was proven, run and stop executions.
//!
//! `docs/proof.md` says what these tools write to n8n.

mod differences;
pub mod prove_fix;
pub mod publish_workflow_version;
mod recorded;
pub mod retry_execution;
mod revisions;
pub mod stop_execution;

pub(super) use revisions::changed_in_draft;

use super::Toolset;

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "proof",
    instructions: &[
        (
            "prove_fix",
            "After edit_workflow saved a draft: prove_fix runs it again with the recorded data of the failing execution, alongside \
             the unchanged workflow, and calls no outside service. Repeat its claim word for word; claim nothing else.",
        ),
        ("publish_workflow_version", "publish_workflow_version publishes exactly the version that was proven."),
    ],
    tools: &[&prove_fix::TOOL, &retry_execution::TOOL, &stop_execution::TOOL, &publish_workflow_version::TOOL],
    prompts: &[],
};
