//! MCP over standard input and output, through the real binary and real HTTP.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp_client::{McpClient, text};
use crate::server::{self, Reply, Server};
#[cfg(target_os = "linux")]
use crate::support::memory::peak;
use crate::{fixtures, oracle, tools};

/// Much longer than an answer takes.
const SOON: Duration = Duration::from_secs(30);

fn n8n() -> Server {
    let executions = fixtures::executions().into_iter().filter(|(name, _)| name != "a_small_success.nodata");
    let by_id: HashMap<_, _> =
        executions.map(|(_, body)| (fixtures::parse(&body)["id"].as_str().unwrap().to_owned(), body)).collect();
    server::n8n(by_id)
}

#[test]
fn tools_are_listed_in_order_of_use() {
    let n8n = n8n();
    let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions"]);
    let mut answer = client.request("tools/list", json!({}));
    let listed = answer["result"]["tools"].as_array_mut().unwrap();
    let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, tools::names(&tools::tools(&["executions"])));
    for tool in listed.iter() {
        assert!(tool.get("outputSchema").is_none());
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        // The kind of value that a search looks for is not a type in the schema.
        let schema = tool["inputSchema"].to_string().replace("[\"null\",\"missing\"", "");
        assert!(!schema.contains("uint") && !schema.contains("null") && !schema.contains("$ref"), "{schema}");
    }
    let node = listed.iter().find(|tool| tool["name"] == "get_execution_by_node").unwrap();
    assert_eq!(node["_meta"]["anthropic/maxResultSizeChars"], 120_000);
    assert!(n8n.requests().is_empty(), "listing tools makes no request to n8n");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn an_agent_gets_from_the_list_to_the_failed_node() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let list: Value =
        serde_json::from_str(&client.call("list_executions", json!({"status": "error"})).unwrap()).unwrap();
    assert_eq!(list["message"], "実行履歴を取得しました");
    let failed = list["data"]["executions"].as_array().unwrap();
    assert_eq!(list["data"]["count"], failed.len());
    let http = failed.iter().find(|execution| execution["workflowName"] == "b_http_500").unwrap();
    assert_eq!(http["executionTime"], 294);

    let summary = client.call("get_execution", json!({"id": http["id"]})).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let body = fixtures::parse(&fixtures::execution("b_http_500"));
    let truth = oracle::summary(&body);
    for member in ["statistics", "error", "availableNodes"] {
        assert_eq!(summary["data"][member], truth[member]);
    }
    let node = &summary["data"]["availableNodes"][0]["nodeName"];
    let detail = client.call("get_execution_by_node", json!({"id": http["id"], "nodeName": node})).unwrap();
    let detail: Value = serde_json::from_str(&detail).unwrap();
    assert_eq!(detail["message"], "ノード 'HTTP Request' の実行詳細を取得しました");
    assert_eq!(detail["data"]["error"]["description"], "stub says no");
    assert_eq!(detail["data"]["input"]["items"][0]["json"]["body"], json!({"x": 1}));
    let bodies = n8n.requests().into_iter().filter(|request| request.query("includeData").is_some()).count();
    assert_eq!(bodies, 2, "each call requests the body once");
}

#[test]
fn a_list_continues_with_its_cursor_and_keeps_its_filters() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let mut seen = Vec::new();
    let mut arguments = json!({"status": "success", "limit": 3});
    loop {
        let page: Value = serde_json::from_str(&client.call("list_executions", arguments).unwrap()).unwrap();
        for execution in page["data"]["executions"].as_array().unwrap() {
            assert_eq!(execution["status"], "success");
            seen.push(execution["id"].as_str().unwrap().parse::<u64>().unwrap());
        }
        match page["data"]["nextCursor"].as_str() {
            Some(cursor) => {
                assert!(n8n_lens::budget::count(cursor) <= 20, "{cursor}");
                arguments = json!({ "cursor": cursor });
            }
            None => break,
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_by(|one, other| other.cmp(one));
    sorted.dedup();
    assert_eq!(seen, sorted, "newest first, without duplicates");
    let all = fixtures::executions();
    let ids: std::collections::HashSet<_> = all
        .iter()
        .map(|(_, body)| fixtures::parse(body))
        .filter(|body| body["status"] == "success")
        .map(|body| body["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(seen.len(), ids.len());
    let lists = n8n.requests().into_iter().filter(|request| request.path.ends_with("/executions"));
    assert!(lists.clone().count() > 1 && lists.into_iter().all(|request| request.query("status") == Some("success")));
}

#[test]
fn a_deleted_or_broken_workflow_never_fails_the_list() {
    let handler = |request: &server::Request| match request.path.as_str() {
        "/api/v1/executions" => {
            Reply::json(200, std::fs::read(fixtures::folder().join("api/list_limit5.json")).unwrap())
        }
        path if path.ends_with("t24W9S2Lc2l1mxAb") => Reply::json(404, r#"{"message":"Not Found"}"#),
        path if path.ends_with("rzmk3kGo8I9eQLfm") => Reply::json(403, r#"{"message":"Forbidden"}"#),
        path if path.ends_with("Ny2GNoaFW2fH7BGp") => Reply::json(200, r#"{"nodes":[],"name":"Orders","x"#),
        _ => Reply::json(200, r#"{"name":"Lager 注文","nodes":[{"name":"not this"}]}"#),
    };
    let n8n = Server::start(handler);
    let mut client = McpClient::start(&n8n.url());
    let list: Value = serde_json::from_str(&client.call("list_executions", json!({})).unwrap()).unwrap();
    let names: Vec<_> =
        list["data"]["executions"].as_array().unwrap().iter().map(|e| e["workflowName"].clone()).collect();
    assert_eq!(names, ["Deleted Workflow", "Unknown Workflow", "Unknown Workflow", "Orders", "Lager 注文"]);
    assert!(list["data"]["nextCursor"].is_string());
    let raw: Value = serde_json::from_str(&client.call("list_executions", json!({"raw": true})).unwrap()).unwrap();
    assert_eq!(raw["data"]["executions"][0]["finished"], false);
}

#[test]
fn invalid_arguments_are_refused_with_the_valid_values() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let cases = [
        ("get_execution", json!({}), "Argument 'id' is missing; it must be digits, such as \"1234\"."),
        ("get_execution", json!({"id": "12a"}), "Argument 'id' is \"12a\"; it must be digits, such as \"1234\"."),
        (
            "get_execution",
            json!({"id": "1", "ID": 2}),
            "Unknown argument 'ID'. This tool takes id, offset, ignoreDataSizeLimit.",
        ),
        ("get_execution_by_node", json!({"id": "1"}), "Argument 'nodeName' is missing; it must be a non-empty string."),
        (
            "get_execution_by_node",
            json!({"id": "1", "nodeName": "A", "limit": 501}),
            "Argument 'limit' is 501; it must be a whole number from 1 to 500.",
        ),
        (
            "get_execution_by_node",
            json!({"id": "1", "nodeName": "A", "maxTokens": 999}),
            "Argument 'maxTokens' is 999; it must be a whole number from 1000 to 25000.",
        ),
        (
            "get_execution_by_node",
            json!({"id": "1", "nodeName": "A", "offset": -1}),
            "Argument 'offset' is -1; it must be a whole number, 0 or more.",
        ),
        (
            "list_executions",
            json!({"status": "done"}),
            "Argument 'status' is \"done\"; it must be one of success, error, waiting, running, canceled, crashed, new, unknown.",
        ),
        (
            "list_executions",
            json!({"startedAfter": "yesterday"}),
            "Argument 'startedAfter' is \"yesterday\"; it must be a date and time in ISO 8601, such as \"2026-11-21T00:00:00Z\".",
        ),
        (
            "list_executions",
            json!({"cursor": "nonsense"}),
            "Argument 'cursor' is not a nextCursor of this tool. Omit it to start with the first page.",
        ),
    ];
    for (tool, arguments, refusal) in cases {
        assert_eq!(client.call(tool, arguments).unwrap_err(), refusal);
    }
    assert!(n8n.requests().is_empty());
    // Ids can be numbers.
    assert!(client.call("get_execution", json!({"id": 42, "offset": null})).is_ok());
    let unknown = client.request("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn a_missing_node_run_or_output_is_refused_with_the_existing_ones() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let missing = client.call("get_execution_by_node", json!({"id": "42", "nodeName": "HTTP request"})).unwrap_err();
    assert_eq!(
        missing,
        "Node 'HTTP request' not found in execution '42'. Did you mean 'HTTP Request'? Nodes: 'HTTP Request', 'Webhook'"
    );
    let run =
        client.call("get_execution_by_node", json!({"id": "49", "nodeName": "Work", "runIndex": 25})).unwrap_err();
    assert_eq!(run, "Node 'Work' has 25 runs in execution '49': runIndex 25 must be from 0 to 24.");
    let output = client
        .call("get_execution_by_node", json!({"id": "49", "nodeName": "Loop Over Items", "outputIndex": 2}))
        .unwrap_err();
    assert_eq!(output, "Node 'Loop Over Items' has 2 outputs in this run: outputIndex 2 must be from 0 to 1.");
    let large = client.call("get_execution_by_node", json!({"id": "35", "nodeName": "Webhook"})).unwrap_err();
    assert!(large.contains("too large to display") && large.contains("131 MB"), "{large}");
}

#[test]
fn a_loop_has_the_right_labels_and_sources() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let last = client.call("get_execution_by_node", json!({"id": "49", "nodeName": "Loop Over Items"})).unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(last["data"]["run"], json!({"index": 25, "total": 26, "failed": []}));
    // Its producer comes after it in the body.
    assert_eq!(
        last["data"]["input"]["sources"][0],
        json!({"inputIndex": 0, "nodeName": "Work", "outputIndex": 0, "runIndex": 24, "total": 1, "offset": 0})
    );
    assert_eq!(last["data"]["input"]["items"][0]["json"]["i"], 24);
    let labels: Vec<_> =
        last["data"]["output"]["outputs"].as_array().unwrap().iter().map(|o| o["label"].clone()).collect();
    assert_eq!(labels, ["done", "loop"]);
}

/// An n8n that waits before sending a body, and sends it slowly.
fn slow_n8n(before: Duration) -> Server {
    let body = fixtures::execution("i_mid_10mb");
    Server::start(move |request| {
        if request.query("includeData").is_none() {
            return Reply::json(200, r#"{"id":"59","jsonSizeBytes":105000000}"#);
        }
        Reply::bytes(200, "application/json", body.clone())
            .delay_first_byte(before)
            .pace(2_000_000, Duration::from_millis(300))
    })
}

/// The parameters of a call's progress notifications so far.
fn progress(client: &mut McpClient, token: &str) -> Vec<Value> {
    let mut notes = client.notifications("notifications/progress");
    notes.retain(|note| note["params"]["progressToken"] == token);
    notes.iter_mut().map(|note| note["params"].take()).collect()
}

#[test]
fn progress_grows_and_a_queued_call_says_that_it_waits() {
    let n8n = slow_n8n(Duration::from_millis(400));
    let mut client = McpClient::start_with(&n8n.url(), &["--max-downloads", "1"]);
    let first = client.begin("get_execution", json!({"id": "59"}));
    std::thread::sleep(Duration::from_millis(200));
    // A different question: the same one would share the first answer.
    let second = client.send(
        "tools/call",
        json!({"name": "get_execution", "arguments": {"id": "59", "offset": 1}, "_meta": {"progressToken": "q"}}),
    );
    assert!(text(&client.answer(first)).is_ok());
    let notes = progress(&mut client, "p");
    let steps: Vec<_> = notes.iter().map(|note| note["progress"].as_f64().unwrap()).collect();
    assert!(steps.len() >= 3 && steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    assert!(notes.last().unwrap()["total"].as_f64().unwrap() > 9e6);
    assert_eq!(progress(&mut client, "q")[0]["message"], "waiting for other downloads");
    assert!(text(&client.answer(second)).is_ok());
}

#[test]
#[ignore = "long: n8n takes six seconds"]
fn a_call_that_waits_for_n8n_says_how_much_is_stored() {
    let n8n = slow_n8n(Duration::from_secs(6));
    let mut client = McpClient::start(&n8n.url());
    let call = client.begin("get_execution", json!({"id": "59"}));
    assert!(text(&client.answer(call)).is_ok());
    assert_eq!(progress(&mut client, "p")[0]["message"], "waiting for n8n, 105 MB stored");
}

#[test]
fn a_cancelled_call_stops_its_download_within_a_second() {
    let n8n = Server::start(|_| {
        Reply::json(200, r#"{"id":"1","data":{"resultData":{"runData":{"A":["#).endless(b"{\"a\":[1,2,3]},")
    });
    let mut client = McpClient::start(&n8n.url());
    let id = client.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "1"}}));
    while n8n.sent() < 10_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    std::thread::sleep(Duration::from_secs(1));
    let sent = n8n.sent();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(n8n.open(), 0, "the connection is closed");
    assert_eq!(n8n.sent(), sent);
    assert!(client.request("tools/list", json!({}))["result"]["tools"].is_array(), "the server continues");
}

#[test]
fn english_messages_on_request() {
    let n8n = n8n();
    let mut client = McpClient::start_with(&n8n.url(), &["--locale", "en"]);
    let summary: Value = serde_json::from_str(&client.call("get_execution", json!({"id": "40"})).unwrap()).unwrap();
    assert_eq!(summary["message"], "Execution summary retrieved");
}

#[test]
#[cfg(unix)]
fn a_signal_stops_the_server_within_two_seconds_during_a_download() {
    let n8n = Server::start(|_| {
        Reply::json(200, r#"{"id":"1","data":{"resultData":{"runData":{"A":["#).endless(b"{\"a\":[1,2,3]},")
    });
    let mut client = McpClient::start(&n8n.url());
    client.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "1"}}));
    while n8n.sent() < 10_000_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = std::time::Instant::now();
    assert!(std::process::Command::new("kill").arg(client.pid().to_string()).status().unwrap().success());
    assert_eq!(client.wait(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

/// The server's answer to a line; a later line is still answered.
fn answer_to(client: &mut McpClient, line: &[u8]) -> Option<Value> {
    client.write_line(line);
    let ping = client.send("ping", json!({}));
    let next = client.find(SOON, |message| message.get("error").is_some() || message["id"] == ping).expect("an answer");
    if next["id"] == ping {
        return None;
    }
    client.answer(ping);
    Some(next)
}

#[test]
fn a_line_that_is_not_a_message_is_answered() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let deep = format!(r#"{{"jsonrpc":"2.0","params":{}{},"method":"ping","id":7}}"#, "[".repeat(200), "]".repeat(200));
    let cases: [(&[u8], i64, Value); 10] = [
        (b"{", -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":7,"method":"ping""#, -32700, Value::Null),
        (b"hello", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"p\xff\"}", -32700, Value::Null),
        (b"{} {}", -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"42", -32600, Value::Null),
        (br#"{"id":7,"method":5}"#, -32600, json!(7)),
        // An answer with its id would end a request of the client.
        (br#"{"jsonrpc":"2.0","id":7,"error":"x"}"#, -32600, Value::Null),
        (deep.as_bytes(), -32600, json!(7)),
    ];
    for (line, code, id) in cases {
        let text = String::from_utf8_lossy(line);
        let answer = answer_to(&mut client, line).unwrap_or_else(|| panic!("no answer to {text}"));
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{text}: {answer}");
    }
    for line in [&b""[..], b"  \r", br#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#] {
        assert_eq!(answer_to(&mut client, line), None, "{}", String::from_utf8_lossy(line));
    }
    client.write_line("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}\r".as_bytes());
    assert!(client.find(SOON, |message| message["id"] == "bom").is_some_and(|answer| answer["result"].is_object()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_that_is_too_large_is_refused_in_little_memory() {
    let n8n = n8n();
    let mut client = McpClient::start(&n8n.url());
    let call = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"get_execution","arguments":{{"id":{id}}}}}}}"#
        )
    };
    let parts = call(&format!("[{}]", vec![r#"{"a":0}"#; 19 * 1024 * 1024 / 8].join(",")));
    let bytes = call(&format!("\"{}\"", "a".repeat(21 * 1024 * 1024)));
    for line in [parts.as_bytes(), bytes.as_bytes()] {
        let answer = answer_to(&mut client, line).expect("an answer");
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(77)), "{answer}");
    }
    assert!(peak(client.pid()) < 10 * 19 * 1024 * 1024, "{}", peak(client.pid()));
}

/// Answers wait in memory for a client that does not read them, so that there are never many.
#[test]
fn requests_beyond_a_number_in_progress_are_refused() {
    let n8n = Server::start(|_| Reply::json(200, "{}").stall_after(1));
    let mut client = McpClient::start(&n8n.url());
    let calls: Vec<_> = (0..257).map(|_| client.begin("get_execution", json!({"id": "1"}))).collect();
    let refused = client.answer(calls[256]);
    assert_eq!(refused["error"]["code"], -32000, "{refused}");
    client.notify("notifications/cancelled", json!({"requestId": calls[0]}));
    let again = json!({"jsonrpc": "2.0", "id": calls[1], "method": "ping"}).to_string();
    client.write_line(again.as_bytes());
    assert_eq!(client.answer(calls[1])["error"]["code"], -32600, "its id is in use");
    assert!(client.request("ping", json!({}))["result"].is_object(), "a cancelled call makes room");
}
