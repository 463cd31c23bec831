//! Ids of traces and spans: the beginning of a hash, in hexadecimal.

use ring::digest::{Context, SHA256};

/// The trace of an execution. Ids of executions are numbers, equal in every n8n; ids of workflows are random.
pub(super) fn trace(workflow_id: &str, execution_id: &str) -> String {
    hashed(&["n8n execution", workflow_id, execution_id], 16)
}

/// The span of an execution.
pub(super) fn workflow_span(trace: &str) -> String {
    hashed(&[trace, "workflow.execute"], 8)
}

/// The span of a run of a node.
pub(super) fn node_span(trace: &str, node: &str, run: u64) -> String {
    hashed(&[trace, "node.execute", node, &run.to_string()], 8)
}

/// The first bytes of a hash of these parts, each with its length before it.
fn hashed(parts: &[&str], bytes: usize) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    context.finish().as_ref().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
