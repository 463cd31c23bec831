//! `explain_execution`: a prompt for people that leads an agent from a failed execution to its cause.

use crate::toolkit::{ArgumentError, Arguments, FromArguments, Prompt, Text, arguments};

/// The prompt.
pub static PROMPT: Prompt = Prompt {
    name: "explain_execution",
    title: "Explain an execution",
    description: "Find out why an n8n execution failed or did not do what was expected, and how to fix it.",
    needs: &[
        "list_executions",
        "get_execution",
        "describe_execution",
        "get_execution_by_node",
        "get_execution_fields",
        "search_execution",
        "trace_execution_item",
        "compare_executions",
    ],
    parameters: ExplainExecution::PARAMETERS,
    text,
    endings: &[
        (
            &["edit_workflow", "check_workflow"],
            " Change nothing before I agree; then edit_workflow, which saves a draft, and check_workflow with this execution.",
        ),
        (&[], " Do not change anything."),
    ],
};

arguments! {
    struct ExplainExecution {
        id: Option<Text> = "The execution's id (default: the newest failed execution).",
        expected: Option<Text> = "What the execution should have done.",
    }
}

fn text(arguments: Arguments) -> Result<String, ArgumentError> {
    let ExplainExecution { id, expected } = ExplainExecution::read(arguments)?;
    let which = match id {
        Some(id) => format!("Look at n8n execution {id}."),
        None => "Find the newest failed n8n execution with list_executions (status: error).".to_owned(),
    };
    let expected = expected.map(|expected| format!(" Expected: {expected}")).unwrap_or_default();
    Ok(format!(
        "{which}{expected} A node failed: get_execution, then get_execution_by_node (limit: 1). It did the wrong thing: \
         describe_execution. Then ask one question: search_execution for a value or a condition between two fields, \
         get_execution_fields for one field by another, trace_execution_item for where an item came from, \
         compare_executions for what is different from the last successful execution. Do not read page after page. Tell me \
         the cause, the node and the item that show it, and the smallest change to the workflow that fixes it."
    ))
}
