//! The tools of one server, and the check of their input.

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

/// The longest message about an invalid input, in characters.
const MESSAGE_CHARS: usize = 500;

/// A tool as its server describes it.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// What it does.
    pub(super) description: String,
    /// JSON Schema of its input.
    pub(super) input_schema: Value,
    /// Compiled on the first call. If the schema is invalid, the input is left for the server to check.
    validator: OnceLock<Option<Validator>>,
}

/// One page of `tools/list`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolPage {
    tools: Vec<Value>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolDescription {
    name: String,
    description: Option<String>,
    title: Option<String>,
    #[serde(default)]
    input_schema: Map<String, Value>,
    #[serde(rename = "outputSchema")]
    _output: Option<IgnoredAny>,
}

impl ToolPage {
    /// Adds the tools of this page. Malformed ones are left out; of two with the same name, the first is used.
    pub(super) fn add_to(self, tools: &mut Tools) {
        for description in self.tools {
            match serde_json::from_value::<ToolDescription>(description) {
                Ok(description) => {
                    let tool = Tool::new(description);
                    tools.entry(tool.name.clone()).or_insert(tool);
                }
                Err(error) => {
                    tracing::warn!("a tool is left out because its description is malformed: {}", without_value(&error))
                }
            }
        }
    }
}

impl Tool {
    fn new(description: ToolDescription) -> Self {
        let mut schema = description.input_schema;
        // MCP requires an object at the root; some servers omit the type.
        schema.entry("type").or_insert_with(|| "object".into());
        Self {
            name: description.name,
            description: description.description.or(description.title).unwrap_or_default(),
            input_schema: Value::Object(schema),
            validator: OnceLock::new(),
        }
    }

    /// Checks an input against the schema.
    ///
    /// # Errors
    /// [`Error::Validation`] if the input does not match; it names the first field at fault.
    pub(super) fn check(&self, input: &Value) -> Result<(), Error> {
        let Some(validator) = self.validator.get_or_init(|| self.validator()) else {
            return Ok(());
        };
        validator.validate(input).map_err(|error| {
            let pointer = error.instance_path().to_string();
            let field = format!("input{}", pointer.replace('/', "."));
            let message = format!("The input of tool '{}' is invalid at {field}: {error}", self.name);
            let value = clip(&error.instance().to_string());
            Error::field(&field, crate::json::shorten(&message, MESSAGE_CHARS), json!({ "value": value }))
        })
    }

    fn validator(&self) -> Option<Validator> {
        let compiled = jsonschema::validator_for(&self.input_schema);
        compiled.inspect_err(|_| tracing::warn!(tool = self.name, "input is not checked: invalid schema")).ok()
    }
}
