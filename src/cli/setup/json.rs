//! JSON, with and without comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use super::client::Format;
use super::document::Fault;

fn parse(text: &str, format: Format) -> Result<CstRootNode, Fault> {
    if format == Format::Json && !text.trim_ascii().is_empty() {
        refuse_extensions(text)?;
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options)
        .map_err(|error| Fault::at(text, error.range().start, error.kind().to_string().to_lowercase()))
}

/// Refuses what is not JSON by RFC 8259. The parser that keeps comments cannot be told to.
fn refuse_extensions(text: &str) -> Result<(), Fault> {
    serde_json::from_str::<Value>(text).map(drop).map_err(|error| {
        let (line, column, message) = (error.line(), error.column().max(1), error.to_string());
        let what = message.split(" at line ").next().unwrap_or_default().to_owned();
        Fault::Syntax { line, column, what }
    })
}

/// What a text says; an empty text is an empty object.
pub(super) fn value(text: &str, format: Format) -> Result<Value, Fault> {
    let Some(root) = parse(text, format)?.value() else {
        return Ok(Value::Object(Map::new()));
    };
    if let Some(name) = repeated(&root) {
        return Err(Fault::Unfit(format!("the member '{name}' stands twice in one object")));
    }
    root.to_serde_value().ok_or_else(|| Fault::Unfit("it holds a value that is not JSON".to_owned()))
}

/// The text with a new value, an object: only what differs is rewritten.
pub(super) fn with_value(text: &str, format: Format, wanted: &Value) -> Result<String, Fault> {
    let root = parse(text, format)?;
    if let (Some(object), Value::Object(wanted)) = (root.object_value_or_create(), wanted) {
        update_object(&object, wanted);
    }
    Ok(root.to_string())
}

fn update_object(object: &CstObject, wanted: &Map<String, Value>) {
    for member in object.properties() {
        if member.decoded_name().is_none_or(|name| !wanted.contains_key(&name)) {
            member.remove();
        }
    }
    for (name, value) in wanted {
        match object.get(name) {
            Some(member) => update_member(&member, value),
            None => _ = object.append(name, input(value)),
        }
    }
}

fn update_member(member: &CstObjectProp, wanted: &Value) {
    let present = member.value().and_then(|value| value.to_serde_value());
    if present.as_ref() == Some(wanted) {
        return;
    }
    match (member.object_value(), member.array_value(), wanted) {
        (Some(object), _, Value::Object(wanted)) => update_object(&object, wanted),
        (_, Some(array), Value::Array(wanted)) => update_array(&array, wanted),
        _ => member.set_value(input(wanted)),
    }
}

/// Removes the elements that are no longer wanted, and appends the others; `wanted` keeps the order of those that stay.
fn update_array(array: &CstArray, wanted: &[Value]) {
    let mut rest = wanted.iter().peekable();
    for element in array.elements() {
        if rest.next_if(|wanted| element.to_serde_value().as_ref() == Some(wanted)).is_none() {
            element.remove();
        }
    }
    for value in rest {
        array.append(input(value));
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// A name that stands twice in one object: which of the two counts depends on the reader.
fn repeated(node: &CstNode) -> Option<String> {
    if let Some(object) = node.as_object() {
        let mut names: Vec<_> = object.properties().iter().filter_map(CstObjectProp::decoded_name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(pair[0].clone());
        }
    }
    node.children_exclude_trivia_and_tokens().iter().find_map(repeated)
}
