//! The possible edits of a workflow.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::NewNode;
use crate::workflow::connections::{Connection, PortRef};

/// One edit, as a call writes it: `{"type": "setNodeParameter", "nodeName": "Get", …}`. Nodes are identified by name, or else
/// by id. Operations that n8n also has bear n8n's names (`packages/cli/src/modules/mcp/tools/workflow-builder/workflow-operations.ts`).
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Operation {
    /// Sets a parameter. Missing objects along the path are created; `-` appends to a list.
    SetNodeParameter {
        /// The node.
        node_name: String,
        /// Below `parameters`: a JSON Pointer, or a path in the notation of answers.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Removes a parameter.
    RemoveNodeParameter {
        /// The node.
        node_name: String,
        /// As in [`SetNodeParameter`](Self::SetNodeParameter).
        path: String,
    },
    /// Merges into the parameters of a node (RFC 7396): lists are replaced, `null` removes.
    UpdateNodeParameters {
        /// The node.
        node_name: String,
        /// The members to merge.
        parameters: Map<String, Value>,
        /// Whether they replace all parameters instead.
        #[serde(default)]
        replace: bool,
    },
    /// Replaces parts of a text.
    PatchNodeParameter {
        /// The node.
        node_name: String,
        /// As in [`SetNodeParameter`](Self::SetNodeParameter).
        path: String,
        /// Applied in order.
        patches: Vec<Patch>,
    },
    /// Merges into the node's members other than its parameters; `null` removes.
    SetNodeSettings {
        /// The node.
        node_name: String,
        /// The members to merge.
        settings: Map<String, Value>,
    },
    /// Adds a node.
    AddNode {
        /// The node.
        node: NewNode,
        /// The node that it follows: it takes over what that node's output feeds.
        #[serde(default)]
        after: Option<String>,
        /// The output of that node; by default `main`.
        #[serde(default, deserialize_with = "some_word")]
        source_output: Option<String>,
    },
    /// Removes a node and its connections.
    RemoveNode {
        /// The node.
        node_name: String,
        /// Whether the nodes that fed it then feed the nodes that it fed.
        #[serde(default)]
        reconnect: bool,
    },
    /// Renames a node; connections, pinned data, expressions and code are updated.
    RenameNode {
        /// The node.
        old_name: String,
        /// Its new name.
        new_name: String,
    },
    /// Connects two nodes.
    AddConnection(ConnectionRequest),
    /// Removes the connections of a node, those of one of its outputs, or those to one other node.
    RemoveConnection {
        /// The node that the data come from.
        source: String,
        /// The node that they go to; by default all.
        #[serde(default)]
        target: Option<String>,
        /// The output; by default all.
        #[serde(default, deserialize_with = "some_word")]
        source_output: Option<String>,
        /// The input; by default all.
        #[serde(default, deserialize_with = "some_word")]
        target_input: Option<String>,
    },
    /// Merges into the settings of the workflow; `null` removes.
    SetWorkflowSettings {
        /// The settings to merge.
        settings: Map<String, Value>,
    },
    /// Renames or describes the workflow.
    SetWorkflowMetadata {
        /// Its name.
        #[serde(default)]
        name: Option<String>,
        /// Its description.
        #[serde(default)]
        description: Option<String>,
    },
    /// Returns the workflow to an earlier version. The only operation of its call, since it does not edit the text.
    RestoreVersion {
        /// The version.
        version_id: String,
    },
}

/// A replacement of a part of a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Patch {
    /// The text that must occur exactly once.
    pub find: String,
    /// The text that replaces it.
    pub replace: String,
    /// Whether it may occur several times, and every occurrence is replaced.
    #[serde(default)]
    pub replace_all: bool,
}

/// A connection as the caller describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionRequest {
    /// The node that the data come from.
    pub source: String,
    /// The node that they go to.
    pub target: String,
    /// The output that they leave by: `main`, `main:1`, `1`, `true`, `ai_tool`, …
    #[serde(default = "main", deserialize_with = "word")]
    pub source_output: String,
    /// The input that they enter by.
    #[serde(default = "main", deserialize_with = "word")]
    pub target_input: String,
}

impl Operation {
    /// The names of all operations.
    pub const NAMES: [&str; 13] = [
        "setNodeParameter",
        "removeNodeParameter",
        "updateNodeParameters",
        "patchNodeParameter",
        "setNodeSettings",
        "addNode",
        "removeNode",
        "renameNode",
        "addConnection",
        "removeConnection",
        "setWorkflowSettings",
        "setWorkflowMetadata",
        "restoreVersion",
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::SetNodeParameter { .. } => 0,
            Self::RemoveNodeParameter { .. } => 1,
            Self::UpdateNodeParameters { .. } => 2,
            Self::PatchNodeParameter { .. } => 3,
            Self::SetNodeSettings { .. } => 4,
            Self::AddNode { .. } => 5,
            Self::RemoveNode { .. } => 6,
            Self::RenameNode { .. } => 7,
            Self::AddConnection(_) => 8,
            Self::RemoveConnection { .. } => 9,
            Self::SetWorkflowSettings { .. } => 10,
            Self::SetWorkflowMetadata { .. } => 11,
            Self::RestoreVersion { .. } => 12,
        }]
    }
}

impl From<&Connection> for ConnectionRequest {
    fn from(connection: &Connection) -> Self {
        let Connection { source, output, target, input } = connection;
        let word = |port: &PortRef| format!("{}:{}", port.kind, port.index);
        let (source_output, target_input) = (word(output), word(input));
        Self { source: source.clone(), target: target.clone(), source_output, target_input }
    }
}

fn main() -> String {
    "main".to_owned()
}

/// An output or an input: a number or a boolean stands for its text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an output or an input must be a name or a whole number from 0")]
enum Word {
    Text(String),
    Index(u64),
    Branch(bool),
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        match word {
            Word::Text(text) => text,
            Word::Index(index) => index.to_string(),
            Word::Branch(branch) => branch.to_string(),
        }
    }
}

fn word<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(some_word(from)?.unwrap_or_else(main))
}

fn some_word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Word>::deserialize(from)?.map(String::from))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A name must be at the same place in the list as in the enum.
    #[test]
    fn each_operation_has_its_name() {
        for name in Operation::NAMES {
            let all = json!({"type": name, "nodeName": "n", "path": "p", "value": null, "parameters": {}, "patches": [],
                "settings": {}, "node": {"type": "a.b"}, "oldName": "o", "newName": "n", "source": "s", "target": "t", "versionId": "v"});
            let refused =
                serde_json::from_value::<Operation>(json!({"type": name, "nope": 1})).unwrap_err().to_string();
            let takes = |member: &str| refused.contains(&format!("`{member}`"));
            let given: Map<_, _> = all
                .as_object()
                .unwrap()
                .clone()
                .into_iter()
                .filter(|(member, _)| member == "type" || takes(member))
                .collect();
            let operation: Operation = serde_json::from_value(given.into()).unwrap();
            assert_eq!(operation.name(), name);
        }
    }

    #[test]
    fn ports_may_be_numbers() {
        let given =
            json!({"type": "addConnection", "source": "a", "target": "b", "sourceOutput": 1, "targetInput": null});
        let Operation::AddConnection(request) = serde_json::from_value(given).unwrap() else { panic!() };
        assert_eq!((request.source_output.as_str(), request.target_input.as_str()), ("1", "main"));
    }
}
