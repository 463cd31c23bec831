//! JSON, with and without comments.

use std::collections::{HashMap, HashSet};

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::{Map, Value};

use super::client::Format;
use super::fault::Fault;

const OPTIONS: ParseOptions = ParseOptions {
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

/// Refuses text that is not JSON by RFC 8259. The parser that keeps comments has no option for that.
fn refuse_extensions(text: &str) -> Result<(), Fault> {
    serde_json::from_str::<Value>(text).map(drop).map_err(|error| {
        let (line, column, message) = (error.line(), error.column().max(1), error.to_string());
        let what = message.split(" at line ").next().unwrap_or_default().to_owned();
        Fault::Syntax { line, column, what }
    })
}

/// The value of a text; an empty text is an empty object.
pub(super) fn value(text: &str, format: Format) -> Result<Value, Fault> {
    if format == Format::Json && !text.trim_ascii().is_empty() {
        refuse_extensions(text)?;
    }
    // Not the tree that keeps comments, which needs a hundred times the memory of the text.
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| fault(text, &error))?;
    let Some(root) = parsed.value else {
        return Ok(Value::Object(Map::new()));
    };
    match repeated(&root) {
        Some(name) => Err(Fault::Unfit(format!("the member '{name}' stands twice in one object"))),
        None => Ok(root.into()),
    }
}

/// The text with a new value, an object: only the differences are rewritten.
pub(super) fn with_value(text: &str, wanted: &Value) -> Result<String, Fault> {
    let text = &with_members_in_line(text, wanted)?;
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| fault(text, &error))?;
    if let (Some(object), Value::Object(wanted)) = (root.object_value_or_create(), wanted) {
        update_object(&object, wanted);
    }
    Ok(root.to_string())
}

/// The text with the members that one-line objects lack. The tree would break such a line before each member.
fn with_members_in_line(text: &str, wanted: &Value) -> Result<String, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| fault(text, &error))?;
    let mut missing = Vec::new();
    if let Some(root) = &parsed.value {
        find_missing(text, root, wanted, &mut missing);
    }
    missing.sort_by_key(|(at, _)| *at);
    let (mut whole, mut rest) = (String::with_capacity(text.len()), 0);
    for (at, members) in missing {
        whole.push_str(&text[rest..at]);
        whole.push_str(&members);
        rest = at;
    }
    whole.push_str(&text[rest..]);
    Ok(whole)
}

/// Finds the members that one-line objects lack: the byte after which they belong, and their text.
fn find_missing(text: &str, present: &ast::Value<'_>, wanted: &Value, missing: &mut Vec<(usize, String)>) {
    let (ast::Value::Object(object), Value::Object(wanted)) = (present, wanted) else { return };
    for member in &object.properties {
        if let Some(wanted) = wanted.get(member.name.as_str()) {
            find_missing(text, &member.value, wanted, missing);
        }
    }
    let names: HashSet<_> = object.properties.iter().map(|member| member.name.as_str()).collect();
    let is_in_line = !text[object.range.start..object.range.end].contains('\n');
    if let (true, Some(last)) = (is_in_line, object.properties.last()) {
        let lacking = wanted.iter().filter(|(name, _)| !names.contains(name.as_str()));
        let members: String = lacking.map(|(name, value)| format!(",{}:{value}", Value::from(name.as_str()))).collect();
        missing.extend((!members.is_empty()).then_some((last.range.end, members)));
    }
}

fn fault(text: &str, error: &ParseError) -> Fault {
    Fault::at(text, error.range().start, error.kind().to_string().to_lowercase())
}

fn update_object(object: &CstObject, wanted: &Map<String, Value>) {
    // Built once: the object itself scans all of its members for each name.
    let mut present = HashMap::new();
    for member in object.properties() {
        match member.decoded_name().filter(|name| wanted.contains_key(name)) {
            Some(name) => _ = present.insert(name, member),
            None => member.remove(),
        }
    }
    for (name, value) in wanted {
        match present.get(name) {
            Some(member) => update_member(member, value),
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

/// Removes the elements that are no longer wanted, and appends the others; `wanted` keeps the order of the remaining ones.
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

/// A name that occurs twice in one object: which of the two counts depends on the reader.
fn repeated(value: &ast::Value<'_>) -> Option<String> {
    match value {
        ast::Value::Object(object) => {
            let mut names = HashSet::new();
            let twice = object.properties.iter().map(|member| member.name.as_str()).find(|name| !names.insert(*name));
            twice.map(str::to_owned).or_else(|| object.properties.iter().find_map(|member| repeated(&member.value)))
        }
        ast::Value::Array(array) => array.elements.iter().find_map(repeated),
        _ => None,
    }
}
