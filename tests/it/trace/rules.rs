//! What n8n writes, one rule per test.

use n8n_lens::execution::trace::{Absent, Direction, LineageView, Place, Route, Trace};
use serde_json::{Value, json};

use super::{compare, lineage, reference};

/// An execution whose nodes have one run each, with these sources and outputs.
fn execution(nodes: &[(&str, Value, Value)]) -> Value {
    let run_data: serde_json::Map<_, _> = nodes
        .iter()
        .map(|(name, source, outputs)| ((*name).to_owned(), json!([{"source": source, "data": {"main": outputs}}])))
        .collect();
    json!({"id": "7", "data": {"resultData": {"runData": run_data}}})
}

/// Items with these values of `pairedItem`.
fn items(paired: &[Value]) -> Value {
    paired.iter().enumerate().map(|(n, paired)| json!({"json": {"n": n}, "pairedItem": paired})).collect()
}

fn from(node: &str) -> Value {
    json!({"previousNode": node, "previousNodeOutput": 0, "previousNodeRun": 0})
}

fn view(body: &Value) -> LineageView {
    let view = lineage(body.to_string().as_bytes(), &[4096]);
    for start in reference::places(body).iter().take(50) {
        compare(&view, body, start, "a rule");
    }
    view
}

fn at(node: &str, run: u64, output: u64, item: u64) -> Place {
    Place { node: node.to_owned(), run, output, item }
}

fn steps(view: &LineageView, start: &Place, direction: Direction) -> Vec<String> {
    let route = Route::new(view, start, direction).unwrap();
    let shown = |place: &Place| format!("{} {} {} {}", place.node, place.run, place.output, place.item);
    route.steps.iter().map(|step| shown(&step.place)).collect()
}

fn back(body: &Value, start: &Place) -> Vec<String> {
    steps(&view(body), start, Direction::Back)
}

#[test]
fn a_loop_leads_to_the_node_before_it_and_its_done_output_to_the_last_node_of_its_body() {
    let overwritten = |n: u64| json!({"item": n, "sourceOverwrite": from("Before")});
    let done = |n: u64, run: u64| json!({"sourceOverwrite": {"previousNode": "Body", "previousNodeOutput": 0, "previousNodeRun": run}, "item": n});
    let body_run = |run: u64| json!({"source": [{"previousNode": "Loop", "previousNodeOutput": 1, "previousNodeRun": run}], "data": {"main": [items(&[json!({"item": 0})])]}});
    let loop_run =
        |source: Value, done: Value, each: Value| json!({"source": [source], "data": {"main": [done, each]}});
    let after = |run: u64| json!({"previousNode": "Body", "previousNodeOutput": 0, "previousNodeRun": run});
    let body = json!({"id": "7", "data": {"resultData": {"runData": {
        "Before": [{"source": [], "data": {"main": [items(&[json!(null), json!(null)])]}}],
        "Loop": [
            loop_run(from("Before"), json!([]), items(&[json!({"item": 0})])),
            loop_run(after(0), json!([]), items(&[overwritten(1)])),
            loop_run(after(1), items(&[done(0, 0), done(0, 1)]), json!([])),
        ],
        "Body": [body_run(0), body_run(1)],
        "After": [{"source": [{"previousNode": "Loop", "previousNodeOutput": 0, "previousNodeRun": 2}], "data": {"main": [items(&[json!({"item": 0}), json!({"item": 1})])]}}],
    }}}});
    assert_eq!(
        back(&body, &at("After", 0, 0, 1)),
        ["After 0 0 1", "Loop 2 0 1", "Body 1 0 0", "Loop 1 1 0", "Before 0 0 1"]
    );
    let forward = steps(&view(&body), &at("Before", 0, 0, 0), Direction::Forward);
    assert_eq!(forward, ["Before 0 0 0", "Loop 0 1 0", "Body 0 0 0", "Loop 2 0 0", "After 0 0 0"]);
}

fn merge(paired: &[Value]) -> Value {
    execution(&[
        ("One", json!([]), json!([items(&[json!(null), json!(null), json!(null)])])),
        ("Two", json!([]), json!([[], items(&[json!(null), json!(null)])])),
        ("Merge", json!([from("One"), {"previousNode": "Two", "previousNodeOutput": 1}]), json!([items(paired)])),
    ])
}

#[test]
fn a_merge_that_appends_or_chooses_names_its_input() {
    let body = merge(&[json!({"item": 2}), json!({"item": 1, "input": 1}), json!({"item": 0, "input": 0})]);
    assert_eq!(back(&body, &at("Merge", 0, 0, 0)), ["Merge 0 0 0", "One 0 0 2"]);
    assert_eq!(back(&body, &at("Merge", 0, 0, 1)), ["Merge 0 0 1", "Two 0 1 1"]);
}

#[test]
fn a_merge_that_combines_names_an_item_of_each_input_once() {
    let pair = |n: u64| json!([{"item": n, "input": 0}, {"item": n, "input": 1}, {"item": n, "input": 0}]);
    let body = merge(&[pair(0), pair(1)]);
    assert_eq!(back(&body, &at("Merge", 0, 0, 1)), ["Merge 0 0 1", "One 0 0 1", "Two 0 1 1"]);
    let route = Route::new(&view(&body), &at("Merge", 0, 0, 1), Direction::Back).unwrap();
    assert_eq!((route.steps[0].from.len(), route.steps[0].more), (2, 0));
}

#[test]
fn an_aggregate_names_all_its_items() {
    let all: Value = (0..3000).map(|n| json!({"item": n})).collect();
    let none = vec![json!(null); 3000];
    let body = execution(&[
        ("Read", json!([]), json!([items(&none)])),
        ("Aggregate", json!([from("Read")]), json!([items(&[all])])),
    ]);
    let view = lineage(body.to_string().as_bytes(), &[4096]);
    let route = Route::new(&view, &at("Aggregate", 0, 0, 0), Direction::Back).unwrap();
    assert_eq!((route.steps[0].from.len(), route.steps[0].more, route.steps.len()), (5, 2995, 6));
    assert_eq!(steps(&view, &at("Read", 0, 0, 2999), Direction::Forward), ["Read 0 0 2999", "Aggregate 0 0 0"]);
}

#[test]
fn numbers_and_arrays_of_numbers_are_items_of_the_first_input() {
    let body = merge(&[json!(2), json!([0, 1, 0])]);
    assert_eq!(back(&body, &at("Merge", 0, 0, 0)), ["Merge 0 0 0", "One 0 0 2"]);
    assert_eq!(back(&body, &at("Merge", 0, 0, 1)), ["Merge 0 0 1", "One 0 0 0", "One 0 0 1"]);
}

#[test]
fn a_sub_workflow_is_passed_through_and_what_its_filter_discarded_is_its_second_output() {
    let discarded = json!([{"json": {"n": 1}, "index": 0, "pairedItem": {"item": 1}}]);
    let kept = json!([{"json": {"n": 0}, "index": 0, "pairedItem": {"item": 0}}]);
    let body = execution(&[
        ("Read", json!([]), json!([items(&[json!(null), json!(null)])])),
        ("Execute Workflow", json!([from("Read")]), json!([kept, discarded])),
    ]);
    assert_eq!(back(&body, &at("Execute Workflow", 0, 1, 0)), ["Execute Workflow 0 1 0", "Read 0 0 1"]);
}

#[test]
fn sub_nodes_of_ai_agents_name_no_source_unless_it_is_overwritten() {
    let sub_node = |item: Value| json!([{"source": [{"previousNode": "Agent", "previousNodeRun": 0}], "inputOverride": {"ai_tool": [[{"json": {}}]]}, "data": {"ai_tool": [[item]]}}]);
    let body = json!({"id": "7", "data": {"resultData": {"runData": {
        "Chat": [{"source": [], "data": {"main": [[{"json": {}}]]}}],
        "Model": sub_node(json!({"json": {}})),
        "Paired": sub_node(json!({"json": {}, "pairedItem": {"item": 0}})),
        "Tool": sub_node(json!({"json": {}, "pairedItem": {"item": 0, "sourceOverwrite": {"previousNode": "Chat"}}})),
        "Agent": [{"source": [from("Chat")], "data": {"main": [[{"json": {}, "pairedItem": {"item": 0}}]]}}],
    }}}});
    assert_eq!(back(&body, &at("Model", 0, 0, 0)), ["Model 0 0 0"]);
    assert_eq!(back(&body, &at("Paired", 0, 0, 0)), ["Paired 0 0 0"], "its source is the node that uses it");
    assert_eq!(back(&body, &at("Tool", 0, 0, 0)), ["Tool 0 0 0", "Chat 0 0 0"]);
    let forward = steps(&view(&body), &at("Chat", 0, 0, 0), Direction::Forward);
    assert_eq!(forward, ["Chat 0 0 0", "Tool 0 0 0", "Agent 0 0 0"]);
}

#[test]
fn a_node_that_n8n_drops_leaves_references_that_lead_nowhere() {
    let body = execution(&[("After", json!([from("constructor")]), json!([items(&[json!({"item": 0})])]))]);
    assert_eq!(back(&body, &at("After", 0, 0, 0)), ["After 0 0 0", "constructor 0 0 0"]);
    let route = Route::new(&view(&body), &at("After", 0, 0, 0), Direction::Back).unwrap();
    assert_eq!(format!("{:?}", route.steps[1].note), "Some(NoItem)");
}

#[test]
fn what_code_returns_is_paired_by_position() {
    let mut body = execution(&[
        ("Read", json!([]), json!([items(&[json!(null), json!(null)])])),
        ("Code", json!([from("Read")]), json!([items(&[json!({"item": 0}), json!({"item": 0})])])),
    ]);
    body["workflowData"] =
        json!({"nodes": [{"type": "n8n-nodes-base.code", "name": "Code", "parameters": {"jsCode": "x"}}]});
    let note = |body: &Value, item: u64| {
        format!("{:?}", Route::new(&view(body), &at("Code", 0, 0, item), Direction::Back).unwrap().steps[0].note)
    };
    assert_eq!((&*note(&body, 0), &*note(&body, 1)), ("Some(ByPosition)", "None"));
    body["workflowData"]["nodes"][0]["parameters"] = json!({"mode": "runOnceForEachItem"});
    assert_eq!(note(&body, 0), "None");
}

#[test]
fn both_directions_share_the_steps() {
    let chain: Vec<_> = (0..60).map(|n| format!("N{n}")).collect();
    let nodes: Vec<_> = chain
        .iter()
        .enumerate()
        .map(|(n, name)| {
            (
                name.as_str(),
                if n > 0 { json!([from(&chain[n - 1])]) } else { json!([]) },
                json!([items(&[json!({"item": 0})])]),
            )
        })
        .collect();
    let view = lineage(execution(&nodes).to_string().as_bytes(), &[4096]);
    let both = |node: &str| {
        let route = Route::new(&view, &at(node, 0, 0, 0), Direction::Both).unwrap();
        let nodes: Vec<_> = route.steps.iter().map(|step| step.place.node.clone()).collect();
        (nodes[0].clone(), nodes.last().unwrap().clone(), nodes.len(), route.more)
    };
    // The remaining number is unknown, but it is known that there is more.
    assert_eq!(both("N30"), ("N30".to_owned(), "N50".to_owned(), 40, 20));
    assert_eq!(both("N5"), ("N5".to_owned(), "N39".to_owned(), 40, 7));
    assert_eq!(both("N55"), ("N55".to_owned(), "N59".to_owned(), 40, 5));
}

#[test]
fn what_does_not_exist_has_no_trace() {
    let view = view(&merge(&[json!({"item": 0})]));
    let absent = |place: &Place| Route::new(&view, place, Direction::Both).unwrap_err();
    assert_eq!(absent(&at("Nowhere", 0, 0, 0)), Absent::Node);
    assert_eq!(absent(&at("Merge", 1, 0, 0)), Absent::Run(1));
    assert_eq!(absent(&at("Merge", 0, 1, 0)), Absent::Output(1));
    assert_eq!(absent(&at("Merge", 0, 0, 1)), Absent::Item(1));
}

#[test]
fn lineage_without_any_order_is_held_up_to_a_limit_and_then_says_where_it_stopped() {
    // Thousands of sources of one item, in random order: none continues another.
    let paired = |n: u64| (0..4000).map(|at| (n + at * 7919 % 60_000).to_string()).collect::<Vec<_>>().join(",");
    let items: Vec<_> = (0..20).map(|n| format!(r#"{{"json":{{}},"pairedItem":[{}]}}"#, paired(n * 3))).collect();
    let run = format!(r#"[{{"source":[{{"previousNode":"A"}}],"data":{{"main":[[{}]]}}}}]"#, items.join(","));
    let nodes: Vec<_> = ('A'..='Z').map(|name| format!("\"{name}\":{run}")).collect();
    let body = format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{{}}}}}}}}}"#, nodes.join(","));
    let view = lineage(body.as_bytes(), &[65_536]);
    assert_eq!(steps(&view, &at("B", 0, 0, 1), Direction::Back)[..2], ["B 0 0 1", "A 0 0 3"]);
    let trace = Trace::new(view, &at("Z", 0, 0, 1), Direction::Back);
    assert_eq!(trace.route, Err(Absent::NotHeld));
    let (node, run) = trace.stopped.expect("it is too much");
    assert!(("N".."V").contains(&&*node) && run == 0, "{node}, {run}");
}
