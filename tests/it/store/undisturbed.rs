//! n8n running at the same time: its commits do not fail while we read, and no file is left.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use n8n_lens::store::{self, Settings, Store};
use rusqlite::Connection;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{binary, execution};
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
        // n8n itself waits one second for a lock; a commit that fails fails the test.
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

/// Ends the commits, even if the test fails before.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The median and the largest of the times of commits with and without us, and how often we read.
fn side_by_side(store: &N8nFolder) -> [(Duration, Duration); 2] {
    let mut body = execution("b_http_500", 7);
    // A text of 8 MB.
    let items: Vec<_> =
        (0..700).map(|at| json!({"json": {"at": at, "long": format!("{at}{}", "y".repeat(12_000))}})).collect();
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [items]});
    store.save(&body);
    // n8n keeps its database open: the log is not removed and made again between the two.
    let _n8n = store.open();
    let (alone, alongside) = (AtomicBool::new(false), AtomicBool::new(false));
    let (without, with, reads) = std::thread::scope(|scope| {
        let without = scope.spawn(|| commits(store, 1_000_000, &alone));
        std::thread::sleep(LONG);
        alone.store(true, Ordering::Relaxed);
        let without = without.join().unwrap();
        let mut command = Command::new(binary());
        command.arg("--store").arg(store.path()).env_clear().stderr(Stdio::piped());
        let mut client = McpClient::try_spawn(&mut command).unwrap();
        let with = scope.spawn(|| commits(store, 2_000_000, &alongside));
        let ended = Ended(&alongside);
        let (begun, mut reads) = (Instant::now(), 0);
        while begun.elapsed() < LONG {
            let node = json!({"id": "7", "nodeName": "HTTP Request", "offset": 690, "limit": 3, "maxTokens": 1000});
            client.call("get_execution_by_node", node).unwrap();
            reads += 1;
        }
        drop(ended);
        (without, with.join().unwrap(), reads)
    });
    println!(
        "{} commits without us: median {:?}, longest {:?}; {} alongside {reads} reads: median {:?}, longest {:?}",
        without.len(),
        without[without.len() / 2],
        without[without.len() - 1],
        with.len(),
        with[with.len() / 2],
        with[with.len() - 1],
    );
    assert!(with.len() > 20 && reads > 0, "{} commits alongside {reads} reads", with.len());
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

/// A store with a rollback journal and an execution with a text of 3 MB, where a slice takes this long.
fn with_slices(slice: Option<Duration>) -> (N8nFolder, Store) {
    let folder = N8nFolder::rollback();
    let mut body = execution("b_http_500", 7);
    let long: String = (0..300_000).map(|at| format!("{at:010}")).collect();
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [[{"json": {"long": long}}]]});
    folder.save(&body);
    let location = folder.path().to_str().unwrap().to_owned();
    let store = Store::find(&Settings { location, slice, ..Settings::default() }).unwrap();
    (folder, store)
}

/// A commit of n8n that does not wait.
fn commit(n8n: &Connection, statement: &str) -> rusqlite::Result<()> {
    n8n.busy_timeout(Duration::ZERO).unwrap();
    n8n.execute_batch(statement)
}

const TOUCH: &str = "UPDATE execution_entity SET retryOf = NULL WHERE id = 7";

#[test]
fn a_text_is_the_same_where_it_lies_and_in_slices() {
    let texts = [None, Some(Duration::ZERO)].map(|slice| {
        let (_folder, store) = with_slices(slice);
        let read = |execution: store::Execution<'_>| {
            let mut data = execution.data;
            let (len, mut text) = (data.source().len(), Vec::new());
            // From both ends, so that not every read continues the previous one.
            for position in (0..len / 2).step_by(10_000) {
                for position in [position, len - len / 2 + position] {
                    let mut piece = vec![0; (len - position).min(10_000) as usize];
                    data.source().read_at(position, &mut piece).unwrap();
                    text.extend(piece);
                }
            }
            text
        };
        store.read("7", &CancellationToken::new(), read).unwrap()
    });
    assert!(texts[0].len() > 3_000_000 && texts[0] == texts[1]);
}

#[test]
fn commits_wait_no_longer_than_a_slice_and_not_for_what_is_done_with_the_text() {
    for slice in [None, Some(Duration::ZERO)] {
        let (folder, store) = with_slices(slice);
        let n8n = folder.open();
        let read = |execution: store::Execution<'_>| {
            let mut data = execution.data;
            data.source().read_at(0, &mut [0; 1]).unwrap();
            let held_up = commit(&n8n, TOUCH).is_err();
            assert_eq!(held_up, slice.is_none(), "{slice:?}");
            std::thread::sleep(Duration::from_millis(250));
            data.source().read_at(1, &mut [0; 1]).unwrap();
            commit(&n8n, TOUCH).unwrap();
        };
        store.read("7", &CancellationToken::new(), read).unwrap();
    }
    let (folder, store) = with_slices(None);
    let read = |mut execution: store::Execution<'_>| {
        execution.data.source().read_at(0, &mut [0; 1]).unwrap();
        drop(execution.data);
        commit(&folder.open(), TOUCH).unwrap();
    };
    store.read("7", &CancellationToken::new(), read).unwrap();
}

#[test]
fn an_execution_that_changes_between_two_slices_is_not_mixed() {
    let (folder, store) = with_slices(Some(Duration::ZERO));
    let read = |execution: store::Execution<'_>| {
        let mut data = execution.data;
        let end = data.source().len() - 1;
        data.source().read_at(0, &mut [0; 1]).unwrap();
        commit(&folder.open(), "UPDATE execution_entity SET status = 'crashed' WHERE id = 7").unwrap();
        data.source().read_at(end, &mut [0; 1]).unwrap_err()
    };
    let error = store.read("7", &CancellationToken::new(), read).unwrap_err();
    assert!(error.to_string().contains("changed or was deleted"), "{error}");
}
