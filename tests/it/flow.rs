//! What the summary says about the flow of items: generated executions against the oracle, from both sources.

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
    (error(), error(), any::<bool>(), padding).prop_map(|(own, in_json, json_first, padding)| {
        let mut data = json!({"n": padding, "text": "\"error\": ".repeat(padding % 3), "pad": "x".repeat(padding)});
        data["deep"] = json!({"error": "deeper"});
        if let Some(error) = in_json {
            data["error"] = error;
        }
        let mut item = if json_first { json!({"json": data.clone()}) } else { json!({"pairedItem": 0}) };
        if let Some(error) = own {
            item["error"] = error;
        }
        item["json"] = data;
        item
    })
}

fn run() -> impl Strategy<Value = Value> {
    let outputs = prop::collection::vec(
        prop_oneof![1 => Just(None), 5 => prop::collection::vec(item(), 0..6).prop_map(Some)],
        0..4,
    );
    (outputs, 0u64..5, any::<bool>()).prop_map(|(outputs, children, fails)| {
        let mut run = json!({"startTime": 1, "executionTime": 1, "source": [], "executionStatus": "success"});
        if children > 0 {
            run["metadata"] = json!({"subExecution": {"executionId": format!("9{children}"), "workflowId": "w"}});
        }
        if children > 3 {
            run["metadata"]["subExecutionsCount"] = children.into();
        }
        run["data"] = json!({"ai_tool": [[{"error": "not a main output"}]], "main": outputs});
        if fails && children == 2 {
            run = json!({"executionStatus": "error", "error": {"message": "stopped"}});
        }
        run
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
    (nodes, connections, any::<bool>(), node_type).prop_map(|(nodes, connections, is_child, node_type)| {
        let mut body = json!({"id": "7", "status": "success", "mode": "trigger", "workflowId": "w",
            "data": {"version": 1, "startData": {}, "resultData": {"runData": {}}, "executionData": {}},
            "workflowData": {"name": "w", "nodes": [], "connections": {}}});
        for (at, (runs, mut node)) in nodes.into_iter().enumerate() {
            let name = format!("N{at}");
            let leads = |output: &u8| match output {
                0 => json!(null),
                1 => json!([]),
                2 => json!([null]),
                _ => json!([{"node": "N0", "type": "main", "index": 0}]),
            };
            let outputs: Vec<_> = connections[at].iter().map(leads).collect();
            body["workflowData"]["connections"][&name] = json!({"ai_tool": [[{"node": "N0"}]], "main": outputs});
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

/// Whether an item can stand for an error in n8n.
fn may_have_error_items(body: &Value) -> bool {
    let nodes = body["workflowData"]["nodes"].as_array().unwrap();
    nodes.iter().any(|node| oracle::continues(node) || node["type"] == "n8n-nodes-base.executeWorkflow")
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

/// A node with three items, of which the second stands for an error.
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
    let answer = summary_answer::compose(&summary, None, 0, Locale::En);
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
    assert_eq!(guidance["example"], "get_execution_fields(id: '7')");
    assert!(guidance["message"].as_str().unwrap().starts_with("No node failed, "), "{guidance}");
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
