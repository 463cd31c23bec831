//! A reference implementation of the fields on a whole `serde_json::Value`.

use n8n_lens::json::{WALKED_LEVELS, cut_name, shorten};
use serde_json::{Map, Value, json};

use super::values_reference::runs;

const KINDS: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
const SHOWN: usize = 80;
const VALUES: usize = 64;
const GROUPS: usize = 12;

/// A value, where it is, and the object that has it or lacks it.
#[derive(Clone, Debug)]
struct Found {
    place: Value,
    /// The number of the item.
    item: usize,
    /// `None` if the object lacks it.
    value: Option<Value>,
}

/// Everything that has or lacks a path.
struct Path {
    path: String,
    found: Vec<Found>,
}

/// `(items, fields)` of a node: what all of its items look like. `None` if there are too many paths.
pub fn fields(body: &Value, node: &str) -> Option<(usize, Vec<Value>)> {
    let mut jsons = Vec::new();
    let mut items = 0;
    for run in runs(body).iter().filter(|run| run.node == node) {
        for (output, item, value) in &run.items {
            items += 1;
            let place = json!({"run": run.index, "output": output, "item": item});
            if let Some(json) = value.get("json") {
                jsons.push(Found { place, item: items, value: Some(json.clone()) });
            }
        }
    }
    let mut paths = Vec::new();
    below("", &jsons, 1, &mut paths);
    (paths.len() < 300).then(|| (items, paths.iter().map(|path| shown(path, items)).collect()))
}

/// The paths below a path, each after the one above it.
fn below(path: &str, found: &[Found], level: usize, paths: &mut Vec<Path>) {
    if level == WALKED_LEVELS {
        return;
    }
    let objects: Vec<_> = found.iter().filter_map(|found| Some((found, found.value.as_ref()?.as_object()?))).collect();
    let mut names: Vec<&String> = Vec::new();
    for name in objects.iter().flat_map(|(_, members)| members.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let dot = if path.is_empty() { "" } else { "." };
    for name in names {
        let of = objects.iter().map(|(found, members)| Found { value: members.get(name).cloned(), ..(*found).clone() });
        add(format!("{path}{dot}{}", cut_name(name.clone())), of.collect(), level, paths);
    }
    let arrays = found.iter().filter_map(|found| Some((found, found.value.as_ref()?.as_array()?)));
    let elements: Vec<_> = arrays
        .clone()
        .flat_map(|(found, elements)| {
            elements.iter().map(|value| Found { value: Some(value.clone()), ..found.clone() })
        })
        .collect();
    if arrays.count() > 0 {
        add(format!("{path}[]"), elements, level, paths);
    }
}

fn add(path: String, found: Vec<Found>, level: usize, paths: &mut Vec<Path>) {
    paths.push(Path { path: path.clone(), found: found.clone() });
    below(&path, &found, level + 1, paths);
}

fn shown(path: &Path, items: usize) -> Value {
    let values: Vec<&Value> = path.found.iter().filter_map(|found| found.value.as_ref()).collect();
    let kinds: Vec<_> =
        KINDS.iter().map(|kind| values.iter().filter(|value| kind_of(value) == *kind).count()).collect();
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
    let lengths: Vec<f64> = values.iter().filter_map(|value| length(value)).collect();
    let mut with: Vec<usize> =
        path.found.iter().filter(|found| found.value.is_some()).map(|found| found.item).collect();
    with.dedup();
    let scalars: Vec<Found> =
        path.found.iter().filter(|found| found.value.as_ref().is_some_and(is_compared)).cloned().collect();
    let groups = groups(&scalars, |value| Some(value.clone()), VALUES);
    let distinct = groups.as_ref().map(Vec::len);
    let listed = groups.unwrap_or_default();
    let listed: Vec<_> =
        listed.iter().filter(|_| distinct <= Some(6)).map(|(value, of)| json!([value, of.len()])).collect();
    json!({
        "path": path.path, "kinds": kinds, "missing": items - with.len(),
        "numbers": range(&numbers), "lengths": range(&lengths), "distinct": distinct, "values": listed,
        "example": scalars.first().map(|found| clipped(found.value.as_ref())), "odd": odd(path),
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn length(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => Some(text.chars().count() as f64),
        Value::Array(elements) => Some(elements.len() as f64),
        _ => None,
    }
}

fn is_compared(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

fn range(numbers: &[f64]) -> Value {
    let least = numbers.iter().copied().reduce(f64::min);
    json!(least.map(|least| (least, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max))))
}

/// Values by key, in the order of their first; `None` if there are more than `most` groups, or one has no key.
fn groups(found: &[Found], key: impl Fn(&Value) -> Option<Value>, most: usize) -> Option<Vec<(Value, Vec<Found>)>> {
    let (mut groups, mut texts): (Vec<(Value, Vec<Found>)>, Vec<String>) = Default::default();
    for found in found {
        let value = found.value.as_ref()?;
        let is_long = matches!(value, Value::String(text) if text.len() > 64) && most == VALUES;
        let is_long = is_long || (!value.is_string() && value.to_string().len() > 64 && most == VALUES);
        let key = key(value).filter(|_| !is_long)?;
        // Compared as text: 0 is not -0.
        let text = key.to_string();
        match texts.iter().position(|known| *known == text) {
            Some(at) => groups[at].1.push(found.clone()),
            None => {
                groups.push((key, vec![found.clone()]));
                texts.push(text);
            }
        }
    }
    (groups.len() <= most).then_some(groups)
}

fn few(differing: usize, values: usize) -> bool {
    values >= 20 && differing >= 1 && differing <= (values / 50).clamp(1, 5)
}

fn odd(path: &Path) -> Value {
    let present: Vec<_> = path.found.iter().filter(|found| found.value.is_some()).cloned().collect();
    let of = |kinds: &[&str]| -> Vec<Found> {
        present
            .iter()
            .filter(|found| kinds.contains(&kind_of(found.value.as_ref().expect("it is present"))))
            .cloned()
            .collect()
    };
    if let Some(odd) = outlier(groups(&present, |value| Some(json!(kind_of(value))), KINDS.len())) {
        return odd;
    }
    let is_element = path.path.ends_with("[]");
    if few(path.found.len() - present.len(), path.found.len()) && !is_element {
        return at(path.found.iter().find(|found| found.value.is_none()).expect("few are"));
    }
    if few(present.len(), path.found.len()) && !is_element {
        return at(&present[0]);
    }
    let values = groups(&of(&["boolean", "number", "string"]), |value| Some(value.clone()), VALUES);
    if let Some(odd) = outlier(values.filter(|groups| groups.len() <= GROUPS)) {
        return odd;
    }
    let patterns = groups(&of(&["string"]), |value| pattern(value.as_str()?), GROUPS);
    let lengths = groups(&of(&["array"]), |value| Some(json!(length(value))), GROUPS);
    outlier(patterns).or_else(|| outlier(lengths)).unwrap_or(Value::Null)
}

fn outlier(groups: Option<Vec<(Value, Vec<Found>)>>) -> Option<Value> {
    let groups = groups?;
    let total: usize = groups.iter().map(|(_, found)| found.len()).sum();
    let rare: Vec<_> = groups.iter().filter(|(_, found)| found.len() <= 5).collect();
    let differing = rare.iter().map(|(_, found)| found.len()).sum();
    let is_common = |found: &[Found]| found.len() <= 5 || found.len() >= 10 * differing;
    (few(differing, total) && groups.iter().all(|(_, found)| is_common(found))).then(|| at(&rare[0].1[0]))
}

fn at(found: &Found) -> Value {
    let mut odd = Map::from_iter(found.place.as_object().expect("a place").clone());
    odd.insert("value".to_owned(), found.value.as_ref().map_or(Value::Null, |value| json!([clipped(Some(value))])));
    Value::Object(odd)
}

fn pattern(text: &str) -> Option<Value> {
    let alike = |char: char| match char {
        char if char.is_alphabetic() => 'a',
        char if char.is_numeric() => '0',
        char => char,
    };
    let mut chars: Vec<char> = text.chars().map(alike).collect();
    chars.dedup_by(|one, other| one == other && ['a', '0'].contains(one));
    (text.len() <= 200).then(|| json!(chars.into_iter().collect::<String>()))
}

fn clipped(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => json!(shorten(text, SHOWN)),
        Some(value) if value.is_array() || value.is_object() => {
            let json = value.to_string();
            if json.chars().count() > SHOWN { json!(shorten(&json, SHOWN)) } else { value.clone() }
        }
        Some(value) => value.clone(),
        None => Value::Null,
    }
}
