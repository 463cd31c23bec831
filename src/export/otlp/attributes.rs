//! The attributes of spans: n8n's own (`otel.constants.ts`), and OpenTelemetry's for generative AI where n8n has the values.

use super::json::Attribute;
use crate::execution::rows::{ExecutionRuns, ModelCall, RowNode, RunRow};
use crate::store::Listed;

/// What n8n calls an error that has no class.
const UNKNOWN_ERROR: &str = "UnknownError";

/// The type of the node that is an AI agent.
const AGENT: &str = "@n8n/n8n-nodes-langchain.agent";

/// The attributes of an execution.
pub(super) fn of_execution(listed: &Listed, view: &ExecutionRuns, failed: bool) -> Vec<Attribute> {
    let row = &listed.row;
    let name = view.workflow_name.as_deref().or(listed.workflow_name.as_deref());
    let mut attributes = vec![
        Attribute::text("n8n.workflow.id", row.workflow_id()),
        Attribute::text("n8n.workflow.name", name.unwrap_or_default()),
        Attribute::text("n8n.workflow.version_id", row.workflow_version().unwrap_or_default()),
        Attribute::count("n8n.workflow.node_count", view.workflow_nodes),
        Attribute::text("n8n.execution.id", row.id()),
        Attribute::flag("n8n.execution.is_retry", row.mode() == Some("retry")),
    ];
    let known = [
        ("n8n.execution.mode", row.mode()),
        ("n8n.execution.status", row.status()),
        ("n8n.execution.retry_of", row.retry_of()),
    ];
    attributes.extend(known.into_iter().filter_map(|(key, text)| Some(Attribute::text(key, text?))));
    if let Some(error) = view.error.as_ref().filter(|_| failed) {
        let name = error.name.as_ref().map_or(UNKNOWN_ERROR, |name| &name.kept);
        attributes.push(Attribute::text("n8n.execution.error_type", name));
    }
    attributes
}

/// The attributes of a run, with how many items it took, if known.
pub(super) fn of_run(name: &str, node: Option<&RowNode>, run: &RunRow, taken: Option<u64>) -> Vec<Attribute> {
    let node_type = node.and_then(|node| node.node_type.as_deref());
    let known = [("n8n.node.id", node.and_then(|node| node.id.as_deref())), ("n8n.node.type", node_type)];
    let mut attributes = vec![Attribute::text("n8n.node.name", name)];
    attributes.extend(known.into_iter().filter_map(|(key, text)| Some(Attribute::text(key, text?))));
    let version = node.and_then(|node| node.type_version);
    attributes.extend(version.map(|version| Attribute::number("n8n.node.type_version", version)));
    attributes.extend(taken.map(|taken| Attribute::count("n8n.node.items.input", taken)));
    attributes.push(Attribute::count("n8n.node.items.output", run.main_outputs().sum()));
    attributes.extend(of_ai(name, node_type, run));
    attributes
}

/// The attributes of a run of an AI agent, or of one of its sub-nodes.
fn of_ai(name: &str, node_type: Option<&str>, run: &RunRow) -> Vec<Attribute> {
    let operation = |operation| Attribute::text("gen_ai.operation.name", operation);
    let connection = run.outputs.first().map(|output| output.connection.as_str()).filter(|_| run.is_call());
    match (connection, &run.call) {
        (_, Some(call)) => [operation("chat")].into_iter().chain(of_model(call)).collect(),
        (Some("ai_tool"), _) => vec![operation("execute_tool"), Attribute::text("gen_ai.tool.name", name)],
        (Some("ai_embedding"), _) => vec![operation("embeddings")],
        (None, _) if node_type == Some(AGENT) => {
            vec![operation("invoke_agent"), Attribute::text("gen_ai.agent.name", name)]
        }
        _ => Vec::new(),
    }
}

fn of_model(call: &ModelCall) -> impl Iterator<Item = Attribute> {
    let model = call.model.as_deref().map(|model| Attribute::text("gen_ai.request.model", model));
    let tokens = [("gen_ai.usage.input_tokens", call.input_tokens), ("gen_ai.usage.output_tokens", call.output_tokens)];
    let tokens = tokens.into_iter().filter_map(|(key, tokens)| Some(Attribute::count(key, tokens?)));
    let reason = call.finish_reason.as_deref();
    let reasons = reason.map(|reason| Attribute::texts("gen_ai.response.finish_reasons", reason));
    model.into_iter().chain(tokens).chain(reasons)
}
