//! Failures of a store: each is an error that says what to do, and nothing incomplete is shown as complete.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{answer, complaint, execution, lens};
use crate::support::n8n_store::{N8nFolder, flatten_data};

fn store() -> N8nFolder {
    let store = N8nFolder::wal();
    store.save(&execution("b_http_500", 7));
    store
}

/// The message about execution 7, which must not name a place on this machine.
fn said(store: &N8nFolder) -> String {
    let said = complaint(&mut lens(store.path(), &["summary", "7"]));
    assert!(!said.contains(store.path().to_str().unwrap()), "{said}");
    let node = complaint(&mut lens(store.path(), &["node", "7", "HTTP Request"]));
    assert_eq!(said, node);
    said
}

fn with_data(data: &str) -> N8nFolder {
    let (store, body) = (N8nFolder::wal(), execution("b_http_500", 7));
    store.save_row(&store.open(), &body);
    store.save_data(&store.open(), 7, &body["workflowData"].to_string(), data);
    store
}

#[test]
fn a_database_of_something_else_is_named() {
    let store = store();
    store.run("DROP TABLE execution_data");
    let missing = said(&store);
    assert!(
        missing.contains("The table execution_data was not found") && missing.contains("DB_TABLE_PREFIX"),
        "{missing}"
    );
    store.run("CREATE TABLE execution_data (executionId int, data text)");
    let missing = said(&store);
    assert!(missing.contains("execution_data has no column workflowData"), "{missing}");
}

#[test]
fn a_file_that_is_not_sqlite_is_named() {
    for content in [
        &b"not a database, but long enough to be looked at, so that its beginning is compared with that of SQLite's"[..],
        b"",
        b"SQLite format 3\0",
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("database.sqlite"), content).unwrap();
        let said = complaint(&mut lens(folder.path(), &["summary", "7"]));
        assert!(said.contains("not an SQLite database: it is encrypted, damaged, or another file"), "{said}");
    }
}

#[test]
fn pages_that_are_damaged_are_named() {
    let store = store();
    let mut bytes = std::fs::read(store.file()).unwrap();
    bytes[100..4096].fill(0xff);
    std::fs::write(store.file(), &bytes).unwrap();
    let damaged = said(&store);
    assert!(damaged.contains("n8n's database is damaged") && damaged.contains("on a copy"), "{damaged}");
}

#[test]
fn an_execution_that_is_not_there_is_named() {
    let store = store();
    let unknown = complaint(&mut lens(store.path(), &["summary", "99"]));
    assert!(unknown.contains("Execution '99' not found in n8n's store"), "{unknown}");
    let huge = complaint(&mut lens(store.path(), &["summary", "99999999999999999999"]));
    assert!(huge.contains("not found"), "{huge}");
    store.run("DELETE FROM execution_data");
    let pruned = said(&store);
    assert!(pruned.contains("Execution '7' has no data row") && pruned.contains("pruned"), "{pruned}");
}

#[test]
fn an_execution_without_run_data_is_shown_as_such() {
    let store = with_data("[]");
    let read = answer(&mut lens(store.path(), &["summary", "7"]));
    assert_eq!(read["data"]["availableNodes"], json!([]));
    assert_eq!(read["data"]["notes"], json!(["This execution has no run data."]));
    let said = complaint(&mut lens(store.path(), &["node", "7", "HTTP Request"]));
    assert!(said.contains("not found in execution '7'"), "{said}");
}

#[test]
fn data_in_an_unknown_form_is_named() {
    let compressed = said(&with_data("gzip:base64:H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA=="));
    assert!(compressed.contains("gzip:base64:"), "{compressed}");
    let body = execution("b_http_500", 7);
    let mut data: Value = body["data"].clone();
    data["version"] = json!(2);
    let newer = said(&with_data(&flatten_data(&json!({"data": data}))));
    assert!(newer.contains("version 2"), "{newer}");
    let store = store();
    store.run("UPDATE execution_data SET data = CAST(data AS blob)");
    let blob = said(&store);
    assert!(blob.contains("stored as blob instead of text"), "{blob}");
}

#[test]
fn a_text_cut_anywhere_is_not_shown() {
    let text = flatten_data(&execution("b_http_500", 7));
    for bytes in (1..text.len()).step_by(text.len() / 25) {
        let store = with_data(&text[..bytes]);
        let summary = lens(store.path(), &["summary", "7"]).output().unwrap();
        assert_ne!(summary.status.code(), Some(0), "{bytes} of {} bytes: {}", text.len(), super::printed(&summary));
        let said = String::from_utf8(summary.stderr).unwrap();
        assert!(said.contains("at byte"), "{bytes} bytes: {said}");
    }
}

#[test]
fn a_lock_is_waited_for_and_then_named() {
    let store = N8nFolder::rollback();
    store.save(&execution("b_http_500", 7));
    let n8n = store.open();
    n8n.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    let locked = complaint(&mut lens(store.path(), &["summary", "7", "--idle-timeout", "1"]));
    assert!(locked.contains("locked by another process for too long (5 s") && locked.contains("Try again"), "{locked}");
    assert!(begun.elapsed() > Duration::from_millis(900), "{:?}", begun.elapsed());
}

#[test]
fn a_spool_that_cannot_be_written_is_named() {
    let store = N8nFolder::rollback();
    let mut body = execution("b_http_500", 7);
    // Larger than what is kept in memory, and at the end of what a node needs.
    body["data"]["resultData"]["runData"]["HTTP Request"][0]["data"] =
        json!({"main": [[{"json": {"long": "y".repeat(3_000_000)}}]]});
    store.save(&body);
    let spool = tempfile::tempdir().unwrap();
    let node =
        |folder| lens(store.path(), &["node", "7", "HTTP Request"]).arg("--spool-dir").arg(folder).output().unwrap();
    let read = node(spool.path());
    assert_eq!(read.status.code(), Some(0), "{}", String::from_utf8_lossy(&read.stderr));
    assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_workflow_that_is_too_large_is_named() {
    let store = store();
    store.run("UPDATE execution_data SET workflowData = '{\"a\":\"' || hex(zeroblob(34000000)) || '\"}'");
    let large = said(&store);
    assert!(large.contains("The workflow of execution '7' takes 68") && large.contains("editor"), "{large}");
}

#[test]
fn other_tables_are_never_opened() {
    let store = store();
    // Opening one of these fails.
    for table in ["credentials_entity", "user", "settings", "workflow_entity"] {
        store.run(&format!("CREATE VIEW \"{table}\" AS SELECT no_such_function(1) AS x"));
    }
    answer(&mut lens(store.path(), &["summary", "7"]));
    answer(&mut lens(store.path(), &["list"]));
}
