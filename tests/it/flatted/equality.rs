//! Every fixture, from its body and from the store.

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::rows::{ItemRow, ItemRowsProjection, RowSpace, Rows, RunRow, RunRowsProjection};
use n8n_lens::execution::summary::{Summary, SummaryProjection};
use n8n_lens::json::Projection;
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::summary_answer;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{answer, assert_same, debug, read, read_escaped};
use crate::fixtures;
use crate::flatten::{Share, stored};

/// The runs and windows of the questions.
const QUESTIONS: [(Option<u64>, std::ops::Range<u64>); 5] =
    [(None, 0..50), (Some(0), 0..50), (Some(1), 1..3), (Some(9), 0..1), (None, 20..70)];

fn compose(summary: &Summary) -> String {
    summary_answer::compose(summary, None, 0, Locale::En, true)
}

#[test]
fn the_summary_of_every_fixture_is_that_of_its_body() {
    compare_summaries(fixtures::executions());
}

/// Compares the summaries of these executions.
fn compare_summaries(bodies: Vec<(String, Vec<u8>)>) {
    for (name, body) in bodies {
        let truth = SummaryProjection.read_from(&body[..]).unwrap();
        let body = std::str::from_utf8(&body).unwrap();
        for share in [Share::Nothing, Share::Equal] {
            let stored = stored(body, share);
            for ours in [read(&SummaryProjection, &stored, false), read_escaped(&SummaryProjection, &stored, false)] {
                let ours = ours.unwrap();
                assert_same(&debug(&ours), &debug(&truth), &name);
                assert_same(&compose(&ours), &compose(&truth), &name);
            }
        }
    }
}

#[test]
fn the_nodes_of_small_fixtures_are_those_of_their_bodies() {
    compare_nodes(35_000, 4);
}

#[test]
#[ignore = "long: every run of every node of every fixture"]
fn every_run_of_every_node_of_every_fixture_is_that_of_its_body() {
    compare_nodes(usize::MAX, usize::MAX);
}

/// Compares the answers about up to `most` nodes of every fixture of up to `bytes`.
fn compare_nodes(bytes: usize, most: usize) {
    for (name, body) in fixtures::executions_of_any_size().into_iter().filter(|(_, body)| body.len() < bytes) {
        let names = NodeProjection::default().read_from(&body[..]).unwrap().names;
        let text = std::str::from_utf8(&body).unwrap();
        let stored = [Share::Nothing, Share::Equal].map(|share| stored(text, share));
        let stranger = "no such node".to_owned();
        for (at, node) in names.iter().rev().take(most).chain([&stranger]).enumerate() {
            for (run, window) in QUESTIONS {
                let projection = NodeProjection { node: node.clone(), run, window, sources: None };
                let truth = answer(&projection, |projection| projection.read_from(&body[..]));
                let ours = answer(&projection, |projection| match at % 3 {
                    2 => read_escaped(projection, &stored[0], false),
                    share => read(projection, &stored[share], false),
                });
                assert_same(&ours, &truth, &format!("{name}, {node:?}, run {run:?}"));
            }
        }
    }
}

/// The rows of an execution, as text.
fn lines<T: DeserializeOwned + std::fmt::Debug>(mut rows: Rows<T>) -> String {
    let mut lines = String::new();
    rows.each(|node, row| {
        lines += &format!("{node}: {row:?}\n");
        Ok(())
    })
    .unwrap();
    lines
}

#[test]
fn the_rows_of_every_fixture_are_those_of_its_body() {
    // Some in memory, most in a temporary file.
    let space = RowSpace { in_memory: 1000, folder: None };
    let run_rows = RunRowsProjection { model_calls: true, space: space.clone() };
    let item_rows = ItemRowsProjection { masks: false, space };
    for (name, body) in fixtures::executions() {
        let runs: String = lines::<RunRow>(run_rows.read_from(&body[..]).unwrap().rows);
        let items: String = lines::<ItemRow>(item_rows.read_from(&body[..]).unwrap().rows);
        for share in [Share::Nothing, Share::Equal] {
            let stored = stored(std::str::from_utf8(&body).unwrap(), share);
            assert_same(&lines(read(&run_rows, &stored, false).unwrap().rows), &runs, &name);
            assert_same(&lines(read_escaped(&item_rows, &stored, false).unwrap().rows), &items, &name);
        }
    }
}

/// A run of a node.
fn run(sources: &[(&str, u64, u64)], status: &str, outputs: &[&[Value]]) -> Value {
    let sources: Vec<_> = sources
        .iter()
        .map(|(node, output, run)| json!({"previousNode": node, "previousNodeOutput": output, "previousNodeRun": run}))
        .collect();
    let mut run = json!({"startTime": 5, "executionTime": 1, "executionIndex": 0, "executionStatus": status, "source": sources, "data": {"main": outputs}});
    if status == "error" {
        run["error"] = json!({"name": "NodeApiError", "message": "it failed", "stack": "at\nat"});
    }
    run
}

fn execution(run_data: &Value) -> String {
    json!({"id": "1", "status": "success", "mode": "trigger", "workflowId": "w",
        "data": {"version": 1, "startData": {}, "resultData": {"runData": run_data, "lastNodeExecuted": "Merge"}, "executionData": {}},
        "workflowData": {"name": "w", "nodes": [{"name": "Merge", "type": "n8n-nodes-base.merge", "parameters": {"a": 1}}]}})
    .to_string()
}

fn compare(body: &str, nodes: &[&str]) {
    for share in [Share::Nothing, Share::Equal] {
        let stored = stored(body, share);
        for node in nodes {
            for (run, window) in QUESTIONS {
                let projection = NodeProjection { node: (*node).to_owned(), run, window, sources: None };
                let truth = answer(&projection, |projection| projection.read_from(body.as_bytes()));
                let ours = answer(&projection, |projection| read(projection, &stored, false));
                assert_same(&ours, &truth, &format!("{node:?}, run {run:?}"));
                let ours = answer(&projection, |projection| read_escaped(projection, &stored, false));
                assert_same(&ours, &truth, &format!("{node:?}, run {run:?}, escaped"));
            }
        }
    }
}

#[test]
fn a_run_is_chosen_and_its_inputs_are_found_as_in_the_body() {
    let item = |n: u64| json!({"json": {"n": n, "text": "x".repeat(50)}, "pairedItem": {"item": n}});
    let items = |from: u64| (from..from + 30).map(item).collect::<Vec<_>>();
    let long = "n".repeat(300);
    let mut run_data = json!({
        // It comes after the node that it feeds, feeds itself, and failed in the middle.
        "Merge": [
            run(&[("A", 0, 1), ("B", 1, 0)], "success", &[&items(0)]),
            run(&[("Merge", 0, 0), ("B", 0, 0)], "error", &[&items(7), &[]]),
            run(&[("A", 0, 7), ("stranger", 0, 0)], "success", &[]),
        ],
        "A": [run(&[], "success", &[&items(100)]), run(&[], "error", &[&items(200), &items(250)])],
        "B": [run(&[], "success", &[&items(300), &items(400)])],
        "Tool": [run(&[("A", 0, 0)], "success", &[&items(500)])],
        "constructor": [run(&[("__proto__", 0, 0)], "success", &[&items(1)])],
        "__proto__": [run(&[], "success", &[&items(2)])],
        "prototype": [{"executionStatus": "success"}],
        "odd": [5, null, "text", {"source": "text", "data": []}, {"data": {"main": {"a": 1}}}],
        "none": [],
        "text": "text",
    });
    run_data["Tool"][0]["inputOverride"] = json!({"ai_tool": [[{"json": {"query": "q"}}]]});
    run_data[&long] = json!([run(&[("Merge", 0, 2)], "success", &[&items(3)])]);
    let shortened = n8n_lens::json::shorten_name(&long, 200);
    compare(
        &execution(&run_data),
        &["Merge", "A", "Tool", "constructor", "__proto__", "odd", "none", "text", &long, &shortened, "x"],
    );
}

#[test]
fn inputs_that_do_not_fit_into_memory_are_read_in_a_second_pass() {
    let items = |bytes: usize| (0..20).map(|_| json!({"json": {"text": "é".repeat(bytes)}})).collect::<Vec<_>>();
    let run_data = json!({
        "A": [run(&[], "success", &[&items(12_000)])],
        "B": [run(&[], "success", &[&items(12_500)])],
        "Merge": [run(&[("A", 0, 0), ("B", 0, 0)], "success", &[&items(10)])],
    });
    let body = execution(&run_data);
    let projection = NodeProjection { node: "Merge".to_owned(), window: 0..50, ..NodeProjection::default() };
    let view = read(&projection, &stored(&body, Share::Nothing), false).unwrap();
    assert!(projection.second_pass(&view).is_some(), "both inputs together are larger than what is held");
    compare(&body, &["Merge"]);
}

#[test]
fn an_execution_without_data_is_one_in_the_store_too() {
    for body in
        [r#"{"id":"1","status":"running"}"#, r#"{"id":"1","status":"new","workflowData":{"name":"w","nodes":[]}}"#]
    {
        let truth = SummaryProjection.read_from(body.as_bytes()).unwrap();
        let ours = read(&SummaryProjection, &stored(body, Share::Nothing), false).unwrap();
        assert_same(&debug(&ours), &debug(&truth), body);
    }
}

#[test]
fn lone_surrogates_and_odd_names_pass_as_in_a_body() {
    let body = r#"{"id":"1","status":"success","data":{"resultData":{"runData":{"\ud83d N":[{"data":{"main":[[{"json":
        {"a":"x\ud83dy","b":"\udc00","c":"\ud83d\ud83d\ude00","k\ud800":"\uD83D\uDE00\\ud83d","0":"\u0000","__proto__":{"x":[]}}}]]}}]}}}}"#;
    compare(body, &["\u{fffd} N"]);
}

#[test]
fn old_run_data_without_a_version_is_read() {
    let body =
        execution(&json!({"A": [run(&[], "success", &[&[json!({"json": {}})]])]})).replace(r#""version":1,"#, "");
    compare(&body, &["A"]);
}

/// Large executions.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 6 s"]
    fn the_summary_of_a_large_execution_is_that_of_its_body() {
        compare_summaries(fixtures::large());
    }
}
