//! Tools for executions: from the list to the node that failed.

mod asked_value;
pub mod compare_executions;
pub mod describe_execution;
pub mod explain_execution;
mod field_facts;
mod field_lines;
pub mod find_executions;
mod first_value;
pub mod get_execution;
pub mod get_execution_by_node;
pub mod get_execution_fields;
pub mod group_failures;
pub mod list_executions;
mod listed;
mod no_data;
mod not_found;
mod not_read;
mod saved;
pub mod search_execution;
mod source;
mod stored_list;
pub mod summary_answer;
pub mod trace_execution_item;
mod walk_over_api;
pub mod workflow_trend;

pub(super) use first_value::FirstValue;
pub(super) use listed::short_version;
pub use saved::{SavedExecution, SavedExecutions, open};
pub use source::{MARK_TOKENS, Origin, Read, Source, StoredExecutions};

use super::Toolset;
use crate::n8n::ExecutionRequest;

/// The toolset.
pub static TOOLSET: Toolset = Toolset {
    name: "executions",
    instructions: &[
        (
            "list_executions",
            "Debug n8n executions of any size: list_executions finds them (status: error for failed ones).",
        ),
        ("get_execution", "A node failed: get_execution says which and why; its _guidance names the next call."),
        (
            "describe_execution",
            "It did the wrong thing: describe_execution says what each node did, in one answer; most causes are visible there, others need one question more.",
        ),
        (
            "get_execution_by_node",
            "get_execution_by_node shows a node's actual input and output items, parameters and error: begin with limit: 3, \
             continue with nextOffset, and lower limit to see longer values.",
        ),
        (
            "search_execution",
            "search_execution finds the node and the item in which a value occurs: use it instead of reading page after page.",
        ),
        (
            "get_execution_fields",
            "get_execution_fields shows what all items look like, which value is an outlier, and one field by another \
             (by).",
        ),
        ("trace_execution_item", "trace_execution_item follows one item from node to node."),
        ("compare_executions", "compare_executions shows what is different from the last successful execution."),
        ("find_executions", "find_executions finds a value in many executions."),
        ("group_failures", "group_failures shows which failures there are, and since when."),
        (
            "workflow_trend",
            "workflow_trend shows which nodes of a workflow became slower, or fail more often, and since when.",
        ),
    ],
    tools: &[
        &list_executions::TOOL,
        &get_execution::TOOL,
        &describe_execution::TOOL,
        &get_execution_by_node::TOOL,
        &search_execution::TOOL,
        &get_execution_fields::TOOL,
        &trace_execution_item::TOOL,
        &compare_executions::TOOL,
        &find_executions::TOOL,
        &group_failures::TOOL,
        &workflow_trend::TOOL,
    ],
    prompts: &[&explain_execution::PROMPT],
};

/// The tools that only work on a store: they need too many executions for n8n's API.
pub static OF_STORE: [&super::Tool; 1] = [&workflow_trend::TOOL];

/// The refusal of such a tool without a store.
fn needs_store() -> super::Error {
    super::Error::FailedPrecondition(
        "This needs n8n's own store: start n8n-lens with --store (a folder such as ~/.n8n, or a PostgreSQL URL)."
            .to_owned(),
    )
}

/// The description of the argument `id` of the tools that read an execution.
pub(super) const ID: &str = "The execution's id.";

/// The description of their argument `ignoreDataSizeLimit`.
pub(super) const IGNORE_SIZE_LIMIT: &str = "Request data above n8n's display limit (100 MB), at ten times its size in n8n's \
                                            memory: only if the summary notes that it is too large.";

/// The same for the tools that an agent calls after the summary, which says what it costs.
pub(in crate::tools) const IGNORE_SIZE_LIMIT_AGAIN: &str = "As in get_execution.";

/// The execution that a call names.
pub(in crate::tools) fn execution(id: String, ignore_size_limit: Option<bool>) -> ExecutionRequest {
    ExecutionRequest { id, ignore_size_limit: ignore_size_limit.unwrap_or(false) }
}
