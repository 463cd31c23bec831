//! Nodes that never make several items of one: after them, as many items as before mean that none was dropped.

use serde_json::Value;

use crate::workflow::parsed::ParsedNode;

/// Types that output each item at most once, whatever their parameters are.
const AT_MOST_ONCE: [&str; 11] = [
    "n8n-nodes-base.crypto",
    "n8n-nodes-base.dateTime",
    "n8n-nodes-base.filter",
    "n8n-nodes-base.if",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.markdown",
    "n8n-nodes-base.noOp",
    "n8n-nodes-base.removeDuplicates",
    "n8n-nodes-base.renameKeys",
    "n8n-nodes-base.sort",
    "n8n-nodes-base.wait",
];

/// Whether a node outputs each of its items at most once. Code and requests can drop one item and make two of another one, so that
/// their number stays the same.
pub(super) fn outputs_at_most_once(node: &ParsedNode) -> bool {
    let is_set = |pointer: &str| node.at(pointer) == Some(&Value::Bool(true));
    match node.node_type.as_str() {
        // n8n passes the items of a disabled node through.
        _ if node.is_disabled => true,
        // An empty item takes the place of those that were dropped.
        _ if node.member("alwaysOutputData") == Some(Value::Bool(true)) => false,
        "n8n-nodes-base.set" => !is_set("/duplicateItem"),
        "n8n-nodes-base.switch" => !is_set("/options/allMatchingOutputs"),
        node_type => AT_MOST_ONCE.contains(&node_type),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workflow::Document;
    use crate::workflow::parsed::Parsed;

    #[test]
    fn only_known_nodes_output_each_item_at_most_once() {
        for (node, expected) in [
            (json!({"type": "n8n-nodes-base.set"}), true),
            (json!({"type": "n8n-nodes-base.set", "parameters": {"duplicateItem": true}}), false),
            (json!({"type": "n8n-nodes-base.switch"}), true),
            (json!({"type": "n8n-nodes-base.switch", "parameters": {"options": {"allMatchingOutputs": true}}}), false),
            (json!({"type": "n8n-nodes-base.filter"}), true),
            (json!({"type": "n8n-nodes-base.filter", "alwaysOutputData": true}), false),
            (json!({"type": "n8n-nodes-base.code"}), false),
            (json!({"type": "n8n-nodes-base.code", "disabled": true}), true),
            (json!({"type": "n8n-nodes-base.httpRequest"}), false),
            (json!({"type": "n8n-nodes-base.splitOut"}), false),
        ] {
            let document = Document::parse(json!({"nodes": [node], "connections": {}}).to_string().as_bytes()).unwrap();
            let parsed = Parsed::of(&document).unwrap();
            assert_eq!(outputs_at_most_once(&parsed.nodes[0]), expected, "{node}");
        }
    }
}
