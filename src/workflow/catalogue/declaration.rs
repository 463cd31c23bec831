//! The parts of n8n's node descriptions that the index needs. An entry describes one or more versions of a type; a
//! list in one entry can be a single value or a map in another.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Number, Value};

use super::ports::{NodePort, NodePorts};

/// One entry of `nodes.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) display_name: String,
    #[serde(default)]
    pub(super) description: String,
    version: Value,
    pub(super) default_version: Option<Number>,
    #[serde(default)]
    pub(super) group: Vec<String>,
    pub(super) codex: Option<Codex>,
    #[serde(default)]
    pub(super) properties: Vec<Property>,
    #[serde(default)]
    inputs: Value,
    #[serde(default)]
    outputs: Value,
    #[serde(default)]
    input_names: Vec<String>,
    #[serde(default)]
    output_names: Vec<String>,
    #[serde(default)]
    pub(super) credentials: Vec<Credential>,
    #[serde(default)]
    pub(super) hidden: bool,
    #[serde(default)]
    webhooks: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    usable_as_tool: Value,
}

/// How the editor categorises a node.
#[derive(Deserialize, Default)]
pub(super) struct Codex {
    #[serde(default)]
    pub(super) categories: Vec<String>,
    #[serde(default)]
    subcategories: Value,
    #[serde(default)]
    pub(super) alias: Vec<String>,
}

/// A credential type that a node can use.
#[derive(Deserialize)]
pub(super) struct Credential {
    pub(super) name: String,
}

/// One field of the editor. Several can hold the same parameter, under different conditions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Property {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) is_node_setting: bool,
    pub(super) default: Option<Value>,
    #[serde(default)]
    pub(super) options: Vec<Choice>,
    #[serde(default)]
    pub(super) display_options: DisplayOptions,
}

/// A possible value of a parameter. The fields of a collection are listed in the same place and have no value.
#[derive(Deserialize)]
pub(super) struct Choice {
    pub(super) value: Option<Value>,
}

/// When the editor shows a field: name of another parameter -> values that it must have.
#[derive(Deserialize, Default)]
pub(super) struct DisplayOptions {
    #[serde(default)]
    pub(super) show: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub(super) hide: BTreeMap<String, Vec<Value>>,
    /// Conditions on the installation.
    #[serde(flatten)]
    pub(super) other: Map<String, Value>,
}

impl Declaration {
    pub(super) fn versions(&self) -> impl Iterator<Item = &Number> {
        let one_or_many = match &self.version {
            Value::Array(versions) => versions.as_slice(),
            version => std::slice::from_ref(version),
        };
        one_or_many.iter().filter_map(|version| if let Value::Number(number) = version { Some(number) } else { None })
    }

    pub(super) fn has_version(&self, version: &Number) -> bool {
        self.versions().any(|own| own.as_f64() == version.as_f64())
    }

    pub(super) fn inputs(&self) -> NodePorts {
        declared_ports(&self.inputs, &self.input_names)
    }

    pub(super) fn outputs(&self) -> NodePorts {
        declared_ports(&self.outputs, &self.output_names)
    }

    pub(super) fn webhook(&self) -> bool {
        !self.webhooks.is_empty()
    }

    /// `true`, or an object with the differences of the twin.
    pub(super) fn usable_as_tool(&self) -> bool {
        matches!(self.usable_as_tool, Value::Bool(true) | Value::Object(_))
    }

    /// n8n's own condition: the node can send a question and wait for the answer.
    pub(super) fn usable_for_review(&self) -> bool {
        let waits = |property: &Property| {
            let mut choices = property.options.iter();
            property.name == "operation"
                && choices.any(|choice| choice.value.as_ref().is_some_and(|value| value == "sendAndWait"))
        };
        !self.name.ends_with("Tool") && self.webhook() && self.properties.iter().any(waits)
    }
}

impl Codex {
    /// A list, or one per category.
    pub(super) fn subcategories(&self) -> Vec<String> {
        let lists = match &self.subcategories {
            Value::Object(by_category) => by_category.values().collect(),
            list => vec![list],
        };
        let names = lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }
}

/// A list of connection types, or an expression that computes one from the parameters.
fn declared_ports(declared: &Value, names: &[String]) -> NodePorts {
    match declared {
        Value::String(expression) => kinds_in(expression),
        Value::Array(ports) => NodePorts::Known(
            ports
                .iter()
                .enumerate()
                .filter_map(|(place, port)| {
                    let kind = port.as_str().or_else(|| port.get("type")?.as_str())?;
                    let display_name = || port.get("displayName")?.as_str();
                    Some(NodePort::new(
                        kind,
                        names.get(place).map(String::as_str).or_else(display_name).unwrap_or_default(),
                    ))
                })
                .collect(),
        ),
        _ => NodePorts::Known(Vec::new()),
    }
}

/// The connection types that an expression mentions. Evaluating it would require a JavaScript engine, and it can only
/// return what it mentions.
fn kinds_in(expression: &str) -> NodePorts {
    let mut kinds = quoted_kinds(expression);
    // The agents share one function, whose first argument says whether there is a main input.
    if expression.contains("getInputs(false,") {
        kinds.retain(|kind| *kind != "main");
    }
    // The LangChain Code node lists all connection types as keys of an object.
    if kinds.is_empty() || expression.contains("connectorTypes") {
        kinds =
            expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| is_kind(word)).collect();
    }
    let mut distinct: Vec<String> = Vec::new();
    for kind in kinds {
        if !distinct.iter().any(|known| known == kind) {
            distinct.push(kind.to_owned());
        }
    }
    if distinct.is_empty() { NodePorts::Unknown } else { NodePorts::Kinds(distinct) }
}

/// The string literals that are connection types, except keys of an object.
fn quoted_kinds(expression: &str) -> Vec<&str> {
    let pieces: Vec<&str> = expression.split(['\'', '"']).collect();
    let literals = pieces.iter().zip(pieces.iter().skip(1)).skip(1);
    literals.filter(|(word, after)| is_kind(word) && !after.starts_with(':')).map(|(word, _)| *word).collect()
}

fn is_kind(word: &str) -> bool {
    let after_ai = |rest: &str| !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphabetic());
    word == "main" || word.strip_prefix("ai_").is_some_and(after_ai)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(expression: &str) -> Vec<String> {
        match kinds_in(expression) {
            NodePorts::Kinds(kinds) => kinds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_expression_names_the_connection_types_that_it_can_return() {
        assert_eq!(kinds("={{ p.a ? ['main', 'ai_tool'] : [\"main\"] }}"), ["main", "ai_tool"]);
        assert_eq!(kinds("={{ f({ 'ai_memory': 1, x: 'ai_tool' }) }}"), ["ai_tool"], "a key is not a connection type");
        assert_eq!(kinds("={{ getInputs(false, ['main', 'ai_tool']) }}"), ["ai_tool"]);
        assert_eq!(kinds("={{ connectorTypes({ ai_chain: 1, main: 2 }, 'main') }}"), ["ai_chain", "main"]);
        assert_eq!(kinds_in("={{ $parameter.anything }}"), NodePorts::Unknown);
    }

    #[test]
    fn port_names_come_from_either_place() {
        let ports = declared_ports(&json!(["main", {"type": "ai_tool", "displayName": "Tool"}]), &["yes".to_owned()]);
        assert_eq!(ports, NodePorts::Known(vec![NodePort::new("main", "yes"), NodePort::new("ai_tool", "Tool")]));
        assert_eq!(declared_ports(&Value::Null, &[]), NodePorts::Known(Vec::new()));
    }

    #[test]
    fn subcategories_are_a_list_or_a_map() {
        let names = |subcategories| Codex { subcategories, ..Codex::default() }.subcategories();
        assert_eq!(names(json!({"Core": ["Flow"], "AI": ["Tools"]})), ["Flow", "Tools"]);
        assert_eq!(names(json!(["Flow"])), ["Flow"]);
        assert!(names(Value::Null).is_empty());
    }
}
