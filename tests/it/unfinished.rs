//! Executions that are not a plain run from start to end: retries, resumed, waiting, canceled and crashed ones, and those whose data n8n
//! does not send. Through the real binary, with real bodies.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mcp_client::{KEY, McpClient};
use crate::pseudoterminal;
use crate::server::{self, Reply, Server};
use crate::support::{binary, fixtures};

fn lens(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).args(["--lang", "en"]).env_clear().stdin(Stdio::null());
    command
}

fn path(name: &str) -> String {
    fixtures::folder().join("executions").join(format!("{name}.json")).to_str().unwrap().to_owned()
}

/// The `data` of the summary of a saved body.
fn summary(name: &str) -> Value {
    let output = lens(&["summary", &path(name)]).output().unwrap();
    let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["data"].take()
}

fn names(data: &Value) -> Vec<&str> {
    data["availableNodes"].as_array().unwrap().iter().map(|node| node["nodeName"].as_str().unwrap()).collect()
}

fn notes(data: &Value) -> String {
    data["notes"].as_array().into_iter().flatten().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_sub_nodes_of_an_agent_have_calls() {
    let data = summary("l_ai_agent");
    let node = |name: &str| {
        let nodes = data["availableNodes"].as_array().unwrap();
        nodes.iter().find(|node| node["nodeName"] == name).unwrap().clone()
    };
    let model = node("OpenAI Chat Model");
    assert_eq!((&model["calls"], &model["items"], &model["runs"]), (&json!(2), &Value::Null, &Value::Null), "{model}");
    assert_eq!((&node("Calculator")["calls"], &model["emptyRuns"]), (&json!(1), &Value::Null));
    assert_eq!(data["statistics"]["totalItemsProcessed"], 2, "of main outputs, as before");
    let message = data["_guidance"]["message"].as_str().unwrap();
    assert!(message.starts_with("No node failed: describe_execution"), "{message}");
}

#[test]
fn a_retry_names_what_it_copied_and_does_not_count_it() {
    let data = summary("m_retry");
    assert_eq!(names(&data), ["Webhook", "Read orders", "Enrich", "Send", "Report"], "in the order in which they ran");
    assert_eq!((&data["mode"], &data["retryOf"]), (&json!("retry"), &json!("1")));
    let copied: Vec<_> = data["availableNodes"].as_array().unwrap().iter().map(|node| &node["copiedRuns"]).collect();
    assert_eq!(copied, [&json!(1), &json!(1), &json!(1), &Value::Null, &Value::Null]);
    assert_eq!(data["statistics"]["totalItemsProcessed"], 31, "30 of Send and 1 of Report");
    assert_eq!(
        notes(&data),
        "This execution retries execution '1': what 3 nodes had output there was copied and is not counted as processed."
    );
    let shown = pseudoterminal::plain(&lens(&["summary", &path("m_retry")]), 120);
    assert!(shown.contains("retry of 1"), "{shown}");
}

#[test]
fn nodes_before_a_wait_come_before_those_after_it() {
    let ran = ["Webhook", "Before", "Before 2", "Wait", "After"];
    assert_eq!(names(&summary("m_resumed")), ran, "the counter of n8n began again after the wait");
    // Wherever the order of execution shows.
    let body = fixtures::parse(&fixtures::execution("m_resumed"));
    let n8n = server::n8n(HashMap::from([("7".to_owned(), with_id(body, "7"))]));
    let mut client = McpClient::start(&n8n.url());
    let arguments = json!({"id": "7", "path": "name", "limit": 7});
    let found: Value = serde_json::from_str(&client.call("search_execution", arguments).unwrap()).unwrap();
    let per_node = found["data"]["perNode"].as_array().unwrap().iter().map(|node| &node["nodeName"]);
    assert_eq!(per_node.collect::<Vec<_>>(), [ran[1], ran[2], ran[3], ran[4]], "{found}");
    let hits: Vec<_> = found["data"]["hits"].as_array().unwrap().iter().map(|hit| &hit["nodeName"]).collect();
    assert_eq!(hits, ["Before", "Before", "Before", "Before 2", "Before 2", "Before 2", "Wait"], "{found}");
}

fn with_id(mut body: Value, id: &str) -> Vec<u8> {
    body["id"] = id.into();
    body.to_string().into_bytes()
}

#[test]
fn the_guidance_says_where_an_execution_is_and_until_when() {
    let guidance = |name: &str| summary(name)["_guidance"].clone();
    let expected = [
        (
            "g_waiting",
            "This execution waits at node 'Wait' until 2026-12-21T02:04:16.373Z: get_execution_by_node shows the last node that ran",
            "get_execution_by_node(id: '56', nodeName: 'Wait')",
        ),
        (
            "m_canceled_progress",
            "This execution was canceled at node 'Wait': get_execution_by_node shows the last node that ran",
            "get_execution_by_node(id: '4', nodeName: 'Before')",
        ),
        (
            "l_canceled",
            "There is no node to show: list_executions finds other executions",
            "list_executions(workflowId: 'jf0kGqcL1C2XqjFw')",
        ),
        ("l_running", "This execution is running: ask again when it has ended", "get_execution(id: '66')"),
    ];
    for (name, message, example) in expected {
        let guidance = guidance(name);
        assert_eq!(guidance["message"], message, "{name}");
        let workflow = summary(name)["workflowId"].as_str().unwrap().to_owned();
        assert_eq!(guidance["example"], example.replace("jf0kGqcL1C2XqjFw", &workflow), "{name}");
    }
    assert_eq!(summary("g_waiting")["waitTill"], "2026-12-21T02:04:16.373Z");
}

#[test]
fn a_crashed_execution_says_which_data_is_real() {
    let data = summary("m_crashed_progress");
    assert_eq!(
        notes(&data),
        "n8n crashed during this execution. Node 'Short wait' was recovered from its event log, with times in whole seconds and \
         placeholders for items; the other nodes are as n8n had saved them."
    );
    assert_eq!(names(&data), ["Short wait", "Webhook", "Gen", "Copy"]);
    let all = notes(&summary("l_crashed"));
    assert!(all.contains("What ran was recovered from its event log, with times in whole seconds"), "{all}");

    // Without an event log nothing is recovered.
    let mut body = fixtures::parse(&fixtures::execution("m_crashed_progress"));
    body["data"]["resultData"]["runData"].as_object_mut().unwrap().shift_remove("Short wait");
    let n8n = server::n8n(HashMap::from([("7".to_owned(), with_id(body, "7"))]));
    let answer = McpClient::start(&n8n.url()).call("get_execution", json!({"id": "7"})).unwrap();
    let data = serde_json::from_str::<Value>(&answer).unwrap()["data"].take();
    assert_eq!(notes(&data), "n8n crashed during this execution: what it had saved until then is shown.");
}

#[test]
fn data_that_is_too_large_to_show_is_not_taken_for_none() {
    let data = summary("i_large_300mb.nolimitparam");
    assert_eq!(data["_guidance"]["example"], "get_execution(id: '35', ignoreDataSizeLimit: true)");
    let shown = pseudoterminal::plain(&lens(&["summary", &path("i_large_300mb.nolimitparam")]), 200);
    assert!(shown.contains("too large to display") && shown.contains("131 MB"), "{shown}");
    assert!(shown.contains("--ignore-data-size-limit") && !shown.contains("ignoreDataSizeLimit"), "{shown}");
}

#[test]
fn a_list_counts_the_running_executions_that_it_leaves_out() {
    let row = |id: u32, status: &str, more: Value| {
        let mut row = json!({"id": id.to_string(), "status": status, "workflowId": "a", "mode": "webhook", "retryOf": null,
            "retrySuccessId": null, "waitTill": null, "startedAt": "2026-11-21T02:03:59.994Z", "stoppedAt": null});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let n8n = Server::start(move |request| match (request.path.as_str(), request.query("status")) {
        ("/api/v1/executions", Some("running")) => {
            assert_eq!(request.query("workflowId"), Some("a"), "the other filters hold");
            let running: Vec<_> = (10..13).map(|id| row(id, "running", json!({}))).collect();
            Reply::json(200, json!({"data": running, "nextCursor": null}).to_string())
        }
        ("/api/v1/executions", _) => {
            let rows = [
                row(9, "success", json!({"mode": "retry", "retryOf": "7"})),
                row(8, "waiting", json!({"waitTill": "2026-12-21T02:04:16.373Z"})),
                row(7, "error", json!({"retrySuccessId": "9"})),
            ];
            Reply::json(200, json!({"data": rows, "nextCursor": null}).to_string())
        }
        _ => Reply::json(200, r#"{"id":"a","name":"Orders"}"#),
    });
    let mut client = McpClient::start(&n8n.url());
    let mut list = |arguments: Value| -> Value {
        let answer = client.call("list_executions", arguments).unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()["data"].take()
    };
    let data = list(json!({"workflowId": "a"}));
    assert_eq!(data["leftOut"], json!({"running": 3, "see": "list_executions(status: 'running')"}), "{data}");
    let members = |at: usize| {
        ["mode", "retryOf", "retrySuccessId", "waitTill"].map(|member| data["executions"][at][member].as_str())
    };
    assert_eq!(members(0), [Some("retry"), Some("7"), None, None]);
    assert_eq!(members(1), [Some("webhook"), None, None, Some("2026-12-21T02:04:16.373Z")]);
    assert_eq!(members(2), [Some("webhook"), None, Some("9"), None]);
    assert!(data["executions"][2].get("retryOf").is_none(), "only where n8n says it");
    assert!(list(json!({"workflowId": "a", "status": "running"})).get("leftOut").is_none());

    let mut command = lens(&["list", "--workflow-id", "a"]);
    command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY);
    let shown = pseudoterminal::plain(&command, 120);
    for text in
        ["retry of 7", "retried by 9", "until 2026-12-21 02:04:16 UTC", "3 running, not listed here: --status running"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn a_list_does_not_fail_because_the_running_executions_cannot_be_counted() {
    let n8n = Server::start(|request| match (request.path.as_str(), request.query("status")) {
        ("/api/v1/executions", Some("running")) => Reply::json(400, r#"{"message":"no such status"}"#),
        ("/api/v1/executions", _) => Reply::json(200, r#"{"data":[{"id":"1","status":"success"}],"nextCursor":null}"#),
        _ => Reply::json(404, "{}"),
    });
    let answer = McpClient::start(&n8n.url()).call("list_executions", json!({})).unwrap();
    assert!(answer.contains(r#""count":1"#) && !answer.contains("leftOut"), "{answer}");
}

#[test]
fn the_head_of_a_summary_is_broken_between_words() {
    for (name, width) in [("m_retry", 80), ("g_waiting", 60), ("b_http_500", 50), ("m_crashed_progress", 80)] {
        let shown = pseudoterminal::plain(&lens(&["summary", &path(name)]), width);
        // A command is one line, for copying.
        for line in shown.lines().filter(|line| !line.starts_with("Next: ")) {
            assert!(line.chars().count() <= usize::from(width), "{name} at {width}: {line}\n{shown}");
        }
    }
}
