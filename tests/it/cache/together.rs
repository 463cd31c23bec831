//! Several processes, and several calls.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Cached, empty_id, large, slowly, stderr};
use crate::mcp_client::{McpClient, text};
use crate::server::Reply;
use crate::wait::eventually;

fn slow_start(reply: Reply) -> Reply {
    reply.delay_first_byte(Duration::from_millis(700))
}

fn client(cached: &Cached, with_cache: bool) -> McpClient {
    let folder = cached.folder();
    let arguments = ["--cache", folder.to_str().unwrap()];
    McpClient::start_with(&cached.n8n.url(), if with_cache { &arguments } else { &[] })
}

#[test]
fn one_process_downloads_and_the_others_wait_for_its_file() {
    let cached = Cached::with(large(300_000));
    cached.change(|behaviour| behaviour.shape = slowly);
    let start = || {
        let mut command = cached.command(&["summary", "42"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..5).map(|_| start()).collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{}", stderr(output));
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    assert_eq!(cached.bodies(), 1);
}

#[test]
fn those_that_wait_show_the_progress_of_the_download() {
    let cached = Cached::with(large(300_000));
    cached.change(|behaviour| behaviour.shape = |reply| reply.pace(16 * 1024, Duration::from_millis(60)));
    let mut first = client(&cached, true);
    let mut second = client(&cached, true);
    let one = first.begin("get_execution", empty_id("42"));
    eventually("the download", || cached.bodies() == 1);
    let other = second.begin("get_execution", empty_id("42"));
    let answer = text(&second.answer(other));
    assert_eq!(answer, text(&first.answer(one)));
    assert_eq!(cached.bodies(), 1);
    let progress = second.notifications("notifications/progress");
    let amounts: Vec<_> = progress.iter().filter_map(|it| it["params"]["progress"].as_f64()).collect();
    assert!(amounts.iter().any(|amount| *amount > 1000.0), "bytes of the other process: {progress:?}");
}

#[cfg(unix)]
#[test]
fn when_the_process_that_downloads_is_stopped_another_asks_n8n_itself() {
    let cached = Cached::with(large(300_000));
    cached.change(|behaviour| behaviour.shape = |reply| reply.pace(16 * 1024, Duration::from_millis(200)));
    let mut stopped = cached.command(&["summary", "42"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the download", || !cached.files("part").is_empty());
    let signal = |signal: &str| {
        let pid = stopped.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
    };
    signal("STOP");
    cached.change(|behaviour| behaviour.shape = |reply| reply);
    for _ in 0..2 {
        let begun = std::time::Instant::now();
        let output = cached.run(&["summary", "42", "--idle-timeout", "2"]);
        assert!(output.status.success() && stderr(&output).contains("was stopped"), "{}", stderr(&output));
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    }
    // It continues where it stopped.
    signal("CONT");
    assert!(stopped.wait().unwrap().success());
    assert_eq!(cached.files("zst").len(), 1);
    let bodies = cached.bodies();
    cached.summary();
    assert_eq!(cached.bodies(), bodies);
}

#[test]
fn a_download_that_n8n_makes_wait_is_waited_for() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = |reply| reply.delay_first_byte(Duration::from_secs(4)));
    let start = || {
        let mut command = cached.command(&["summary", "42", "--idle-timeout", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = start();
    eventually("the request", || cached.bodies() == 1);
    let outputs = [start(), first].map(|child| child.wait_with_output().unwrap());
    assert!(outputs.iter().all(|output| output.status.success()), "{}", stderr(&outputs[0]));
    assert_eq!(cached.bodies(), 1);
}

#[test]
fn when_the_process_that_downloads_is_killed_another_goes_on() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = |reply| reply.stall_after(1000));
    let mut first = client(&cached, true);
    first.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "42"}}));
    eventually("the download", || cached.bodies() == 1 && !cached.files("part").is_empty());
    cached.change(|behaviour| behaviour.shape = |reply| reply);
    let mut second = client(&cached, true);
    let waits = second.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "42"}}));
    assert!(second.find(Duration::from_millis(500), |message| message["id"] == waits).is_none(), "it waits");
    first.kill();
    assert!(text(&second.answer(waits)).is_ok());
    assert_eq!((cached.bodies(), cached.files("zst").len(), cached.files("part").len()), (2, 1, 0));
}

#[test]
fn different_calls_share_one_download_through_the_cache() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = slow_start);
    let mut client = client(&cached, true);
    let calls = [
        client.begin("get_execution", empty_id("42")),
        client.begin("get_execution_by_node", json!({"id": "42", "nodeName": "HTTP Request"})),
        client.begin("search_execution", json!({"id": "42", "text": "stub"})),
    ];
    for call in calls {
        let answer = text(&client.answer(call));
        assert!(answer.is_ok(), "{answer:?}");
    }
    assert_eq!(cached.bodies(), 1);
}

#[test]
fn no_call_waits_for_what_will_not_be_cached() {
    let cached = Cached::with(large(300_000));
    cached.edit(|body| body["status"] = json!("running"));
    // The status arrives at once, the rest after a minute.
    cached.change(|behaviour| behaviour.shape = |reply| reply.pace(64 * 1024, Duration::from_secs(15)));
    let mut first = client(&cached, true);
    first.begin("get_execution", empty_id("42"));
    eventually("the download", || cached.bodies() == 1);
    cached.change(|behaviour| behaviour.shape = |reply| reply);
    let mut second = client(&cached, true);
    let call = second.send("tools/call", json!({"name": "get_execution", "arguments": {"id": "42"}}));
    assert!(second.find(Duration::from_secs(10), |message| message["id"] == call).is_some(), "it waits");
}

#[test]
fn calls_that_wait_for_a_download_that_fails_do_not_fail_one_after_the_other() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = |_| Reply::json(400, "{}").delay_first_byte(Duration::from_secs(1)));
    let mut client = client(&cached, true);
    let begun = std::time::Instant::now();
    let calls: Vec<_> = (1..9)
        .map(|limit| client.begin("search_execution", json!({"id": "42", "text": "x", "limit": limit})))
        .collect();
    for call in calls {
        assert!(text(&client.answer(call)).is_err());
    }
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}

#[test]
fn identical_calls_share_one_download_without_a_cache() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = slow_start);
    let mut client = client(&cached, false);
    let calls: Vec<_> = (0..8).map(|_| client.begin("get_execution", empty_id("42"))).collect();
    let answers: Vec<_> = calls.into_iter().map(|call| text(&client.answer(call)).unwrap()).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(cached.bodies(), 1);
    // A later call is sent to n8n again, and so is a different question.
    let again = client.begin("get_execution", empty_id("42"));
    let other = client.begin("get_execution", json!({"id": "42", "offset": 1}));
    text(&client.answer(again)).unwrap();
    text(&client.answer(other)).unwrap();
    assert_eq!(cached.bodies(), 3);
}

#[test]
fn a_caller_that_leaves_does_not_end_what_others_wait_for() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = slow_start);
    let mut client = client(&cached, false);
    let first = client.begin("get_execution", empty_id("42"));
    eventually("the request", || cached.bodies() == 1);
    let second = client.begin("get_execution", empty_id("42"));
    client.notify("notifications/cancelled", json!({"requestId": first}));
    assert!(text(&client.answer(second)).is_ok());
    assert_eq!(cached.bodies(), 1);
    // When all callers have left, n8n is not kept busy.
    let last = client.begin("get_execution", empty_id("42"));
    eventually("the request", || cached.bodies() == 2);
    client.notify("notifications/cancelled", json!({"requestId": last}));
    eventually("the connection is closed", || cached.n8n.open() == 0);
}

#[test]
fn identical_calls_fail_together() {
    let cached = Cached::new();
    cached.change(|behaviour| {
        behaviour.executions.clear();
        behaviour.shape = slow_start;
    });
    let mut client = client(&cached, false);
    let calls: Vec<_> = (0..3).map(|_| client.begin("get_execution", empty_id("42"))).collect();
    for call in calls {
        assert_eq!(text(&client.answer(call)), Err("Execution '42' not found.".to_owned()));
    }
    assert_eq!(cached.bodies(), 1);
}

#[test]
fn callers_with_different_keys_share_nothing() {
    let cached = Cached::new();
    cached.change(|behaviour| behaviour.shape = slow_start);
    let server = crate::http_client::HttpServer::start_with_key(&cached.n8n.url(), None, &[]);
    let call = |key: &str| server.call("get_execution", empty_id("42"), &[("x-n8n-api-key", key)]);
    std::thread::scope(|scope| {
        let calls = ["test-key", super::OTHER_KEY, "wrong-key"].map(|key| scope.spawn(move || call(key)));
        let answers = calls.map(|call| call.join().unwrap());
        assert!(answers[0].is_ok() && answers[1].is_ok() && answers[2].is_err(), "{answers:?}");
    });
    assert_eq!(cached.bodies(), 3);
}

#[test]
fn the_answers_of_a_server_with_a_cache_are_those_of_one_without() {
    let cached = Cached::new();
    let (mut with, mut without) = (client(&cached, true), client(&cached, false));
    let calls: [(&str, Value); 3] = [
        ("get_execution", empty_id("42")),
        ("get_execution_by_node", json!({"id": "42", "nodeName": "HTTP Request"})),
        ("get_execution_fields", empty_id("42")),
    ];
    for (tool, arguments) in calls {
        let plain = without.call(tool, arguments.clone()).unwrap();
        assert_eq!(with.call(tool, arguments.clone()).unwrap(), plain);
        assert_eq!(with.call(tool, arguments).unwrap(), plain);
    }
    assert_eq!(cached.bodies(), 4);
}
