//! The trace: the lineage against a reference, and the tool through the real binary.

mod reference;
mod rules;
mod tool;

use n8n_lens::execution::StoredProjection;
use n8n_lens::execution::trace::{Direction, ItemsProjection, LineageProjection, LineageView, Place, Route};
use n8n_lens::json::{Cursor, Detail, Projection};
use serde_json::{Value, json};

use crate::fixtures;
use crate::flatten::{Share, stored};
use crate::projections::{Cut, pruned};
use crate::random::Random;

fn lineage(body: &[u8], sizes: &[usize]) -> LineageView {
    let projection = LineageProjection;
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes)))).unwrap()
}

fn from_store(body: &str) -> LineageView {
    LineageProjection.read_stored(stored(body, Share::Equal).revealed()).unwrap()
}

fn place((node, run, output, item): &reference::Place) -> Place {
    Place { node: node.clone(), run: *run, output: *output, item: *item }
}

/// The steps in the reference's shape.
fn route(view: &LineageView, start: &reference::Place, direction: Direction) -> Value {
    let shown = |place: &Place| json!([place.node, place.run, place.output, place.item]);
    let route = Route::new(view, &place(start), direction).unwrap();
    let steps = route.steps.iter().map(|step| {
        let note = step.note.as_ref().map(|note| format!("{note:?}"));
        let from: Vec<_> = step.from.iter().map(shown).collect();
        json!({"place": shown(&step.place), "from": from, "more": step.more, "note": note})
    });
    json!({"steps": steps.collect::<Vec<_>>(), "more": route.more})
}

/// Compares the traces of an item in all directions.
fn compare(view: &LineageView, body: &Value, start: &reference::Place, what: &str) {
    assert_eq!(route(view, start, Direction::Back), reference::back(body, start), "{what}, back from {start:?}");
    assert_eq!(
        route(view, start, Direction::Forward),
        reference::forward(body, start),
        "{what}, forward from {start:?}"
    );
}

#[test]
fn the_trace_agrees_with_the_reference_on_every_fixture() {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 300_000) {
        let value = fixtures::parse(&body);
        let places = reference::places(&value);
        let view = lineage(&body, &[65_536]);
        for start in places.iter().step_by(places.len().div_ceil(20).max(1)) {
            compare(&view, &value, start, &name);
        }
    }
}

#[test]
fn cuts_and_stores_change_nothing() {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 35_000) {
        let places = reference::places(&fixtures::parse(&body));
        let truth = lineage(&body, &[usize::MAX]);
        let text = String::from_utf8(body.clone()).unwrap();
        let others = [lineage(&body, &[1]), lineage(&body, &[63, 2]), from_store(&text)];
        for start in places.iter().step_by(places.len().div_ceil(20).max(1)) {
            for (at, other) in others.iter().enumerate() {
                for direction in [Direction::Back, Direction::Forward, Direction::Both] {
                    assert_eq!(route(other, start, direction), route(&truth, start, direction), "{name}, {at}");
                }
            }
        }
    }
}

/// An entry of `pairedItem`.
fn entry(random: &mut Random, at: u64) -> Value {
    let item = match random.below(6) {
        0 => random.below(14),
        1 => 0,
        _ => at,
    };
    let node = random.pick(&["A", "B", "C", "D", "nowhere"]);
    match random.below(12) {
        0 => json!(item),
        1 => json!({"item": item, "input": random.below(3)}),
        2 => json!({"item": item, "sourceOverwrite": {"previousNode": node}}),
        3 => {
            json!({"sourceOverwrite": {"previousNode": node, "previousNodeOutput": random.below(2), "previousNodeRun": random.below(3)}, "item": item})
        }
        4 => random.pick(&["null", "-1", "0.5", "\"0\"", "{}", "{\"item\":null}", "[]"]).parse().unwrap(),
        _ => json!({"item": item}),
    }
}

fn paired(random: &mut Random, at: u64) -> Value {
    if random.one_in(5) {
        return (0..random.below(9)).map(|more| entry(random, at + more)).collect();
    }
    entry(random, at)
}

fn list(random: &mut Random) -> Value {
    if random.one_in(12) {
        return Value::Null;
    }
    let (from, style) = (random.below(3), random.below(4));
    let number = random.below(1_000_000);
    let item = |random: &mut Random, at: u64| match style {
        // Long runs of similar items.
        0 => json!({"json": {"at": at, "of": number}, "pairedItem": {"item": from + at}}),
        1 => json!({"json": {"at": at, "of": number}, "pairedItem": {"item": from}}),
        2 if random.one_in(4) => json!({"json": {"at": at, "of": number}}),
        2 => json!({"json": {"a\"b": "\"pairedItem\":{\"item\":9}}"}, "pairedItem": {"item": at}}),
        _ if random.one_in(6) => json!({"pairedItem": paired(random, at), "error": "}}", "json": {"error": "x"}}),
        _ => {
            json!({"json": {"of": number}, "binary": {"file": {"id": at.to_string()}}, "pairedItem": paired(random, at)})
        }
    };
    (0..random.below(13)).map(|at| item(random, at)).collect()
}

fn run(random: &mut Random) -> Value {
    let source = |random: &mut Random| match random.below(8) {
        0 => Value::Null,
        1 => json!({"previousNode": random.pick(&["A", "B", "nowhere"])}),
        _ => {
            json!({"previousNode": random.pick(&["A", "B", "C", "D"]), "previousNodeOutput": random.below(2), "previousNodeRun": random.below(3)})
        }
    };
    let sources: Vec<_> = (0..random.below(4)).map(|_| source(random)).collect();
    let kind = if random.one_in(6) { "ai_tool" } else { "main" };
    let data = json!({kind: (0..1 + random.below(3)).map(|_| list(random)).collect::<Value>()});
    let mut run = json!({"data": data, "source": sources, "executionStatus": "success"});
    if random.one_in(8) {
        run["inputOverride"] = json!({"ai_tool": [[{"json": {}}]]});
    }
    run
}

/// Any execution: loops, merges, several outputs, errors as items, references that lead nowhere.
fn execution(random: &mut Random) -> Value {
    let runs = |random: &mut Random| (0..1 + random.below(3)).map(|_| run(random)).collect::<Value>();
    let nodes: serde_json::Map<_, _> =
        ["A", "B", "C", "D"].map(|node| (node.to_owned(), runs(random))).into_iter().collect();
    json!({"id": "7", "status": "success", "data": {"resultData": {"runData": nodes}}, "workflowData": {"nodes": [
        {"name": "B", "type": "n8n-nodes-base.code", "parameters": {}},
        {"name": "C", "type": "n8n-nodes-base.code", "parameters": {"mode": "runOnceForEachItem"}},
    ]}})
}

/// Compares the items of a few places, which most nodes do not have, with those of the whole value.
fn compare_items(value: &Value, places: &[reference::Place], random: &mut Random, what: &str) {
    let body = value.to_string();
    let wanted: Vec<_> = (0..4.min(places.len())).map(|_| places[random.index(places.len())].clone()).collect();
    let projection = ItemsProjection { places: wanted.iter().map(place).collect(), redacts: false };
    let pieces = pruned(projection.pruner(), Cut::new(body.as_bytes(), &[1 + random.index(300)]));
    let views = [
        projection.read(Cursor::over(pieces)),
        projection.read(Cursor::unpruned(body.as_bytes())),
        projection.read_stored(stored(&body, Share::Equal).revealed()),
    ];
    for view in views.map(Result::unwrap) {
        for wanted in &wanted {
            let mut truth = reference::item(value, wanted).unwrap().clone();
            truth.as_object_mut().unwrap().shift_remove("pairedItem");
            let (mut json, mut clipped) = (String::new(), 0);
            view[&place(wanted)].write(Detail::WHOLE, &mut json, &mut clipped);
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), truth, "{what}, {wanted:?}");
        }
    }
}

#[test]
fn the_trace_agrees_with_the_reference_on_generated_executions() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let value = execution(&mut random);
        let compact = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let views = [
            lineage(compact.as_bytes(), &[65_536]),
            lineage(compact.as_bytes(), &[1 + random.index(70), 1 + random.index(9)]),
            lineage(pretty.as_bytes(), &[4096]),
            LineageProjection.read(Cursor::unpruned(compact.as_bytes())).unwrap(),
            from_store(&compact),
        ];
        let places = reference::places(&value);
        compare_items(&value, &places, &mut random, &format!("seed {seed}"));
        for _ in 0..12.min(places.len()) {
            let start = &places[random.index(places.len())];
            compare(&views[random.index(views.len())], &value, start, &format!("seed {seed}"));
        }
    }
}
