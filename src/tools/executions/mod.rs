//! Executions: from the list to the node that failed.

pub mod explain_execution;
pub mod get_execution;
pub mod get_execution_by_node;
pub mod list_executions;

use super::Toolset;

/// These tools.
pub static TOOLSET: Toolset = Toolset {
    name: "executions",
    instructions: &[
        (
            "list_executions",
            "Debug n8n executions of any size: list_executions finds them (status: error for failed ones).",
        ),
        ("get_execution", "get_execution summarizes one: status, error, every executed node."),
        (
            "get_execution_by_node",
            "get_execution_by_node shows what a node really received and put out, its parameters and its error; go on \
             with nextOffset, and ask for fewer items to see longer values.",
        ),
    ],
    tools: &[&list_executions::TOOL, &get_execution::TOOL, &get_execution_by_node::TOOL],
    prompts: &[&explain_execution::PROMPT],
};
