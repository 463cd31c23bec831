//! The tool through the real binary.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::http_client::HttpServer;
use crate::mcp_client::{McpClient, text as text_of};
use crate::server::{self, Reply, Server};
use crate::support::n8n_store::N8nFolder;
use crate::wait;

/// Orders that are read and filtered; the change makes the execution a bad one.
fn execution(id: u64, status: &str, change: impl Fn(&mut Value)) -> Value {
    let order = |n: u64| json!({"json": {"id": n, "total": n * 10, "customer": {"name": "Ann"}}});
    let run = |index: u64, ms: u64, outputs: Value| json!([{"executionIndex": index, "startTime": index, "executionTime": ms, "executionStatus": "success", "source": [], "data": {"main": outputs}}]);
    let orders: Vec<_> = (0..6).map(order).collect();
    let node = |name: &str, url: &str| json!({"id": name, "name": name, "type": "n8n-nodes-base.set", "typeVersion": 1, "position": [0, 0], "parameters": {"url": url, "options": {}}});
    let mut body = json!({"id": id.to_string(), "workflowId": "w", "status": status, "mode": "webhook", "finished": status == "success",
        "startedAt": format!("2026-11-20T00:00:{:02}.000Z", id % 60), "stoppedAt": format!("2026-11-20T00:00:{:02}.500Z", id % 60),
        "data": {"resultData": {"runData": {
            "Send": run(3, 1, json!([[{"json": {"ok": true}}]])),
            "Start": run(0, 1, json!([[{"json": {}}]])),
            "Read": run(1, 50, json!([orders])),
            "Filter": run(2, 1, json!([orders[..4], orders[4..]])),
        }}},
        "workflowData": {"id": "w", "name": "Orders", "active": true, "settings": {}, "nodes": [node("Start", ""), node("Read", "a"), node("Filter", ""), node("Send", "")],
            "connections": {"Start": {"main": [[{"node": "Read", "type": "main", "index": 0}]]}}}});
    change(&mut body);
    body
}

fn good(id: u64) -> Value {
    execution(id, "success", |_| {})
}

/// The third order has its total as text and no customer; nothing is sent.
fn bad(id: u64) -> Value {
    execution(id, "error", |body| {
        let nodes = &mut body["data"]["resultData"]["runData"];
        let order = &mut nodes["Read"][0]["data"]["main"][0][2]["json"];
        (order["total"], order["password"]) = (json!("20"), json!("planted"));
        nodes["Read"][0]["executionTime"] = json!(700);
        let filtered = nodes["Filter"][0]["data"]["main"].as_array_mut().unwrap();
        let moved = filtered[0].as_array_mut().unwrap().remove(2);
        filtered[1].as_array_mut().unwrap().push(moved);
        nodes["Filter"][0]["executionStatus"] = json!("error");
        nodes["Filter"][0]["error"] = json!({"message": "Authorization: Bearer s3cret.s3cret"});
        nodes.as_object_mut().unwrap().remove("Send");
        nodes["Alarm"] = json!([{"executionIndex": 3, "data": {"main": [[{"json": {}}]]}}]);
        body["workflowData"]["nodes"][1]["parameters"]["url"] = json!("b");
        body["workflowData"]["nodes"][1]["position"] = json!([100, 0]);
        body["workflowData"]["nodes"][3]["name"] = json!("Alarm");
        body["workflowData"]["connections"]["Read"] =
            json!({"main": [[{"node": "Filter", "type": "main", "index": 0}]]});
    })
}

/// The differences of the bad execution.
fn expected(id: &str, with: &str) -> Value {
    json!({"id": id, "with": with, "same": 1, "nodes": [
        {"nodeName": "Read", "ms": [700, 50], "newFields": ["password"],
            "fields": [{"path": "total", "types": ["number|string", "number"], "first": {"item": 2, "value": "20"}}]},
        {"nodeName": "Filter", "status": ["error", "success"], "outputs": [[3, 3], [4, 2]]},
        {"nodeName": "Send", "only": "other"},
        {"nodeName": "Alarm", "only": "this"},
    ], "workflow": {"changed": [{"nodeName": "Read", "paths": [{"path": "parameters.url", "values": ["a", "b"]}]}], "added": ["Alarm"],
        "removed": ["Send"], "connections": true, "cosmetic": 1}})
}

fn n8n(bodies: &[Value]) -> Server {
    let id = |body: &Value| body["id"].as_str().unwrap().to_owned();
    server::n8n(bodies.iter().map(|body| (id(body), body.to_string().into_bytes())).collect())
}

fn serving(bodies: &[Value], arguments: &[&str]) -> (Server, McpClient) {
    let n8n = n8n(bodies);
    let client = McpClient::start_with(&n8n.url(), &[&["--locale", "en"], arguments].concat());
    (n8n, client)
}

fn data(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!((&answer["success"], &answer["message"]), (&json!(true), &json!("Executions compared")));
    answer["data"].clone()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::binary());
    command.env_clear().args(arguments).args(["--locale", "en"]);
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    String::from_utf8(output.stderr).unwrap()
}

/// Executions of two workflows: 4 is the last good one of the first before 7.
fn history() -> Vec<Value> {
    let mut foreign = good(6);
    foreign["workflowId"] = json!("another");
    vec![good(2), good(4), bad(5), foreign, bad(7), good(8)]
}

#[test]
fn a_retry_is_compared_with_what_it_retries_and_says_what_it_copied() {
    let retry = execution(7, "success", |body| {
        body.as_object_mut().unwrap().shift_insert(0, "retryOf".to_owned(), json!("5"));
        let own = "2026-11-20T00:00:08Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
        for node in ["Filter", "Send"] {
            body["data"]["resultData"]["runData"][node][0]["startTime"] = json!(own);
        }
    });
    let (_n8n, mut client) = serving(&[good(4), bad(5), good(6), retry], &[]);
    let answer = data(&client.call("compare_executions", json!({"id": "7"})).unwrap());
    assert_eq!((&answer["with"], &answer["same"]), (&json!("5"), &json!(1)));
    let said = "Execution '7' retries '5': what these nodes had output there was copied: 'Start', 'Read'.";
    assert_eq!(answer["notes"], json!([said]));
    let copied: Vec<_> = answer["nodes"].as_array().unwrap().iter().map(|node| &node["copiedRuns"]).collect();
    assert_eq!(copied, [&json!([1, 0]), &Value::Null, &Value::Null, &Value::Null], "{answer}");
}

#[test]
fn an_agent_compares_over_mcp_rest_and_on_the_command_line() {
    let (n8n, mut client) = serving(&history(), &[]);
    let question = json!({"id": "7", "with": "2"});
    let answer = client.call("compare_executions", question.clone()).unwrap();
    assert_eq!(data(&answer), expected("7", "2"));
    let read = n8n.requests().iter().filter(|request| format!("{:?}", request.query).contains("includeData")).count();
    assert_eq!(read, 2, "each body once");
    let rest = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let call = json!({"name": "compare_executions", "parameters": question}).to_string();
    let over_rest = rest.send("POST", "/mcp/execute", &[("content-type", "application/json")], &call);
    assert_eq!(over_rest.message(), serde_json::from_str::<Value>(&answer).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = |body: &Value| {
        let path = folder.path().join(format!("{}.json", body["id"].as_str().unwrap()));
        std::fs::write(&path, body.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (this, other) = (file(&bad(7)), file(&good(2)));
    let output = command(&["compare", &this, &other]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
    let input = || Stdio::from(std::fs::File::open(Path::new(&this)).unwrap());
    let output = command(&["compare", "-", &other]).stdin(input()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
    let online = ["--n8n-url", &n8n.url(), "--api-key", "test-key"];
    let output = command(&[&["compare", "7", &other], &online[..]].concat()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer, "an id and a file");
    let output = command(&[&["compare", "7"], &online[..]].concat()).output().unwrap();
    assert_eq!(data(&String::from_utf8(output.stdout).unwrap()), expected("7", "4"), "the last good one");
    let refusal = said(&mut command(&["compare", &this]));
    assert!(refusal.contains("pass the other execution, an id or a file, as the second argument"), "{refusal}");
    let refusal = said(command(&["compare", "-", "-"]).stdin(input()));
    assert!(refusal.contains("Only one execution can be read from standard input"), "{refusal}");
}

#[test]
fn the_last_good_execution_before_it_is_the_default() {
    let (_n8n, mut client) = serving(&history(), &[]);
    let mut compare = |id: u64| client.call("compare_executions", json!({"id": id.to_string()}));
    assert_eq!(data(&compare(7).unwrap()), expected("7", "4"));
    let alike = data(&compare(8).unwrap());
    assert_eq!(alike, json!({"id": "8", "with": "4", "same": 4, "nodes": []}));
    let none = "No successful execution of workflow 'w' before execution '2' is stored: pass the id of another execution (argument: with).";
    assert_eq!(compare(2).unwrap_err(), none);
}

#[test]
fn a_store_knows_the_last_good_execution_too() {
    let store = N8nFolder::wal();
    history().iter().for_each(|body| store.save(body));
    let path = store.path().to_str().unwrap().to_owned();
    let compare = |id: &str| command(&["compare", id, "--store", &path]);
    let output = compare("7").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(answer["data"], expected("7", "4"));
    assert!(said(&mut compare("2")).contains("No successful execution of workflow 'w' before execution '2'"));
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_do() {
    let mut nameless = good(9);
    nameless.as_object_mut().unwrap().remove("workflowId");
    let (_n8n, mut client) = serving(&[good(2), nameless], &[]);
    for (arguments, said) in [
        (
            json!({"id": "2", "with": "2"}),
            "Argument 'with' is the same execution, '2': pass another one, or leave it out.",
        ),
        (json!({"id": "9"}), "Execution '9' names no workflow: pass the id of another execution (argument: with)."),
        (json!({"id": "2", "with": "x"}), "Argument 'with'"),
        (json!({"id": "2", "with": "3"}), "Execution '3'"),
        (json!({"id": "3", "with": "2"}), "Execution '3'"),
    ] {
        let refusal = client.call("compare_executions", arguments).unwrap_err();
        assert!(refusal.starts_with(said), "{refusal}");
    }
}

#[test]
fn secrets_are_masked_and_what_n8n_redacts_is_not_compared() {
    let with_secret = |id: u64, secret: Value| {
        execution(id, "success", |body| {
            let item = &mut body["data"]["resultData"]["runData"]["Read"][0]["data"]["main"][0][0];
            item["json"]["password"] = secret.clone();
            item["error"] = json!({"message": "Authorization: Bearer s3cret.s3cret", "code": secret});
        })
    };
    let bodies = [with_secret(2, json!(null)), with_secret(3, json!("planted"))];
    let (_n8n, mut client) = serving(&bodies, &["--redact"]);
    let answer = client.call("compare_executions", json!({"id": "3"})).unwrap();
    assert!(!answer.contains("planted\"") && !answer.contains("s3cret"), "{answer}");
    let (_n8n, mut client) = serving(&[good(2), bad(7)], &["--redact"]);
    let answer = client.call("compare_executions", json!({"id": "7"})).unwrap();
    assert!(!answer.contains("planted") && !answer.contains("s3cret"), "{answer}");
    let mut redacted = bad(7);
    redacted["data"]["redactionInfo"] = json!({"isRedacted": true});
    let (_n8n, mut client) = serving(&[good(2), redacted], &[]);
    let shown = data(&client.call("compare_executions", json!({"id": "7"})).unwrap());
    assert_eq!(shown["notes"], json!(["n8n redacted the data: the fields of items are not compared."]));
    assert_eq!(shown["nodes"][0], json!({"nodeName": "Read", "ms": [700, 50]}));
}

#[test]
fn executions_without_data_and_of_other_workflows_say_so() {
    let mut foreign = good(3);
    foreign["workflowId"] = json!("another");
    let running = json!({"id": "5", "workflowId": "w", "status": "running"});
    let (_n8n, mut client) = serving(&[good(2), foreign, running], &[]);
    let mut compare = |id: &str| data(&client.call("compare_executions", json!({"id": id, "with": "2"})).unwrap());
    assert_eq!(compare("3")["notes"], json!(["The executions are of different workflows."]));
    let shown = compare("5");
    assert_eq!((&shown["same"], &shown["nodes"]), (&json!(0), &json!([])));
    let note = shown["notes"][0].as_str().unwrap();
    assert!(note.starts_with("No nodes of execution '5' can be compared. This execution is running"), "{note}");
}

#[test]
fn an_answer_stays_within_its_budget_and_says_what_it_leaves_out() {
    let large = |id: u64, status: &str| {
        execution(id, status, |body| {
            let nodes = &mut body["data"]["resultData"]["runData"];
            for node in 0..80 {
                let item: serde_json::Map<_, _> = (0..40)
                    .map(|at| (format!("項目 {id} with a long name, number {at}"), json!(at)))
                    .chain(
                        (0..30)
                            .map(|at| (format!("a{at}"), if id == 7 { json!("漢字".repeat(50)) } else { json!(at) })),
                    )
                    .collect();
                nodes[format!("A node with a long name, number {node}")] =
                    json!([{"data": {"main": [[{"json": item}]]}}]);
            }
        })
    };
    let (_n8n, mut client) = serving(&[large(2, "success"), large(7, "error")], &[]);
    for (max_tokens, least) in [(1000, 300), (4000, 2500), (25_000, 15_000)] {
        let answer = client.call("compare_executions", json!({"id": "7", "maxTokens": max_tokens})).unwrap();
        let tokens = budget::count(&answer);
        assert!((least..=max_tokens).contains(&tokens), "{tokens} of {max_tokens}");
        let shown = data(&answer);
        let reason = shown["truncated"]["reason"].as_str().unwrap();
        assert!(reason.contains("Lists were cut"), "{reason}");
        let nodes = shown["nodes"].as_array().unwrap().len();
        assert_eq!(reason.contains(&format!("{} more nodes differ", 80 - nodes)), nodes < 80, "{nodes}: {reason}");
    }
}

#[test]
fn a_broken_body_is_an_error_and_progress_is_reported() {
    let long = |id: u64| {
        execution(id, "success", |body| {
            let items: Vec<_> = (0..1500).map(|at| json!({"json": {"at": at, "text": "x".repeat(1000)}})).collect();
            body["data"]["resultData"]["runData"]["Read"][0]["data"]["main"] = json!([items]);
        })
        .to_string()
        .into_bytes()
    };
    let (this, other) = (long(7), long(3));
    let bodies = (this.clone(), other.clone());
    let n8n = Server::start(move |request| {
        let body = if request.path.ends_with("/7") { &bodies.0 } else { &bodies.1 };
        Reply::json(200, body.clone()).pace(1_000_000, Duration::from_millis(100))
    });
    let question = json!({"id": "7", "with": "3"});
    let mut client = McpClient::start(&n8n.url());
    let call = client.begin("compare_executions", question.clone());
    assert!(text_of(&client.answer(call)).is_ok());
    let progress = client.notifications("notifications/progress");
    assert!(progress.len() >= 2, "{progress:?}");
    for end in [100, 50_000, this.len() - 1] {
        for is_first in [true, false] {
            let (this, other) = (this.clone(), other.clone());
            let n8n = Server::start(move |request| {
                let is_this = request.path.ends_with("/7");
                let body = if is_this { &this } else { &other };
                Reply::json(200, if is_this == is_first { body[..end].to_vec() } else { body.clone() })
            });
            let mut client = McpClient::start(&n8n.url());
            let said = client.call("compare_executions", question.clone()).unwrap_err();
            assert!(said.contains("ends early") && said.contains(&end.to_string()), "{end} bytes: {said}");
        }
    }
}

#[test]
fn a_cancelled_comparison_stops_its_download() {
    let first = good(7).to_string().into_bytes();
    let n8n = Server::start(move |request| {
        if request.path.ends_with("/7") {
            return Reply::json(200, first.clone());
        }
        let begin = r#"{"id":"3","data":{"resultData":{"runData":{"A":[{"data":{"main":[["#;
        Reply::json(200, begin).endless(br#"{"json":{"a":[1,"a",3]}},"#)
    });
    let mut client = McpClient::start(&n8n.url());
    let question = json!({"id": "7", "with": "3"});
    let id = client.send("tools/call", json!({"name": "compare_executions", "arguments": question}));
    while n8n.sent() < 5_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    wait::eventually("the connection is closed", || n8n.open() == 0);
}
