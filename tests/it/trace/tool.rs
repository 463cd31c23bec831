//! The tool through the real binary.

use std::process::Stdio;
use std::time::Duration;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::asking::{self, command, serving};
use crate::http_client::HttpServer;
use crate::mcp_client::{McpClient, text as text_of};
use crate::server::{self, Reply, Server};
use crate::wait;

/// Orders that are read, changed by code, and merged into one item.
fn execution(orders: usize, text: &str) -> Value {
    let order = |n: usize| json!({"id": n, "total": n * 10, "tags": ["a", "b"], "password": format!("planted{n}"), "text": text});
    let read = |n: usize| json!({"json": order(n), "pairedItem": {"item": 0}});
    let code = |n: usize| {
        let mut order = order(n);
        let members = order.as_object_mut().unwrap();
        members.insert("total".to_owned(), json!("none"));
        members["tags"][1] = json!("c");
        members.insert("password".to_owned(), json!(format!("planted other{n}")));
        members.insert("paid".to_owned(), json!({"at": "today"}));
        members.shift_remove("id");
        json!({"json": order, "pairedItem": {"item": n}, "error": {"message": "Authorization: Bearer s3cret.s3cret"}})
    };
    let all: Vec<_> = (0..orders).map(|item| json!({"item": item})).collect();
    let from = |node: &str| json!([{"previousNode": node}]);
    json!({"id": "7", "status": "success", "data": {
        "parentExecution": {"executionId": "6", "workflowId": "w"},
        "resultData": {"runData": {
            "Start": [{"source": [], "data": {"main": [[{"json": {}, "pairedItem": {"item": 0}}]]}}],
            "Read": [{"source": from("Start"), "data": {"main": [(0..orders).map(read).collect::<Vec<_>>()]}}],
            "Code": [{"source": from("Read"), "data": {"main": [(0..orders).map(code).collect::<Vec<_>>()]}}],
            "All": [{"source": from("Code"), "data": {"main": [[{"json": {"data": "…"}, "pairedItem": all}]]}}],
        }}},
        "workflowData": {"nodes": [{"name": "Code", "type": "n8n-nodes-base.code", "parameters": {}}]}})
}

fn data(answer: &str) -> Value {
    asking::data(answer, "Item traced")
}

#[test]
fn an_agent_follows_an_item_over_mcp_rest_and_on_the_command_line() {
    let body = execution(3, "");
    let (n8n, mut client) = serving(&body, &[]);
    let question = json!({"id": "7", "nodeName": "Code", "item": 2});
    let answer = client.call("trace_execution_item", question.clone()).unwrap();
    let by_position = "n8n pairs what code returns by position: the source is wrong if the code reordered the items.";
    let expected = json!({"steps": [
        {"nodeName": "Code", "item": 2, "from": [["Read", 0, 0, 2]], "note": by_position, "changed": {
            "~total": [20, "none"], "~tags[1]": ["b", "c"], "~password": ["planted2", "planted other2"],
            "+paid": {"at": "today"}, "+error": {"message": "Authorization: [redacted]"}, "-": ["id"]}},
        {"nodeName": "Read", "item": 2, "from": [["Start", 0, 0, 0]],
            "changed": {"+id": 2, "+total": 20, "+tags": ["a", "b"], "+password": "planted2", "+text": ""}},
        {"nodeName": "Start", "item": 0, "from": [], "note": "The execution starts here; execution '6' started it.", "json": {}},
    ]});
    assert_eq!(data(&answer), expected);
    assert_eq!(n8n.requests().len(), 2, "two passes, whatever the number of steps");
    let rest = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let call = json!({"name": "trace_execution_item", "parameters": question}).to_string();
    let over_rest = rest.send("POST", "/mcp/execute", &[("content-type", "application/json")], &call);
    assert_eq!(over_rest.message(), serde_json::from_str::<Value>(&answer).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body.to_string()).unwrap();
    let output = command(&["trace", file.path().to_str().unwrap(), "Code", "2"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
    let piped = command(&["trace", "-", "Code", "2"]).stdin(Stdio::from(file.reopen().unwrap())).output().unwrap();
    let piped = data(&String::from_utf8(piped.stdout).unwrap());
    assert!(piped["notes"][0].as_str().unwrap().contains("save the body to a file"), "{piped}");
    assert_eq!(
        (&piped["steps"][0]["from"], &piped["steps"][0]["changed"]),
        (&expected["steps"][0]["from"], &Value::Null)
    );
    let table = command(&["trace", file.path().to_str().unwrap(), "Code", "2", "--json"]).output().unwrap();
    assert!(table.status.success());
}

#[test]
fn an_item_is_that_of_its_own_node_whatever_other_nodes_there_are() {
    let run = |name: &str, source: Value| {
        let items: Vec<_> = (0..3).map(|at| json!({"json": {name: at}})).collect();
        json!([{"source": source, "data": {"main": [items]}}])
    };
    let names = ["A", "B", "C", "D"];
    let nodes: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), run(name, json!([])))).collect();
    let body = json!({"id": "7", "data": {"resultData": {"runData": nodes}}});
    let (_n8n, mut client) = serving(&body, &[]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body.to_string()).unwrap();
    for (name, item) in names.iter().flat_map(|name| (0..3).map(move |item| (*name, item))) {
        let question = json!({"id": "7", "nodeName": name, "item": item});
        let answer = client.call("trace_execution_item", question).unwrap();
        assert_eq!(data(&answer)["steps"][0]["json"], json!({name: item}), "{name} {item}");
        let arguments = ["trace", file.path().to_str().unwrap(), name, &item.to_string()];
        let of_file = command(&arguments).output().unwrap();
        assert_eq!(String::from_utf8(of_file.stdout).unwrap().trim_end(), answer, "{name} {item}");
    }
}

#[test]
fn forward_and_both_lead_to_what_came_from_an_item() {
    let (_n8n, mut client) = serving(&execution(30, ""), &[]);
    let mut nodes = |direction: &str| {
        let question = json!({"id": "7", "nodeName": "Read", "item": 17, "direction": direction});
        let data = data(&client.call("trace_execution_item", question).unwrap());
        let steps: Vec<_> = data["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["nodeName"].as_str().unwrap().to_owned())
            .collect();
        (steps, data["steps"].as_array().unwrap().last().unwrap().clone())
    };
    assert_eq!(nodes("back").0, ["Read", "Start"]);
    assert_eq!(nodes("both").0, ["Read", "Start", "Code", "All"]);
    let (steps, last) = nodes("forward");
    assert_eq!(steps, ["Read", "Code", "All"]);
    assert_eq!(
        (&last["fromMore"], last["from"].as_array().unwrap().len(), &last["json"]),
        (&json!(25), 5, &json!({"data": "…"}))
    );
}

#[test]
fn what_cannot_be_traced_is_refused_with_what_to_do() {
    let (_n8n, mut client) = serving(&execution(3, ""), &[]);
    for (more, said) in [
        (
            json!({"nodeName": "code", "item": 0}),
            "Node 'code' not found in execution '7'. Did you mean 'Code'? Nodes: 'Code', 'Start', 'Read', 'All'",
        ),
        (
            json!({"nodeName": "Code", "item": 3}),
            "Node 'Code' has 3 items at output 0 of run 0: item 3 must be from 0 to 2.",
        ),
        (
            json!({"nodeName": "Code", "item": 0, "runIndex": 1}),
            "Node 'Code' has 1 run in execution '7': runIndex 1 must be 0.",
        ),
        (
            json!({"nodeName": "Code", "item": 0, "outputIndex": 2}),
            "Node 'Code' has 1 output in run 0: outputIndex 2 must be 0.",
        ),
    ] {
        let mut arguments = more;
        arguments["id"] = json!("7");
        assert_eq!(client.call("trace_execution_item", arguments).unwrap_err(), said);
    }
    let (_n8n, mut client) = serving(&json!({"id": "7", "status": "running"}), &[]);
    let said = client.call("trace_execution_item", json!({"id": "7", "nodeName": "A", "item": 0})).unwrap_err();
    assert!(said.contains("This execution is running"), "{said}");
}

#[test]
fn secrets_are_masked_in_values_and_changes() {
    let (_n8n, mut client) = serving(&execution(3, ""), &["--redact"]);
    let answer = client
        .call("trace_execution_item", json!({"id": "7", "nodeName": "Code", "item": 1, "direction": "both"}))
        .unwrap();
    assert!(!answer.contains("planted") && !answer.contains("s3cret"), "{answer}");
    assert_eq!(data(&answer)["steps"][1]["changed"]["+password"], "[redacted]");
}

#[test]
fn lone_surrogates_and_large_items_are_shown_as_far_as_they_are_held() {
    let item =
        |text: &str| format!(r#"{{"json":{{"half\ud83d":"\udc00x","text":"{text}"}},"pairedItem":{{"item":0}}}}"#);
    for (bytes, partial) in [(10, false), (200_000, true), (2_000_000, true)] {
        let (one, other) = (item(&"x".repeat(bytes)), item(&("x".repeat(bytes) + "y")));
        let body = format!(
            r#"{{"id":"7","data":{{"resultData":{{"runData":{{"A":[{{"source":[],"data":{{"main":[[{one}]]}}}}],"B":[{{"source":[{{"previousNode":"A"}}],"data":{{"main":[[{one},{other}]]}}}}]}}}}}}}}"#
        );
        let n8n = server::n8n([("7".to_owned(), body.into_bytes())].into());
        let mut client = McpClient::start_with(&n8n.url(), &["--locale", "en"]);
        let mut step = |item: u64| {
            let answer =
                data(&client.call("trace_execution_item", json!({"id": "7", "nodeName": "B", "item": item})).unwrap());
            let reason = answer["truncated"]["reason"].as_str().unwrap_or_default().to_owned();
            (answer["steps"].clone(), reason)
        };
        let (steps, reason) = step(0);
        assert_eq!(steps[0]["changed"], json!({}), "{bytes}");
        assert_eq!(steps[1]["json"]["half\u{fffd}"], "\u{fffd}x");
        assert_eq!(reason.contains("Of items above 64 KB"), partial, "{reason}");
        assert_eq!(step(1).0[0]["changed"].as_object().unwrap().keys().collect::<Vec<_>>(), ["~text"], "{bytes}");
    }
}

#[test]
fn an_answer_stays_within_its_budget_and_uses_it() {
    let long = "漢字 and a long text, ".repeat(50);
    let chain: Vec<_> = (0..60).map(|n| format!("A node with a long name, number {n}")).collect();
    let nodes: serde_json::Map<_, _> = chain
        .iter()
        .enumerate()
        .map(|(n, name)| {
            let source = if n > 0 { json!([{"previousNode": chain[n - 1]}]) } else { json!([]) };
            let item = json!({"json": {"n": n, "text": format!("{n}{long}"), format!("new{n}"): long}, "pairedItem": {"item": 0}});
            (name.clone(), json!([{"source": source, "data": {"main": [[item]]}}]))
        })
        .collect();
    let body = json!({"id": "7", "data": {"resultData": {"runData": nodes}}});
    let (_n8n, mut client) = serving(&body, &[]);
    for (max_tokens, least) in [(1000, 700), (4000, 2800), (25_000, 5000)] {
        let question = json!({"id": "7", "nodeName": chain[59], "item": 0, "maxTokens": max_tokens});
        let answer = client.call("trace_execution_item", question).unwrap();
        let tokens = budget::count(&answer);
        assert!((least..=max_tokens).contains(&tokens), "{tokens} of {max_tokens}");
        assert!(data(&answer)["truncated"]["reason"].as_str().unwrap().contains("1 more item to follow"), "{answer}");
    }
}

const CALL: &str = r#"{"id": "7", "nodeName": "Code", "item": 2}"#;

#[test]
fn a_broken_body_is_an_error_and_progress_is_reported() {
    let body = execution(1500, &"x".repeat(1000)).to_string().into_bytes();
    let whole = body.clone();
    let n8n = Server::start(move |_| Reply::json(200, whole.clone()).pace(1_000_000, Duration::from_millis(100)));
    let mut client = McpClient::start(&n8n.url());
    let call = client.begin("trace_execution_item", serde_json::from_str(CALL).unwrap());
    assert!(text_of(&client.answer(call)).is_ok());
    let progress = client.notifications("notifications/progress");
    assert!(progress.len() >= 2, "{progress:?}");
    for end in [100, 50_000, body.len() - 1] {
        // In the first pass, and only in the second.
        for whole in [0, 1] {
            let (cut, all) = (body[..end].to_vec(), body.clone());
            let sent = std::sync::atomic::AtomicUsize::new(0);
            let n8n = Server::start(move |request| {
                let is_data = format!("{:?}", request.query).contains("includeData");
                let nth = if is_data { sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed) } else { 0 };
                Reply::json(200, if nth < whole { all.clone() } else { cut.clone() })
            });
            let mut client = McpClient::start(&n8n.url());
            let said = client.call("trace_execution_item", serde_json::from_str(CALL).unwrap()).unwrap_err();
            assert!(said.contains("ends early") && said.contains(&end.to_string()), "{end} bytes: {said}");
        }
    }
}

#[test]
fn a_cancelled_trace_stops_its_download() {
    let n8n = Server::start(|_| {
        let begin = r#"{"id":"7","data":{"resultData":{"runData":{"A":[{"data":{"main":[["#;
        Reply::json(200, begin).endless(br#"{"json":{"a":[1,"a",3]},"pairedItem":{"item":0}},"#)
    });
    let mut client = McpClient::start(&n8n.url());
    let arguments: Value = serde_json::from_str(CALL).unwrap();
    let id = client.send("tools/call", json!({"name": "trace_execution_item", "arguments": arguments}));
    while n8n.sent() < 5_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    wait::eventually("the connection is closed", || n8n.open() == 0);
}
