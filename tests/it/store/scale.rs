//! Large executions and many of them: memory stays flat.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{answer, binary, execution, lens};
use crate::mcp_client::McpClient;
use crate::support::memory;
use crate::support::n8n_store::N8nFolder;

/// How much the peak may grow from a text of 1 MB to one of 16 MB, bytes.
const GROWTH: u64 = 16 * 1024 * 1024;

/// An execution with a text of about `megabytes`.
fn sized(megabytes: u64) -> Value {
    let mut body = execution("b_http_500", 7);
    let item =
        |at| json!({"json": {"at": at, "name": format!("name {at}"), "long": format!("{at}\"{}", "y".repeat(1_000))}});
    let items: Vec<_> = (0..megabytes * 1_000).map(item).collect();
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] = json!({"main": [items]});
    body
}

/// The most memory that a server needs for a summary, and for the end of a node.
fn peak(store: &Path) -> u64 {
    let mut command = Command::new(binary());
    command.arg("--store").arg(store).env_clear().stderr(Stdio::piped());
    let mut client = McpClient::try_spawn(&mut command).unwrap();
    client.call("get_execution", json!({"id": "7"})).unwrap();
    let summary: Value = serde_json::from_str(&client.call("get_execution", json!({"id": "7"})).unwrap()).unwrap();
    let items = summary["data"]["statistics"]["totalItemsProcessed"].as_u64().unwrap();
    let node = json!({"id": "7", "nodeName": "HTTP Request", "offset": items - 20, "limit": 5, "maxTokens": 2000});
    client.call("get_execution_by_node", node).unwrap();
    memory::peak(client.pid())
}

#[test]
fn memory_does_not_grow_with_the_text() {
    type Make = fn() -> N8nFolder;
    type Save = fn(&N8nFolder, &Value);
    let kinds: [(&str, Make, Save); 3] = [
        ("write-ahead log", N8nFolder::wal, N8nFolder::save),
        ("rollback journal", N8nFolder::rollback, N8nFolder::save),
        ("bundle", N8nFolder::wal, |store, body| drop(store.save_bundle(body))),
    ];
    let (small, large) = (sized(1), sized(16));
    for (kind, make, save) in kinds {
        let peaks = [&small, &large].map(|body| {
            let store = make();
            save(&store, body);
            peak(store.path())
        });
        println!("{kind}: {} MB for 1 MB, {} MB for 16 MB", peaks[0] / 1_000_000, peaks[1] / 1_000_000);
        assert!(peaks[1] < peaks[0] + GROWTH, "{kind}: {peaks:?}");
    }
}

#[test]
#[ignore = "long: 5,000 executions are written first"]
fn five_thousand_failures_are_searched_in_seconds() {
    let store = N8nFolder::wal();
    let n8n = store.open();
    n8n.execute_batch("BEGIN").unwrap();
    for id in 1..=5_000 {
        let name = if id % 100 == 0 { "b_http_refused" } else { "b_http_500" };
        let mut body = execution(name, id);
        body["data"]["resultData"]["runData"]["Webhook"][0]["data"]["main"][0][0]["json"]["long"] =
            json!("y".repeat(20_000));
        store.save_with(&n8n, &body);
    }
    n8n.execute_batch("COMMIT").unwrap();
    drop(n8n);
    let begun = Instant::now();
    let found = answer(&mut lens(
        store.path(),
        &["list", "--failing-node", "HTTP Request", "--error", "refused", "--limit", "100"],
    ));
    println!("5,000 failures searched in {:?}", begun.elapsed());
    assert_eq!(found["data"]["count"], 50);
    // Three seconds are the goal of a release build on an idle machine.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Large workflows.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 12 s"]
    fn memory_does_not_grow_with_the_workflow() {
        type Make = fn() -> N8nFolder;
        type Save = fn(&N8nFolder, &Value);
        let kinds: [(&str, Make, Save); 3] = [
            ("write-ahead log", N8nFolder::wal, N8nFolder::save),
            ("rollback journal", N8nFolder::rollback, N8nFolder::save),
            ("bundle", N8nFolder::wal, |store, body| drop(store.save_bundle(body))),
        ];
        let with_pinned = |megabytes: usize| {
            let mut body = sized(1);
            let item = json!({"json": {"long": "y".repeat(1_000)}});
            body["workflowData"]["pinData"] = json!({"HTTP Request": vec![item; megabytes * 1_000]});
            body
        };
        let (small, large) = (with_pinned(1), with_pinned(47));
        for (kind, make, save) in kinds {
            let peaks = [&small, &large].map(|body| {
                let store = make();
                save(&store, body);
                peak(store.path())
            });
            println!("{kind}: {} MB for 1 MB, {} MB for 47 MB", peaks[0] / 1_000_000, peaks[1] / 1_000_000);
            assert!(peaks[1] < peaks[0] + GROWTH, "{kind}: {peaks:?}");
        }
    }
}
