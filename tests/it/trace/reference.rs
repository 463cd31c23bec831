//! The correct result of a trace, computed from whole values, as simply as possible.

use std::collections::HashSet;

use serde_json::{Value, json};

/// Node, run, output across all types of connections, item.
pub type Place = (String, u64, u64, u64);

/// The lists of a run: whether each is of the type `main`, and its items.
fn lists(run: &Value) -> Vec<(bool, &[Value])> {
    let connections = run["data"].as_object().into_iter().flatten();
    let lists = connections.flat_map(|(name, lists)| {
        lists
            .as_array()
            .into_iter()
            .flatten()
            .map(move |list| (name == "main", list.as_array().map_or(&[][..], |it| it)))
    });
    lists.collect()
}

fn run<'v>(body: &'v Value, node: &str, run: u64) -> Option<&'v Value> {
    body["data"]["resultData"]["runData"].get(node)?.as_array()?.get(usize::try_from(run).ok()?)
}

/// The item at a place.
pub fn item<'v>(body: &'v Value, (node, at, output, item): &Place) -> Option<&'v Value> {
    let lists = lists(run(body, node, *at)?);
    lists.get(usize::try_from(*output).ok()?)?.1.get(usize::try_from(*item).ok()?)
}

fn index(value: &Value) -> Option<u64> {
    value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=1e15).contains(number)).map(|number| number as u64)
}

/// The output that a `source` or `sourceOverwrite` names, among those of the type `main`.
fn source(value: &Value) -> Option<(String, u64, u64)> {
    let index = |name: &str| value.get(name).filter(|it| it.is_number()).map_or(0, |it| index(it).unwrap_or(u64::MAX));
    Some((value.get("previousNode")?.as_str()?.to_owned(), index("previousNodeRun"), index("previousNodeOutput")))
}

/// The distinct items that an item came from.
fn origins(body: &Value, place: &Place) -> Vec<Place> {
    let (Some(found), Some(its_run)) = (item(body, place), run(body, &place.0, place.1)) else { return Vec::new() };
    let paired = found.get("pairedItem").cloned().unwrap_or_default();
    let entries = if let Value::Array(entries) = paired { entries } else { vec![paired] };
    let has_own_input = its_run.get("inputOverride").is_some_and(|input| !input.is_null());
    let mut origins = Vec::new();
    for entry in entries {
        let Some(item) = index(if entry.is_object() { &entry["item"] } else { &entry }) else { continue };
        let overwrite = entry.get("sourceOverwrite").and_then(source);
        let input = entry.get("input").and_then(index).unwrap_or(0) as usize;
        let from_input = || its_run["source"].get(input).and_then(source).filter(|_| !has_own_input);
        let Some((node, at, main)) = overwrite.or_else(from_input) else { continue };
        let all = run(body, &node, at).map(lists).unwrap_or_default();
        let mains = all.iter().enumerate().filter(|(_, (is_main, _))| *is_main);
        let output = mains.map(|(position, _)| position as u64).nth(usize::try_from(main).unwrap_or(usize::MAX));
        let origin = (node, at, output.unwrap_or(main), item);
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    origins
}

fn note(body: &Value, place: &Place, origins: &[Place]) -> Value {
    if item(body, place).is_none() {
        return json!("NoItem");
    }
    let run = run(body, &place.0, place.1).unwrap();
    let user = run["source"].as_array().into_iter().flatten().find_map(source);
    let has_own_input = run.get("inputOverride").is_some_and(|input| !input.is_null());
    let is_code = |node: &&Value| {
        node["name"] == place.0.as_str()
            && ["n8n-nodes-base.code", "n8n-nodes-base.function"].iter().any(|code| node["type"] == **code)
            && node["parameters"]["mode"] != "runOnceForEachItem"
    };
    match origins {
        [] => match user {
            None if run["source"].as_array().is_none_or(Vec::is_empty) => json!("Start"),
            None => json!("NoSource"),
            Some((user, ..)) if has_own_input => json!(format!("SubNode({user:?})")),
            Some(_) => json!("NoSource"),
        },
        [one]
            if one.3 == place.3
                && body["workflowData"]["nodes"].as_array().into_iter().flatten().any(|n| is_code(&n)) =>
        {
            json!("ByPosition")
        }
        _ => Value::Null,
    }
}

fn step(body: &Value, place: &Place) -> (Value, Vec<Place>) {
    let origins = origins(body, place);
    let shown: Vec<_> = origins.iter().take(5).cloned().collect();
    let more = origins.len() - shown.len();
    (json!({"place": place, "from": shown, "more": more, "note": note(body, place, &origins)}), shown)
}

/// The steps back, and how many more are known.
pub fn back(body: &Value, start: &Place) -> Value {
    let (mut queue, mut next, mut steps) = (vec![start.clone()], 0, Vec::new());
    while steps.len() < 40 && next < queue.len() {
        let (step, from) = step(body, &queue[next]);
        next += 1;
        steps.push(step);
        for place in from {
            if !queue.contains(&place) {
                queue.push(place);
            }
        }
    }
    json!({"steps": steps, "more": queue.len() - next})
}

/// All items, in document order.
pub fn places(body: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    for (node, runs) in body["data"]["resultData"]["runData"].as_object().into_iter().flatten() {
        for (at, run) in runs.as_array().into_iter().flatten().enumerate() {
            for (output, (_, items)) in lists(run).into_iter().enumerate() {
                places.extend((0..items.len()).map(|item| (node.clone(), at as u64, output as u64, item as u64)));
            }
        }
    }
    places
}

/// The steps forward.
pub fn forward(body: &Value, start: &Place) -> Value {
    let all = places(body);
    let is_main = |place: &Place| run(body, &place.0, place.1).is_some_and(|run| lists(run)[place.2 as usize].0);
    let (mut level, mut seen) = (vec![start.clone()], HashSet::from([start.clone()]));
    let (mut steps, mut more) = (vec![step(body, start).0], 0);
    while !level.is_empty() {
        let parents: Vec<_> = level.drain(..).filter(|place| is_main(place)).collect();
        for place in &all {
            let is_child = origins(body, place).iter().any(|origin| parents.contains(origin));
            if !is_child || seen.contains(place) {
                continue;
            }
            if steps.len() + level.len() > 40 {
                more += 1;
            } else {
                seen.insert(place.clone());
                level.push(place.clone());
            }
        }
        steps.extend(level.iter().map(|place| step(body, place).0));
    }
    more += steps.len().saturating_sub(40);
    steps.truncate(40);
    json!({"steps": steps, "more": more})
}
