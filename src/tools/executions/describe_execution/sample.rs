//! A sample item: as much as fits into a few words.

use crate::json::{self, Excerpt, shorten_name};

/// The most members of a sample.
const MEMBERS: usize = 14;

/// The most characters of a value, and of a small object that is shown whole.
const VALUE_CHARS: usize = 60;
const OBJECT_CHARS: usize = 100;

/// The most characters of a prompt, or of a tool's argument.
const INPUT_CHARS: usize = 240;

/// The members of a webhook's item that say how the request arrived rather than what it contains.
const REQUEST: [&str; 4] = ["headers", "params", "webhookUrl", "executionMode"];

/// Members of a model's input that are its settings and not part of the question.
const SETTINGS: [&str; 2] = ["options", "estimatedTokens"];

/// Two items with fewer members in common than this are both shown in full.
const MIN_COMMON: usize = 3;

/// How an item is shown: numbers, short texts and small objects before arrays and long texts.
pub(super) fn shown(item: &Excerpt, chars: usize) -> Option<String> {
    let item = value(item)?;
    let Excerpt::Object { kept, total } = item else { return Some(written(item, chars)) };
    Some(object(kept, *total, chars))
}

/// How to show an item that a sub-node of an AI agent was called with.
pub(super) fn shown_input(item: &Excerpt, chars: usize) -> Option<String> {
    let item = value(item)?;
    let Excerpt::Object { kept, .. } = item else { return Some(written(item, chars)) };
    let is_prompt = kept.iter().any(|(name, _)| name == "messages");
    let asked = kept.iter().filter(|(name, _)| !is_prompt || !SETTINGS.contains(&name.as_str()));
    let kept: Vec<_> = asked.cloned().collect();
    Some(object(&kept, kept.len() as u64, INPUT_CHARS.min(chars * 4)))
}

/// How an item is shown: what it has in common with the item of another node, and its own JSON.
pub(super) struct Sample {
    /// The node whose item it continues, or is.
    pub node: Option<String>,
    /// All of it, or the members that the other one does not have, or has with other values.
    pub json: Option<String>,
}

impl Sample {
    /// The item of another node.
    pub(super) fn same(node: &str) -> Self {
        Self { node: Some(shorten_name(node, VALUE_CHARS)), json: None }
    }

    /// One JSON value: the item, `"as NODE"`, or `{"…": "as NODE"}` with other members.
    pub(super) fn value(self) -> Option<String> {
        let Some(node) = self.node else { return self.json };
        let like = serde_json::Value::from(format!("as {node}")).to_string();
        Some(self.json.map_or_else(|| like.clone(), |others| format!("{{\"…\":{like},{}", &others[1..])))
    }
}

/// An item that has all members of another one, most of them with the same values. `None` if it is a different item. What is
/// not held whole may be different.
pub(super) fn besides(item: &Excerpt, node: &str, before: &Excerpt, chars: usize) -> Option<Sample> {
    let (now, before) = (value(item)?, value(before)?);
    let (Excerpt::Object { kept, total }, Excerpt::Object { kept: old, total: all_old }) = (now, before) else {
        return None;
    };
    let is_whole = kept.len() as u64 == *total && old.len() as u64 == *all_old;
    let now = |name: &str| kept.iter().find(|(member, _)| member == name).map(|(_, value)| value);
    let has_all = old.iter().all(|(name, _)| now(name).is_some());
    let is_same = |value: Option<&Excerpt>, old: &Excerpt| value == Some(old) && old.is_whole();
    let common = old.iter().filter(|(name, value)| is_same(now(name), value)).count();
    if !is_whole || !has_all || common < MIN_COMMON || common * 2 < old.len() {
        return None;
    }
    let before = |name: &str| old.iter().find(|(member, _)| member == name).map(|(_, value)| value);
    let others: Vec<_> = kept.iter().filter(|(name, value)| !is_same(before(name), value)).cloned().collect();
    if others.is_empty() {
        return Some(Sample::same(node));
    }
    Some(Sample { json: Some(object(&others, others.len() as u64, chars)), ..Sample::same(node) })
}

/// An item's content: its `json`, or else its error.
fn value(item: &Excerpt) -> Option<&Excerpt> {
    item.member("json").or_else(|| item.member("error"))
}

fn object(kept: &[(String, Excerpt)], total: u64, chars: usize) -> String {
    let is_request = REQUEST.iter().all(|name| kept.iter().any(|(member, _)| member == name));
    let says_something = |(name, value): &&(String, Excerpt)| {
        !is_request || !(REQUEST.contains(&name.as_str()) || (name == "query" && is_empty(value)))
    };
    let members: Vec<_> = kept.iter().filter(says_something).collect();
    let (mut first, others): (Vec<_>, Vec<_>) = members.iter().partition(|(_, value)| is_small(value));
    first.extend(others);
    let silent = (kept.len() - members.len()) as u64;
    let first = first.into_iter().take(MEMBERS).cloned().collect();
    written(&Excerpt::Object { kept: first, total: total - silent }, chars)
}

fn written(value: &Excerpt, chars: usize) -> String {
    let detail = json::Detail { chars, elements: 3, members: MEMBERS, name_chars: VALUE_CHARS };
    let (mut json, mut clipped) = (String::new(), 0);
    value.write(detail, &mut json, &mut clipped);
    json
}

fn is_empty(value: &Excerpt) -> bool {
    matches!(value, Excerpt::Object { total: 0, .. } | Excerpt::Array { total: 0, .. })
}

fn is_small(value: &Excerpt) -> bool {
    match value {
        Excerpt::Scalar(_) => true,
        Excerpt::Text(text) => text.chars <= VALUE_CHARS as u64,
        Excerpt::Object { .. } => value.least_json_bytes() <= OBJECT_CHARS,
        Excerpt::Array { .. } | Excerpt::Deep { .. } => false,
    }
}
