//! A reference implementation of the search on a whole `serde_json::Value`.

use n8n_lens::json::shorten;
use regex::Regex;
use serde_json::{Value, json};

use super::values_reference::{Found, of_error, of_item, runs};

const SHOWN: usize = 160;
const BEFORE: usize = 40;

/// What is searched.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub text: Option<String>,
    pub path: Option<String>,
    /// `is`, `equals`, `notEquals`, `above` or `below`, and its value.
    pub condition: Option<(&'static str, Value)>,
    pub node: Option<String>,
    pub limit: usize,
}

/// `{total, perNode, hits}`, with nothing left out; `error` is the shown error of a run or an item.
pub fn search(body: &Value, question: &Question, error: impl Fn(&Value) -> Option<Value>) -> Value {
    let (mut hits, mut nodes) = (Vec::new(), Vec::<(String, (f64, f64), u64)>::new());
    for run in runs(body) {
        if nodes.iter().all(|(name, ..)| *name != run.node) {
            nodes.push((run.node.clone(), run.start, 0));
        }
        if question.node.as_ref().is_some_and(|node| *node != run.node) {
            continue;
        }
        let place = |output: usize, item: Option<usize>, path: &str, value: Option<Value>| json!({"nodeName": run.node, "run": run.index, "output": output, "item": item, "path": shorten(path, 300), "value": value});
        let mut found = Vec::new();
        if !question.asks("missing") {
            let values = error(run.run).map(|error| of_error(&error)).unwrap_or_default();
            found.extend(matches(question, &values).map(|(path, value)| place(0, None, path, Some(value))));
        }
        for (output, at, item) in &run.items {
            let values = of_item(item, &error);
            found.extend(matches(question, &values).map(|(path, value)| place(*output, Some(*at), path, Some(value))));
            let end = question.path.as_deref().unwrap_or_default();
            if question.asks("missing") && !values.iter().any(|value| ends(&value.path, end)) {
                found.push(place(*output, Some(*at), end, None));
            }
        }
        let node = nodes.iter_mut().find(|(name, ..)| *name == run.node).expect("it was added");
        node.2 += found.len() as u64;
        hits.extend(found.into_iter().map(|hit| (run.start, hit)));
    }
    hits.sort_by(|(one, _), (other, _)| one.partial_cmp(other).expect("JSON has no NaN"));
    nodes.retain(|(_, _, hits)| *hits > 0);
    nodes.sort_by(|one, other| one.1.partial_cmp(&other.1).expect("JSON has no NaN"));
    let nodes: Vec<_> = nodes.iter().map(|(name, _, hits)| json!({"nodeName": name, "hits": hits})).collect();
    let shown: Vec<_> = hits.iter().take(question.limit).map(|(_, hit)| hit).collect();
    json!({"total": hits.len(), "perNode": nodes, "hits": shown})
}

impl Question {
    fn asks(&self, kind: &str) -> bool {
        self.condition == Some(("is", json!(kind)))
    }
}

fn matches<'a>(question: &'a Question, values: &'a [Found]) -> impl Iterator<Item = (&'a str, Value)> {
    let fits = values.iter().filter(|found| question.path.as_ref().is_none_or(|end| ends(&found.path, end)));
    let condition = question.condition.as_ref();
    fits.filter(move |found| condition.is_none_or(|(name, wanted)| holds(name, wanted, &found.value)))
        .filter_map(|found| Some((found.numbered.as_str(), shown(question.text.as_deref(), &found.value)?)))
}

fn ends(path: &str, end: &str) -> bool {
    path == end || path.ends_with(&format!(".{end}")) || (end.starts_with('[') && path.ends_with(end))
}

fn holds(name: &str, wanted: &Value, value: &Value) -> bool {
    let number = value.as_f64().zip(wanted.as_f64());
    match name {
        "equals" => equals(value, wanted),
        "notEquals" => !equals(value, wanted),
        "above" => number.is_some_and(|(number, limit)| number > limit),
        "below" => number.is_some_and(|(number, limit)| number < limit),
        _ => match wanted.as_str().expect("a kind") {
            "null" => value.is_null(),
            "empty" => [json!(""), json!([]), json!({})].contains(value),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => false,
        },
    }
}

fn equals(value: &Value, wanted: &Value) -> bool {
    if let (Some(text), false) = (wanted.as_str(), value.is_string()) {
        return match serde_json::from_str::<Value>(text) {
            Ok(wanted) if !wanted.is_string() => equals(value, &wanted) && !value.is_array() && !value.is_object(),
            _ => false,
        };
    }
    match (value.as_i64(), wanted.as_i64()) {
        (Some(value), Some(wanted)) => value == wanted,
        _ if value.is_number() && wanted.is_number() => value.as_f64() == wanted.as_f64(),
        _ => value == wanted,
    }
}

/// What is shown of a value with the text.
fn shown(text: Option<&str>, value: &Value) -> Option<Value> {
    let Some(text) = text else {
        return Some(if let Value::String(text) = value { clipped(text, 0) } else { clipped_json(value) });
    };
    let flags = if text.chars().any(char::is_uppercase) { "" } else { "(?i)" };
    let pattern = Regex::new(&format!("{flags}{}", regex::escape(text))).expect("a short text");
    match value {
        Value::String(value) => {
            let found = pattern.find(value)?;
            Some(clipped(value, value[..found.start()].chars().count()))
        }
        Value::Array(_) | Value::Object(_) => None,
        scalar => {
            let json = scalar.to_string();
            let is_whole = pattern.find(&json).is_some_and(|found| found.as_str() == json);
            is_whole.then(|| clipped_json(scalar))
        }
    }
}

fn clipped(text: &str, found: usize) -> Value {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= SHOWN {
        return json!(text);
    }
    let from = found.saturating_sub(BEFORE).min(chars.len() - SHOWN);
    let mark = if from > 0 { "…" } else { "" };
    let rest: String = chars[from..].iter().collect();
    json!(format!("{mark}{}", shorten(&rest, SHOWN)))
}

fn clipped_json(value: &Value) -> Value {
    let json = value.to_string();
    if json.chars().count() <= SHOWN { value.clone() } else { json!(shorten(&json, SHOWN)) }
}
