//! The summary's statements about the flow of items: generated executions against the oracle, from both sources.

use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::Projection;
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::summary_answer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::flatted;
use crate::flatten::{Share, stored};
use crate::oracle;
use crate::projections::{assert_same, shown, summary_of};

/// Any `error`, or none.
fn error() -> impl Strategy<Value = Option<Value>> {
    let errors = vec![
        json!("it failed"),
        json!({"message": "é".repeat(200), "stack": "a\nb"}),
        json!({"code": 5}),
        json!({"message": 5}),
        json!([1, "two"]),
        json!(null),
        json!(false),
        json!(0),
        json!(""),
        json!(7),
        json!(true),
        json!({}),
    ];
    prop_oneof![3 => Just(None), 2 => prop::sample::select(errors).prop_map(Some)]
}

fn item() -> impl Strategy<Value = Value> {
    let padding = prop_oneof![4 => 0usize..40, 1 => 4000usize..9000];
    let child = prop::option::weighted(0.2, 0u32..5);
    (error(), error(), any::<bool>(), padding, child).prop_map(|(own, in_json, json_first, padding, child)| {
        let mut data = json!({"n": padding, "text": "\"error\": ".repeat(padding % 3), "pad": "x".repeat(padding)});
        data["deep"] = json!({"error": "deeper"});
        if let Some(error) = in_json {
            data["error"] = error;
        }
        let mut item = if json_first { json!({"json": data.clone()}) } else { json!({"pairedItem": 0}) };
        if let Some(error) = own {
            item["error"] = error;
        }
        if let Some(child) = child {
            item["metadata"] = json!({"subExecution": {"executionId": format!("8{child}"), "workflowId": "w"}});
        }
        item["json"] = data;
        item
    })
}

/// When the generated executions started: a retry began then, and copied what ran before.
const STARTED: u64 = 1_795_226_662_500;

/// When a run started, as n8n writes it: by its counter, which can start again, and in milliseconds; in seconds if n8n recovered
/// the run after a crash.
fn start() -> impl Strategy<Value = Value> {
    let start = (prop::option::weighted(0.9, 0u64..6), -4i64..8, prop::bool::weighted(0.2));
    start.prop_map(|(index, offset, is_recovered)| {
        let ms = STARTED.saturating_add_signed(offset * 300);
        let time = if is_recovered { ms / 1000 } else { ms };
        let mut start = json!({"startTime": time});
        if let Some(index) = index {
            start["executionIndex"] = if is_recovered { 0 } else { index }.into();
        }
        start
    })
}

/// A node's data: `main` outputs, those of a sub-node of an AI agent, or both.
fn data() -> impl Strategy<Value = Value> {
    let list = || {
        prop_oneof![1 => Just(None), 5 => prop::collection::vec(item(), 0..6).prop_map(Some),
        1 => prop::collection::vec(item(), 14..22).prop_map(Some)]
    };
    let main = prop::option::weighted(0.8, prop::collection::vec(list(), 0..4));
    let returned = prop::option::weighted(0.3, prop::collection::vec(list(), 0..3));
    let kind = prop::sample::select(vec!["ai_tool", "ai_languageModel", "ai_memory"]);
    (main, returned, kind, any::<bool>()).prop_map(|(main, returned, kind, main_first)| {
        let mut data = json!({});
        for is_main in [main_first, !main_first] {
            match (is_main, &main, &returned) {
                (true, Some(main), _) => data["main"] = json!(main),
                (false, _, Some(returned)) => data[kind] = json!(returned),
                _ => {}
            }
        }
        data
    })
}

/// Where the items of a run came from: outputs that exist or not.
fn sources() -> impl Strategy<Value = Value> {
    let source = (0u8..4, 0u8..4, 0u8..3).prop_map(|(node, output, run)| {
        let mut source = json!({"previousNode": format!("N{node}")});
        for (member, index) in [("previousNodeOutput", output), ("previousNodeRun", run)] {
            if index > 0 {
                source[member] = index.into();
            }
        }
        source
    });
    prop::collection::vec(prop_oneof![1 => Just(json!(null)), 5 => source], 0..3).prop_map(Value::from)
}

fn run() -> impl Strategy<Value = Value> {
    (start(), data(), sources(), 0u64..5, any::<bool>()).prop_map(|(mut run, data, sources, children, fails)| {
        let others = json!({"executionTime": 1, "source": sources, "executionStatus": "success"});
        run.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
        if children > 0 {
            run["metadata"] = json!({"subExecution": {"executionId": format!("9{children}"), "workflowId": "w"}});
        }
        if children > 3 {
            run["metadata"]["subExecutionsCount"] = children.into();
        }
        run["data"] = data;
        if fails && children == 2 {
            run = json!({"executionStatus": "error", "error": {"message": "stopped"}});
        }
        run
    })
}

/// n8n's metadata about an execution: how it ended or that it has not, its role in retries, and at
/// which node it was when n8n saved it.
fn circumstances() -> impl Strategy<Value = (Value, Value)> {
    let status = prop::sample::select(vec!["success", "error", "crashed", "waiting", "running", "canceled"]);
    let id = || prop::option::weighted(0.3, (1u32..9999).prop_map(|id| id.to_string()));
    let node = prop::option::of(prop::sample::select(vec!["N0", "N1", "Elsewhere"]));
    (status, id(), id(), any::<bool>(), node).prop_map(|(status, retry_of, retry_success_id, for_a_call, node)| {
        let till = if for_a_call { "3000-01-01T00:00:00.000Z" } else { "2026-12-21T02:04:16.373Z" };
        let header = json!({"id": "7", "status": status, "mode": "trigger", "retryOf": retry_of,
            "retrySuccessId": retry_success_id, "startedAt": "2026-11-21T02:04:22.500Z",
            "waitTill": (status == "waiting").then_some(till), "workflowId": "w"});
        let stack: Vec<_> = node
            .iter()
            .map(|node| json!({"node": {"name": node, "parameters": {}}, "data": {"main": [[{}]]}}))
            .collect();
        (header, json!({"nodeExecutionStack": stack, "waitingExecution": {}}))
    })
}

fn execution() -> impl Strategy<Value = Value> {
    let connections = prop::collection::vec(prop::collection::vec(0u8..4, 0..4), 4);
    let on_error = prop::sample::select(vec![
        json!({}),
        json!({"onError": "continueRegularOutput"}),
        json!({"onError": "continueErrorOutput"}),
        json!({"onError": "stopWorkflow"}),
        json!({"continueOnFail": true}),
        json!({"continueOnFail": false}),
    ]);
    let nodes = prop::collection::vec((prop::collection::vec(run(), 0..4), on_error), 1..4);
    let node_type = prop::sample::select(vec!["t", "n8n-nodes-base.executeWorkflow"]);
    let generated = (nodes, connections, any::<bool>(), any::<bool>(), node_type, circumstances());
    generated.prop_map(|(nodes, connections, is_child, serves, node_type, (mut body, execution_data))| {
        body["data"] =
            json!({"version": 1, "startData": {}, "resultData": {"runData": {}}, "executionData": execution_data});
        body["workflowData"] = json!({"name": "w", "nodes": [], "connections": {}});
        for (at, (runs, mut node)) in nodes.into_iter().enumerate() {
            let name = format!("N{at}");
            let leads = |output: &u8| match output {
                0 => json!(null),
                1 => json!([]),
                2 => json!([null]),
                _ => json!([{"node": "N0", "type": "main", "index": 0}]),
            };
            let outputs: Vec<_> = connections[at].iter().map(leads).collect();
            body["workflowData"]["connections"][&name] = json!({"main": outputs});
            if serves {
                body["workflowData"]["connections"][&name]["ai_tool"] = json!([[{"node": "N0"}]]);
            }
            body["data"]["resultData"]["runData"][&name] = runs.into();
            node["name"] = name.into();
            node["type"] = node_type.into();
            body["workflowData"]["nodes"].as_array_mut().unwrap().push(node);
        }
        if is_child {
            body["data"]["parentExecution"] = json!({"executionId": "5", "workflowId": "p", "shouldResume": true});
        }
        body
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn generated_executions_agree_with_the_oracle(body in execution(), sizes in prop::collection::vec(1usize..9000, 1..8)) {
        let truth = oracle::summary(&body);
        let text = body.to_string();
        for sizes in [&sizes[..], &[65_536], &[7]] {
            assert_same(&shown(&summary_of(text.as_bytes(), sizes)), &truth, &format!("in pieces of {sizes:?}"));
        }
        for share in [Share::Nothing, Share::Equal] {
            let ours = flatted::read(&SummaryProjection, &stored(&text, share), false).unwrap();
            let truth = if may_have_error_items(&body) { truth.clone() } else { oracle::summary(&without_errors(&body)) };
            assert_same(&shown(&ours), &truth, "from the store");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_guidance_fits_the_execution(body in execution()) {
        let summary = summary_of(body.to_string().as_bytes(), &[65_536]);
        let answer = answer(&body);
        let (message, example) = (answer["_guidance"]["message"].as_str().unwrap(), answer["_guidance"]["example"].as_str().unwrap());
        prop_assert!(!example.contains("<nodeName>"), "{}", example);
        let name = example.split("nodeName: '").nth(1).map(|rest| rest.split('\'').next().unwrap());
        prop_assert!(name.is_none_or(|name| summary.nodes.iter().any(|node| node.name == name)), "{}", example);
        let is_unfinished = ["waiting", "running", "canceled"].contains(&body["status"].as_str().unwrap());
        let has_failed = summary.nodes.iter().any(|node| node.failed_runs > 0);
        if is_unfinished && !has_failed {
            prop_assert!(message.starts_with("This execution "), "{}", message);
            if let Some(node) = body["data"]["executionData"]["nodeExecutionStack"][0]["node"]["name"].as_str() {
                prop_assert!(message.contains(&format!(" at node '{node}'")), "{}", message);
            }
        }
        // A sub-node that returned something is not worth a look for that alone.
        if message.contains("output no item") {
            let runs = body["data"]["resultData"]["runData"][name.unwrap()].as_array().unwrap();
            prop_assert!(runs.iter().any(|run| oracle::all_items(run) == 0), "{}", body);
        }
        let notes = answer["notes"].to_string();
        let is_recovered = |run: &Value| run["startTime"].as_f64().is_some_and(|time| time < 1e11);
        let runs = body["data"]["resultData"]["runData"].as_object().unwrap().values().flat_map(|runs| runs.as_array().unwrap());
        let has_placeholders = body["status"] == "crashed" && runs.clone().any(is_recovered);
        prop_assert_eq!(notes.contains("placeholders"), has_placeholders, "{}", notes);
        prop_assert_eq!(notes.contains("was copied"), runs.clone().any(|run| oracle::is_copied(&body, run)), "{}", notes);
    }
}

/// Whether an item can stand for an error in n8n.
fn may_have_error_items(body: &Value) -> bool {
    let nodes = body["workflowData"]["nodes"].as_array().unwrap();
    // Each node serves another one, in addition to where its items go.
    let serves =
        |node: &Value| !body["workflowData"]["connections"][node["name"].as_str().unwrap()]["ai_tool"].is_null();
    nodes.iter().any(|node| oracle::continues(node) || serves(node) || node["type"] == "n8n-nodes-base.executeWorkflow")
}

/// The execution with items that have no `error`.
fn without_errors(body: &Value) -> Value {
    let mut body = body.clone();
    for runs in body["data"]["resultData"]["runData"].as_object_mut().unwrap().values_mut() {
        for output in runs.as_array_mut().unwrap().iter_mut().filter_map(|run| run["data"]["main"].as_array_mut()) {
            for item in output.iter_mut().filter_map(Value::as_array_mut).flatten() {
                item.as_object_mut().unwrap().remove("error");
            }
        }
    }
    body
}

/// A node with three items; the second stands for an error.
fn with_an_error_item() -> Value {
    let main = json!([[{"json": {"n": 1}}], [{"json": {}}, {"json": {"error": "no such customer"}}]]);
    json!({"id": "7", "status": "success",
        "data": {"resultData": {"runData": {
            "Start": [{"data": {"main": [[{"json": {}}]]}}],
            "It's": [{"data": {"main": main}}, {"data": {"main": [[], []]}}]
        }}},
        "workflowData": {"name": "w",
            "nodes": [{"name": "Start"}, {"name": "It's", "onError": "continueErrorOutput"}],
            "connections": {"It's": {"main": [[{"node": "Start"}]]}}}})
}

fn answer(body: &Value) -> Value {
    let summary = SummaryProjection.read_from(body.to_string().as_bytes()).unwrap();
    let answer = summary_answer::compose(&summary, None, 0, Locale::En, true);
    let mut answer: Value = serde_json::from_str(&answer).unwrap();
    answer["data"].take()
}

#[test]
fn the_summary_says_what_is_unusual_about_the_flow() {
    let mut body = with_an_error_item();
    let data = answer(&body);
    let expected = json!({"nodeName": "It's", "nodeType": "unknown", "status": "success", "items": 3, "runs": 2,
        "outputs": [1, 2], "unconnected": [1], "errorItems": {"count": 1, "output": 1, "item": 1, "message": "no such customer"},
        "emptyRuns": 1});
    assert_same(&data["availableNodes"][1], &expected, "the node");
    let example =
        r"get_execution_by_node(id: '7', nodeName: 'It\'s', runIndex: 0, outputIndex: 1, offset: 1, limit: 1)";
    assert_eq!(data["_guidance"]["example"], example);

    body["workflowData"]["nodes"][1]["onError"] = json!(null);
    let data = answer(&body);
    assert!(data["availableNodes"][1]["errorItems"].is_null(), "the node does not continue after an error: {data}");
    let example = r"get_execution_by_node(id: '7', nodeName: 'It\'s', outputIndex: 1, limit: 3)";
    assert_eq!(data["_guidance"]["example"], example);

    body["workflowData"]["connections"] = json!({});
    let example = r"get_execution_by_node(id: '7', nodeName: 'It\'s', limit: 3)";
    assert_eq!(answer(&body)["_guidance"]["example"], example, "for its empty run");

    body["data"]["resultData"]["runData"]["It's"].as_array_mut().unwrap().pop();
    let guidance = &answer(&body)["_guidance"];
    assert_eq!(guidance["example"], "describe_execution(id: '7')");
    assert!(guidance["message"].as_str().unwrap().starts_with("No node failed: "), "{guidance}");
}

#[test]
fn secrets_in_the_message_of_an_error_item_are_masked() {
    let mut body = with_an_error_item();
    let errors = [
        json!("request failed: Authorization: Bearer abc123def456ghi789"),
        json!({"message": "GET https://example.com/?api_key=abc123def456ghi789"}),
        json!({"headers": {"authorization": "abc123def456ghi789"}}),
    ];
    for error in errors {
        body["data"]["resultData"]["runData"]["It's"][0]["data"]["main"][1][1]["json"]["error"] = error;
        let data = answer(&body);
        assert_eq!(data["availableNodes"][1]["errorItems"]["count"], 1);
        assert!(!data.to_string().contains("abc123"), "{data}");
    }
}

#[test]
fn an_execution_with_long_flow_members_fits() {
    let outputs: Vec<_> = (0..300).map(|at| json!([{"json": {"error": format!("e{at}")}}])).collect();
    let run = json!({"data": {"main": outputs}, "metadata": {"subExecution": {"executionId": "9".repeat(200)}}});
    let nodes: serde_json::Map<_, _> = (0..40).map(|at| (format!("Node {at}"), json!([run, run, run, run]))).collect();
    let names: Vec<_> = nodes.keys().map(|name| json!({"name": name, "onError": "continueErrorOutput"})).collect();
    let body = json!({"id": "7", "status": "success", "data": {"resultData": {"runData": nodes}}, "workflowData": {"nodes": names}});
    let data = answer(&body);
    let node = &data["availableNodes"][0];
    assert_eq!(node["items"], 1200);
    assert_eq!(node["outputs"].as_array().unwrap().last().unwrap(), "…[+236]");
    assert_eq!(node["subExecutions"].as_array().unwrap().last().unwrap(), "…[+1]");
    assert!(n8n_lens::budget::count(&data.to_string()) <= summary_answer::MAX_TOKENS);
}
