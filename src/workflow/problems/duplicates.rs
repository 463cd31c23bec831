//! Names and URLs that must be unique.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::parsed::{NOTE, ParsedNode};
use super::view::View;
use super::{Problem, Rule};

pub(super) fn problems(view: &View) -> Vec<Problem> {
    let mut names = HashSet::new();
    // Nothing refers to a note.
    let named = view.nodes.iter().filter(|node| !node.name.is_empty() && !node.is(NOTE));
    let repeated = named.filter(|node| !names.insert(&node.name));
    let mut found: Vec<_> = repeated.map(|node| Problem::new(Rule::DuplicateName, &node.name)).collect();
    let mut urls: HashMap<_, &ParsedNode> = HashMap::new();
    for (_, node) in view.active() {
        for url in urls_of(node) {
            match urls.get(&url) {
                Some(first) => {
                    let detail = format!("{url}, as '{}'", first.name);
                    found.push(Problem::new(Rule::DuplicateWebhook, &node.name).with_detail(detail));
                }
                None => drop(urls.insert(url, node)),
            }
        }
    }
    found
}

/// The methods and paths of a Webhook, as far as they are known before it runs. n8n prepends the id to a path with
/// parameters.
fn urls_of(node: &ParsedNode) -> Vec<String> {
    if !node.is("n8n-nodes-base.webhook") {
        return Vec::new();
    }
    let Some(path) = node.parameter("path").map(|path| path.trim_matches('/')).filter(|path| !path.is_empty()) else {
        return Vec::new();
    };
    let methods: Vec<_> = match node.parameters.get("httpMethod") {
        Some(Value::Array(methods)) => methods.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(method)) => vec![method],
        _ if node.parameters.get("multipleMethods") == Some(&Value::Bool(true)) => vec!["GET", "POST"],
        _ => vec!["GET"],
    };
    let is_computed = path.starts_with('=') || methods.iter().any(|method| method.starts_with('='));
    if is_computed {
        return Vec::new();
    }
    let has_parameters = path.split('/').any(|segment| segment.starts_with(':'));
    let prefix = node.webhook_id.as_deref().filter(|_| has_parameters).map(|id| format!("{id}/")).unwrap_or_default();
    methods.iter().map(|method| format!("{method} /{prefix}{path}")).collect()
}
