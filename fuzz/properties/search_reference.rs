//! A reference implementation of the search on a whole `serde_json::Value`.

use std::cmp::Ordering;
use std::sync::LazyLock;

use n8n_lens::json::shorten;
use regex::Regex;
use serde_json::{Value, json};

use super::values_reference::{Found, of_error, of_item, runs};

const SHOWN: usize = 160;
const BEFORE: usize = 40;

/// `is`, `equals`, `notEquals`, `above` or `below`, and its value, or `{"path": …}` of another value.
pub type Condition = (&'static str, Value);

/// A question of a search.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub text: Option<String>,
    pub path: Option<String>,
    pub condition: Option<Condition>,
    /// Another value of the item: the end of its path, and a condition.
    pub also: Option<(String, Option<Condition>)>,
    pub as_numbers: bool,
    pub node: Option<String>,
    pub output: Option<usize>,
    pub limit: usize,
}

/// `{total, perNode, hits}`, with nothing left out; `error` is the shown error of a run or an item.
pub fn search(body: &Value, question: &Question, error: impl Fn(&Value) -> Option<Value>) -> Value {
    let (mut hits, mut nodes) = (Vec::new(), Vec::<(String, (f64, f64), u64, Vec<u64>)>::new());
    // What is hidden is not missing.
    let is_hidden = question.asks("missing") && body["data"]["redactionInfo"]["isRedacted"] == true;
    for run in runs(body) {
        if nodes.iter().all(|(name, ..)| *name != run.node) {
            nodes.push((run.node.clone(), run.start, 0, Vec::new()));
        }
        if is_hidden || question.node.as_ref().is_some_and(|node| *node != run.node) {
            continue;
        }
        let place = |in_input: bool,
                     output: usize,
                     item: Option<usize>,
                     path: &str,
                     [value, other]: [Option<Value>; 2]| json!({"nodeName": run.node, "run": run.index, "output": output, "item": item, "input": in_input, "path": shorten(path, 300), "value": value, "other": other});
        let mut found = Vec::new();
        if !question.asks("missing") && question.output.is_none() {
            let values = error(run.run).map(|error| of_error(&error)).unwrap_or_default();
            found.extend(
                matches(question, &values)
                    .map(|(path, value, other)| place(false, 0, None, path, [Some(value), other])),
            );
        }
        let inputs = run.inputs.iter().filter(|_| question.output.is_none()).map(|item| (true, item));
        let outputs = run.items.iter().filter(|(output, ..)| question.output.is_none_or(|wanted| wanted == *output));
        for (in_input, (output, at, item)) in inputs.chain(outputs.map(|item| (false, item))) {
            let values = of_item(item, &error);
            found.extend(
                matches(question, &values)
                    .map(|(path, value, other)| place(in_input, *output, Some(*at), path, [Some(value), other])),
            );
            let end = question.path.as_deref().unwrap_or_default();
            let is_missing = question.asks("missing") && !values.iter().any(|value| ends(&value.path, end));
            if is_missing && question.also.iter().all(|also| has_also(question, also, None, &values)) {
                found.push(place(in_input, *output, Some(*at), end, [None, None]));
            }
        }
        let node = nodes.iter_mut().find(|(name, ..)| *name == run.node).expect("it was added");
        node.2 += found.len() as u64;
        for hit in found.iter().filter(|hit| hit["input"] == false && !hit["item"].is_null()) {
            let output = hit["output"].as_u64().expect("a number") as usize;
            if output < 16 {
                node.3.resize(node.3.len().max(output + 1), 0_u64);
                node.3[output] += 1;
            }
        }
        hits.extend(found.into_iter().map(|hit| (run.start, hit)));
    }
    hits.sort_by(|(one, _), (other, _)| one.partial_cmp(other).expect("JSON has no NaN"));
    nodes.retain(|(_, _, hits, _)| *hits > 0);
    nodes.sort_by(|one, other| one.1.partial_cmp(&other.1).expect("JSON has no NaN"));
    let nodes: Vec<_> = nodes
        .iter()
        .map(|(name, _, hits, outputs)| json!({"nodeName": name, "hits": hits, "outputs": outputs}))
        .collect();
    let shown: Vec<_> = hits.iter().take(question.limit).map(|(_, hit)| hit).collect();
    json!({"total": hits.len(), "perNode": nodes, "hits": shown})
}

impl Question {
    fn asks(&self, kind: &str) -> bool {
        self.condition == Some(("is", json!(kind)))
    }
}

/// The path, the value and the value with which it was compared, of each that matches.
fn matches<'a>(question: &'a Question, values: &'a [Found]) -> impl Iterator<Item = (&'a str, Value, Option<Value>)> {
    let fits = values.iter().filter(|found| question.path.as_ref().is_none_or(|end| ends(&found.path, end)));
    fits.filter(move |found| question.also.iter().all(|also| has_also(question, also, Some(found), values))).filter_map(
        |found| {
            let other = match &question.condition {
                Some(condition) => satisfies(question, condition, found, values)?,
                None => None,
            };
            let other = other.filter(|other| !other.is_array() && !other.is_object());
            let value = shown(question.text.as_deref(), &found.value)?;
            Some((found.numbered.as_str(), value, other.and_then(|other| shown(None, other))))
        },
    )
}

/// Whether the item has a value like this, in addition to the one that was found.
fn has_also(question: &Question, also: &(String, Option<Condition>), found: Option<&Found>, values: &[Found]) -> bool {
    let (end, condition) = also;
    let paired =
        values.iter().filter(|value| ends(&value.path, end) && found.is_none_or(|found| are_paired(found, value)));
    let satisfied = |value: &Found| {
        condition.as_ref().is_none_or(|condition| satisfies(question, condition, value, values).is_some())
    };
    let mut fitting = paired.filter(|value| satisfied(value));
    fitting.next().is_some()
}

/// The value that makes a condition hold for a value of an item, if it compares it with others; `None` if it does not
/// hold.
fn satisfies<'a>(
    question: &Question,
    (name, wanted): &Condition,
    found: &Found,
    values: &'a [Found],
) -> Option<Option<&'a Value>> {
    let Some(end) = wanted["path"].as_str() else {
        return holds(name, wanted, &found.value, question.as_numbers).then_some(None);
    };
    let has_whole = values.iter().any(|value| value.path == end);
    let is_operand = |value: &&Found| if has_whole { value.path == end } else { ends(&value.path, end) };
    let others =
        values.iter().filter(is_operand).filter(|value| are_paired(found, value) && !std::ptr::eq(*value, found));
    let mut others = others.map(|value| &value.value);
    let same = |other: &Value| {
        let is_mixed = found.value.is_number() != other.is_number();
        are_same(&found.value, other, question.as_numbers || is_mixed)
    };
    let ordered = |other: &Value, order: Ordering| compare(&found.value, other, question.as_numbers) == Some(order);
    let decisive = match *name {
        "equals" => others.find(|other| same(other)),
        "notEquals" => others.clone().next().filter(|_| !others.any(same)),
        "above" => others.find(|other| ordered(other, Ordering::Greater)),
        _ => others.find(|other| ordered(other, Ordering::Less)),
    };
    decisive.map(Some)
}

/// Whether two values are in the same element of each list that both are in.
fn are_paired(one: &Found, other: &Found) -> bool {
    let mut lists = one.elements.iter().zip(&other.elements).take_while(|((a, _), (b, _))| a == b);
    lists.all(|((_, a), (_, b))| a == b)
}

fn text_number(text: &str) -> Option<f64> {
    let pattern = Regex::new(r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$").expect("it is valid");
    let text = text.trim();
    pattern.is_match(text).then(|| text.parse::<f64>().ok()).flatten().filter(|number| number.is_finite())
}

fn numeric(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| text_number(value.as_str()?))
}

fn are_same(one: &Value, other: &Value, as_numbers: bool) -> bool {
    match numeric(one).zip(numeric(other)).filter(|_| as_numbers) {
        Some((one, other)) => one == other,
        None => match (one, other) {
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_same(one, other, false))
            }
            (Value::Object(one), Value::Object(of)) => {
                let is_in =
                    |(name, value): (&String, &Value)| of.get(name).is_some_and(|of| are_same(value, of, false));
                one.len() == of.len() && one.iter().all(is_in)
            }
            _ if one.is_string() || other.is_string() => one == other,
            _ => equals(one, other),
        },
    }
}

fn compare(one: &Value, other: &Value, as_numbers: bool) -> Option<Ordering> {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) if !as_numbers => {
            Some(one.encode_utf16().collect::<Vec<_>>().cmp(&other.encode_utf16().collect()))
        }
        _ => numeric(one)?.partial_cmp(&numeric(other)?),
    }
}

fn ends(path: &str, end: &str) -> bool {
    static INDICES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[[0-9]+\]").expect("it is valid"));
    let bare = INDICES.replace_all(path, "[]");
    ends_as_it_is(path, end) || ends_as_it_is(&bare, end)
}

fn ends_as_it_is(path: &str, end: &str) -> bool {
    path == end || path.ends_with(&format!(".{end}")) || (end.starts_with('[') && path.ends_with(end))
}

fn holds(name: &str, wanted: &Value, value: &Value, as_numbers: bool) -> bool {
    let numbers = value.as_str().and_then(text_number).zip(numeric(wanted)).filter(|_| as_numbers);
    let same = numbers.map_or_else(|| equals(value, wanted), |(one, other)| one == other);
    let number = if as_numbers { numeric(value) } else { value.as_f64() };
    let order = match (numeric(wanted), value.as_str().zip(wanted.as_str())) {
        (Some(limit), _) => number.and_then(|number| number.partial_cmp(&limit)),
        (None, Some((one, other))) => Some(one.encode_utf16().collect::<Vec<_>>().cmp(&other.encode_utf16().collect())),
        (None, None) => None,
    };
    match name {
        "equals" => same,
        "notEquals" => !same,
        "above" => order == Some(Ordering::Greater),
        "below" => order == Some(Ordering::Less),
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

/// The shown form of a value with the text.
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
