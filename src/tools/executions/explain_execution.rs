//! `explain_execution`: a prompt for people, which leads an agent from a failed execution to its cause.

use serde_json::{Map, Value};

use crate::toolkit::{Prompt, PromptArgument};

/// The prompt.
pub static PROMPT: Prompt = Prompt {
    name: "explain_execution",
    title: "Explain an execution",
    description: "Find out why an n8n execution failed or did not do what was expected, and how to fix it.",
    needs: &["list_executions", "get_execution", "get_execution_by_node"],
    arguments: &[
        PromptArgument { name: "id", description: "The execution's id (default: the newest failed execution)." },
        PromptArgument { name: "expected", description: "What the execution should have done." },
    ],
    text,
};

fn text(arguments: &Map<String, Value>) -> String {
    let given = |name| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let which = match given("id") {
        Some(id) => format!("Summarize n8n execution {id} with get_execution."),
        None => "Find the newest failed n8n execution with list_executions (status: error), and summarize it with get_execution.".to_owned(),
    };
    let expected = given("expected").map(|expected| format!(" Expected: {expected}")).unwrap_or_default();
    format!(
        "{which}{expected} Then inspect the failed node with get_execution_by_node, and trace its input back through earlier \
         nodes to where the data goes wrong. Tell me the cause, the node and the item that show it, and the smallest \
         change to the workflow that fixes it. Do not change anything."
    )
}
