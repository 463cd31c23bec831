//! Questions about many executions over n8n's API: how much of n8n's capacity one call takes, and what it says about the rest.

use std::collections::HashMap;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::server::{Reply, Request, Server, n8n_handler};

/// An execution of one node with one item.
fn body(id: u64, note: &str) -> Vec<u8> {
    json!({"id": id.to_string(), "finished": true, "mode": "webhook", "status": "success", "workflowId": "w",
        "startedAt": format!("2026-10-01T{:02}:{:02}:00.000Z", id / 60, id % 60), "stoppedAt": "2026-10-02T00:00:00.000Z",
        "workflowVersionId": if id < 40 { "aaaaaaaa-1" } else { "bbbbbbbb-1" },
        "data": {"resultData": {"runData": {"Fetch": [{"executionIndex": 0, "startTime": 1, "executionTime": 1,
            "executionStatus": "success", "source": [], "data": {"main": [[{"json": {"note": note}}]]}}]}}},
        "workflowData": {"id": "w", "name": "Orders", "nodes": [], "connections": {}}})
    .to_string()
    .into_bytes()
}

/// The same, failed.
fn failed(id: u64, message: &str) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(&body(id, "")).unwrap();
    let error = json!({"name": "Error", "message": message, "node": {"name": "Fetch"}});
    (body["status"], body["finished"]) = (json!("error"), json!(false));
    body["data"]["resultData"]["error"] = error.clone();
    body["data"]["resultData"]["lastNodeExecuted"] = json!("Fetch");
    body["data"]["resultData"]["runData"]["Fetch"][0]["error"] = error;
    body.to_string().into_bytes()
}

/// 120 executions; each tenth has the needle.
fn executions() -> HashMap<String, Vec<u8>> {
    let note = |id| if id % 10 == 0 { "order 4711" } else { "nothing" };
    (1..=120).map(|id| (id.to_string(), body(id, note(id)))).collect()
}

fn lens(n8n: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::support::binary());
    command.arg(arguments[0]).args(["--json", "--locale", "en"]).args(&arguments[1..]);
    command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", "test-key").output().unwrap()
}

fn ask(n8n: &Server, arguments: &[&str]) -> Value {
    let output = lens(n8n, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["data"]["executions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn is_body(request: &Request) -> bool {
    request.query("includeData") == Some("true")
}

fn bodies(n8n: &Server) -> usize {
    n8n.requests().iter().filter(|request| is_body(request)).count()
}

#[test]
fn one_call_reads_fifty_bodies_and_says_so() {
    let n8n = Server::start(n8n_handler(executions()));
    let none = ask(&n8n, &["find", "nowhere"]);
    assert_eq!(none["message"], "Found in none of 50 executions");
    assert_eq!((&none["data"]["searched"]["executions"], bodies(&n8n)), (&json!(50), 50));
    let said = none["data"]["_guidance"].as_str().unwrap();
    assert!(said.contains("the newest 50 executions") && said.contains("--store"), "{said}");
    assert!(none["data"]["nextCursor"].is_string() && none["data"]["searched"]["from"].is_string(), "{none}");
    assert!(n8n_lens::budget::count(&none.to_string()) <= 220, "{none}");

    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, None::<String>);
    loop {
        let answer = match &cursor {
            None => ask(&n8n, &["find", "order 4711"]),
            Some(cursor) => ask(&n8n, &["find", "--cursor", cursor]),
        };
        assert_eq!(answer["data"]["executions"][0]["workflowName"], "Orders");
        found.extend(ids(&answer).into_iter().map(str::to_owned));
        pages += 1;
        cursor = answer["data"]["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (1..=12).rev().map(|tens| (tens * 10).to_string()).collect();
    assert_eq!((found, pages), (expected, 3));
    // For a few results, a few bodies are enough.
    let before = bodies(&n8n);
    assert_eq!(ids(&ask(&n8n, &["find", "order 4711", "--limit", "1"])), ["120"]);
    assert!(bodies(&n8n) - before <= 3);
}

#[test]
fn a_body_that_is_too_large_is_let_go() {
    let mut executions = executions();
    executions.insert("119".to_owned(), body(119, &"order 4711 ".repeat(1_000_000)));
    let n8n = Server::start(n8n_handler(executions));
    let answer = ask(&n8n, &["find", "order 4711"]);
    assert_eq!((ids(&answer)[0], &answer["data"]["notSearched"]), ("120", &json!({"tooLarge": 1})), "{answer}");
    assert!(!ids(&answer).contains(&"119"), "{answer}");
    assert!(n8n.sent() < 10 * 1024 * 1024, "{} bytes", n8n.sent());
}

#[test]
fn a_limit_of_requests_is_respected() {
    // The remaining quota falls with each body; a tenth is left for others.
    let (handler, left) = (n8n_handler(executions()), AtomicUsize::new(30));
    let n8n = Server::start(move |request| {
        let left = if is_body(request) { left.fetch_sub(1, SeqCst) - 1 } else { left.load(SeqCst) };
        let reply = handler(request).header("X-RateLimit-Limit", "100");
        reply.header("X-RateLimit-Remaining", &left.to_string())
    });
    let answer = ask(&n8n, &["find", "nowhere"]);
    assert!((20..=22).contains(&bodies(&n8n)), "{}", bodies(&n8n));
    assert!(answer["data"]["nextCursor"].is_string(), "{answer}");
    assert!(answer["data"]["_guidance"].as_str().unwrap().contains("limit of requests"), "{answer}");
    // No further request is sent.
    let before = bodies(&n8n);
    let refused = lens(&n8n, &["find", "nowhere"]);
    assert!(!refused.status.success() && bodies(&n8n) == before, "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("limit of requests"), "{refused:?}");
}

#[test]
fn a_refusal_is_waited_for_as_long_as_one_call_may() {
    for (seconds, searched) in [("1", 50), ("30", 5)] {
        let (handler, turn) = (n8n_handler(executions()), AtomicUsize::new(0));
        let n8n = Server::start(move |request| match is_body(request) {
            true if turn.fetch_add(1, SeqCst) == 5 => {
                Reply::json(429, r#"{"message":"slow down"}"#).header("Retry-After", seconds)
            }
            _ => handler(request),
        });
        let begun = Instant::now();
        let answer = ask(&n8n, &["find", "nowhere"]);
        let found = answer["data"]["searched"]["executions"].as_u64().unwrap();
        assert!(found == searched || (seconds == "30" && found <= 6), "{seconds}: {answer}");
        assert!(answer["data"]["nextCursor"].is_string() && begun.elapsed() < Duration::from_secs(15), "{answer}");
    }
}

#[test]
fn a_change_that_n8n_rejected_for_its_limit_is_sent_again() {
    let turn = AtomicUsize::new(0);
    let n8n = Server::start(move |request| match request.method.as_str() {
        "POST" if turn.fetch_add(1, SeqCst) == 0 => Reply::json(429, "{}").header("Retry-After", "1"),
        _ => Reply::json(
            200,
            r#"{"id":"w","name":"W","nodes":[],"connections":{},"settings":{},"active":false,"data":[],"nextCursor":null}"#,
        ),
    });
    let begun = Instant::now();
    let mut client = McpClient::start(&n8n.url());
    let answer = client.call("create_workflow", json!({"name": "W", "nodes": [], "connections": {}}));
    assert!(answer.is_ok() && begun.elapsed() >= Duration::from_secs(1), "{answer:?}");
    assert_eq!(n8n.requests().iter().filter(|request| request.method == "POST").count(), 2);
}

#[test]
fn the_newest_failures_are_grouped() {
    let mut executions = executions();
    for id in [50, 55, 60] {
        executions.insert(id.to_string(), failed(id, &format!("order {id} was refused")));
    }
    executions.insert("70".to_owned(), failed(70, "no such table"));
    let n8n = Server::start(n8n_handler(executions.clone()));
    let answer = ask(&n8n, &["failures", "--started-after", "2026-01-01T00:00:00Z"]);
    assert_eq!(
        (&answer["message"], bodies(&n8n)),
        (&json!("4 failures in 2 groups since 2026-01-01 00:00 UTC"), 4),
        "{answer}"
    );
    let group = &answer["data"]["groups"][0];
    let edges = json!([
        group["count"],
        group["first"]["id"],
        group["last"]["id"],
        group["goodBefore"]["id"],
        group["goodAfter"]
    ]);
    assert_eq!(edges, json!([3, "50", "60", "49", 59]), "{answer}");
    assert_eq!((&group["node"], &group["edited"]), (&json!("Fetch"), &Value::Null));
    // Earlier ones are not read, and nothing is reported as left.
    let newer = ask(&n8n, &["failures", "--started-after", "2026-10-01T00:58:00Z"]);
    assert_eq!((&newer["data"]["failures"], &newer["data"]["notExamined"]), (&json!(2), &Value::Null), "{newer}");

    executions.insert("40".to_owned(), failed(40, "another host is down"));
    let n8n = Server::start(n8n_handler(executions));
    let answer = ask(&n8n, &["failures", "--started-after", "2026-01-01T00:00:00Z"]);
    let groups = answer["data"]["groups"].as_array().unwrap();
    let first = groups.iter().find(|group| group["first"]["id"] == "40").unwrap();
    assert_eq!(first["edited"], json!(["aaaaaaaa", "bbbbbbbb"]), "{answer}");
}

#[test]
fn more_failures_than_one_call_reads_are_named() {
    let executions = (1..=60).map(|id| (id.to_string(), failed(id, "no such table"))).collect();
    let n8n = Server::start(n8n_handler(executions));
    let answer = ask(&n8n, &["failures", "--started-after", "2026-01-01T00:00:00Z"]);
    assert_eq!((&answer["data"]["failures"], bodies(&n8n)), (&json!(50), 50), "{answer}");
    // The next one starts there.
    assert_eq!(answer["data"]["notExamined"]["before"], "2026-10-01T00:10:00.000Z");
    assert!(answer["data"]["_guidance"].as_str().unwrap().contains("startedBefore"), "{answer}");
}

/// Failures of as many workflows, each after a good execution.
fn failures_of_workflows(workflows: u64) -> HashMap<String, Vec<u8>> {
    let of = |id: u64, body: Vec<u8>| {
        let text = String::from_utf8(body).unwrap();
        (id.to_string(), text.replace("\"workflowId\":\"w\"", &format!("\"workflowId\":\"w{}\"", id / 2)).into_bytes())
    };
    (1..=workflows).flat_map(|at| [of(2 * at, body(2 * at, "")), of(2 * at + 1, failed(2 * at + 1, "no"))]).collect()
}

#[test]
fn what_is_good_around_failures_is_bounded_and_never_loses_the_groups() {
    let asked = ["failures", "--started-after", "2026-01-01T00:00:00Z", "--limit", "100", "--max-tokens", "20000"];
    let with_good = |answer: &Value| {
        let groups = answer["data"]["groups"].as_array().unwrap();
        groups.iter().filter(|group| group["goodBefore"].is_object()).count()
    };
    let guidance = |answer: &Value| answer["data"]["_guidance"].as_str().unwrap_or_default().to_owned();
    // Groups of one workflow share a list.
    let n8n = Server::start(n8n_handler(
        (1..=45)
            .map(|id| {
                (
                    id.to_string(),
                    match id % 3 {
                        0 => failed(id, &"no such thing ".repeat(id as usize)),
                        _ => body(id, ""),
                    },
                )
            })
            .collect(),
    ));
    let answer = ask(&n8n, &asked);
    assert!(with_good(&answer) > 3, "{answer}");
    let goods =
        |n8n: &Server| n8n.requests().iter().filter(|request| request.query("status") == Some("success")).count();
    assert_eq!(goods(&n8n), 1);

    let n8n = Server::start(n8n_handler(failures_of_workflows(48)));
    let answer = ask(&n8n, &asked);
    assert_eq!((&answer["data"]["failures"], answer["data"]["groups"].as_array().unwrap().len()), (&json!(48), 48));
    assert!(n8n.requests().len() <= 70, "{} requests", n8n.requests().len());
    assert!((1..48).contains(&with_good(&answer)) && guidance(&answer).contains("can be missing"), "{answer}");

    // Little is left, or n8n refuses: the groups are shown, without what was not asked.
    for is_low in [true, false] {
        let handler = n8n_handler(failures_of_workflows(5));
        let n8n = Server::start(move |request| match is_low {
            true => handler(request)
                .header("X-RateLimit-Limit", "100")
                .header("X-RateLimit-Remaining", if is_body(request) { "9" } else { "50" }),
            false if request.query("status") == Some("success") => Reply::json(429, "{}").header("Retry-After", "60"),
            false => handler(request),
        });
        let answer = ask(&n8n, &asked);
        assert!(answer["data"]["failures"].as_u64().unwrap() > 0 && with_good(&answer) == 0, "{answer}");
        assert!(guidance(&answer).contains("can be missing"), "{answer}");
        assert!(answer["data"]["groups"][0]["goodAfter"].is_null(), "{answer}");
        let after_body = n8n.requests().iter().rev().take_while(|request| !is_body(request)).count();
        assert!(!is_low || after_body == 0, "{after_body} requests after the limit was low");
    }
}

#[test]
fn names_cost_no_requests_and_cached_bodies_count() {
    let n8n = Server::start(n8n_handler(executions()));
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let of_one = |n8n: &Server| n8n.requests().iter().filter(|request| request.path.contains("/executions/")).count();
    let mut client = McpClient::start_with(&n8n.url(), &["--cache", cache.to_str().unwrap()]);
    let mut find = || -> Value {
        let answer = client.call("find_executions", json!({"text": "order 4711"})).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let first = find();
    assert_eq!((first["data"]["executions"][0]["workflowName"].as_str(), of_one(&n8n)), (Some("Orders"), 50));
    assert!(n8n.requests().iter().all(|request| !request.path.contains("/workflows/")));
    let second = find();
    assert_eq!((ids(&second), &second["data"]["searched"]), (ids(&first), &first["data"]["searched"]));
    assert_eq!((bodies(&n8n), of_one(&n8n)), (50, 100));
}
