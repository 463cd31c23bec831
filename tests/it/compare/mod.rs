//! The comparison: the digests against a reference, and the tool through the real binary.

mod reference;
mod tool;
mod values;

use n8n_lens::execution::StoredProjection;
use n8n_lens::execution::compare::{Comparison, Digest, DigestProjection, NodeDifference, Side, WorkflowDifference};
use n8n_lens::json::{Cursor, Projection};
use serde_json::{Map, Value, json};

use crate::fixtures;
use crate::flatten::{Share, stored};
use crate::projections::{Cut, pruned};
use crate::random::Random;

const DIGEST: DigestProjection = DigestProjection { redacts: false };

fn digest(body: &str, sizes: &[usize]) -> Digest {
    DIGEST.read(Cursor::over(pruned(DIGEST.pruner(), Cut::new(body.as_bytes(), sizes)))).unwrap()
}

fn from_store(body: &str) -> Digest {
    DIGEST.read_stored(stored(body, Share::Equal).revealed()).unwrap()
}

/// The difference in the reference's shape.
fn node(node: &NodeDifference) -> Value {
    let mut shown = json!({"nodeName": node.name});
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            shown[name] = value;
        }
    };
    put("only", node.only.map(|side| json!(if side == Side::This { "this" } else { "other" })));
    put("status", node.status.as_ref().map(|both| json!(both)));
    put("items", node.items.map(|both| json!(both)));
    put("outputs", node.outputs.as_ref().map(|both| json!(both)));
    put("runs", node.runs.map(|both| json!(both)));
    put("ms", node.ms.map(|both| json!(both)));
    let sorted = |paths: &[String]| {
        let mut paths = paths.to_vec();
        paths.sort();
        (!paths.is_empty()).then(|| json!(paths))
    };
    put("newFields", sorted(&node.new_fields));
    put("lostFields", sorted(&node.lost_fields));
    let mut fields = node.fields.clone();
    fields.sort_by(|one, other| one.path.cmp(&other.path));
    let fields = fields.iter().map(|field| {
        let types = [field.kinds.0.join("|"), field.kinds.1.join("|")];
        let mut shown = json!({"path": field.path, "types": types});
        if let Some(first) = &field.first {
            let value: Value = serde_json::from_str(&first.value).unwrap();
            let place = first.place;
            shown["first"] = json!({"run": place.run, "output": place.output, "item": place.item, "value": value});
        }
        shown
    });
    let fields: Vec<_> = fields.collect();
    put("fields", (!fields.is_empty()).then(|| json!(fields)));
    shown
}

fn compared(this: &Digest, other: &Digest) -> Value {
    let comparison = Comparison::new(this, other);
    let mut shown = json!({"same": comparison.same, "nodes": comparison.nodes.iter().map(node).collect::<Vec<_>>()});
    if let Some(workflow) = comparison.workflow {
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        // Nodes with the same name are compared in their order.
        let mut changed = workflow.changed;
        changed.sort_by(|one, other| one.name.cmp(&other.name));
        let changed = changed.into_iter().map(|mut node| {
            node.paths.sort_by(|one, other| one.path.cmp(&other.path));
            let paths = node.paths.iter().map(|changed| {
                let values = changed
                    .values
                    .as_ref()
                    .map(|(old, new)| [old, new].map(|value| serde_json::from_str::<Value>(value).unwrap()));
                json!({"path": changed.path, "values": values})
            });
            json!({"nodeName": node.name, "paths": paths.collect::<Vec<_>>()})
        });
        let lists = [
            ("changed", changed.collect::<Vec<_>>()),
            ("added", sorted(workflow.added).into_iter().map(Value::from).collect()),
            ("removed", sorted(workflow.removed).into_iter().map(Value::from).collect()),
        ];
        let mut members: Map<_, _> = lists
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .map(|(name, list)| (name.to_owned(), json!(list)))
            .collect();
        for (name, number) in [("cosmetic", workflow.cosmetic), ("defaults", workflow.defaults)] {
            if number > 0 {
                members.insert(name.to_owned(), number.into());
            }
        }
        if workflow.connections {
            members.insert("connections".to_owned(), true.into());
        }
        shown["workflow"] = members.into();
    }
    told(&mut shown);
    shown
}

/// The reference, without the values: a comparison shows only twelve of them.
fn truth(this: &Value, other: &Value) -> Value {
    let mut truth = reference::compare(this, other);
    told(&mut truth);
    truth
}

/// Removes the values of nodes with more than twelve changed settings.
fn told(comparison: &mut Value) {
    let nodes = comparison.get_mut("workflow").and_then(|workflow| workflow.get_mut("changed")?.as_array_mut());
    for paths in nodes.into_iter().flatten().filter_map(|node| node["paths"].as_array_mut()) {
        if paths.len() > 12 {
            paths.iter_mut().for_each(|path| path["values"] = Value::Null);
        }
    }
}

/// Removes what the reference does not support: files and errors of items, and redaction.
fn simplified(mut body: Value) -> Value {
    if let Some(data) = body["data"].as_object_mut() {
        data.remove("redactionInfo");
    }
    let nodes = body["data"]["resultData"]["runData"].as_object_mut().into_iter().flatten();
    let runs = nodes.filter_map(|(_, runs)| runs.as_array_mut()).flatten();
    let lists = runs.filter_map(|run| run.get_mut("data")?.as_object_mut()).flatten();
    let items = lists.filter_map(|(_, lists)| lists.as_array_mut()).flatten().filter_map(Value::as_array_mut).flatten();
    for item in items.filter_map(Value::as_object_mut) {
        item.retain(|name, _| name == "json" || name == "pairedItem");
    }
    body
}

/// Each fixture that is not too large for the reference.
fn bodies() -> Vec<(String, Value)> {
    let all = fixtures::executions().into_iter().filter(|(_, body)| body.len() < 200_000);
    all.map(|(name, body)| (name, simplified(fixtures::parse(&body)))).collect()
}

#[test]
fn the_comparison_agrees_with_the_reference_on_every_pair_of_neighbours() {
    let bodies = bodies();
    let mut compared_fields = 0;
    for (at, (name, this)) in bodies.iter().enumerate() {
        let mut random = Random(at as u64);
        let others = [&bodies[(at + 1) % bodies.len()].1, &changed(this.clone(), &mut random), this];
        for other in others {
            let [one, another] = [this, other].map(|body| digest(&body.to_string(), &[4096]));
            if one.is_partial() || another.is_partial() {
                continue;
            }
            let truth = truth(this, other);
            assert_eq!(compared(&one, &another), truth, "{name}");
            compared_fields += truth["nodes"].as_array().unwrap().iter().filter(|it| !it["fields"].is_null()).count();
        }
    }
    assert!(compared_fields > 20, "{compared_fields}");
}

#[test]
fn cuts_and_stores_change_nothing() {
    let bodies: Vec<_> = fixtures::executions()
        .into_iter()
        .filter(|(_, body)| body.len() < 35_000)
        .map(|(name, body)| (name, String::from_utf8(body).unwrap()))
        .collect();
    for ((name, this), (_, other)) in bodies.iter().zip(&bodies[1..]) {
        let other = digest(other, &[usize::MAX]);
        let truth = format!("{:?}", Comparison::new(&digest(this, &[usize::MAX]), &other));
        for (at, digest) in [digest(this, &[1]), digest(this, &[63, 2]), from_store(this)].iter().enumerate() {
            assert_eq!(format!("{:?}", Comparison::new(digest, &other)), truth, "{name}, {at}");
        }
    }
}

/// A change somewhere in a value.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(members) if !members.is_empty() && !random.one_in(4) => {
            let at = random.index(members.len());
            let name = members.keys().nth(at).unwrap().clone();
            match random.below(5) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(format!("new{}", random.below(3)), json!({"a": [1, {"b": null}]}))),
                _ => change(&mut members[&name], random),
            }
        }
        Value::Array(elements) if !elements.is_empty() && !random.one_in(4) => {
            let at = random.index(elements.len());
            match random.below(5) {
                0 => drop(elements.remove(at)),
                1 => elements.push(json!(random.below(3))),
                _ => change(&mut elements[at], random),
            }
        }
        other => {
            *other = random.pick(&["null", "true", "7", "\"7\"", "[]", "[1,\"x\"]", "{}", "{\"a\":1}"]).parse().unwrap()
        }
    }
}

/// Changes items, runs and settings of an execution.
fn changed(mut body: Value, random: &mut Random) -> Value {
    let nodes = body["data"]["resultData"]["runData"].as_object_mut().into_iter().flatten();
    for run in nodes.filter_map(|(_, runs)| runs.as_array_mut()).flatten().filter(|run| run.is_object()) {
        if random.one_in(4) {
            run["executionTime"] = random.below(1000).into();
        }
        if random.one_in(6) {
            run["executionStatus"] = random.pick(&["success", "error", "crashed", "waiting"]).into();
        }
        let lists = run.get_mut("data").and_then(Value::as_object_mut).into_iter().flatten();
        let lists = lists.filter_map(|(_, lists)| lists.as_array_mut()).flatten().filter_map(Value::as_array_mut);
        for items in lists {
            if random.one_in(4) && !items.is_empty() {
                items.remove(random.index(items.len()));
            }
            for item in items.iter_mut().filter_map(|item| item.get_mut("json")).filter(|json| json.is_object()) {
                let is_empty = item.as_object().is_some_and(Map::is_empty);
                if !is_empty && random.one_in(3) {
                    let name = item.as_object().unwrap().keys().next().unwrap().clone();
                    change(&mut item[&name], random);
                }
            }
        }
    }
    edit(&mut body["workflowData"], random);
    if random.one_in(3) {
        fill_in(&mut body["workflowData"], random);
    }
    if body["workflowData"]["connections"].is_object() && random.one_in(3) {
        change(&mut body["workflowData"]["connections"], random);
    }
    body
}

/// Edits nodes of a workflow; for some, only members that do not affect behaviour.
fn edit(workflow: &mut Value, random: &mut Random) {
    let uuid = |random: &mut Random| json!(format!("00000000-0000-4000-8000-{:012}", random.below(9)));
    let nodes = workflow["nodes"].as_array_mut().into_iter().flatten();
    for node in nodes.filter(|node| node["parameters"].is_object()) {
        if random.one_in(3) {
            change(&mut node["parameters"], random);
        }
        for member in ["position", "id", "webhookId", "typeVersion", "notes"] {
            if random.one_in(6) {
                node[member] = if member == "webhookId" { uuid(random) } else { json!(random.below(9)) };
            }
        }
        if random.one_in(9) {
            node["name"] = json!(random.pick(&["Renamed", "A", "B"]));
        }
        if let Some(element) = node["parameters"].pointer_mut("/assignments/assignments/0")
            && element.is_object()
            && random.one_in(2)
        {
            element["id"] = uuid(random);
        }
        if let Some(elements) = node["parameters"].get_mut("list").and_then(Value::as_array_mut) {
            for element in elements.iter_mut().filter(|element| element.is_object()) {
                element["id"] = if random.one_in(2) { uuid(random) } else { json!(random.below(3)) };
            }
        }
    }
}

/// Fills in default parameters of most nodes, as n8n does when it executes a workflow.
fn fill_in(workflow: &mut Value, random: &mut Random) {
    const DEFAULTS: [(&str, &str); 7] = [
        ("notice", "\"\""),
        ("options", "{}"),
        ("method", "\"GET\""),
        ("sendBody", "false"),
        ("limit", "50"),
        ("folder", "{\"__rl\":true,\"mode\":\"list\",\"value\":\"\"}"),
        ("rule", "{\"interval\":[{\"field\":\"days\"}]}"),
    ];
    for node in workflow["nodes"].as_array_mut().into_iter().flatten() {
        let Some(parameters) = node["parameters"].as_object_mut().filter(|_| !random.one_in(6)) else { continue };
        for (name, default) in DEFAULTS {
            if !random.one_in(3) {
                parameters.entry(name).or_insert_with(|| default.parse().unwrap());
            }
        }
        for element in parameters.get_mut("list").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(element) = element.as_object_mut() {
                element.entry("order").or_insert_with(|| "ascending".into());
            }
        }
    }
}

/// Parameters with lists whose elements have ids.
fn parameters(random: &mut Random) -> Value {
    let mut parameters = value(random, 0);
    if parameters.is_object() && random.one_in(2) {
        let id = |at: u64| format!("00000000-0000-4000-8000-{at:012}");
        parameters["assignments"] = json!({"assignments": [{"id": id(1), "name": "total", "value": value(random, 2)}]});
        parameters["list"] = json!([{"id": id(2), "value": value(random, 2)}, {"id": 3}]);
    }
    parameters
}

fn value(random: &mut Random, depth: u64) -> Value {
    match random.below(if depth > 2 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.one_in(2)),
        2 => json!(random.below(5)),
        3 => json!("漢字 é \" text ".repeat(random.index(12))),
        4 if random.one_in(2) => {
            json!("a text that ends differently ".repeat(8) + random.pick(&["x", "y", "z, and on"]))
        }
        4 => json!([]),
        5 => (0..random.below(3)).map(|_| value(random, depth + 1)).collect(),
        _ => {
            let members = (0..random.below(4)).map(|_| random.pick(&["a", "b", "c", "long name"]).to_owned());
            let names: Vec<_> = members.collect();
            names.into_iter().map(|name| (name, value(random, depth + 1))).collect::<Map<_, _>>().into()
        }
    }
}

fn run(random: &mut Random, index: u64) -> Value {
    let kind = random.pick(&["main", "main", "main", "ai_tool"]);
    let lists = (0..1 + random.below(3)).map(|_| match random.below(8) {
        0 => Value::Null,
        _ => (0..random.below(4)).map(|_| json!({"json": {"a": value(random, 0), "b": value(random, 1)}})).collect(),
    });
    let lists: Vec<_> = lists.collect();
    let mut run = json!({"data": {kind: lists}, "executionTime": random.below(400), "executionStatus": random.pick(&["success", "success", "error"])});
    if random.one_in(3) {
        run["data"]["ai_memory"] = json!([[{"json": {"c": 1}}]]);
    }
    if !random.one_in(4) {
        run["executionIndex"] = index.into();
    }
    if random.one_in(6) {
        run["error"] = random.pick(&["null", "{\"message\":\"x\"}", "\"x\""]).parse().unwrap();
    }
    run
}

/// Any execution: several outputs, AI connections, loops, errors, edited workflows.
fn execution(random: &mut Random) -> Value {
    let mut runs: Vec<(&str, Value)> = Vec::new();
    for name in ["A", "B", "C", "D", "E", "F"] {
        if !random.one_in(4) {
            let list = (0..1 + random.below(3)).map(|_| random.below(9)).collect::<Vec<_>>();
            runs.push((name, list.into_iter().map(|index| run(random, index)).collect()));
        }
    }
    let nodes = ["A", "B", "C", "D", "A", "B"].map(|name| {
        json!({"name": name, "id": random.below(9), "type": random.pick(&["x", "n8n-nodes-base.stickyNote", "y"]),
            "typeVersion": 1, "parameters": parameters(random), "position": [random.below(9)]})
    });
    let nodes: Vec<_> = nodes.into_iter().filter(|_| !random.one_in(4)).collect();
    let runs: Map<_, _> = runs.into_iter().map(|(name, runs)| (name.to_owned(), runs)).collect();
    json!({"id": "7", "status": "success", "data": {"resultData": {"runData": runs}},
        "workflowData": {"nodes": nodes, "connections": {"A": {"main": [[{"node": "B", "index": random.below(2)}], []]}}}})
}

#[test]
fn the_comparison_agrees_with_the_reference_on_generated_pairs() {
    for seed in 0..250 {
        let mut random = Random(seed);
        let this = execution(&mut random);
        let other = if random.one_in(3) { execution(&mut random) } else { changed(this.clone(), &mut random) };
        let (compact, pretty) = (this.to_string(), serde_json::to_string_pretty(&other).unwrap());
        let sizes = [1 + random.index(70), 1 + random.index(9)];
        let this_digest = if random.one_in(2) { from_store(&compact) } else { digest(&compact, &sizes) };
        // Values are shown verbatim.
        let truth = truth(&this, &other);
        assert_eq!(compared(&this_digest, &digest(&pretty, &[4096])), truth, "seed {seed}");
        let unpruned = DIGEST.read(Cursor::unpruned(compact.as_bytes())).unwrap();
        assert_eq!(compared(&unpruned, &digest(&other.to_string(), &sizes)), truth, "seed {seed}, unpruned");
    }
}

#[test]
fn too_many_paths_and_too_large_items_are_not_taken_for_lost() {
    let body = |paths: usize, bytes: usize| {
        let json: Map<_, _> = (0..paths).map(|at| (format!("a{at}"), json!(1))).collect();
        let items = [json!({"json": json}), json!({"json": {"large": "x".repeat(bytes)}})];
        json!({"id": "1", "data": {"resultData": {"runData": {"A": [{"data": {"main": [items]}}]}}}}).to_string()
    };
    for (this, other) in [(body(500, 1), body(399, 1)), (body(5, 2_000_000), body(5, 10)), (body(390, 9), body(500, 9))]
    {
        let [this, other] = [this, other].map(|body| digest(&body, &[65_536]));
        assert!(this.is_partial() || other.is_partial());
        let comparison = Comparison::new(&this, &other);
        assert_eq!(comparison.nodes.len() + usize::try_from(comparison.same).unwrap(), 1);
        for node in &comparison.nodes {
            assert!(!this.is_partial() || node.lost_fields.is_empty(), "{node:?}");
            assert!(!other.is_partial() || node.new_fields.is_empty(), "{node:?}");
        }
    }
    // All nodes together have too many paths.
    let nodes: Map<_, _> = (0..60)
        .map(|node| {
            let json: Map<_, _> = (0..300).map(|at| (format!("{node} {at} {}", "x".repeat(90)), json!(1))).collect();
            (format!("N{node}"), json!([{"data": {"main": [[{"json": json}]]}}]))
        })
        .collect();
    let body = json!({"id": "1", "data": {"resultData": {"runData": nodes}}}).to_string();
    let digest = digest(&body, &[65_536]);
    assert!(digest.is_partial());
    assert_eq!(Comparison::new(&digest, &digest).same, 60);
}

#[test]
fn settings_and_connections_are_compared_by_what_they_mean() {
    let body = |nodes: &str, connections: &str| {
        digest(
            &format!(r#"{{"id":"1","data":{{}},"workflowData":{{"nodes":[{nodes}],"connections":{connections}}}}}"#),
            &[7],
        )
    };
    let node = |more: &str| format!(r#"{{"name":"A","type":"t","parameters":{{{more}}}}}"#);
    let workflow = |this: &Digest, other: &Digest| Comparison::new(this, other).workflow;
    let paths = |this: &str, other: &str| {
        let difference = workflow(&body(&node(this), "{}"), &body(&node(other), "{}"));
        let changed = difference.map(|it| it.changed).unwrap_or_default();
        changed.into_iter().flat_map(|node| node.paths).map(|changed| changed.path).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(paths(r#""a":[{"x":1},{"x":2}]"#, r#""a":[{"x":2},{"x":1}]"#), ["parameters.a[].x"]);
    assert_eq!(paths(r#""a":[{"x":1,"y":0},{"y":0}]"#, r#""a":[{"y":0},{"x":1,"y":0}]"#), ["parameters.a[].x"]);
    assert_eq!(paths(r#""a":[[1],[2]]"#, r#""a":[[1,2]]"#), ["parameters.a[][]"]);
    assert_eq!(paths(r#""a":1"#, r#""a":"1""#), ["parameters.a"]);
    assert_eq!(paths(r#""a":{"b":1,"c":2}"#, r#""a":[]"#), ["parameters.a"]);
    assert_eq!(paths(r#""a":1,"b":"caf\u00e9""#, r#" "b" : "café", "a":1"#), none);
    // Members that do not affect what a workflow does.
    let one = body(&node(""), r#"{"A":{"main":[[{"node":"B"}]]}}"#);
    let note = r#"{"name":"Note","type":"n8n-nodes-base.stickyNote","parameters":{"content":"x"}}"#;
    let moved = r#"{"position":[1,2],"notes":"x","id":"2","name":"A","type":"t","parameters":{}}"#;
    let same = r#"{"C":{"main":[[]]},"A":{"main":[[{"node":"B"}],[]]}}"#;
    let moved = workflow(&one, &body(&format!("{note},{moved}"), same)).unwrap();
    assert_eq!(moved, WorkflowDifference { cosmetic: 3, ..WorkflowDifference::default() });
    let other_output = body(&node(""), r#"{"A":{"main":[[],[{"node":"B"}]]}}"#);
    assert!(workflow(&one, &other_output).is_some_and(|it| it.connections && it.changed.is_empty()));
    // A node of more than 64 KB, and one of more than 1 MiB.
    let large = |bytes: usize| body(&node(&format!(r#""code":"{}""#, "x".repeat(bytes))), "{}");
    assert_eq!(workflow(&large(100_000), &large(100_001)).unwrap().changed[0].paths[0].path, "parameters.code");
    let unread = large(1_100_000);
    assert_eq!((unread.unread_parts(), workflow(&unread, &large(1))), (1, None));
}

#[test]
fn edited_settings_are_told_with_their_values() {
    let node = |name: &str, more: &str| format!(r#"{{"name":"{name}","type":"t","typeVersion":3,{more}}}"#);
    let body = |nodes: &[String], redacts: bool| {
        let text =
            format!(r#"{{"id":"1","data":{{}},"workflowData":{{"nodes":[{}],"connections":{{}}}}}}"#, nodes.join(","));
        let digest = DigestProjection { redacts };
        digest.read(Cursor::over(pruned(digest.pruner(), Cut::new(text.as_bytes(), &[9])))).unwrap()
    };
    let compare = |this: &[String], other: &[String], redacts: bool| {
        Comparison::new(&body(this, redacts), &body(other, redacts)).workflow.unwrap_or_default()
    };
    let values = |this: &str, other: &str, redacts: bool| {
        let difference = compare(&[node("A", this)], &[node("A", other)], redacts);
        let changed = difference.changed.into_iter().flat_map(|node| node.paths);
        changed.map(|it| (it.path, it.values.unwrap())).collect::<Vec<_>>()
    };
    let told = |path: &str, old: &str, new: &str| (path.to_owned(), (old.to_owned(), new.to_owned()));
    let parameters = |more: &str| format!(r#""parameters":{{{more}}}"#);
    let (this, other) = (
        parameters(r#""url":"b","a":[1,2,4],"options":{"timeout":5}"#),
        parameters(r#""url":"a","a":[1,2,3],"options":{}"#),
    );
    assert_eq!(
        values(&this, &other, false),
        [
            told("parameters.url", "\"a\"", "\"b\""),
            told("parameters.a[]", "3", "4"),
            told("parameters.options.timeout", "null", "5")
        ]
    );
    // Long values are cut, secrets masked on request.
    let long = parameters(&format!(r#""code":"{}""#, "é".repeat(500)));
    let told_of_long = values(&long, &parameters(r#""code":[]"#), false);
    assert_eq!(told_of_long, [told("parameters.code", "[]", &format!("\"{}…[+380 chars]\"", "é".repeat(120)))]);
    // The difference is shown wherever it is.
    let code = |end: &str| parameters(&format!(r#""code":"{}{end}""#, "0123456789".repeat(30)));
    let ends = |end: &str| format!("\"…{}{end}\"", "0123456789".repeat(3));
    assert_eq!(values(&code("b;"), &code("a;"), false), [told("parameters.code", &ends("a;"), &ends("b;"))]);
    let header =
        |value: &str| parameters(&format!(r#""headers":[{{"name":"Authorization","value":"{value}"}}],"n":1"#));
    let masked = values(&header("new"), &header("old"), true);
    assert_eq!(masked, [told("parameters.headers[].value", "\"[redacted]\"", "\"[redacted]\"")]);
    // Which credentials a node uses is not shown, only that they differ.
    let uses = |id: &str| node("A", &format!(r#""credentials":{{"httpBasicAuth":{{"id":"{id}","name":"n{id}"}}}}"#));
    let difference = compare(&[uses("1")], &[uses("2")], false);
    let paths: Vec<_> =
        difference.changed.iter().flat_map(|node| &node.paths).map(|it| (&*it.path, &it.values)).collect();
    assert_eq!(paths, [("credentials.httpBasicAuth.id", &None), ("credentials.httpBasicAuth.name", &None)]);
    // Versions of nodes that changed nothing else, and ids that the editor generates.
    let versions = |this: &str, other: &str| {
        let difference = compare(&[node("A", this).replace(":3", ":4")], &[node("A", other)], false);
        (difference.cosmetic, difference.changed.iter().map(|node| node.paths.len()).sum::<usize>())
    };
    assert_eq!(versions(&parameters(""), &parameters("")), (1, 0));
    assert_eq!(versions(&parameters(r#""a":1"#), &parameters(r#""a":2"#)), (0, 2));
    let ids = |id: &str| {
        parameters(&format!(r#""assignments":{{"assignments":[{{"id":"{id}","name":"x"}}]}}"#))
            + &format!(r#","webhookId":"{id}""#)
    };
    let difference = compare(&[node("A", &ids("1"))], &[node("A", &ids("2"))], false);
    assert_eq!(difference, WorkflowDifference { cosmetic: 2, ..WorkflowDifference::default() });
    // Each of several nodes with the same name has its counterpart.
    let twice = |first: &str| [node("A", &parameters(first)), node("A", &parameters(r#""a":1"#))];
    assert_eq!(compare(&twice(r#""a":0"#), &twice(r#""a":1"#), false).changed.len(), 1);
}

/// Executions have all default parameters, saved workflows do not.
#[test]
fn defaults_that_n8n_fills_in_are_no_edits() {
    let body = |nodes: &Value| {
        let text = json!({"id": "1", "data": {}, "workflowData": {"nodes": nodes, "connections": {}}}).to_string();
        digest(&text, &[4096])
    };
    let compare = |this: &Value, other: &Value| Comparison::new(&body(this), &body(other)).workflow;
    let mut compared = 0;
    for (name, execution) in bodies() {
        let filled = execution["workflowData"]["nodes"].clone();
        // The editor saves neither notices, nor empty values, nor the most common choices.
        let mut saved = filled.clone();
        let (mut removed, mut empty) = (0, 0);
        for parameters in
            saved.as_array_mut().into_iter().flatten().filter_map(|node| node["parameters"].as_object_mut())
        {
            let before = parameters.len();
            empty += parameters.values().filter(|value| [json!(""), json!(false), json!({})].contains(value)).count();
            let defaults = ["", "GET", "manual", "none", "onReceived", "append", "javaScript"].map(Value::from);
            parameters.retain(|_, value| ![json!(false), json!({})].contains(value) && !defaults.contains(value));
            removed += before - parameters.len();
        }
        // One empty parameter is not enough to distinguish a workflow that is filled in from one that was edited.
        if empty < 2 {
            continue;
        }
        compared += 1;
        for (this, other) in [(&filled, &saved), (&saved, &filled)] {
            let difference = compare(this, other).unwrap();
            assert_eq!(
                difference,
                WorkflowDifference { defaults: removed as u64, ..WorkflowDifference::default() },
                "{name}"
            );
        }
        // An edit shows up in addition to them.
        let mut edited = saved.clone();
        edited[0]["parameters"]["path"] = json!("another");
        assert_eq!(compare(&filled, &edited).unwrap().changed.len(), 1, "{name}");
    }
    assert!(compared > 8, "{compared}");
    // An option that is added to one node is an edit.
    let node = |name: &str, parameters: Value| json!({"name": name, "type": "t", "parameters": parameters});
    let nodes = |first: Value| json!([node("A", first), node("B", json!({"x": 1})), node("C", json!({"x": 1}))]);
    let difference = compare(&nodes(json!({"x": 1, "on": false})), &nodes(json!({"x": 1}))).unwrap();
    assert_eq!((difference.changed.len(), difference.defaults), (1, 0));
}
