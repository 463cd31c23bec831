//! The correct result of a comparison, computed from whole values, as simply as possible.

use std::collections::{BTreeMap, BTreeSet};

use n8n_lens::execution::fields::KINDS;
use serde_json::{Map, Value, json};

/// The comparison of two bodies whose items have only `json`, in the shape of the tool's answer.
pub fn compare(this: &Value, other: &Value) -> Value {
    let (of_this, of_other) = (nodes(this), nodes(other));
    let mut order: Vec<&str> = of_this.iter().map(|(name, _)| name.as_str()).collect();
    for (at, (name, _)) in of_other.iter().enumerate() {
        if !order.contains(&name.as_str()) {
            let before = of_other[..at].iter().rev().map(|(before, _)| before);
            // Nodes that were placed before it come first.
            let last = before.clone().find(|before| order.contains(&before.as_str()));
            let place = last.map_or(0, |last| order.iter().position(|name| name == last).unwrap() + 1);
            order.insert(place, name);
        }
    }
    let (mut same, mut differences) = (0, Vec::new());
    let find = |nodes: &[(String, Value)], name: &str| {
        nodes.iter().find(|(known, _)| known == name).map(|(_, runs)| runs.clone())
    };
    for name in order.iter().filter(|_| !of_this.is_empty() && !of_other.is_empty()) {
        let difference = match (find(&of_this, name), find(&of_other, name)) {
            (Some(this), Some(other)) => node(&this, &other),
            (Some(_), None) => json!({"only": "this"}),
            _ => json!({"only": "other"}),
        };
        if difference == json!({}) {
            same += 1;
        } else {
            let mut named = json!({"nodeName": name});
            named.as_object_mut().unwrap().extend(difference.as_object().unwrap().clone());
            differences.push(named);
        }
    }
    let mut answer = json!({"same": same, "nodes": differences});
    if let Some(workflow) = workflow(&this["workflowData"], &other["workflowData"]) {
        answer["workflow"] = workflow;
    }
    answer
}

/// The runs of each node, in the order of execution.
fn nodes(body: &Value) -> Vec<(String, Value)> {
    let data = body["data"]["resultData"]["runData"].as_object().cloned().unwrap_or_default();
    let mut nodes: Vec<_> = data.into_iter().collect();
    let start = |runs: &Value, member: &str| {
        let number = runs[0][member].as_f64();
        // A time in seconds counts as the end of its second.
        number.map(|time| if member == "startTime" && time < 1e11 { time * 1000.0 + 999.0 } else { time })
    };
    let by = |member: &'static str| {
        move |(_, one): &(String, Value), (_, other): &(String, Value)| match (start(one, member), start(other, member))
        {
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    };
    let all_runs = nodes.iter().flat_map(|(_, of_node)| runs(of_node));
    let began_again = all_runs.filter(|run| run["executionIndex"].as_f64() == Some(0.0)).count() > 1;
    let [first, then] = if began_again { ["startTime", "executionIndex"] } else { ["executionIndex", "startTime"] };
    nodes.sort_by(|one, other| by(first)(one, other).then_with(|| by(then)(one, other)));
    nodes
}

fn runs(node: &Value) -> &[Value] {
    node.as_array().map_or(&[], Vec::as_slice)
}

fn node(this: &Value, other: &Value) -> Value {
    let mut difference = Map::new();
    let mut differs = |name: &str, value: &dyn Fn(&Value) -> Value| {
        if value(this) != value(other) {
            difference.insert(name.to_owned(), json!([value(this), value(other)]));
        }
    };
    differs("status", &|node| status(node).into());
    differs("items", &|node| outputs(node, 32).iter().sum::<u64>().into());
    let len = outputs(this, 0).len().max(outputs(other, 0).len());
    if len > 1 {
        differs("outputs", &|node| json!(outputs(node, len)));
    }
    differs("runs", &|node| runs(node).len().into());
    let ms = [this, other].map(|node| runs(node).iter().filter_map(|run| run["executionTime"].as_u64()).sum::<u64>());
    let (least, most) = (ms[0].min(ms[1]), ms[0].max(ms[1]));
    if most > 100 && most >= 3 * least {
        difference.insert("ms".to_owned(), json!(ms));
    }
    fields(&paths(this), &paths(other), &mut difference);
    difference.into()
}

fn status(node: &Value) -> String {
    let all: Vec<_> = runs(node).iter().map(|run| run["executionStatus"].as_str()).collect();
    let has_error = |run: &Value| ["error", "redactedError"].iter().any(|name| !run[*name].is_null());
    let failed = runs(node).iter().any(has_error) || all.contains(&Some("error"));
    match (all.contains(&Some("crashed")), failed) {
        (true, _) => "crashed".to_owned(),
        (false, true) => "error".to_owned(),
        (false, false) => all.last().copied().flatten().unwrap_or("success").to_owned(),
    }
}

/// Items of each main output over all runs, up to the last one with items; at least `least` outputs.
fn outputs(node: &Value, least: usize) -> Vec<u64> {
    let mut counts = vec![0; least];
    for run in runs(node) {
        for (output, items) in run["data"]["main"].as_array().into_iter().flatten().enumerate() {
            let items = items.as_array().map_or(0, Vec::len) as u64;
            if items > 0 {
                counts.resize(counts.len().max(output + 1), 0);
                counts[output] += items;
            }
        }
    }
    counts
}

/// The first value of each kind, by path: run, output, item, value.
type Paths = BTreeMap<String, BTreeMap<usize, (u64, u64, u64, Value)>>;

fn paths(node: &Value) -> Option<Paths> {
    // The placeholders of a crash, whose time is in seconds, have no fields.
    let are_placeholders = |run: &Value| run["startTime"].as_f64().is_some_and(|time| (1e9..1e11).contains(&time));
    if runs(node).iter().any(are_placeholders) {
        return None;
    }
    let (mut paths, mut items) = (Paths::new(), 0);
    for (at, run) in runs(node).iter().enumerate() {
        let lists = run["data"].as_object().into_iter().flatten().flat_map(|(_, lists)| lists.as_array()).flatten();
        for (output, list) in lists.enumerate() {
            for (item, value) in list.as_array().into_iter().flatten().enumerate() {
                items += 1;
                let place = (at as u64, output as u64, item as u64);
                if let Some(json) = value.get("json") {
                    add("", json, place, &mut paths);
                }
            }
        }
    }
    (items > 0).then_some(paths)
}

fn add(path: &str, value: &Value, place: (u64, u64, u64), paths: &mut Paths) {
    let (kind, shown) = match value {
        Value::Null => (0, value.clone()),
        Value::Bool(_) => (1, value.clone()),
        Value::Number(_) => (2, value.clone()),
        Value::String(text) => (3, shorten(text)),
        Value::Array(_) => (4, container(value)),
        Value::Object(_) => (5, container(value)),
    };
    if !path.is_empty() {
        let first = (place.0, place.1, place.2, shown);
        paths.entry(path.to_owned()).or_default().entry(kind).or_insert(first);
    }
    let dot = if path.is_empty() { "" } else { "." };
    for (name, value) in value.as_object().into_iter().flatten() {
        add(&format!("{path}{dot}{}", n8n_lens::json::cut_name(name.clone())), value, place, paths);
    }
    for value in value.as_array().into_iter().flatten() {
        add(&format!("{path}[]"), value, place, paths);
    }
}

fn shorten(text: &str) -> Value {
    n8n_lens::json::shorten(text, 80).into()
}

fn container(value: &Value) -> Value {
    let text = value.to_string();
    if text.chars().count() <= 80 { value.clone() } else { shorten(&text) }
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']))
}

fn fields(this: &Option<Paths>, other: &Option<Paths>, difference: &mut Map<String, Value>) {
    let (Some(this), Some(other)) = (this, other) else { return };
    let mut above: BTreeSet<&String> = BTreeSet::new();
    above.extend(this.keys().filter(|path| !other.contains_key(*path)));
    above.extend(other.keys().filter(|path| !this.contains_key(*path)));
    let containers = |paths: &Paths, path: &String| [4, 5].map(|kind| paths[path].contains_key(&kind));
    let both: Vec<_> = this.keys().filter(|path| other.contains_key(*path)).collect();
    above.extend(both.iter().filter(|path| containers(this, path) != containers(other, path)));
    let top = |one: &Paths, another: &Paths| -> Vec<Value> {
        let alone = one.keys().filter(|path| !another.contains_key(*path));
        alone.filter(|path| !above.iter().any(|above| is_below(path, above))).map(|path| json!(path)).collect()
    };
    for (name, paths) in [("newFields", top(this, other)), ("lostFields", top(other, this))] {
        if !paths.is_empty() {
            difference.insert(name.to_owned(), paths.into());
        }
    }
    let kinds =
        |paths: &Paths, path: &String| paths[path].keys().map(|kind| KINDS[*kind]).collect::<Vec<_>>().join("|");
    let changed = both.into_iter().filter(|path| kinds(this, path) != kinds(other, path)).map(|path| {
        let mut field = json!({"path": path, "types": [kinds(this, path), kinds(other, path)]});
        let new = this[path].iter().filter(|(kind, _)| !other[path].contains_key(kind)).map(|(_, first)| first);
        if let Some((run, output, item, value)) = new.min_by_key(|first| (first.0, first.1, first.2)) {
            field["first"] = json!({"run": run, "output": output, "item": item, "value": value});
        }
        field
    });
    let changed: Vec<_> = changed.collect();
    if !changed.is_empty() {
        difference.insert("fields".to_owned(), changed.into());
    }
}

/// A value that is not a container, or an empty container, with its path and its places in arrays.
type Leaf = (String, Vec<usize>, Value);

fn leaves(path: &str, places: &[usize], value: &Value, found: &mut Vec<Leaf>) {
    let is_empty = value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty);
    if is_empty || !(value.is_array() || value.is_object()) {
        found.push((path.to_owned(), places.to_vec(), value.clone()));
    }
    let dot = if path.is_empty() { "" } else { "." };
    for (name, value) in value.as_object().into_iter().flatten() {
        leaves(&format!("{path}{dot}{name}"), places, value, found);
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        leaves(&format!("{path}[]"), &[places, &[at]].concat(), value, found);
    }
}

/// The values of a node by path, each with its places in arrays.
type Settings = BTreeMap<String, Vec<(Vec<usize>, Value)>>;

/// The nodes of a workflow, equal names in their order: the settings that matter for each, and the cosmetic ones.
fn settings(workflow: &Value) -> BTreeMap<(String, usize), [Settings; 2]> {
    let mut named = BTreeMap::new();
    let nodes = workflow["nodes"].as_array().into_iter().flatten();
    for node in nodes.filter(|node| node["type"] != "n8n-nodes-base.stickyNote") {
        let Some(name) = node["name"].as_str() else { continue };
        let (mut found, mut both) = (Vec::new(), [Settings::new(), Settings::new()]);
        leaves("", &[], node, &mut found);
        for (path, places, value) in found {
            both[usize::from(is_cosmetic(&path, &value))].entry(path).or_default().push((places, value));
        }
        let same = named.keys().filter(|(known, _): &&(String, usize)| known == name).count();
        named.insert((name.to_owned(), same), both);
    }
    named
}

fn is_cosmetic(path: &str, value: &Value) -> bool {
    let member = path.split(['.', '[']).next().unwrap();
    let is_uuid = value.as_str().is_some_and(|text| text.len() == 36 && text.matches('-').count() == 4);
    ["id", "name", "position", "notes", "notesInFlow", "webhookId"].contains(&member)
        || ["assignments[].id", "conditions[].id"].iter().any(|id| path.ends_with(id))
        || (path.ends_with("[].id") && is_uuid)
}

fn parameter(path: &str) -> Option<&str> {
    path.strip_prefix("parameters.").map(|rest| rest.split(['.', '[']).next().unwrap())
}

fn is_empty(values: &[(Vec<usize>, Value)]) -> bool {
    let empty = [json!(""), json!({}), json!([]), json!(false), Value::Null];
    values.iter().all(|(_, value)| empty.contains(value))
}

/// Whether one workflow has its defaults filled in and the other does not.
fn is_filled(pairs: &[(&Settings, &Settings)]) -> bool {
    let added = |one: &Settings, other: &Settings| {
        let is_new = |path: &String| !other.keys().any(|known| parameter(known) == parameter(path));
        let whole = one.iter().filter(|(path, _)| path.matches(['.', '[']).count() == 1 && parameter(path).is_some());
        whole.filter(|(path, values)| is_new(path) && is_empty(values)).count()
    };
    let all = pairs.iter().filter(|(one, _)| one.keys().any(|path| parameter(path).is_some())).count();
    let with = pairs.iter().filter(|(one, other)| added(one, other) > 0).count();
    let total: usize = pairs.iter().map(|(one, other)| added(one, other)).sum();
    let back: usize = pairs.iter().map(|(one, other)| added(other, one)).sum();
    total > 1 && 2 * with >= all && back == 0
}

/// Whether the path, which only `one` has, can be a default that n8n filled in.
fn is_default(path: &str, one: &Settings, other: &Settings) -> bool {
    let (Some(values), Some(name)) = (one.get(path), parameter(path)) else { return false };
    let is_new = !other.keys().any(|known| parameter(known) == Some(name));
    let member = |member: &str| one.get(&format!("parameters.{name}.{member}"));
    let is_locator = member("__rl").is_some() && member("value").is_some_and(|values| is_empty(values));
    let element = path.rfind("[].").map(|at| path.split_at(at + 2));
    let is_of_element = element.is_some_and(|(element, member)| {
        let of_element = format!("{element}.");
        !member[1..].contains(['.', '[']) && other.keys().any(|known| known.starts_with(&of_element))
    });
    let is_whole = path == format!("parameters.{name}");
    !other.contains_key(path)
        && (is_empty(values) || (is_new && (is_whole || is_locator)) || (!is_new && is_of_element))
}

/// The paths that differ, excluding those below another such path, and an empty container that the other side fills.
fn different(this: &Settings, other: &Settings) -> Vec<String> {
    let all: BTreeSet<_> = this.keys().chain(other.keys()).collect();
    let mut all: Vec<_> = all.into_iter().filter(|path| this.get(*path) != other.get(*path)).collect();
    let is_filled = |path: &str, one: &Settings, another: &Settings| {
        let only = one.get(path).filter(|values| values.len() == 1).map(|values| &values[0].1);
        let next = if only == Some(&json!({})) { "." } else { "[" };
        only.is_some_and(|value| [json!({}), json!([])].contains(value))
            && another.keys().any(|below| below.starts_with(&format!("{path}{next}")))
    };
    all.retain(|path| !is_filled(path, this, other) && !is_filled(path, other, this));
    let top = all.iter().filter(|path| !all.iter().any(|above| is_below(path, above)));
    top.map(|path| path.to_string()).collect()
}

/// The first values that differ.
fn values(path: &str, this: &Settings, other: &Settings) -> Value {
    let at = |settings: &Settings, place: usize| settings.get(path).and_then(|values| values.get(place)).cloned();
    let first = (0..).find(|place| at(this, *place) != at(other, *place)).unwrap();
    let text = |settings: &Settings| at(settings, first).and_then(|(_, value)| value.as_str().map(str::to_owned));
    // Texts that differ later begin 30 characters before that.
    let from = text(this).zip(text(other)).filter(|(this, other)| {
        this.chars().take(120).eq(other.chars().take(120)) && this.chars().count() == other.chars().count()
    });
    let from = from.map(|(this, other)| {
        this.chars().zip(other.chars()).position(|(this, other)| this != other).map_or(0, |at| at - 30)
    });
    let shorten = |text: &str| match from {
        Some(from) if from > 0 => {
            format!("…{}", n8n_lens::json::shorten(&text.chars().skip(from).collect::<String>(), 120))
        }
        _ => n8n_lens::json::shorten(text, 120),
    };
    let shown = |settings: &Settings| {
        if let Some((_, value)) = at(settings, first) {
            return value.as_str().map_or(value.clone(), |text| shorten(text).into());
        }
        let below = settings.keys().find(|below| is_below(below, path) && !settings.contains_key(path));
        below.map_or(Value::Null, |below| if below[path.len()..].starts_with('.') { "…{}" } else { "…[]" }.into())
    };
    json!([shown(other), shown(this)])
}

fn workflow(this: &Value, other: &Value) -> Option<Value> {
    if !this.is_object() || !other.is_object() {
        return None;
    }
    let (of_this, of_other) = (settings(this), settings(other));
    let shared: Vec<_> = of_this.iter().filter_map(|(key, this)| Some((&key.0, this, of_other.get(key)?))).collect();
    let pairs: Vec<_> = shared.iter().map(|(_, this, other)| (&this[0], &other[0])).collect();
    let turned: Vec<_> = pairs.iter().map(|(this, other)| (*other, *this)).collect();
    let (this_is_filled, other_is_filled) = (is_filled(&pairs), is_filled(&turned));
    let (mut changed, mut cosmetic, mut defaults) = (Vec::new(), 0, 0);
    for (name, [this, notes], [other, other_notes]) in shared {
        let of_notes: BTreeSet<_> = notes.keys().chain(other_notes.keys()).collect();
        cosmetic += of_notes.into_iter().filter(|path| notes.get(*path) != other_notes.get(*path)).count();
        let mut paths = different(this, other);
        let all = paths.len();
        paths.retain(|path| {
            !(this_is_filled && is_default(path, this, other) || other_is_filled && is_default(path, other, this))
        });
        defaults += all - paths.len();
        if paths == ["typeVersion"] {
            cosmetic += 1;
        } else if !paths.is_empty() {
            let paths = paths.iter().map(|path| json!({"path": path, "values": values(path, this, other)}));
            changed.push(json!({"nodeName": name, "paths": paths.collect::<Vec<_>>()}));
        }
    }
    let only = |one: &BTreeMap<(String, usize), _>, another: &BTreeMap<(String, usize), _>| -> Vec<Value> {
        one.keys().filter(|key| !another.contains_key(*key)).map(|(name, _)| json!(name)).collect()
    };
    let mut answer = Map::new();
    let lists = [("changed", changed), ("added", only(&of_this, &of_other)), ("removed", only(&of_other, &of_this))];
    for (name, list) in lists {
        if !list.is_empty() {
            answer.insert(name.to_owned(), list.into());
        }
    }
    for (name, number) in [("cosmetic", cosmetic), ("defaults", defaults)] {
        if number > 0 {
            answer.insert(name.to_owned(), number.into());
        }
    }
    let connections = |workflow: &Value| {
        let mut found = Vec::new();
        leaves("", &[], &workflow["connections"], &mut found);
        let found = found.into_iter().map(|(path, places, value)| (path, places, value.to_string()));
        found.filter(|(_, _, value)| value != "[]" && value != "{}").collect::<BTreeSet<_>>()
    };
    if connections(this) != connections(other) {
        answer.insert("connections".to_owned(), true.into());
    }
    (!answer.is_empty()).then(|| answer.into())
}
