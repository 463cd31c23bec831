//! One node type of the index.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::computed_ports::{computed_inputs, computed_outputs};
use super::ports::{NodePort, NodePorts};
use crate::node_outputs::NodeState;

/// The suffix of the twin that n8n derives for AI agents.
pub(super) const TOOL: &str = "Tool";

/// The suffix of the twin with which a person approves an AI agent's calls.
const HUMAN_REVIEW_TOOL: &str = "HitlTool";

/// A node type. The keys in the file are short and empty values are left out, since the index is read at every start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeType {
    /// The full type, `package.name`.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Its name in the editor.
    #[serde(rename = "name")]
    pub display_name: String,
    /// n8n's description of it.
    #[serde(rename = "text", default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The `typeVersion` of a new node.
    #[serde(rename = "v")]
    pub version: Number,
    /// All versions that n8n still runs, ascending.
    #[serde(rename = "vs")]
    pub versions: Vec<Number>,
    /// `trigger`, `transform`, `output`, and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// Its categories in the editor.
    #[serde(rename = "cat", default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Its subcategories in the editor.
    #[serde(rename = "sub", default, skip_serializing_if = "Vec::is_empty")]
    pub subcategories: Vec<String>,
    /// Other words that people use for it.
    #[serde(rename = "alias", default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The parameters of [`NodeType::version`], the most important first.
    #[serde(rename = "params", default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<ParameterType>,
    /// As declared for [`NodeType::version`]; [`NodeType::inputs`] returns those of a specific node.
    #[serde(rename = "in")]
    pub(super) declared_inputs: NodePorts,
    /// As declared for [`NodeType::version`]; [`NodeType::outputs`] returns those of a specific node.
    #[serde(rename = "out")]
    pub(super) declared_outputs: NodePorts,
    /// The ports of versions whose ports differ.
    #[serde(rename = "older", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) older_ports: Vec<OlderPorts>,
    /// The credential types that it can use.
    #[serde(rename = "cred", default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<String>,
    /// The editor does not offer it, since it is deprecated or internal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// It listens at a URL of its own, so a new node needs a `webhookId`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub webhook: bool,
    /// n8n derives a twin for AI agents from it.
    #[serde(rename = "tool", default, skip_serializing_if = "std::ops::Not::not")]
    pub usable_as_tool: bool,
    /// n8n derives a twin from it with which a person approves an AI agent's calls.
    #[serde(rename = "review", default, skip_serializing_if = "std::ops::Not::not")]
    pub usable_for_review: bool,
}

/// The ports of versions that differ from those of a new node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OlderPorts {
    #[serde(rename = "vs")]
    pub(super) versions: Vec<Number>,
    #[serde(rename = "in")]
    pub(super) inputs: NodePorts,
    #[serde(rename = "out")]
    pub(super) outputs: NodePorts,
}

/// One parameter, merged from all fields in which the editor shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterType {
    /// Its key in `parameters`.
    #[serde(rename = "n")]
    pub name: String,
    /// n8n's `type`: `string`, `options`, `collection`, and others.
    #[serde(rename = "t")]
    pub kind: String,
    /// Whether it is required while the editor shows it.
    #[serde(rename = "req", default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Its default, if that is short and not empty.
    #[serde(rename = "def", default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The first of its possible values.
    #[serde(rename = "opt", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
}

impl NodeType {
    /// The type without its package.
    pub fn bare_name(&self) -> &str {
        self.node_type.rsplit_once('.').map_or(self.node_type.as_str(), |(_, name)| name)
    }

    /// The inputs of this node.
    pub fn inputs(&self, node: &NodeState<'_>) -> NodePorts {
        let declared = self.older(node.version).map_or(&self.declared_inputs, |older| &older.inputs);
        declared.clone().or_computed(|_| computed_inputs(self.bare_name(), node))
    }

    /// The outputs of this node, and the one for failed items if the node has one.
    pub fn outputs(&self, node: &NodeState<'_>) -> NodePorts {
        let declared = self.older(node.version).map_or(&self.declared_outputs, |older| &older.outputs);
        let outputs = declared.clone().or_computed(|kinds| computed_outputs(self.bare_name(), kinds, node));
        if node.has_error_output() { outputs.with_error_output() } else { outputs }
    }

    fn older(&self, version: f64) -> Option<&OlderPorts> {
        self.older_ports.iter().find(|older| older.versions.iter().any(|known| known.as_f64() == Some(version)))
    }

    /// The types that n8n derives from this one at startup; no package declares them.
    pub(super) fn twins(&self) -> impl Iterator<Item = Self> {
        let tool = self.usable_as_tool.then(|| Self {
            display_name: format!("{} {TOOL}", self.display_name),
            ..self.twin(TOOL, Vec::new(), vec![NodePort::new("ai_tool", "")])
        });
        let review = self.usable_for_review.then(|| {
            self.twin(
                HUMAN_REVIEW_TOOL,
                vec![NodePort::new("ai_tool", "Tool")],
                vec![NodePort::new("ai_tool", "Human Review")],
            )
        });
        tool.into_iter().chain(review)
    }

    fn twin(&self, suffix: &str, inputs: Vec<NodePort>, outputs: Vec<NodePort>) -> Self {
        Self {
            node_type: format!("{}{suffix}", self.node_type),
            declared_inputs: NodePorts::Known(inputs),
            declared_outputs: NodePorts::Known(outputs),
            older_ports: Vec::new(),
            usable_as_tool: false,
            usable_for_review: false,
            ..self.clone()
        }
    }
}
