//! The timeline: every fixture against the whole value, in pieces and from a store; the number of bars stays small.

use std::collections::BTreeMap;

use n8n_lens::execution::graph::Graph;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::timeline::{Timeline, TimelineProjection};
use n8n_lens::json::{Cursor, Projection, hold_name};
use serde_json::{Value, json};

use crate::flatten::{Share, stored};
use crate::projections::{Cut, pruned};
use crate::properties::checks::values_reference::is_reserved;
use crate::{fixtures, flatted, oracle};

const ALL: TimelineProjection = TimelineProjection { bars: 1_000_000, range: None };

fn timeline(body: &[u8], projection: &TimelineProjection, sizes: &[usize]) -> Timeline {
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes)))).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The runs of a node that are on the axis, each as `[from, ms, run, failed, items]`: they have a time, and were not copied.
fn runs(body: &Value, runs: &Value) -> Vec<Value> {
    let is_on_axis = |run: &Value| run["startTime"].is_number() && !is_reserved(run) && !oracle::is_copied(body, run);
    let with_time = array(runs).iter().enumerate().filter(|(_, run)| is_on_axis(run));
    let shown = with_time.map(|(at, run)| {
        let start = run["startTime"].as_f64().unwrap();
        let start = if start < 1e11 { start * 1000.0 } else { start };
        let status = run["executionStatus"].as_str();
        let failed =
            !run["error"].is_null() || !run["redactedError"].is_null() || matches!(status, Some("error" | "crashed"));
        let items = oracle::all_items(run);
        json!([start, run["executionTime"].as_u64().unwrap_or(0), at, failed, items])
    });
    shown.collect()
}

/// The items that the runs of each node took, according to their `source`.
fn taken_items(body: &Value) -> BTreeMap<String, u64> {
    let nodes = body["data"]["resultData"]["runData"].as_object();
    let items = |source: &Value| {
        let run = source["previousNodeRun"].as_u64().unwrap_or(0) as usize;
        let output = source["previousNodeOutput"].as_u64().unwrap_or(0) as usize;
        let from = source["previousNode"].as_str().and_then(|name| nodes?.get(name));
        from.map_or(0, |runs| array(&runs[run]["data"]["main"][output]).len() as u64)
    };
    let of_node = |runs: &Value| array(runs).iter().flat_map(|run| array(&run["source"])).map(items).sum();
    nodes.into_iter().flatten().map(|(name, runs)| (hold_name(name), of_node(runs))).collect()
}

/// The connections of a workflow, each as `[from, output, to, input, type]`.
fn links(workflow: &Value) -> Vec<Value> {
    let mut links = Vec::new();
    for (from, types) in workflow["connections"].as_object().into_iter().flatten() {
        for (kind, outputs) in types.as_object().into_iter().flatten() {
            for (output, targets) in array(outputs).iter().enumerate() {
                for target in array(targets).iter().filter(|target| target["node"].is_string()) {
                    let input = target["index"].as_u64().unwrap_or(0);
                    links.push(json!([hold_name(from), output, target["node"], input, kind]));
                }
            }
        }
    }
    links
}

fn shown_links(graph: &Graph) -> Vec<Value> {
    graph.links.iter().map(|link| json!([link.from, link.output, link.to, link.input, link.kind])).collect()
}

#[test]
fn every_run_of_every_fixture_is_on_the_axis() {
    every_run_is_on_the_axis(fixtures::executions());
}

/// The large execution.
mod slow {
    #[test]
    #[ignore = "slow: 3 s"]
    fn every_run_of_the_large_execution_is_on_the_axis() {
        super::every_run_is_on_the_axis(super::fixtures::large());
    }
}

/// Compares the bars of all nodes with their runs.
fn every_run_is_on_the_axis(bodies: Vec<(String, Vec<u8>)>) {
    for (name, text) in bodies {
        let body = fixtures::parse(&text);
        let timeline = timeline(&text, &ALL, &[65_536]);
        let summary = SummaryProjection.read_from(&text[..]).unwrap();
        assert_eq!(format!("{:?}", timeline.summary), format!("{summary:?}"), "{name}");
        for (node, of_node) in body["data"]["resultData"]["runData"].as_object().into_iter().flatten() {
            let bars = &timeline.nodes[&hold_name(node)];
            assert_eq!(
                bars.iter().map(|bar| bar.runs).sum::<u64>(),
                runs(&body, of_node).len() as u64,
                "{name}, {node}"
            );
            // Runs within one millisecond share a bar.
            if bars.iter().all(|bar| bar.runs == 1) {
                let bars = bars.iter().map(|bar| json!([bar.from, bar.ms, bar.run, bar.failed > 0, bar.items]));
                assert_eq!(bars.collect::<Vec<_>>(), runs(&body, of_node), "{name}, {node}");
            }
        }
        let (calls, others): (Vec<_>, Vec<_>) = timeline.summary.nodes.iter().partition(|node| node.is_sub_node);
        let taken = others.iter().map(|node| (node.name.clone(), node.taken.unwrap()));
        let mut truth = taken_items(&body);
        truth.retain(|name, _| !calls.iter().any(|node| node.name == *name));
        assert_eq!(taken.collect::<BTreeMap<_, _>>(), truth, "{name}");
        assert_eq!(shown_links(&timeline.graph), links(&body["workflowData"]), "{name}");
        let positions = array(&body["workflowData"]["nodes"]).iter().filter(|node| {
            node["type"] != "n8n-nodes-base.stickyNote" && node["position"].is_array() && node["name"].is_string()
        });
        let positions: Vec<_> = positions.map(|node| (node["name"].as_str().unwrap().to_owned(), node)).collect();
        assert_eq!(timeline.graph.nodes.len(), positions.len(), "{name}");
        for (shown, (node, truth)) in timeline.graph.nodes.iter().zip(positions) {
            assert_eq!(shown.name, hold_name(&node), "{name}");
            assert_eq!(
                json!([shown.position.0, shown.position.1]),
                json!([truth["position"][0].as_f64(), truth["position"][1].as_f64()])
            );
            assert_eq!(shown.disabled, truth["disabled"] == true, "{name}");
        }
    }
}

#[test]
fn pieces_and_stores_make_no_difference() {
    for (name, text) in fixtures::executions().into_iter().filter(|(_, text)| text.len() < 100_000) {
        let truth = format!("{:?}", timeline(&text, &ALL, &[65_536]));
        for sizes in [&[1][..], &[63, 65]] {
            assert_eq!(format!("{:?}", timeline(&text, &ALL, sizes)), truth, "{name} in {sizes:?}");
        }
        let text = String::from_utf8(text).unwrap();
        let from_store = flatted::read(&ALL, &stored(&text, Share::Equal), true).unwrap();
        assert_eq!(format!("{from_store:?}"), truth, "{name}");
    }
}

/// An execution of this many nodes of one run and one item each; those of `failing` fail.
fn wide(nodes: usize, failing: &[usize]) -> String {
    let run = |at: usize| {
        let status = if failing.contains(&at) { "error" } else { "success" };
        json!([{"startTime": 1_795_226_662_000_u64 + at as u64, "executionIndex": at, "executionTime": 1, "executionStatus": status,
            "data": {"main": [[{"json": {}}]]}}])
    };
    let name = |at: usize| format!("Step {at}");
    let runs: serde_json::Map<_, _> = (0..nodes).map(|at| (name(at), run(at))).collect();
    let shown: Vec<_> = (0..nodes).map(|at| json!({"name": name(at), "type": "t", "position": [at, 0]})).collect();
    let link = |at: usize| (name(at), json!({"main": [[{"node": name(at + 1), "index": 0}]]}));
    let links: serde_json::Map<_, _> = (0..nodes * 6).map(link).collect();
    json!({"id": "7", "data": {"resultData": {"runData": runs}}, "workflowData": {"nodes": shown, "connections": links}}).to_string()
}

#[test]
fn of_many_nodes_those_that_failed_and_the_first_ones_are_kept() {
    for failing in [&[][..], &[1499], &[3, 999, 1000, 1400]] {
        let timeline = timeline(wide(1500, failing).as_bytes(), &ALL, &[65_536]);
        let summary = &timeline.summary;
        assert_eq!((summary.nodes.len(), timeline.nodes.len(), summary.total_nodes), (1000, 1000, 1500));
        assert_eq!((summary.left_out.nodes, summary.left_out.items), (500, 500), "{failing:?}");
        let names: Vec<_> = summary.nodes.iter().map(|node| node.name.clone()).collect();
        let others = (0..).filter(|at| !failing.contains(at)).take(1000 - failing.len());
        let truth: Vec<_> = failing.iter().copied().chain(others).map(|at| format!("Step {at}")).collect();
        assert_eq!(names, truth, "{failing:?}");
        assert!(timeline.nodes.values().all(|bars| bars.len() == 1));
        assert!(summary.nodes.iter().all(|node| node.taken == Some(0)));
        assert_eq!(timeline.range, Some((1_795_226_662_000.0, 1_795_226_663_500.0)), "of all nodes");
        let graph = &timeline.graph;
        assert_eq!((graph.nodes.len(), graph.more_nodes, graph.links.len(), graph.more_links), (1000, 500, 4000, 5000));
    }
}

#[test]
fn more_failed_nodes_than_are_kept_are_counted() {
    let failing: Vec<_> = (200..1400).collect();
    let timeline = timeline(wide(1500, &failing).as_bytes(), &ALL, &[65_536]);
    assert!(timeline.summary.nodes.iter().all(|node| node.failed_runs > 0));
    assert_eq!((timeline.summary.nodes.len(), timeline.summary.left_out.nodes), (1000, 500));
    assert_eq!(timeline.nodes.len(), 1000);
}

#[test]
fn a_range_has_the_runs_that_touch_it() {
    let runs: Vec<_> =
        (0..1000).map(|at| json!({"startTime": 1_795_226_662_000_u64 + at * 10, "executionTime": 5})).collect();
    let body = json!({"id": "7", "data": {"resultData": {"runData": {"N": runs}}}}).to_string();
    let range = 1_795_226_664_003.0..1_795_226_664_020.0;
    let timeline = timeline(body.as_bytes(), &TimelineProjection { bars: 10, range: Some(range) }, &[65_536]);
    assert_eq!(timeline.nodes["N"].iter().map(|bar| bar.run).collect::<Vec<_>>(), [200, 201]);
    assert_eq!(timeline.range, Some((1_795_226_662_000.0, 1_795_226_671_995.0)), "of all runs");
    assert_eq!(timeline.summary.nodes[0].runs, 1000);
}

/// n8n reserves a run for each tool that an agent asks for, with 0 as its start; it stays if the tool is never called.
#[test]
fn a_call_that_never_began_is_not_on_the_axis() {
    let ran = |index: u64| json!({"startTime": 1_795_226_662_000_u64 + index, "executionIndex": index, "executionTime": 5, "executionStatus": "success"});
    let reserved = json!({"startTime": 0, "executionIndex": 0, "executionTime": 0, "source": [{"previousNode": "Agent"}], "inputOverride": {}});
    let runs = json!({"Search": [reserved], "Start": [ran(0)], "Model": [ran(1)]});
    let body = json!({"id": "7", "status": "canceled", "data": {"resultData": {"runData": runs}}}).to_string();
    let timeline = timeline(body.as_bytes(), &ALL, &[65_536]);
    assert_eq!(timeline.range, Some((1_795_226_662_000.0, 1_795_226_662_006.0)));
    let nodes: Vec<_> = timeline.summary.nodes.iter().map(|node| (&*node.name, &*node.status)).collect();
    assert_eq!(nodes, [("Start", "success"), ("Model", "success"), ("Search", "new")]);
}

#[test]
fn the_axis_of_a_retry_begins_with_its_own_first_run() {
    let timeline = timeline(&fixtures::execution("m_retry"), &ALL, &[65_536]);
    assert_eq!(timeline.range, Some((1_795_466_058_924.0, 1_795_466_058_960.0)), "36 ms, not 14.6 s");
    let shown = |name: &str| {
        let node = timeline.summary.nodes.iter().find(|node| node.name == name).unwrap();
        (timeline.nodes[name].len(), node.runs, node.copied_runs, node.items, node.taken)
    };
    assert_eq!(shown("Enrich"), (0, 1, 1, 30, Some(30)), "a copied run is listed");
    assert_eq!(shown("Send"), (1, 1, 0, 30, Some(30)));
}
