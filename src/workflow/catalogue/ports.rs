//! The inputs and outputs of a node type: where connections can go.
//!
//! Most types declare them as a list. Some compute them from the node's parameters, in JavaScript: the ports that
//! people connect by name (Switch, Merge, a classifier) are computed here as n8n does it; for the others only
//! the possible connection types are known.

use serde::{Deserialize, Serialize};

/// The inputs or the outputs of a node, in n8n's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodePorts {
    /// Exactly these.
    Known(Vec<NodePort>),
    /// Any number of each of these connection types.
    Kinds(Vec<String>),
    /// Nothing is known about them.
    Unknown,
}

/// One input or output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PortText", into = "PortText")]
pub struct NodePort {
    /// The connection type: `main`, or one for AI such as `ai_tool`.
    pub kind: String,
    /// Its label in the editor.
    pub name: Option<String>,
}

/// A port as the index stores it: one word, or two.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PortText {
    Kind(String),
    Named(String, String),
}

impl NodePorts {
    /// Whether there is such a port, or could be: an unknown port is not refused.
    pub fn has(&self, kind: &str, index: usize) -> bool {
        match self {
            Self::Known(ports) => ports.iter().filter(|port| port.kind == kind).nth(index).is_some(),
            Self::Kinds(kinds) => kinds.iter().any(|known| known == kind),
            Self::Unknown => true,
        }
    }

    /// The connection type of the port with this name (in any case), and its index among the ports of that type.
    pub fn index_of(&self, name: &str) -> Option<(String, usize)> {
        let wanted = name.to_lowercase();
        let named = |port: &NodePort| port.name.as_ref().is_some_and(|own| own.to_lowercase() == wanted);
        self.numbered().find(|(port, _)| named(port)).map(|(port, index)| (port.kind.clone(), index))
    }

    /// The ports for an error message: `main:0 'true', main:1 'false'`.
    pub fn describe(&self) -> String {
        let text = |(port, index): (&NodePort, usize)| match &port.name {
            Some(name) => format!("{}:{index} '{name}'", port.kind),
            None => format!("{}:{index}", port.kind),
        };
        match self {
            Self::Known(ports) if ports.is_empty() => "none".to_owned(),
            Self::Known(_) => self.numbered().map(text).collect::<Vec<_>>().join(", "),
            Self::Kinds(kinds) => format!("any number of {}", kinds.join(", ")),
            Self::Unknown => "unknown".to_owned(),
        }
    }

    /// Each known port with its index among the ports of its connection type.
    fn numbered(&self) -> impl Iterator<Item = (&NodePort, usize)> {
        let ports = if let Self::Known(ports) = self { ports.as_slice() } else { &[] };
        ports.iter().enumerate().map(|(place, port)| {
            let before = ports.iter().take(place).filter(|other| other.kind == port.kind);
            (port, before.count())
        })
    }

    /// Replaces ports that depend on an expression with the computed ones, if they can be computed.
    pub(super) fn or_computed(self, compute: impl FnOnce(&[String]) -> Option<Vec<NodePort>>) -> Self {
        match &self {
            Self::Kinds(kinds) => compute(kinds).map_or(self, Self::Known),
            Self::Known(_) | Self::Unknown => self,
        }
    }

    /// Adds the output for failed items.
    pub(super) fn with_error_output(mut self) -> Self {
        match &mut self {
            Self::Known(ports) => ports.push(NodePort::main("Error")),
            Self::Kinds(kinds) if !kinds.iter().any(|kind| kind == "main") => kinds.push("main".to_owned()),
            Self::Kinds(_) | Self::Unknown => {}
        }
        self
    }
}

impl NodePort {
    /// A port; an empty name counts as no name.
    pub(super) fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: (!name.is_empty()).then(|| name.to_owned()) }
    }

    /// A `main` port.
    pub(crate) fn main(name: &str) -> Self {
        Self::new("main", name)
    }
}

impl From<PortText> for NodePort {
    fn from(text: PortText) -> Self {
        match text {
            PortText::Kind(kind) => Self { kind, name: None },
            PortText::Named(kind, name) => Self { kind, name: Some(name) },
        }
    }
}

impl From<NodePort> for PortText {
    fn from(port: NodePort) -> Self {
        match port.name {
            Some(name) => Self::Named(port.kind, name),
            None => Self::Kind(port.kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{NodeState, samples};
    use super::*;

    fn ports(node_type: &str, version: f64, parameters: &Value, on_error: Option<&str>) -> (NodePorts, NodePorts) {
        let catalogue = samples::catalogue();
        let node_type = catalogue.find(node_type).unwrap();
        let node = NodeState { version, parameters: parameters.as_object().unwrap(), on_error };
        (node_type.inputs(&node), node_type.outputs(&node))
    }

    fn outputs(node_type: &str, version: f64, parameters: Value) -> String {
        ports(node_type, version, &parameters, None).1.describe()
    }

    fn inputs(node_type: &str, version: f64, parameters: Value) -> String {
        ports(node_type, version, &parameters, None).0.describe()
    }

    #[test]
    fn a_port_is_found_by_name_in_any_case() {
        let (_, branch) = ports("base.if", 2.0, &json!({}), None);
        assert_eq!(branch.describe(), "main:0 'true', main:1 'false'");
        assert_eq!(branch.index_of("False"), Some(("main".to_owned(), 1)));
        assert_eq!(branch.index_of("maybe"), None);
        assert!(branch.has("main", 1) && !branch.has("main", 2) && !branch.has("ai_tool", 0));
    }

    #[test]
    fn an_error_output_is_there_if_the_node_has_one() {
        let failing = |node_type| ports(node_type, 1.0, &json!({}), Some("continueErrorOutput")).1;
        assert_eq!(failing("base.if").index_of("error"), Some(("main".to_owned(), 2)));
        assert_eq!(failing("@acme/ai.coder").describe(), "any number of ai_tool, main");
    }

    #[test]
    fn a_loop_has_the_outputs_of_its_version() {
        assert_eq!(outputs("base.splitInBatches", 3.0, json!({})), "main:0 'done', main:1 'loop'");
        assert_eq!(outputs("base.splitInBatches", 1.0, json!({})), "main:0");
    }

    #[test]
    fn an_agent_has_known_connection_types() {
        let (agent, _) = ports("@acme/ai.agent", 2.0, &json!({}), None);
        assert!(agent.has("ai_tool", 7) && agent.has("main", 0) && !agent.has("ai_vectorStore", 0));
        assert_eq!(agent.describe(), "any number of main, ai_languageModel, ai_tool");
        assert_eq!(inputs("@acme/ai.modelSelector", 1.0, json!({"numberInputs": 1})), "ai_languageModel:0 'Model 1'");
    }

    #[test]
    fn a_twin_is_a_tool() {
        let (none, tool) = ports("base.chatterTool", 2.0, &json!({}), None);
        assert_eq!((none.describe().as_str(), tool.describe().as_str()), ("none", "ai_tool:0"));
        let (gated, review) = ports("base.chatterHitlTool", 2.0, &json!({}), None);
        assert_eq!(gated.describe(), "ai_tool:0 'Tool'");
        assert_eq!(review.describe(), "ai_tool:0 'Human Review'");
    }

    #[test]
    fn unknown_ports_are_not_refused() {
        assert!(NodePorts::Unknown.has("ai_tool", 3));
        assert_eq!(NodePorts::Unknown.describe(), "unknown");
        assert_eq!(NodePorts::Unknown.index_of("true"), None);
    }
}
