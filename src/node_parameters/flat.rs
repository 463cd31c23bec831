//! All other parameters, as `path: value`.

use super::values::shown;
use crate::json::Excerpt;

/// Members that say nothing about what a node does: captions of the editor, schemas of other nodes.
const SILENT: [&str; 8] = [
    "schema",
    "webhookId",
    "curlImport",
    "infoMessage",
    "aiAgentStarterCallout",
    "authentication",
    "attemptToConvertTypes",
    "convertFieldsToString",
];

/// Defaults that n8n fills in, of the nodes that most workflows have: the name of a parameter and its value.
const DEFAULTS: [(&str, &str); 14] = [
    ("mode", "manual"),
    ("include", "all"),
    ("source", "database"),
    ("operation", "call_workflow"),
    ("mappingMode", "defineBelow"),
    ("promptType", "auto"),
    ("responseMode", "onReceived"),
    ("incomingAuthentication", "none"),
    ("httpMethod", "GET"),
    ("responseCode", "200"),
    ("resource", "default"),
    ("typeValidation", "strict"),
    ("numberInputs", "2"),
    ("binaryPropertyName", "data"),
];

/// Adds the parameters that were not `read`.
pub(super) fn others(parameters: &Excerpt, read: &[&str], lines: &mut Vec<String>) {
    for (name, value) in parameters.members().filter(|(name, _)| !read.contains(name)) {
        add(name, name, value, lines);
    }
}

fn add(path: &str, name: &str, value: &Excerpt, lines: &mut Vec<String>) {
    if SILENT.contains(&name) || is_caption(name) {
        return;
    }
    let is_located = value.member("__rl").is_some();
    match value {
        Excerpt::Object { kept, .. } if !is_located => {
            kept.iter().for_each(|(name, value)| add(&format!("{path}.{name}"), name, value, lines));
        }
        Excerpt::Array { kept, .. } if kept.iter().any(|value| matches!(value, Excerpt::Object { .. })) => {
            kept.iter().for_each(|value| element(path, value, lines));
        }
        _ => {
            let text = shown(value);
            // Options exist only if they were set.
            let is_option = text == "false" && path.starts_with("options.");
            if (is_option || !is_empty(&text)) && !DEFAULTS.contains(&(name, &*text)) {
                lines.push(format!("{path}: {text}"));
            }
        }
    }
}

/// An element of a list: most are a name with a value.
fn element(path: &str, value: &Excerpt, lines: &mut Vec<String>) {
    let member = |names: [&str; 3]| names.iter().find_map(|name| value.member(name)).map(shown);
    let (name, text) = (member(["name", "key", "fieldName"]), member(["value", "fieldValue", "content"]));
    match (name, text) {
        (Some(name), Some(text)) => lines.push(format!("{path}: {name} = {text}")),
        _ if matches!(value, Excerpt::Object { .. }) => {
            // The editor adds ids to elements.
            let members = value.members().filter(|(name, _)| *name != "id");
            members.for_each(|(name, value)| add(&format!("{path}.{name}"), name, value, lines));
        }
        _ => add(path, "", value, lines),
    }
}

fn is_caption(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.ends_with("notice") || lower.ends_with("callout")
}

/// Values that n8n's node types declare as defaults most often.
fn is_empty(text: &str) -> bool {
    ["", "=", "{}", "[]", "false", "null"].contains(&text)
}
