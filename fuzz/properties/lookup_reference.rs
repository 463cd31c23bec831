//! A reference implementation of the look-up on a whole `serde_json::Value`.

use n8n_lens::execution::lookup::{Found, KINDS, Of, Outcome, Place, Question, Step, Which};
use n8n_lens::json::hold_name;
use serde_json::Value;

use super::fields_reference::kind_of;
use super::values_reference::{Run, is_reserved, runs};

/// An item of a list: where it is, when its run started.
struct Item<'a> {
    start: (f64, f64),
    /// Which of all runs it is in.
    at: usize,
    place: Place,
    item: &'a Value,
    /// How many items the list has.
    of: usize,
}

/// The answer to a question, without the probably intended name.
pub fn found(body: &Value, question: &Question) -> Found {
    let only = |outcome: Outcome| Found { outcome, ..Found::default() };
    if body["data"]["redactionInfo"]["isRedacted"] == true {
        return only(Outcome::Redacted);
    }
    let all = runs(body);
    let of_node = |name: &str| -> Vec<&Run<'_>> { all.iter().filter(|run| run.node == hold_name(name)).collect() };
    let asking = of_node(&question.node);
    if asking.is_empty() {
        return only(Outcome::NotRun);
    }
    let is_recovered = |run: &&Run<'_>| run.run["startTime"].as_f64().is_some_and(|time| (1e9..1e11).contains(&time));
    let has_placeholders = match &question.of {
        Of::Output { node, .. } => of_node(node).iter().any(is_recovered),
        Of::Input(_) => asking.iter().filter(|run| !run.run["inputOverride"].is_object()).any(|run| {
            let sources = run.run["source"].as_array().into_iter().flatten();
            let mut named = sources.filter_map(|source| name(&source["previousNode"]));
            named.any(|source| of_node(&source).iter().any(is_recovered))
        }),
    };
    if has_placeholders {
        return only(Outcome::Recovered);
    }
    let (items, which) = match &question.of {
        Of::Output { node, .. } if of_node(node).is_empty() => return only(Outcome::SourceNotRun),
        Of::Output { node, outputs, which } => {
            let wanted: Vec<_> = match outputs.is_empty() {
                true => vec![None],
                false => outputs.iter().map(|output| Some(*output as usize)).collect(),
            };
            let (all, wanted) = (&all, &wanted);
            let of_run = |run| wanted.iter().flat_map(move |output| items(all, run, &run.run["data"], Some(*output)));
            (of_node(node).into_iter().flat_map(of_run).collect(), which)
        }
        Of::Input(which) => match received(&all, &asking) {
            Some(items) => (items, which),
            None => return only(Outcome::NoInput),
        },
    };
    counted(items, *which, &question.path)
}

/// The items that runs received; `None` if they name no source.
fn received<'a>(all: &[Run<'a>], runs: &[&Run<'a>]) -> Option<Vec<Item<'a>>> {
    let (mut found, mut seen, mut has_input) = (Vec::new(), Vec::new(), false);
    for run in runs {
        if run.run["inputOverride"].is_object() {
            has_input = true;
            found.extend(items(all, run, &run.run["inputOverride"], None));
            continue;
        }
        for source in run.run["source"].as_array().into_iter().flatten() {
            let Some(node) = name(&source["previousNode"]) else { continue };
            has_input = true;
            let of = (hold_name(&node), index(&source["previousNodeRun"]), index(&source["previousNodeOutput"]));
            if seen.contains(&of) {
                continue;
            }
            for run in all.iter().filter(|run| run.node == of.0 && Some(run.index) == of.1) {
                found.extend(of.2.into_iter().flat_map(|output| items(all, run, &run.run["data"], Some(Some(output)))));
            }
            seen.push(of);
        }
    }
    has_input.then_some(found)
}

fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// An index; `None` for one that cannot exist.
fn index(value: &Value) -> Option<usize> {
    match value.as_f64() {
        None => Some(0),
        Some(number) if number >= 0.0 && number.fract() == 0.0 => Some(number as usize),
        Some(_) => None,
    }
}

/// The items of all lists, or of the `main` outputs, or of one of them.
fn items<'a>(all: &[Run<'_>], run: &Run<'_>, lists: &'a Value, main: Option<Option<usize>>) -> Vec<Item<'a>> {
    let at = all.iter().position(|one| std::ptr::eq(one, run)).expect("it is one of them");
    let (mut found, mut output) = (Vec::new(), 0);
    for (connection, of_connection) in lists.as_object().into_iter().flatten() {
        for (index, list) in of_connection.as_array().into_iter().flatten().enumerate() {
            let is_wanted = main.is_none_or(|main| connection == "main" && main.is_none_or(|main| main == index));
            let list = list.as_array().map_or(&[][..], Vec::as_slice);
            for (number, item) in list.iter().enumerate().filter(|_| is_wanted) {
                let place = Place { node: run.node.clone(), run: run.index as u64, output, item: number as u64 };
                found.push(Item { start: start(all, run), at, place, item, of: list.len() });
            }
            output += 1;
        }
    }
    found
}

/// When a run started: by the counter, unless it began again.
fn start(all: &[Run<'_>], run: &Run<'_>) -> (f64, f64) {
    let number = |run: &Run<'_>, member: &str| run.run[member].as_f64().filter(|_| !is_reserved(run.run));
    let counters = all.iter().filter(|run| number(run, "executionIndex") == Some(0.0)).count();
    let index = number(run, "executionIndex").unwrap_or(f64::INFINITY);
    let time = number(run, "startTime").map_or(f64::INFINITY, |time| match time < 1e11 {
        true if counters > 1 => time * 1000.0 + 999.0,
        true => time * 1000.0,
        false => time,
    });
    if counters > 1 { (time, index) } else { (index, time) }
}

fn counted(mut items: Vec<Item<'_>>, which: Which, path: &[Step]) -> Found {
    items.retain(|item| match which {
        Which::Any => true,
        Which::First => item.place.item == 0,
        Which::Last => item.place.item + 1 == item.of as u64,
        Which::Index(index) => item.place.item == index,
    });
    let key = |item: &Item<'_>| (item.start, item.at, item.place.output, item.place.item);
    items.sort_by(|one, other| key(one).partial_cmp(&key(other)).expect("no NaN"));
    let mut found = Found { items: items.len() as u64, ..Found::default() };
    for Item { place, item, .. } in items {
        match has(item, path) {
            Some(value) => {
                let kind = KINDS.iter().position(|kind| *kind == kind_of(value)).expect("it is a kind");
                found.have += 1;
                found.kinds[kind] += 1;
                found.first_of_kind[kind].get_or_insert(place);
            }
            None => drop(found.first_missing.get_or_insert(place)),
        }
    }
    found
}

/// The index of a JavaScript array that a step stands for.
fn index_of(step: &Step) -> Option<usize> {
    match step {
        Step::Index(index) => usize::try_from(*index).ok(),
        Step::Name(name) => name.parse().ok().filter(|index: &usize| index.to_string() == *name),
    }
}

/// The value that an item has at a path.
pub fn has<'a>(item: &'a Value, path: &[Step]) -> Option<&'a Value> {
    // The value, and the length of a text: 1 if it is a character of one.
    let length = |value: &Value| value.as_str().map_or(0, |text| text.encode_utf16().count());
    let begin = item.get("json")?;
    let found = path.iter().try_fold((begin, length(begin)), |(value, text), step| {
        let next = match (value, step) {
            (Value::Object(members), Step::Name(name)) => members.get(name)?,
            (Value::Object(members), Step::Index(index)) => members.get(&index.to_string())?,
            (Value::Array(elements), step) => elements.get(index_of(step)?)?,
            (Value::String(_), step) => return (index_of(step)? < text).then_some((value, 1)),
            _ => return None,
        };
        Some((next, length(next)))
    });
    found.map(|(value, _)| value)
}
