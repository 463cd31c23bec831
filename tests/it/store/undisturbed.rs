//! n8n beside us: its commits do not fail while we read, and no file is left.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{BINARY, execution};
use crate::mcp_client::McpClient;
use crate::support::n8n_store::N8nFolder;

/// How long n8n and we work side by side.
const LONG: Duration = Duration::from_millis(1500);

/// How long each commit took, one every 5 ms as long as `is_over` is not set.
fn commits(store: &N8nFolder, first: u64, is_over: &AtomicBool) -> Vec<Duration> {
    let n8n = store.open();
    let mut took = Vec::new();
    for id in first.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        // n8n's own wait for a lock is a second; a commit that fails fails the test.
        n8n.execute_batch(&format!(
            "INSERT INTO execution_entity (id, workflowId, finished, mode, status, startedAt) VALUES ({id}, 'w', 1, 'manual', 'success', '2026-11-22 00:00:00.000')"
        ))
        .expect("n8n's commit to succeed");
        took.push(begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    took.sort();
    took
}

/// The median and the largest of the times of commits with and without us, and how often we read.
fn side_by_side(store: &N8nFolder) -> [(Duration, Duration); 2] {
    let mut body = execution("b_http_500", 7);
    // A text of 8 MB.
    let items: Vec<_> =
        (0..700).map(|at| json!({"json": {"at": at, "long": format!("{at}{}", "y".repeat(12_000))}})).collect();
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [items]});
    store.save(&body);
    let (alone, beside) = (AtomicBool::new(false), AtomicBool::new(false));
    let (without, with, reads) = std::thread::scope(|scope| {
        let without = scope.spawn(|| commits(store, 1_000_000, &alone));
        std::thread::sleep(LONG);
        alone.store(true, Ordering::Relaxed);
        let without = without.join().unwrap();
        let mut command = Command::new(BINARY);
        command.arg("--store").arg(store.path()).env_clear().stderr(Stdio::piped());
        let mut client = McpClient::try_spawn(&mut command).unwrap();
        let with = scope.spawn(|| commits(store, 2_000_000, &beside));
        let (begun, mut reads) = (Instant::now(), 0);
        while begun.elapsed() < LONG {
            let node = json!({"id": "7", "nodeName": "HTTP Request", "offset": 690, "limit": 3, "maxTokens": 1000});
            client.call("get_execution_by_node", node).unwrap();
            reads += 1;
        }
        beside.store(true, Ordering::Relaxed);
        (without, with.join().unwrap(), reads)
    });
    println!(
        "{} commits without us: median {:?}, longest {:?}; {} beside {reads} reads: median {:?}, longest {:?}",
        without.len(),
        without[without.len() / 2],
        without[without.len() - 1],
        with.len(),
        with[with.len() / 2],
        with[with.len() - 1],
    );
    assert!(with.len() > 20 && reads > 0, "{} commits beside {reads} reads", with.len());
    [&without, &with].map(|took| (took[took.len() / 2], took[took.len() - 1]))
}

#[test]
fn no_commit_of_n8n_fails_with_a_write_ahead_log() {
    let store = N8nFolder::wal();
    let [(without, _), (with, _)] = side_by_side(&store);
    // Generous: other tests run at the same time.
    assert!(with < without * 5 + Duration::from_millis(50), "{with:?} with us, {without:?} without");
    assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 1, "only the database is left");
}

#[test]
fn no_commit_of_n8n_fails_with_a_rollback_journal() {
    let store = N8nFolder::rollback();
    side_by_side(&store);
    assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 1, "only the database is left");
}
