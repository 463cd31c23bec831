//! The tools of one server, and what their input may be.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::error::{Error, clip};
use crate::secrets::without_value;

/// The tools of one server, by name.
pub(super) type Tools = BTreeMap<String, Tool>;

/// The longest message about an input.
const MESSAGE_CHARS: usize = 500;

/// A tool as its server describes it.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// What it does.
    pub(super) description: String,
    /// JSON Schema of its input.
    pub(super) input_schema: Value,
    /// Made with the first call. A schema that cannot be used checks nothing: the server will.
    validator: OnceLock<Option<Validator>>,
}

/// What is read of a page of `tools/list`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    tools: Vec<Value>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    name: String,
    description: Option<String>,
    title: Option<String>,
    #[serde(default)]
    input_schema: Map<String, Value>,
    #[serde(rename = "outputSchema")]
    _output: Option<IgnoredAny>,
}

impl Page {
    /// Adds the tools of this page; one that is malformed costs the others nothing, and of two with one
    /// name the first counts.
    pub(super) fn add_to(self, tools: &mut Tools) {
        for described in self.tools {
            match serde_json::from_value::<Described>(described) {
                Ok(described) => {
                    let tool = Tool::new(described);
                    tools.entry(tool.name.clone()).or_insert(tool);
                }
                Err(error) => {
                    tracing::warn!("a tool is left out, its description is malformed: {}", without_value(&error))
                }
            }
        }
    }
}

impl Tool {
    fn new(described: Described) -> Self {
        let mut schema = described.input_schema;
        // MCP wants an object at the root; some servers leave it to be guessed.
        schema.entry("type").or_insert_with(|| "object".into());
        Self {
            name: described.name,
            description: described.description.or(described.title).unwrap_or_default(),
            input_schema: Value::Object(schema),
            validator: OnceLock::new(),
        }
    }

    /// Checks an input against the schema.
    pub(super) fn check(&self, input: &Value) -> Result<(), Error> {
        let Some(validator) = self.validator.get_or_init(|| self.validator()) else {
            return Ok(());
        };
        validator.validate(input).map_err(|error| {
            let pointer = error.instance_path().to_string();
            let field = format!("input{}", pointer.replace('/', "."));
            let message = format!("The input of tool '{}' is not valid at {field}: {error}", self.name);
            let value = clip(&error.instance().to_string());
            Error::field(&field, crate::json::shorten(&message, MESSAGE_CHARS), json!({ "value": value }))
        })
    }

    fn validator(&self) -> Option<Validator> {
        let made = jsonschema::validator_for(&self.input_schema);
        made.inspect_err(|_| tracing::warn!(tool = self.name, "its input is not checked: its schema is none")).ok()
    }
}
