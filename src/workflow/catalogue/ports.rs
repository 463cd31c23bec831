//! The inputs and outputs of a node: where connections can go.
//!
//! Most types declare them as a list. Some compute them from their parameters, in JavaScript; the ones people
//! connect by name (Switch, Merge, a classifier) are computed here as n8n does, and of the others it is known which
//! kinds there may be.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::NodeType;
use super::computed_ports::{computed_inputs, computed_outputs};
use super::node_type::OlderPorts;

/// A node with more has a broken parameter: it is not worth counting them.
const MOST_PORTS: usize = 1_000;

/// The inputs or the outputs of a node, in n8n's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ports {
    /// Exactly these.
    Known(Vec<Port>),
    /// Ports of these kinds, any number of each.
    Kinds(Vec<String>),
    /// Nothing is known of them.
    Unknown,
}

/// One input or output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PortText", into = "PortText")]
pub struct Port {
    /// `main`, or a kind of AI connection (`ai_tool`).
    pub kind: String,
    /// What the editor writes next to it.
    pub name: Option<String>,
}

/// A port in the index: a word, or two.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PortText {
    Kind(String),
    Named(String, String),
}

/// What the ports of a node depend on.
#[derive(Debug, Clone, Copy)]
pub struct NodeState<'a> {
    /// Its `typeVersion`.
    pub version: f64,
    /// Its `parameters`.
    pub parameters: &'a Map<String, Value>,
    /// Its `onError`.
    pub on_error: Option<&'a str>,
}

impl NodeType {
    /// The inputs of this node.
    pub fn inputs(&self, node: &NodeState<'_>) -> Ports {
        let declared = self.older(node.version).map_or(&self.declared_inputs, |older| &older.inputs);
        declared.clone().or_computed(|_| computed_inputs(self.bare_name(), node))
    }

    /// The outputs of this node, with the one for errors if its settings ask for it.
    pub fn outputs(&self, node: &NodeState<'_>) -> Ports {
        let declared = self.older(node.version).map_or(&self.declared_outputs, |older| &older.outputs);
        let outputs = declared.clone().or_computed(|kinds| computed_outputs(self.bare_name(), kinds, node));
        if node.on_error == Some("continueErrorOutput") { outputs.with_error_output() } else { outputs }
    }

    fn older(&self, version: f64) -> Option<&OlderPorts> {
        self.older_ports.iter().find(|older| older.versions.iter().any(|known| known.as_f64() == Some(version)))
    }
}

impl Ports {
    /// There is such a port, as far as is known: what is not known is not refused.
    pub fn has(&self, kind: &str, index: usize) -> bool {
        match self {
            Self::Known(ports) => ports.iter().filter(|port| port.kind == kind).nth(index).is_some(),
            Self::Kinds(kinds) => kinds.iter().any(|known| known == kind),
            Self::Unknown => true,
        }
    }

    /// The kind of the port of this name (in any case), and its index among those of its kind.
    pub fn index_of(&self, name: &str) -> Option<(String, usize)> {
        let wanted = name.to_lowercase();
        let named = |port: &Port| port.name.as_ref().is_some_and(|own| own.to_lowercase() == wanted);
        self.numbered().find(|(port, _)| named(port)).map(|(port, index)| (port.kind.clone(), index))
    }

    /// What there is, for an error: `main:0 'true', main:1 'false'`.
    pub fn describe(&self) -> String {
        let text = |(port, index): (&Port, usize)| match &port.name {
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

    /// Each known port with its index among those of its kind.
    fn numbered(&self) -> impl Iterator<Item = (&Port, usize)> {
        let ports = if let Self::Known(ports) = self { ports.as_slice() } else { &[] };
        ports.iter().enumerate().map(|(place, port)| {
            let before = ports.iter().take(place).filter(|other| other.kind == port.kind);
            (port, before.count())
        })
    }

    /// What an expression decides is computed where that is possible.
    fn or_computed(self, compute: impl FnOnce(&[String]) -> Option<Vec<Port>>) -> Self {
        match &self {
            Self::Kinds(kinds) => compute(kinds).map_or(self, Self::Known),
            Self::Known(_) | Self::Unknown => self,
        }
    }

    fn with_error_output(mut self) -> Self {
        match &mut self {
            Self::Known(ports) => ports.push(Port::main("Error")),
            Self::Kinds(kinds) if !kinds.iter().any(|kind| kind == "main") => kinds.push("main".to_owned()),
            Self::Kinds(_) | Self::Unknown => {}
        }
        self
    }
}

impl Port {
    /// An empty name is none.
    pub(super) fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: (!name.is_empty()).then(|| name.to_owned()) }
    }

    pub(super) fn main(name: &str) -> Self {
        Self::new("main", name)
    }
}

impl From<PortText> for Port {
    fn from(text: PortText) -> Self {
        match text {
            PortText::Kind(kind) => Self { kind, name: None },
            PortText::Named(kind, name) => Self { kind, name: Some(name) },
        }
    }
}

impl From<Port> for PortText {
    fn from(port: Port) -> Self {
        match port.name {
            Some(name) => Self::Named(port.kind, name),
            None => Self::Kind(port.kind),
        }
    }
}

impl<'a> NodeState<'a> {
    /// The parameter at this path; `null` is as good as none.
    pub(super) fn at(&self, path: &[&str]) -> Option<&'a Value> {
        let (first, rest) = path.split_first()?;
        let value = rest.iter().try_fold(self.parameters.get(*first)?, |value, key| value.get(key))?;
        (!value.is_null()).then_some(value)
    }

    pub(super) fn text(&self, path: &[&str]) -> Option<&'a str> {
        self.at(path)?.as_str()
    }

    pub(super) fn text_or(&self, path: &[&str], default: &'a str) -> &'a str {
        self.text(path).filter(|text| !text.is_empty()).unwrap_or(default)
    }

    /// A number of ports; `None` for an expression, which only a run can tell.
    pub(super) fn count(&self, name: &str, default: usize) -> Option<usize> {
        let Some(value) = self.at(&[name]) else { return Some(default) };
        let number = value.as_f64()?;
        // A cast saturates: a negative number is no port.
        (number <= MOST_PORTS as f64).then_some(number as usize)
    }

    /// A list; one that is missing is empty, and of an expression nothing is known.
    pub(super) fn list(&self, path: &[&str]) -> Option<&'a [Value]> {
        self.at(path).map_or(Some(&[]), |value| value.as_array().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples;
    use super::*;

    fn ports(node_type: &str, version: f64, parameters: &Value, on_error: Option<&str>) -> (Ports, Ports) {
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
    fn an_output_for_errors_is_there_when_asked_for() {
        let failing = |node_type| ports(node_type, 1.0, &json!({}), Some("continueErrorOutput")).1;
        assert_eq!(failing("base.if").index_of("error"), Some(("main".to_owned(), 2)));
        assert_eq!(failing("@acme/ai.coder").describe(), "any number of ai_tool, main");
    }

    #[test]
    fn a_loop_knows_its_versions() {
        assert_eq!(outputs("base.splitInBatches", 3.0, json!({})), "main:0 'done', main:1 'loop'");
        assert_eq!(outputs("base.splitInBatches", 1.0, json!({})), "main:0");
    }

    #[test]
    fn of_an_agent_the_kinds_are_known() {
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
    fn what_is_not_known_is_not_refused() {
        assert!(Ports::Unknown.has("ai_tool", 3));
        assert_eq!(Ports::Unknown.describe(), "unknown");
        assert_eq!(Ports::Unknown.index_of("true"), None);
    }
}
