//! The node that starts a copy.

use serde_json::{Value, json};

use super::START;
use crate::workflow::parsed::ParsedNode;

const TRIGGER: &str = "n8n-nodes-base.n8nTrigger";
const WEBHOOK: &str = "n8n-nodes-base.webhook";

/// It starts when the copy is published.
pub(super) fn by_publishing() -> Value {
    json!({"id": "n8n-lens-start", "name": START, "type": TRIGGER, "typeVersion": 1, "position": [-400, 0],
           "parameters": {"events": ["activate"]}})
}

/// It starts when this secret path is called, and passes on the files of the call.
pub(super) fn by_call(path: &str) -> Value {
    json!({"id": "n8n-lens-start", "name": START, "type": WEBHOOK, "typeVersion": 2, "position": [-400, 0],
           "webhookId": path, "parameters": {"httpMethod": "POST", "path": path, "responseMode": "onReceived", "options": {}}})
}

/// Whether a node is one of these two, and nothing else.
pub(super) fn is_start(node: &ParsedNode) -> bool {
    let written = |name: &str| node.member(name).unwrap_or_default();
    let is =
        |start: Value| ["name", "type", "webhookId", "parameters"].iter().all(|name| written(name) == start[*name]);
    let path = written("webhookId");
    let is_random = |path: &&str| uuid::Uuid::parse_str(path).is_ok_and(|path| path.get_version_num() == 4);
    is(by_publishing()) || path.as_str().filter(is_random).is_some_and(|path| is(by_call(path)))
}
