//! The projections against the oracle: every fixture, every node and run, every way to split a body into chunks.

use std::ops::Range;

use n8n_lens::execution::ErrorItems;
use n8n_lens::execution::node::{NodeProjection, NodeView};
use n8n_lens::execution::summary::{Summary, SummaryProjection};
use n8n_lens::json::{Batch, Cursor, Projection, Pruner, shorten_name};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_by_node;
use n8n_lens::tools::executions::get_execution_by_node::NodeQuery;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{fixtures, oracle};

/// A body in chunks of the given sizes, repeated.
pub(crate) struct Cut<'a> {
    body: &'a [u8],
    sizes: Vec<usize>,
    at: usize,
}

impl<'a> Cut<'a> {
    pub(crate) fn new(body: &'a [u8], sizes: &[usize]) -> Self {
        Self { body, sizes: sizes.to_vec(), at: 0 }
    }
}

impl Iterator for Cut<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let size = self.sizes[self.at % self.sizes.len()].min(self.body.len());
        self.at += 1;
        let (piece, rest) = self.body.split_at(size);
        self.body = rest;
        (size > 0).then(|| piece.to_vec())
    }
}

/// The batches of a body that is fed in chunks.
pub(crate) fn pruned(mut pruner: Pruner, pieces: Cut) -> impl Iterator<Item = std::io::Result<Batch>> {
    let mut batches = Vec::new();
    for piece in pieces {
        batches.push(pruner.feed(&piece).map_err(std::io::Error::other));
        if batches.last().is_some_and(Result::is_err) {
            return batches.into_iter();
        }
    }
    batches.push(pruner.finish().map_err(std::io::Error::other));
    batches.into_iter()
}

fn read_in_pieces<P: Projection>(projection: &P, body: &[u8], sizes: &[usize]) -> P::View {
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes))))
}

pub(crate) fn summary_of(body: &[u8], sizes: &[usize]) -> Summary {
    read_in_pieces(&SummaryProjection, body, sizes).unwrap()
}

fn request(node: &str, run: Option<usize>, offset: usize, limit: usize) -> NodeProjection {
    let window = offset as u64..(offset + limit) as u64;
    NodeProjection { node: node.to_owned(), run: run.map(|run| run as u64), window, sources: None }
}

fn node_of(body: &[u8], sizes: &[usize], projection: &NodeProjection) -> NodeView {
    read_in_pieces(projection, body, sizes).unwrap()
}

fn shown_errors(errors: &ErrorItems) -> Value {
    let first = &errors.first;
    let mut shown = json!({"count": errors.count});
    for (key, index) in [("run", first.run), ("output", first.output)] {
        if index > 0 {
            shown[key] = index.into();
        }
    }
    shown["item"] = first.item.into();
    shown["message"] = first.message.cut(120).0.into_owned().into();
    shown
}

/// The summary without a budget, in the oracle's shape.
pub(crate) fn shown(summary: &Summary) -> Value {
    let header = &summary.header;
    let text = |text: &Option<n8n_lens::json::Prefix>| text.as_ref().map(|text| text.cut(300).0.into_owned());
    let nodes = summary.nodes.iter().map(|node| {
        let mut shown = json!({"nodeName": node.name, "nodeType": node.node_type.as_deref().unwrap_or("unknown"), "status": node.status});
        if node.is_sub_node {
            shown["calls"] = node.runs.into();
        } else {
            shown["items"] = node.items.into();
            if node.runs != 1 {
                shown["runs"] = node.runs.into();
            }
            if let Some(taken) = node.taken.filter(|taken| *taken > 0 && *taken != node.items) {
                shown["in"] = taken.into();
            }
        }
        for (key, numbers) in [("outputs", &node.outputs), ("unconnected", &node.unconnected)] {
            if !numbers.is_empty() {
                shown[key] = json!(numbers);
            }
        }
        if let Some(errors) = &node.error_items {
            shown["errorItems"] = shown_errors(errors);
        }
        if node.empty_runs > 0 {
            shown["emptyRuns"] = node.empty_runs.into();
        }
        if node.copied_runs > 0 {
            shown["copiedRuns"] = node.copied_runs.into();
        }
        let more = node.children.total - node.children.ids.len() as u64;
        let more = (more > 0).then(|| format!("…[+{more}]"));
        let children: Vec<_> = node.children.ids.iter().cloned().chain(more).collect();
        if !children.is_empty() {
            shown["subExecutions"] = json!(children);
        }
        shown
    });
    let nodes: Vec<_> = nodes.collect();
    let count = |status: &str| nodes.iter().filter(|node| node["status"] == status).count();
    let mut shown = json!({
        "id": header.id, "workflowId": header.workflow_id,
        "workflowName": summary.workflow_name.as_deref().filter(|name| !name.is_empty()).unwrap_or("Unknown Workflow"),
        "status": header.status, "startedAt": header.started_at, "stoppedAt": header.stopped_at,
        "duration": header.duration(), "mode": header.mode,
    });
    let relations =
        [("retryOf", &header.retry_of), ("retrySuccessId", &header.retry_success_id), ("waitTill", &header.wait_till)];
    for (key, value) in relations {
        if let Some(value) = value {
            shown[key] = value.as_str().into();
        }
    }
    if let Some(parent) = &summary.parent {
        shown["parentExecution"] = json!({"id": parent.id, "workflowId": parent.workflow_id});
    }
    shown["statistics"] = json!({
        "totalNodes": summary.total_nodes, "executedNodes": nodes.len(), "successfulNodes": count("success"),
        "failedNodes": summary.nodes.iter().filter(|node| node.failed_runs > 0).count(),
        "totalItemsProcessed": summary.processed(),
    });
    if let Some(error) = &summary.error {
        let members = [
            ("nodeName", error.node_name.clone()),
            ("name", text(&error.name)),
            ("message", text(&error.message)),
            ("description", text(&error.description)),
            ("httpCode", error.http_code.clone()),
        ];
        let members = members.into_iter().filter(|(_, value)| value.is_some());
        shown["error"] =
            members.map(|(name, value)| (name.to_owned(), json!(value))).collect::<serde_json::Map<_, _>>().into();
    }
    shown["availableNodes"] = nodes.into();
    shown
}

/// The node tool's `data`, with a budget that clips as little as possible.
fn answered(view: &NodeView, request: NodeProjection, output: Option<usize>) -> Result<Value, String> {
    let output = output.map(|output| output as u64);
    let question = NodeQuery { output, locale: Locale::Ja, ..NodeQuery::new(request, 10_000_000) };
    let answer = get_execution_by_node::answer(view, None, &question).map_err(|error| error.to_string())?;
    let mut answer: Value = serde_json::from_str(&answer).unwrap();
    Ok(answer["data"].take())
}

/// Normalizes an answer for comparison: without members that the oracle does not produce, namely labels, and what was left out.
fn normal(mut data: Value) -> Value {
    if let Some(data) = data.as_object_mut() {
        data.shift_remove("truncated");
    }
    for output in data["output"]["outputs"].as_array_mut().into_iter().flatten() {
        output.as_object_mut().unwrap().shift_remove("label");
    }
    data
}

pub(crate) fn assert_same(ours: &Value, truth: &Value, what: &str) {
    // Compared as text, including the order of keys.
    let (ours, truth) = (ours.to_string(), truth.to_string());
    if ours != truth {
        let differs = ours.bytes().zip(truth.bytes()).take_while(|(one, other)| one == other).count();
        let around = |text: &str| {
            let from = text.floor_char_boundary(differs.saturating_sub(200));
            text[from..text.ceil_char_boundary((differs + 200).min(text.len()))].to_owned()
        };
        panic!("{what}\nours:  {}\ntruth: {}", around(&ours), around(&truth));
    }
}

const SIZES: [usize; 7] = [1, 2, 7, 63, 64, 65, 65_536];

/// Small enough for chunks of one byte.
const SMALL: usize = 300_000;

#[test]
fn the_summary_agrees_with_the_oracle_on_every_fixture() {
    compare_summaries(fixtures::executions());
}

/// Compares summaries with the oracle, however the bodies are cut.
fn compare_summaries(bodies: Vec<(String, Vec<u8>)>) {
    for (name, body) in bodies {
        let truth = oracle::summary(&fixtures::parse(&body));
        for size in SIZES {
            if body.len() < SMALL || size >= 63 {
                assert_same(&shown(&summary_of(&body, &[size])), &truth, &format!("{name} in pieces of {size}"));
            }
        }
    }
}

#[test]
fn the_node_view_agrees_with_the_oracle_for_every_node_and_run() {
    compare_every_run(0..60_000);
}

/// Compares every run of every node of all executions with this many bytes with the oracle.
fn compare_every_run(bytes: Range<usize>) {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| bytes.contains(&body.len())) {
        let value = fixtures::parse(&body);
        for (node, runs) in oracle::nodes(&value) {
            for run in (0..runs).map(Some).chain([None]) {
                let request = request(&node, run, 0, 50);
                let truth = oracle::node(&value, &node, run, None, 0, 50);
                let ours = answered(&node_of(&body, &[65_536], &request), request, None).unwrap();
                assert_same(&normal(ours), &truth, &format!("{name}, {node:?}, run {run:?}"));
            }
        }
    }
}

#[test]
fn the_node_view_agrees_with_the_oracle_however_the_body_is_chunked() {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 35_000) {
        let value = fixtures::parse(&body);
        for (node, _) in oracle::nodes(&value) {
            let truth = oracle::node(&value, &node, None, None, 0, 50);
            for size in SIZES {
                let request = request(&node, None, 0, 50);
                let ours = answered(&node_of(&body, &[size], &request), request, None).unwrap();
                assert_same(&normal(ours), &truth, &format!("{name}, {node:?}, in pieces of {size}"));
            }
        }
    }
}

#[test]
fn windows_and_single_outputs_agree_with_the_oracle() {
    windows_agree(&["e_loop_25", "d_branches_merge", "h_binary", "v1/d_branches_merge"]);
}

fn windows_agree(names: &[&str]) {
    for name in names {
        let body = fixtures::execution(name);
        let value = fixtures::parse(&body);
        for (node, _) in oracle::nodes(&value) {
            for (offset, limit) in [(0, 1), (1, 3), (20, 50), (1000, 7)] {
                for output in [None, Some(0)] {
                    let request = request(&node, None, offset, limit);
                    let truth = oracle::node(&value, &node, None, output, offset, limit);
                    let ours = answered(&node_of(&body, &[4096], &request), request, output).unwrap();
                    assert_same(&normal(ours), &truth, &format!("{name}, {node:?}, {offset}+{limit} of {output:?}"));
                }
            }
        }
    }
}

#[test]
fn the_length_of_a_long_string_is_exact_though_its_rest_is_not_kept() {
    // Seven characters of one to four bytes; of the escapes, one is a surrogate pair, and one is half of one.
    let unit = r"aé漢😀\n\ud83d\ude00\ud83d";
    let count = 150_000;
    for (before, after, more) in [("", "", 0), ("x", "é", 2), ("é", r"\uffff12", 4), ("", "\u{ffff}7", 2)] {
        let text = format!("{before}{}{after}", unit.repeat(count));
        let main = format!(r#"[[{{"json":{{"text":"{text}","n":1}}}}]]"#);
        let body =
            format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{"N":[{{"data":{{"main":{main}}}}}]}}}}}}}}"#);
        let request = request("N", None, 0, 50);
        for sizes in [&[65_536][..], &[1_000], &[61, 4_099]] {
            let mut left = 0;
            let batches = pruned(request.pruner(), Cut::new(body.as_bytes(), sizes));
            let counted = batches.inspect(|batch| left += batch.as_ref().map_or(0, |batch| batch.text.len()));
            let view = request.read(Cursor::over(counted)).unwrap();
            let answer = answered(&view, request.clone(), None).unwrap();
            let shown = answer["output"]["items"][0]["json"]["text"].as_str().unwrap();
            let (kept, rest) = shown.split_once("…[+").expect("it is clipped");
            let rest: usize = rest.strip_suffix(" chars]").unwrap().parse().unwrap();
            assert_eq!(kept.chars().count() + rest, 7 * count + more, "{before:?} {after:?} in {sizes:?}");
            assert!(left < text.len() * 3 / 4, "{left} bytes of {}", text.len());
        }
    }
}

/// `value` with the members of every object below `data` and `workflowData` in a different order.
fn reordered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev().map(|(name, value)| {
                let items = name == "json" || name == "parameters";
                (name.clone(), if items { value.clone() } else { reordered(value) })
            });
            Value::Object(members.collect())
        }
        Value::Array(elements) => elements.iter().map(reordered).collect(),
        value => value.clone(),
    }
}

#[test]
fn the_order_of_keys_does_not_matter() {
    compare_reordered(0..60_000);
}

/// Compares all executions with this many bytes, their members in another order, with the oracle.
fn compare_reordered(bytes: Range<usize>) {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| bytes.contains(&body.len())) {
        let value = reordered(&fixtures::parse(&body));
        let body = value.to_string().into_bytes();
        assert_same(&shown(&summary_of(&body, &[65_536])), &oracle::summary(&value), &name);
        for (node, _) in oracle::nodes(&value) {
            let request = request(&node, None, 0, 50);
            let truth = oracle::node(&value, &node, None, None, 0, 50);
            let ours = answered(&node_of(&body, &[65_536], &request), request, None).unwrap();
            assert_same(&normal(ours), &truth, &format!("{name}, {node:?}"));
        }
    }
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    let body = br#"{"id":"1","id":"2","status":"error","status":"success","data":{"resultData":{"runData":{"A":[]}}},
        "data":{"resultData":{"runData":{"B":[{"executionStatus":"error"}],"B":[{"executionStatus":"success","executionIndex":0,
        "data":{"main":[[{"json":{"a":1,"a":2}}]]}}]}}},"workflowData":{"name":"x","nodes":[]}}"#;
    let summary = shown(&summary_of(body, &[7]));
    assert_eq!(summary, oracle::summary(&serde_json::from_slice(body).unwrap()));
    let request = request("B", None, 0, 50);
    let ours = answered(&node_of(body, &[7], &request), request, None).unwrap();
    assert_eq!(ours["output"]["items"], json!([{"json": {"a": 2}}]));
}

#[test]
fn an_evicted_producer_is_found_in_a_second_pass() {
    // Forty nodes of 50 kB between a producer and its consumer: more than the reader holds.
    let item = |text: &str| json!({"json": {"text": text}});
    let run = |source: Value, items: Vec<Value>| json!([{"startTime": 1, "executionTime": 1, "executionIndex": 0, "source": source, "executionStatus": "success", "data": {"main": [items]}}]);
    let mut nodes = serde_json::Map::new();
    nodes.insert("First".to_owned(), run(json!([]), vec![item("wanted"), item("too")]));
    for at in 0..40 {
        nodes.insert(format!("Between {at}"), run(json!([]), vec![item(&"x".repeat(50_000))]));
    }
    nodes.insert("Last".to_owned(), run(json!([{"previousNode": "First"}]), vec![item("out")]));
    let value = json!({"id": "1", "status": "success", "data": {"resultData": {"runData": nodes}}, "workflowData": {"name": "w", "nodes": []}});
    let body = value.to_string().into_bytes();
    let request = request("Last", None, 0, 50);
    let view = node_of(&body, &[65_536], &request);
    assert_eq!(view.node.as_ref().unwrap().missing.len(), 1, "the producer should not fit into memory");
    let again = request.second_pass(&view).unwrap();
    let view = node_of(&body, &[65_536], &again);
    let ours = answered(&view, again, None).unwrap();
    assert_same(&normal(ours), &oracle::node(&value, "Last", None, None, 0, 50), "the second pass");
}

#[test]
fn a_node_that_feeds_itself_keeps_its_input_in_a_second_pass() {
    let items = |text: &str| (0..50).map(|i| json!({"json": {"i": i, "text": text}})).collect::<Vec<_>>();
    let run = |sources: Value, items: Vec<Value>| json!({"source": sources, "executionStatus": "success", "data": {"main": [items]}});
    let body = json!({"id": "1", "status": "success", "data": {"resultData": {"runData": {
        "B": [run(json!([]), items("b"))],
        "Filler 1": [run(json!([]), items(&"x".repeat(9000)))],
        "Filler 2": [run(json!([]), items(&"y".repeat(9000)))],
        "A": [run(json!([]), items(&"a".repeat(9000))), run(json!([{"previousNode": "A"}, {"previousNode": "B"}]), items("out"))],
    }}}});
    let body = body.to_string().into_bytes();
    let request = request("A", Some(1), 0, 50);
    let view = node_of(&body, &[65_536], &request);
    let again = request.second_pass(&view).expect("B was dropped in the first pass");
    let ours = answered(&node_of(&body, &[65_536], &again), again, None).unwrap();
    let totals: Vec<_> =
        ours["input"]["sources"].as_array().unwrap().iter().map(|source| source["total"].clone()).collect();
    assert_eq!(totals, [50, 50]);
}

#[test]
fn an_error_can_be_a_string() {
    let body =
        br#"{"id":"1","status":"error","data":{"resultData":{"error":"boom","runData":{"S":[{"error":"bang"}]}}}}"#;
    let value = serde_json::from_slice(body).unwrap();
    assert_same(&shown(&summary_of(body, &[7])), &oracle::summary(&value), "the summary");
    let request = request("S", None, 0, 50);
    let ours = answered(&node_of(body, &[7], &request), request, None).unwrap();
    assert_eq!(ours["error"], json!({"message": "bang"}));
    assert_eq!(ours["status"], "error");
}

#[test]
fn the_exact_name_wins_over_a_shortened_one() {
    let body = r#"{"id":"1","data":{"resultData":{"runData":{"foo…[+3 chars]":[{}],"foobar":[{},{}]}}}}"#.as_bytes();
    for (asked, runs) in [("foo…[+3 chars]", 1), ("foobar", 2), ("foob…[+2 chars]", 2)] {
        let request = request(asked, None, 0, 50);
        assert_eq!(node_of(body, &[9], &request).node.unwrap().runs, runs, "{asked}");
    }
}

#[test]
fn lone_surrogates_are_shown_lossily() {
    let body = r#"{"id":"1","status":"success","data":{"resultData":{"runData":{"\ud83d N":[{"data":{"main":[[{"json":
        {"a":"x\ud83dy","b":"\udc00","c":"\ud83d\ud83d\ude00","k\ud800":"\uD83D\uDE00\\ud83d"}}]]}}]}}}}"#;
    let request = request("\u{fffd} N", None, 0, 50);
    for size in SIZES {
        let ours = answered(&node_of(body.as_bytes(), &[size], &request), request.clone(), None).unwrap();
        let item = json!({"json": {"a": "x\u{fffd}y", "b": "\u{fffd}", "c": "\u{fffd}😀", "k\u{fffd}": "😀\\ud83d"}});
        assert_eq!(ours["output"]["items"], json!([item]), "in chunks of {size}");
    }
}

#[test]
fn huge_names_and_deep_nesting_are_clipped() {
    let name = "n".repeat(1_000_000);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let key = "é".repeat(50_000);
    let body = format!(
        r#"{{"id":"1","status":"success","data":{{"resultData":{{"runData":{{"{name}":[{{"data":{{"main":[[{{"json":{{"{key}":1,"deep":{deep}}}}}]]}}}}]}}}}}},"workflowData":{{"nodes":[{{"name":"{name}","type":"t"}}]}}}}"#
    );
    let cut = shorten_name(&name, 200);
    assert!(cut.starts_with(&format!("{}…[+999800 chars #", "n".repeat(200))), "{cut}");
    let summary = shown(&summary_of(body.as_bytes(), &[777]));
    assert_eq!(summary["availableNodes"], json!([{"nodeName": cut, "nodeType": "t", "status": "success", "items": 1}]));
    for asked in [cut.clone(), shorten_name(&name, 50), format!("{}…[+999950 chars]", "n".repeat(50))] {
        let request = request(&asked, None, 0, 50);
        let ours = answered(&node_of(body.as_bytes(), &[65_536], &request), request, None).unwrap();
        assert_eq!(ours["nodeName"], cut);
        let json = &ours["output"]["items"][0]["json"];
        assert_eq!(json[shorten_name(&key, 200)], 1);
        assert!(json["deep"].to_string().contains("…[]"), "{json}");
    }
}

#[test]
fn long_names_that_differ_late_stay_different_and_an_ambiguous_one_is_refused() {
    let names = ["1", "2"].map(|end| format!("{}{end}", "x".repeat(300)));
    let runs = |items: usize| json!([{"data": {"main": [vec![json!({"json": {}}); items]]}}]);
    let body = json!({"id": "1", "status": "success", "data": {"resultData": {"runData": {
        names[0].clone(): runs(1), names[1].clone(): runs(2)
    }}}});
    let body = body.to_string().into_bytes();
    let answer = |name: &str| {
        answered(&node_of(&body, &[65_536], &request(name, None, 0, 50)), request(name, None, 0, 50), None)
    };
    let shown = shown(&summary_of(&body, &[65_536]));
    let shown: Vec<_> =
        shown["availableNodes"].as_array().unwrap().iter().map(|node| node["nodeName"].as_str().unwrap()).collect();
    assert_eq!(shown.len(), 2);
    for (at, name) in names.iter().enumerate() {
        for asked in [name.as_str(), &shorten_name(name, 200), &shorten_name(name, 20)] {
            assert_eq!(answer(asked).unwrap()["output"]["total"], at as u64 + 1, "{asked}");
        }
    }
    let refused = answer(&format!("{}…[+101 chars]", "x".repeat(200))).unwrap_err();
    assert!(
        refused.contains("matches 2 nodes: ") && names.iter().all(|name| refused.contains(&shorten_name(name, 200))),
        "{refused}"
    );
}

#[test]
fn a_shortened_name_finds_the_last_of_two_members_with_that_name() {
    let run = |items: usize| json!([{"data": {"main": [vec![json!({"json": {}}); items]]}}]);
    let name = "x".repeat(300);
    let body = format!(
        r#"{{"id": "1", "data": {{"resultData": {{"runData": {{"{name}": {}, "{name}": {}}}}}}}}}"#,
        run(1),
        run(2)
    );
    let request = || request(&shorten_name(&name, 20), None, 0, 50);
    let answer = answered(&node_of(body.as_bytes(), &[65_536], &request()), request(), None).unwrap();
    assert_eq!(answer["output"]["total"], 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_cuts_change_nothing(sizes in prop::collection::vec(1usize..3000, 1..20), pick in any::<prop::sample::Index>()) {
        let names = ["e_loop_25", "k_odd_names", "l_ai_agent", "c_stop_and_error", "v1/h_binary", "d_branches_merge"];
        let body = fixtures::execution(names[pick.index(names.len())]);
        let value = fixtures::parse(&body);
        prop_assert_eq!(shown(&summary_of(&body, &sizes)).to_string(), oracle::summary(&value).to_string());
        for (node, _) in oracle::nodes(&value).into_iter().take(4) {
            let request = request(&node, None, 0, 50);
            let ours = answered(&node_of(&body, &sizes, &request), request, None).unwrap();
            prop_assert_eq!(normal(ours).to_string(), oracle::node(&value, &node, None, None, 0, 50).to_string());
        }
    }

    #[test]
    fn a_body_that_ends_early_is_never_shown(at in any::<prop::sample::Index>()) {
        let body = fixtures::execution("d_branches_merge");
        let cut = &body[..at.index(body.len() - 1)];
        prop_assert!(SummaryProjection.read_from(cut).is_err());
        prop_assert!(request("Merge", None, 0, 50).read_from(cut).is_err());
    }
}

/// Every node of every fixture.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 5 s"]
    fn windows_and_summary_of_a_large_body_agree_with_the_oracle() {
        windows_agree(&[fixtures::LARGE]);
        compare_summaries(fixtures::large());
    }

    #[test]
    #[ignore = "slow: 14 s"]
    fn larger_executions_agree_with_the_oracle_for_every_node_and_run_and_in_any_order_of_keys() {
        compare_every_run(60_000..SMALL);
        compare_reordered(60_000..SMALL);
    }

    #[test]
    #[ignore = "slow: 13 s"]
    fn pruned_and_unpruned_bodies_give_the_same_view() {
        for (name, body) in fixtures::executions_of_any_size() {
            // struson rejects lone surrogates, which is one reason for the filter.
            let body = fixtures::parse(&body).to_string().into_bytes();
            let unpruned = SummaryProjection.read(Cursor::unpruned(&body[..])).unwrap();
            assert_same(&shown(&summary_of(&body, &[65_536])), &shown(&unpruned), &name);
            if body.len() > SMALL {
                continue;
            }
            for (node, _) in oracle::nodes(&fixtures::parse(&body)) {
                let request = request(&node, None, 0, 50);
                let unpruned = request.read(Cursor::unpruned(&body[..])).unwrap();
                let pruned = node_of(&body, &[65_536], &request);
                let answers = [&unpruned, &pruned].map(|view| answered(view, request.clone(), None).unwrap());
                assert_same(&answers[1], &answers[0], &format!("{name}, {node:?}"));
            }
        }
    }
}
