//! The tools of one server, and the check of their input.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use boon::{Compiler, ErrorKind, SchemaIndex, Schemas, SchemeUrlLoader, ValidationError};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::error::{Error, clip};
use crate::secrets::without_value;

/// The tools of one server, by name.
pub(super) type Tools = BTreeMap<String, Tool>;

/// The longest message about an invalid input, in characters.
const MESSAGE_CHARS: usize = 500;

/// The URL at which the schema compiler finds a tool's own schema; a `$ref` to any other address is an error.
const SCHEMA_URL: &str = "mcp://tool/input";

/// A tool as its server describes it.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// What it does.
    pub(super) description: String,
    /// JSON Schema of its input.
    pub(super) input_schema: Value,
    /// Compiled on the first call. If the schema is invalid, the input is left for the server to check.
    compiled: OnceLock<Option<CompiledSchema>>,
}

/// A schema that values can be checked against.
struct CompiledSchema {
    schemas: Schemas,
    index: SchemaIndex,
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
            let name = clip(description["name"].as_str().unwrap_or("without a name"));
            match serde_json::from_value::<ToolDescription>(description) {
                Ok(description) => {
                    let tool = Tool::new(description);
                    tools.entry(tool.name.clone()).or_insert(tool);
                }
                Err(error) => {
                    tracing::warn!(
                        tool = name,
                        "a tool is left out, since its description is invalid: {}",
                        without_value(&error)
                    )
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
            compiled: OnceLock::new(),
        }
    }

    /// Checks an input against the schema.
    ///
    /// # Errors
    /// [`Error::Validation`] if the input does not match; it names the first field at fault.
    pub(super) fn check(&self, input: &Value) -> Result<(), Error> {
        let Some(schema) = self.compiled.get_or_init(|| self.compile()) else {
            return Ok(());
        };
        schema.schemas.validate(input, schema.index).map_err(|error| {
            let fault = first_fault(&error);
            let pointer = fault.instance_location.to_string();
            let field = format!("input{}", pointer.replace('/', "."));
            let message = format!("The input of tool '{}' is invalid at {field}: {}", self.name, fault.kind);
            let value = input.pointer(&pointer).map(|value| clip(&value.to_string()));
            Error::field(&field, crate::json::shorten(&message, MESSAGE_CHARS), json!({ "value": value }))
        })
    }

    fn compile(&self) -> Option<CompiledSchema> {
        let whole = CompiledSchema::new(&self.input_schema);
        if whole.is_some() {
            return whole;
        }
        let mut rest = self.input_schema.clone();
        remove_unusable_patterns(&mut rest);
        let compiled = CompiledSchema::new(&rest).or_else(|| {
            // The address of a dialect that is not known.
            rest.as_object_mut()?.remove("$schema")?;
            CompiledSchema::new(&rest)
        });
        match compiled {
            Some(_) => tracing::warn!(tool = self.name, "input is checked, but not for what is unusable in the schema"),
            None => tracing::warn!(tool = self.name, "input is not checked: invalid schema"),
        }
        compiled
    }
}

/// Removes regular expressions that cannot be used here, such as those that look ahead: the server checks them itself.
fn remove_unusable_patterns(schema: &mut Value) {
    let is_unusable = |pattern: &str| regex::Regex::new(pattern).is_err();
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(remove_unusable_patterns),
        Value::Object(members) => {
            if members.get("pattern").and_then(Value::as_str).is_some_and(is_unusable) {
                members.remove("pattern");
            }
            if let Some(Value::Object(patterns)) = members.get_mut("patternProperties") {
                let before = patterns.len();
                patterns.retain(|pattern, _| !is_unusable(pattern));
                if patterns.len() < before {
                    // A member that matched one of them is not an additional one.
                    for rule in ["additionalProperties", "unevaluatedProperties"] {
                        members.remove(rule);
                    }
                }
            }
            let is_value = |name: &str| matches!(name, "const" | "enum" | "default" | "examples");
            members.iter_mut().filter(|(name, _)| !is_value(name)).for_each(|(_, part)| remove_unusable_patterns(part));
        }
        _ => {}
    }
}

impl CompiledSchema {
    /// `None` if the schema is invalid.
    fn new(schema: &Value) -> Option<Self> {
        let mut compiler = Compiler::new();
        // A server's schema must not make this process read files or URLs.
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        compiler.add_resource(SCHEMA_URL, schema.clone()).ok()?;
        let mut schemas = Schemas::new();
        let index = compiler.compile(SCHEMA_URL, &mut schemas).ok()?;
        Some(Self { schemas, index })
    }
}

/// The first rule that a value broke, below rules that only group others.
fn first_fault<'e, 's, 'v>(error: &'e ValidationError<'s, 'v>) -> &'e ValidationError<'s, 'v> {
    let is_group = matches!(
        error.kind,
        ErrorKind::Group | ErrorKind::Schema { .. } | ErrorKind::Reference { .. } | ErrorKind::AllOf
    );
    match error.causes.first() {
        Some(cause) if is_group => first_fault(cause),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(schema: Value) -> Tool {
        Tool::new(serde_json::from_value(json!({ "name": "move", "inputSchema": schema })).expect("a description"))
    }

    #[test]
    fn the_first_fault_is_named() {
        let point = json!({ "properties": { "x": { "type": "number" } }, "required": ["x"] });
        let tool = tool(json!({ "properties": { "to": { "$ref": "#/$defs/point" } }, "$defs": { "point": point } }));
        assert!(tool.check(&json!({ "to": { "x": 1 } })).is_ok());
        let message = |input| tool.check(&input).expect_err("an invalid input").to_string();
        assert!(message(json!({ "to": { "x": "1" } })).contains("at input.to.x: want number, but got string"));
        assert!(message(json!({ "to": {} })).contains("at input.to: missing properties 'x'"));
        assert!(message(json!([])).contains("at input: want object, but got array"));
    }

    #[test]
    fn what_cannot_be_used_in_a_schema_does_not_hide_the_rest() {
        let properties =
            json!({"n": {"type": "string", "pattern": "^(?!admin)[a-z]+$"}, "kind": {"enum": [{"pattern": "(?!"}]}});
        for more in [json!({}), json!({"$schema": "https://example.org/dialect"})] {
            let mut schema = json!({"properties": properties, "required": ["n"], "additionalProperties": false});
            schema.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            let tool = tool(schema);
            assert!(tool.check(&json!({"n": "admin", "kind": {"pattern": "(?!"}})).is_ok());
            for wrong in
                [json!({"bogus": true}), json!({"n": 1}), json!({"n": "a", "more": 1}), json!({"n": "a", "kind": 1})]
            {
                assert!(tool.check(&wrong).is_err(), "{wrong}");
            }
        }
        let of_patterns =
            json!({"patternProperties": {"^(?=x)": {}, "^y$": {"type": "number"}}, "additionalProperties": false});
        let tool = tool(of_patterns);
        assert!(tool.check(&json!({"x": 1, "y": 2})).is_ok() && tool.check(&json!({"y": "2"})).is_err());
    }

    #[test]
    fn a_schema_reads_no_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, r#"{"type":"string"}"#).expect("a schema");
        let referred = format!("file://{}", file.path().display());
        // A schema that cannot be compiled leaves the check to the server.
        assert!(tool(json!({ "properties": { "x": { "$ref": referred } } })).check(&json!({ "x": 1 })).is_ok());
    }
}
