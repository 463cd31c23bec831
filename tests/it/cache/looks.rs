//! Which executions may be shown from the cache, and which may not.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Cached, OTHER_KEY, large, stderr};
use crate::fixtures;
#[cfg(target_os = "linux")]
use crate::mcp_client::McpClient;
use crate::server::Reply;
#[cfg(target_os = "linux")]
use crate::support::memory;

#[test]
fn n8n_sends_an_execution_once_for_four_looks() {
    let cached = Cached::new();
    let plain = cached.run(&["summary", "42", "--cache", ""]);
    let first = cached.summary();
    assert_eq!((cached.bodies(), cached.looks()), (2, 0), "one of them without the cache");
    assert_eq!(cached.files("zst").len(), 1);
    let node = cached.run(&["node", "42", "HTTP Request"]);
    assert!(node.status.success(), "{}", stderr(&node));
    let found = cached.run(&["search", "42", "stub"]);
    assert!(found.status.success(), "{}", stderr(&found));
    assert_eq!(cached.summary(), first);
    assert_eq!((cached.bodies(), cached.looks()), (2, 3), "one cheap request before each use");
    assert_eq!(first.into_bytes(), plain.stdout, "the answer is the same without a cache");
}

#[test]
fn every_tool_answers_the_same_from_the_cache() {
    let cached = Cached::with(large(200_000));
    cached.change(|behaviour| {
        let other = String::from_utf8(fixtures::execution("b_http_500")).unwrap();
        let other = other.replacen(r#""id":"42""#, r#""id":"43""#, 1);
        behaviour.executions.insert("43".to_owned(), other.into_bytes());
    });
    let asked: [&[&str]; 6] = [
        &["summary", "42"],
        &["node", "42", "Step 003", "--limit", "5"],
        &["search", "42", "Müller"],
        &["fields", "42"],
        &["trace", "42", "Step 005", "0"],
        &["compare", "42", "43"],
    ];
    for arguments in asked {
        let plain = cached.run(&[arguments, &["--cache", ""]].concat());
        let first = cached.run(arguments);
        let second = cached.run(arguments);
        assert!(plain.status.success(), "{arguments:?}: {}", stderr(&plain));
        assert_eq!(first.stdout, plain.stdout, "{arguments:?}");
        assert_eq!(second.stdout, plain.stdout, "{arguments:?}");
    }
    assert_eq!(cached.bodies(), 8 + 2, "eight without the cache, as trace and compare read twice, and one of each");
}

#[test]
fn a_body_that_arrives_compressed_is_cached_decoded() {
    let cached = Cached::with(large(300_000));
    cached.change(|behaviour| behaviour.shape = Reply::gzip);
    let first = cached.summary();
    assert_eq!(cached.summary(), first);
    assert_eq!(cached.bodies(), 1);
    let mut decoded = Vec::new();
    let file = std::fs::File::open(&cached.files("zst")[0]).unwrap();
    let mut decoder = zstd::Decoder::new(std::io::BufReader::new(file)).unwrap().single_frame();
    std::io::Read::read_to_end(&mut decoder, &mut decoded).unwrap();
    assert_eq!(decoded, large(300_000), "the frame is the body, byte for byte");
}

#[test]
fn whatever_changes_in_the_metadata_throws_the_file_away() {
    let changes: [(&str, Value); 4] = [
        ("status", json!("success")),
        ("stoppedAt", json!("2030-01-01T00:00:00.000Z")),
        ("retrySuccessId", json!("77")),
        ("retryOf", json!("41")),
    ];
    for (member, value) in changes {
        let cached = Cached::new();
        cached.summary();
        cached.edit(|body| body[member] = value.clone());
        cached.summary();
        assert_eq!((cached.bodies(), cached.looks()), (2, 1), "{member}");
        cached.summary();
        assert_eq!((cached.bodies(), cached.looks()), (2, 2), "{member}: the new one is cached");
    }
}

#[test]
fn whatever_else_n8n_says_throws_the_file_away() {
    let replies = [
        (404, "{}"),
        (401, "{}"),
        (403, "{}"),
        (200, "[]"),
        (200, "not JSON"),
        (200, r#"{"id":"7","status":"error"}"#),
    ];
    for (status, text) in replies {
        let cached = Cached::new();
        cached.summary();
        cached.change(|behaviour| behaviour.metadata = Some((status, text.to_owned())));
        let output = cached.run(&["summary", "42"]);
        assert_eq!(output.status.success(), status == 200, "{status} {text}: {}", stderr(&output));
        cached.change(|behaviour| behaviour.metadata = None);
        let bodies = cached.bodies();
        assert_eq!(bodies, if status == 200 { 2 } else { 1 }, "{status} {text}");
        cached.summary();
        assert_eq!(cached.bodies() - bodies, usize::from(status != 200), "{status} {text}: it is not used again");
    }
}

#[test]
fn a_deleted_execution_is_not_shown() {
    let cached = Cached::new();
    cached.summary();
    cached.change(|behaviour| behaviour.executions.clear());
    let output = cached.run(&["summary", "42"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("Execution '42' not found."), "{}", stderr(&output));
    assert!(cached.files("zst").is_empty());
}

#[test]
fn each_key_has_its_own_files_and_asks_for_itself() {
    let cached = Cached::new();
    cached.summary();
    let other = |options: &[&str]| cached.run(&[&["summary", "42", "--api-key", OTHER_KEY], options].concat());
    assert!(!other(&["--offline"]).status.success(), "a key does not see what another one has fetched");
    assert!(other(&[]).status.success());
    assert_eq!(cached.bodies(), 2);
    // A key that may no longer see the execution does not see its file either.
    cached.change(|behaviour| behaviour.refused_key = Some(OTHER_KEY));
    let output = other(&[]);
    assert!(!output.status.success() && stderr(&output).contains("403"), "{}", stderr(&output));
    assert_eq!(cached.files("zst").len(), 1, "only the file of the first key is left");
    let keys: Vec<_> = cached.n8n.requests().iter().map(|it| it.header("x-n8n-api-key").unwrap().to_owned()).collect();
    assert_eq!(keys, ["test-key", OTHER_KEY, OTHER_KEY]);
}

#[test]
fn the_size_limit_is_a_part_of_the_name() {
    let cached = Cached::new();
    cached.summary();
    cached.summary_with(&["--ignore-data-size-limit"]);
    assert_eq!((cached.bodies(), cached.files("zst").len()), (2, 2));
}

#[test]
fn executions_that_are_not_finished_are_not_cached() {
    for status in ["running", "waiting", "new", "unknown"] {
        let cached = Cached::new();
        cached.edit(|body| body["status"] = json!(status));
        cached.summary();
        cached.summary();
        assert_eq!((cached.bodies(), cached.looks(), cached.files("zst").len()), (2, 0, 0), "{status}");
    }
    for status in ["success", "error", "crashed", "canceled"] {
        let cached = Cached::new();
        cached.edit(|body| body["status"] = json!(status));
        cached.summary();
        cached.summary();
        assert_eq!((cached.bodies(), cached.looks(), cached.files("zst").len()), (1, 1, 1), "{status}");
    }
}

#[test]
fn shortened_and_redacted_bodies_are_not_cached() {
    let edits: [fn(&mut Value); 2] = [
        |body| body["dataTooLargeToDisplay"] = json!(true),
        |body| body["data"]["redactionInfo"] = json!({"isRedacted": true, "reason": "workflow_redaction_policy"}),
    ];
    for edit in edits {
        let cached = Cached::new();
        cached.edit(edit);
        cached.summary();
        cached.summary();
        assert_eq!((cached.bodies(), cached.files("zst").len(), cached.files("part").len()), (2, 0, 0));
    }
}

#[test]
fn a_body_that_breaks_off_is_not_cached() {
    let cached = Cached::with(large(200_000));
    cached.change(|behaviour| behaviour.shape = |reply| reply.cut_after(100_000));
    assert!(!cached.run(&["summary", "42"]).status.success());
    assert_eq!((cached.files("zst").len(), cached.files("part").len()), (0, 0));
    cached.change(|behaviour| behaviour.shape = |reply| reply);
    cached.summary();
    assert_eq!(cached.files("zst").len(), 1);
}

#[test]
fn a_store_is_not_cached() {
    let store = crate::support::n8n_store::N8nFolder::wal();
    store.save(&crate::fixtures::parse(&crate::fixtures::execution("b_http_500")));
    let cached = Cached::new();
    let path = store.path().to_str().unwrap().to_owned();
    let output = cached.run(&["summary", "42", "--store", &path]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!((cached.bodies(), cached.files("zst").len()), (0, 0));
}

#[test]
fn an_entry_is_not_used_for_longer_than_it_may_be_kept() {
    let cached = Cached::new();
    cached.summary_with(&["--cache-ttl", "1s"]);
    std::thread::sleep(Duration::from_millis(1100));
    let output = cached.run(&["summary", "42", "--cache-ttl", "1s", "--offline"]);
    assert!(!output.status.success(), "it is too old offline, too");
    assert_eq!(cached.files("zst").len(), 0, "and it is removed");
    cached.summary_with(&["--cache-ttl", "1s"]);
    assert_eq!((cached.bodies(), cached.looks()), (2, 0));
}

/// Large bodies.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 10 s"]
    #[cfg(target_os = "linux")]
    fn a_cache_costs_a_few_megabytes_however_large_the_body_is() {
        const BODY: u64 = 100_000_000;
        const MOST: u64 = 8_000_000;
        let cached = Cached::with(large(BODY));
        let folder = cached.folder();
        let peak = |arguments: &[&str]| {
            let mut client = McpClient::start_with(&cached.n8n.url(), arguments);
            client.call("get_execution", json!({"id": "42"})).unwrap();
            memory::peak(client.pid())
        };
        let without = peak(&[]);
        let with = ["--cache", folder.to_str().unwrap()];
        let (first, second) = (peak(&with), peak(&with));
        assert_eq!((cached.bodies(), cached.files("zst").len()), (2, 1));
        assert!(first < without + MOST && second < without + MOST, "{without}, {first} and {second} bytes");
    }
}
