//! The first value that differs, against a naive search through both bodies.

use n8n_lens::execution::compare::{ValueDifference, first_places, first_values};
use n8n_lens::execution::recording::{Recording, RecordingProjection};
use n8n_lens::execution::trace::ItemsProjection;
use n8n_lens::json::{Detail, Excerpt, Projection};
use serde_json::{Value, json};

use crate::random::Random;

fn recording(body: &str) -> Recording {
    RecordingProjection::of_values().read_from(body.as_bytes()).unwrap()
}

fn found(this: &str, other: &str, redacts: bool) -> Vec<ValueDifference> {
    let places = first_places(&recording(this), &recording(other), Some);
    let [here, there] = [(0, this), (1, other)].map(|(side, body)| {
        let places = places.iter().map(|place| place[side].clone()).collect();
        ItemsProjection { places, redacts }.read_from(body.as_bytes()).unwrap()
    });
    first_values(&places, &here, &there)
}

fn written(value: &Option<Excerpt>) -> Option<Value> {
    let mut text = String::new();
    value.as_ref()?.write(Detail::WHOLE, &mut text, &mut 0);
    serde_json::from_str(&text).ok()
}

/// Nodes of several runs, outputs and items; a lone surrogate is written as n8n writes it.
fn body(random: &mut Random) -> Value {
    let item = |random: &mut Random| {
        let text = random.pick(&["a", "é", "\u{1f600}", "LONE", ""]);
        json!({"json": {"id": random.below(1000), "list": [{"price": random.below(3)}, text], "a.b": null, "token": "s"}})
    };
    let mut nodes = serde_json::Map::new();
    // n8n's own order is the order of execution, not of names.
    for name in ["Z", "A", "constructor", "M \u{1f600}"] {
        let runs: Vec<_> = (0..1 + random.below(2))
            .map(|at| {
                let outputs: Vec<Vec<Value>> =
                    (0..1 + random.below(3)).map(|_| (0..random.below(4)).map(|_| item(random)).collect()).collect();
                json!({"executionIndex": at, "startTime": 1, "source": [], "executionStatus": "success", "data": {"main": outputs}})
            })
            .collect();
        nodes.insert(name.to_owned(), json!(runs));
    }
    json!({"id": "1", "data": {"resultData": {"runData": nodes}}})
}

fn text(body: &Value) -> String {
    body.to_string().replace("LONE", "\\ud83d")
}

/// The same with the members of items in another order, and with other escapes.
fn rewritten(body: &Value, random: &mut Random) -> String {
    fn turn(value: &mut Value, random: &mut Random) {
        match value {
            Value::Object(members) => {
                if random.one_in(2) {
                    *members = std::mem::take(members).into_iter().rev().collect();
                }
                members.values_mut().for_each(|value| turn(value, random));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|value| turn(value, random)),
            _ => {}
        }
    }
    let mut body = body.clone();
    for runs in body["data"]["resultData"]["runData"].as_object_mut().unwrap().values_mut() {
        turn(runs, random);
    }
    text(&body).replace('é', "\\u00e9").replace('\u{1f600}', "\\ud83d\\ude00")
}

#[test]
fn the_first_value_that_differs_is_found() {
    let mut random = Random(7);
    let mut judged = 0;
    for round in 0..300 {
        let other = body(&mut random);
        let mut this = other.clone();
        let mut expected = Vec::new();
        for (name, runs) in this["data"]["resultData"]["runData"].as_object_mut().unwrap() {
            let mut first = None;
            for (run, value) in runs.as_array_mut().unwrap().iter_mut().enumerate() {
                for (output, items) in value["data"]["main"].as_array_mut().unwrap().iter_mut().enumerate() {
                    for (at, item) in items.as_array_mut().unwrap().iter_mut().enumerate() {
                        if random.one_in(8) {
                            let old = item["json"]["list"][0]["price"].take();
                            let new = json!(old.as_u64().unwrap() + 10);
                            item["json"]["list"][0]["price"] = new.clone();
                            first = first.or(Some((name.clone(), run as u64, output as u64, at as u64, new, old)));
                        }
                    }
                }
            }
            expected.extend(first);
        }
        judged += expected.len();
        let other_text = if random.one_in(2) { rewritten(&other, &mut random) } else { text(&other) };
        let found = found(&text(&this), &other_text, false);
        let found = found.into_iter().map(|found| {
            assert_eq!(found.path, "list[0].price", "round {round}");
            let [new, old] = [&found.values.0, &found.values.1].map(|value| written(value).unwrap());
            (found.place.node, found.place.run, found.place.output, found.place.item, new, old)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "round {round}: {this} {other}");
    }
    assert!(judged > 200, "{judged}");
}

#[test]
fn members_that_only_one_has_and_secrets() {
    let of = |json: Value| {
        json!({"id": "1", "data": {"resultData": {"runData": {"A": [{"data": {"main": [[{"json": json}]]}}]}}}})
            .to_string()
    };
    let (one, two) = (of(json!({"a": 1, "b": {"c": [2]}})), of(json!({"a": 1})));
    let [added, removed] = [found(&one, &two, false), found(&two, &one, false)].map(|mut found| found.remove(0));
    assert_eq!(
        (added.path.as_str(), written(&added.values.0), written(&added.values.1)),
        ("b", Some(json!({"c": [2]})), None)
    );
    assert_eq!(
        (removed.path.as_str(), written(&removed.values.0), written(&removed.values.1)),
        ("b", None, Some(json!({"c": [2]})))
    );
    let secret = |value: &str| of(json!({"a": 1, "password": value}));
    assert_eq!(found(&secret("one"), &secret("two"), false).len(), 1);
    assert_eq!(found(&secret("one"), &secret("two"), true), []);
}
