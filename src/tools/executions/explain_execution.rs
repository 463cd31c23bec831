//! `explain_execution`: the way from an execution to its cause, for people to start.

use serde_json::{Map, Value};

use crate::toolkit::{Prompt, PromptArgument};

/// The prompt.
pub static PROMPT: Prompt = Prompt {
    name: "explain_execution",
    title: "Explain an execution",
    description: "Find out why an n8n execution failed, or did not do what was expected, and how to mend it.",
    needs: &["list_executions", "get_execution", "get_execution_by_node"],
    arguments: &[
        PromptArgument { name: "id", description: "The execution's id; without it the newest failed one." },
        PromptArgument { name: "expected", description: "What was expected of it." },
    ],
    text,
};

fn text(arguments: &Map<String, Value>) -> String {
    let given = |name| arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let which = match given("id") {
        Some(id) => format!("Look at the n8n execution {id} with get_execution."),
        None => "Find the newest failed n8n execution with list_executions (status: error), and look at it with get_execution.".to_owned(),
    };
    let expected = given("expected").map(|expected| format!(" What was expected: {expected}")).unwrap_or_default();
    format!(
        "{which}{expected} Then use get_execution_by_node for the node that failed, and walk back through the nodes that its \
         input came from until the data turn wrong. Tell me the cause, the node and the item that show it, and the \
         smallest change of the workflow that mends it. Do not change anything."
    )
}
