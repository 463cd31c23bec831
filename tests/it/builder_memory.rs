//! Workflows in memory, through the real binary.

use serde_json::{Value, json};

use crate::mcp_client::McpClient;

/// Bytes of a text in a workflow: a call with it is almost as large as calls can be.
const LARGE: usize = 15 << 20;

struct Builder(McpClient);

impl Builder {
    fn start() -> Self {
        Self(McpClient::start_with("http://127.0.0.1:1", &["--toolsets", "builder"]))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        serde_json::from_str(&self.0.call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"))).unwrap()
    }

    fn create(&mut self, description: &str) -> String {
        let arguments = json!({"name": "W", "target": "memory", "description": description});
        self.call("workflow_create", arguments)["workflowId"].as_str().unwrap().to_owned()
    }

    fn holds(&mut self, id: &str) -> bool {
        match self.0.call("workflow_load", json!({ "workflowIdOrPath": id })) {
            Ok(_) => true,
            Err(refused) => {
                assert!(refused.contains("is not in memory"), "{refused}");
                false
            }
        }
    }
}

#[test]
#[ignore = "long: 300 MB of arguments"]
fn workflows_in_memory_are_limited_by_their_bytes() {
    let mut builder = Builder::start();
    let large = "x".repeat(LARGE);
    let small = builder.create("small");
    // 17 fit into 256 MiB.
    let ids: Vec<_> = (0..19).map(|_| builder.create(&large)).collect();
    assert!(!builder.holds(&small));
    let held: Vec<_> = ids.iter().map(|id| builder.holds(id)).collect();
    assert_eq!(held, [vec![false; 2], vec![true; 17]].concat());
    // A growing one displaces the oldest, but never itself.
    let oldest = &ids[2];
    let node = json!({"workflowId": oldest, "nodeType": "n8n-nodes-base.set", "parameters": {"text": large}});
    builder.call("node_add", node);
    assert!(builder.holds(oldest) && !builder.holds(&ids[3]) && builder.holds(&ids[4]));
}

#[test]
#[ignore = "long: 75 MB of arguments"]
fn a_workflow_in_memory_does_not_grow_beyond_what_n8n_accepts() {
    let mut builder = Builder::start();
    let large = "x".repeat(LARGE);
    let id = builder.create(&large);
    let node = json!({"workflowId": id, "nodeType": "n8n-nodes-base.set", "parameters": {"text": large}});
    for _ in 0..3 {
        builder.call("node_add", node.clone());
    }
    let refused = builder.0.call("node_add", node).unwrap_err();
    assert_eq!(refused, "The workflow would be larger than 64 MiB, which n8n does not accept. Make it smaller.");
    assert!(builder.holds(&id));
}
