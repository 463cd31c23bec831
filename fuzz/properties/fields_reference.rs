//! A reference implementation of the fields on a whole `serde_json::Value`.

use std::collections::{BTreeSet, HashSet};

use n8n_lens::json::{WALKED_LEVELS, cut_name, shorten};
use serde_json::{Map, Value, json};

use super::values_reference::{self, of_item, runs};

const KINDS: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
const PATHS: usize = 401;
const SHOWN: usize = 80;
const VALUES: usize = 64;
const GROUPS: usize = 12;

/// A value, where it is, and the object that has it or lacks it.
#[derive(Clone, Debug)]
pub struct Found {
    pub place: Value,
    /// The number of the item, from 1.
    pub item: usize,
    /// `None` if the object lacks it.
    pub value: Option<Value>,
}

/// Everything that has or lacks a path.
pub struct Path {
    pub path: String,
    pub found: Vec<Found>,
}

/// `(items, fields, is_full)` of a node: the fields of all its items, and whether there are more.
pub fn fields(body: &Value, node: &str) -> (usize, Vec<Value>, bool) {
    let (items, paths, is_full) = paths(body, node);
    (items, paths.iter().map(|path| shown(path, items)).collect(), is_full)
}

/// The steps from `json` to a value: `.NAME` to a member, `[]` to an element; `error` to the item's error.
type Steps = Vec<String>;

/// `(items, paths, is_full)` of a node: everything that has or lacks a path, for the first 400 paths in the order of the
/// text; the paths of `json` itself and of an item's error are two of them.
pub fn paths(body: &Value, node: &str) -> (usize, Vec<Path>, bool) {
    let (mut jsons, mut errors, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut known, mut is_full) = (HashSet::new(), false);
    let mut items = 0;
    for run in runs(body).iter().filter(|run| run.node == node) {
        for (output, item, value) in &run.items {
            items += 1;
            let place = json!({"run": run.index, "output": output, "item": item});
            let found = |part: &str| Found { place: place.clone(), item: items, value: value.get(part).cloned() };
            for (part, value) in value.as_object().into_iter().flatten() {
                let mut steps = match part.as_str() {
                    "json" => Vec::new(),
                    "error" if !value.is_null() => vec![part.clone()],
                    _ => continue,
                };
                is_full |= !note(value, &mut steps, &mut known);
                if !parts.contains(&steps) {
                    parts.push(steps);
                }
            }
            jsons.extend(Some(found("json")).filter(|found| found.value.is_some()));
            errors
                .push(Found { value: value.get("error").filter(|error| !error.is_null()).cloned(), ..found("error") });
        }
    }
    let mut paths = Vec::new();
    for mut part in parts.into_iter().filter(|part| known.contains(part)) {
        match part.first().cloned() {
            None => below("", &mut part, &jsons, &known, &mut paths),
            // An error that is left here is no container.
            Some(path) => paths.push(Path { path, found: errors.clone() }),
        }
    }
    (items, paths, is_full)
}

/// Notes the path of a value and those below it; returns whether there was room for all of them.
fn note(value: &Value, steps: &mut Steps, known: &mut HashSet<Steps>) -> bool {
    if !known.contains(steps) {
        if known.len() == PATHS {
            return false;
        }
        known.insert(steps.clone());
    }
    let is_deep = steps.len() + 1 == WALKED_LEVELS;
    let mut below = |step: String, value: Option<&Value>| {
        steps.push(step);
        let has_room = note(value.unwrap_or(&Value::Null), steps, known);
        steps.pop();
        has_room
    };
    match value {
        // An array has a path for its elements, even if it has none.
        Value::Array(elements) if is_deep || elements.is_empty() => below("[]".to_owned(), None),
        // All are noted, also after one without room.
        Value::Array(elements) => elements.iter().filter(|value| !below("[]".to_owned(), Some(value))).count() == 0,
        Value::Object(members) if !is_deep => {
            let is_left_out =
                |(name, value): &(&String, &Value)| !below(format!(".{}", cut_name(name.to_string())), Some(value));
            members.iter().filter(is_left_out).count() == 0
        }
        _ => true,
    }
}

/// The paths below a path, each after the one above it.
fn below(path: &str, steps: &mut Steps, found: &[Found], known: &HashSet<Steps>, paths: &mut Vec<Path>) {
    if steps.len() + 1 == WALKED_LEVELS {
        return;
    }
    let mut add = |path: String, step: String, found: Vec<Found>| {
        steps.push(step);
        if known.contains(steps) {
            paths.push(Path { path: path.clone(), found: found.clone() });
            below(&path, steps, &found, known, paths);
        }
        steps.pop();
    };
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
        let name = cut_name(name.clone());
        add(format!("{path}{dot}{name}"), format!(".{name}"), of.collect());
    }
    let arrays = found.iter().filter_map(|found| Some((found, found.value.as_ref()?.as_array()?)));
    let elements: Vec<_> = arrays
        .flat_map(|(found, elements)| {
            elements.iter().map(|value| Found { value: Some(value.clone()), ..found.clone() })
        })
        .collect();
    if !elements.is_empty() {
        add(format!("{path}[]"), "[]".to_owned(), elements);
    }
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
    let of = |is: &dyn Fn(&Value) -> bool| {
        path.found.iter().find(|found| found.value.as_ref().is_some_and(is)).map(|found| found.place.clone())
    };
    let scalars = scalars(path);
    let groups = value_groups(path);
    let distinct = groups.as_ref().map(Vec::len);
    let listed = groups.unwrap_or_default();
    let listed: Vec<_> =
        listed.iter().filter(|_| distinct <= Some(16)).map(|(value, of)| json!([value, of.len()])).collect();
    json!({
        "path": path.path, "kinds": kinds, "missing": items.saturating_sub(with.len()),
        "numbers": range(&numbers), "lengths": range(&lengths), "distinct": distinct, "values": listed,
        "example": scalars.first().map(|found| clipped(found.value.as_ref())), "odd": odd(path),
        "objects": path.found.len(), "present": values.len(),
        "places": [of(&|_| true), of(&is_empty), of(&|value| !is_empty(value))],
        "absent": path.found.iter().find(|found| found.value.is_none()).map(|found| &found.place),
        "rarest": rarest(path), "empty": values.iter().filter(|value| is_empty(value)).count(),
        "numericTexts": values.iter().filter(|value| value.as_str().is_some_and(is_numeric)).count(),
        "jsonTexts": values.iter().filter(|value| value.as_str().is_some_and(is_json_container)).count(),
        "dates": dates(&values), "repeated": repeated(path),
    })
}

/// The rows of one path by another one: `{by, items, field}`.
pub fn by(body: &Value, node: &str, path: &str, by: &str) -> Vec<Value> {
    /// A row: the value that it is for, its items, and the values found.
    type Row = (Value, BTreeSet<usize>, Vec<Found>);
    let (mut rows, mut others, mut none): (Vec<Row>, Row, Row) = Default::default();
    (others.0, none.0) = (json!("others"), json!("none"));
    let lists = |path: &str| path.match_indices("[]").map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
    let shared = lists(path).iter().zip(&lists(by)).take_while(|(one, other)| one == other).count();
    let mut number = 0;
    for run in runs(body).iter().filter(|run| run.node == node) {
        for (output, item, value) in &run.items {
            number += 1;
            let place = json!({"run": run.index, "output": output, "item": item});
            let values = of_item(value, |_| None);
            let (of_path, of_by): (Vec<_>, Vec<_>) = (
                values.iter().filter(|value| value.path == path).collect(),
                values.iter().filter(|value| value.path == by).collect(),
            );
            let found = |value: Option<&Value>| Found { place: place.clone(), item: number, value: value.cloned() };
            // The rows that the values in the same elements were added to.
            let mut added = HashSet::new();
            for key in &of_by {
                let is_long = |text: &str| text.len() > 64;
                let known =
                    rows.iter().position(|(of, ..)| of.is_array() && [of[0].to_string()] == [key.value.to_string()]);
                let row = match &key.value {
                    Value::Array(_) | Value::Object(_) => &mut others,
                    Value::String(text) if is_long(text) => &mut others,
                    scalar if !scalar.is_string() && is_long(&scalar.to_string()) => &mut others,
                    _ if known.is_none() && rows.len() == 16 => &mut others,
                    value => {
                        let at = known.unwrap_or(rows.len());
                        if known.is_none() {
                            rows.push((json!([value]), BTreeSet::new(), Vec::new()));
                        }
                        &mut rows[at]
                    }
                };
                row.1.insert(number);
                let elements: Vec<_> = key.elements.iter().take(shared).map(|(_, at)| *at).collect();
                if !added.insert((row.0.to_string(), elements)) {
                    continue;
                }
                let paired: Vec<_> = of_path.iter().filter(|value| are_paired(key, value)).collect();
                row.2.extend(paired.iter().map(|value| found(Some(&value.value))));
                row.2.extend(paired.is_empty().then(|| found(None)));
            }
            if of_path.is_empty() && of_by.is_empty() {
                none.1.insert(number);
                none.2.push(found(None));
            }
            for value in of_path.iter().filter(|value| !of_by.iter().any(|key| are_paired(key, value))) {
                none.1.insert(number);
                none.2.push(found(Some(&value.value)));
            }
        }
    }
    let has_values = !rows.is_empty() || !others.1.is_empty() || none.2.iter().any(|found| found.value.is_some());
    let last = [others, none].into_iter().filter(|(_, items, _)| !items.is_empty() && has_values);
    let row = |(of, items, found): Row| {
        let missing = found.iter().filter(|found| found.value.is_none()).count();
        let mut field = shown(&Path { path: path.to_owned(), found }, 0);
        field["missing"] = json!(missing);
        field["odd"] = Value::Null;
        json!({"by": of, "items": items.len(), "field": field})
    };
    rows.into_iter().chain(last).map(row).collect()
}

/// Whether two values are in the same element of each list that both are in.
fn are_paired(one: &values_reference::Found, other: &values_reference::Found) -> bool {
    let mut lists = one.elements.iter().zip(&other.elements).take_while(|((a, _), (b, _))| a == b);
    lists.all(|((_, a), (_, b))| a == b)
}

/// The strings, numbers and booleans.
fn scalars(path: &Path) -> Vec<Found> {
    path.found.iter().filter(|found| found.value.as_ref().is_some_and(is_compared)).cloned().collect()
}

/// The different values, each with where it is; `None` if there are more than 64, or a long one.
pub fn value_groups(path: &Path) -> Option<Vec<(Value, Vec<Found>)>> {
    groups(&scalars(path), |value| Some(value.clone()), VALUES)
}

/// The first value of the rarest kind; of equally rare ones, the one that comes later.
fn rarest(path: &Path) -> Value {
    let present: Vec<_> = path.found.iter().filter(|found| found.value.is_some()).cloned().collect();
    let kinds = groups(&present, |value| Some(json!(kind_of(value))), KINDS.len()).unwrap_or_default();
    let least = kinds.iter().map(|(_, found)| found.len()).min();
    let rarest = kinds.iter().rev().find(|(_, found)| Some(found.len()) == least);
    rarest.filter(|_| kinds.len() > 1).map_or(Value::Null, |(_, found)| at(&found[0]))
}

pub fn is_empty(value: &Value) -> bool {
    [json!(""), json!([]), json!({})].contains(value)
}

fn is_numeric(text: &str) -> bool {
    let pattern = regex::Regex::new(r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$").expect("it is valid");
    pattern.is_match(text) && !text.ends_with('\n')
}

fn is_json_container(text: &str) -> bool {
    let pattern = regex::Regex::new(r"(?s)^(\{.+\}|\[.+\])$").expect("it is valid");
    pattern.is_match(text) && !text.ends_with('\n')
}

/// The earliest and the latest of the strings, if all except empty ones are dates in the same form.
fn dates(values: &[&Value]) -> Value {
    let strings: Vec<&str> = values.iter().filter_map(|value| value.as_str()).filter(|text| !text.is_empty()).collect();
    let pattern =
        regex::Regex::new(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}[0-9:.,Z+-]*)?$").expect("it is valid");
    let offset =
        |text: &str| text.get(10..).and_then(|time| time.find(['Z', '+', '-']).map(|at| time[at..].to_owned()));
    let form = |text: &str| (text.len(), offset(text));
    let is_date = |text: &&str| pattern.is_match(text) && text.len() <= 35 && form(text) == form(strings[0]);
    if strings.is_empty() || !strings.iter().all(is_date) {
        Value::Null
    } else {
        json!((strings.iter().min(), strings.iter().max()))
    }
}

/// How many distinct values that identify things there are, and the first ten that occur again.
fn repeated(path: &Path) -> Value {
    if path.path.contains("[]") {
        return Value::Null;
    }
    let (mut known, mut again, mut count): (Vec<(String, Value)>, Vec<Value>, usize) = Default::default();
    let (mut numbers, date) = (
        0,
        regex::Regex::new(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}[0-9:.,Z+-]*)?$").expect("it is valid"),
    );
    for found in &path.found {
        let is_name = match &found.value {
            Some(Value::Number(number)) => {
                numbers += 1;
                let text = number.to_string();
                text.len() <= 15 && text.chars().all(|char| char.is_ascii_digit())
            }
            Some(Value::String(text)) if text.is_empty() => continue,
            Some(Value::String(text)) => {
                let is_date = date.is_match(text) && text.len() <= 35;
                let is_plain = !text.chars().any(|char| char <= ' ' || char == '\\' || char == '"');
                is_plain
                    && !is_date
                    && text.len() <= 64
                    && text.contains(|char: char| char.is_ascii_digit() || char == '@')
            }
            _ => continue,
        };
        if !is_name {
            return Value::Null;
        }
        count += 1;
        let value = found.value.clone().expect("it is present");
        // A number and a string with the same text count as one.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match known.iter().find(|(other, _)| *other == text) {
            Some((_, place)) => {
                let value = if numbers > 0 { json!(text.parse::<u64>().unwrap_or_default()) } else { json!(text) };
                if again.len() < 10 && again.iter().all(|other| other["value"] != value) {
                    again.push(json!({"value": value, "places": [place, found.place]}));
                }
                if count > 256 && known.len() < count / 4 {
                    return Value::Null;
                }
            }
            None => known.push((text, found.place.clone())),
        }
    }
    let name = path.path.rsplit('.').next().expect("there is one");
    let ends = regex::Regex::new(r"(?x) ^(?i:id|no|nr|number|code|key|ref|num)$ | [_\-\ ](?i:id|no|nr|number|code|key|ref|num)$ | (I[dD]|N[oO]|N[rR]|N(?i:umber)|C(?i:ode)|K(?i:ey)|R(?i:ef)|N(?i:um))$").expect("it is valid");
    let is_of_one_kind = numbers == 0 || (numbers == count && ends.is_match(name));
    match is_of_one_kind && !again.is_empty() {
        true => json!({"values": count, "distinct": known.len(), "again": again}),
        false => Value::Null,
    }
}

pub fn kind_of(value: &Value) -> &'static str {
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

pub fn few(differing: usize, values: usize) -> bool {
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
