//! Answers about many executions for people, on a pseudoterminal.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::many::{execution, failed, moving};
use crate::pseudoterminal;
use crate::support::n8n_store::N8nFolder;

/// The output of a command about a store on a terminal of 200 columns.
fn shown(store: &N8nFolder, arguments: &[&str]) -> String {
    let mut command = Command::new(crate::support::binary());
    command.args(arguments).args(["--locale", "en", "--store"]).arg(store.path()).env_clear().stdin(Stdio::null());
    pseudoterminal::plain(&command, 200)
}

fn assert_shows(shown: &str, parts: &[&str]) {
    for part in parts {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_search_says_what_it_did_not_search() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=3 {
        store.save_with(&connection, &execution(id, "aaaaaaaa"));
    }
    store.run(
        "UPDATE execution_entity SET storedAt = 's3' WHERE id = 1; DELETE FROM execution_data WHERE executionId = 2",
    );
    let found = shown(&store, &["find", "--path", "n"]);
    assert_shows(&found, &["Found in 1 of 1 execution", "Not searched: 1 in an object store, 1 without data"]);
    assert!(
        !shown(&store, &["find", "--path", "n", "--started-after", "2026-10-01T03:00:00Z"]).contains("Not searched")
    );
}

#[test]
fn groups_say_what_is_not_shown_and_whether_it_still_fails() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=6 {
        store.save_with(&connection, &execution(id, "aaaaaaaa"));
    }
    for (id, message) in [(2, "no table"), (3, "no host")] {
        store.save_with(&connection, &failed(id + 10, "aaaaaaaa", "A call", json!({"message": message})));
    }
    for id in [20, 21] {
        store.save_with(&connection, &execution(id, "aaaaaaaa"));
    }
    store.run("UPDATE execution_entity SET status = 'canceled' WHERE id = 6");
    let groups = shown(&store, &["failures", "--started-after", "2026-01-01T00:00:00Z", "--limit", "1"]);
    let said = "2 failures in 2 groups since 2026-01-01 00:00 UTC · 1 more group: --limit · 1 canceled";
    assert_shows(&groups, &[said, "Good after"]);
    let row = groups.lines().find(|line| line.contains("no host")).unwrap_or_else(|| panic!("{groups}"));
    assert!(row.trim_end().ends_with(" 2"), "{groups}");
    assert!(!groups.contains("not examined"), "{groups}");
}

#[test]
fn groups_say_where_to_continue() {
    let store = N8nFolder::wal();
    store.run(
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 10001)
         INSERT INTO execution_entity (id, workflowId, finished, mode, startedAt, status)
         SELECT id, 'w', 0, 'webhook', strftime('%Y-%m-%d %H:%M:%f', '2026-10-01', '+' || id || ' seconds'), 'crashed' FROM n",
    );
    let groups = shown(&store, &["failures", "--started-after", "2026-01-01T00:00:00Z"]);
    assert_shows(&groups, &["Older failures were not examined: --started-before 2026-10-01T00:00:01.000Z"]);
}

#[test]
fn a_trend_says_what_it_is_based_on() {
    let store = N8nFolder::wal();
    moving(&store, |id, body| {
        let nodes = body["data"]["resultData"]["runData"].as_object_mut().unwrap();
        if id % 24 > 9 {
            nodes.remove("A call");
        }
        if id >= 24 * 8 - 2 {
            body["status"] = json!("waiting");
        } else if id % 24 == 3 {
            body["status"] = json!("error");
        }
    });
    let trend = ["trend", "w", "--until", "2026-10-08T23:59:59Z"];
    let said = shown(&store, &trend);
    let windows = "Before: 168 executions, 7 failed. Now: 22 executions, 1 failed.";
    assert_shows(&said, &[" · 2 not ended", windows, "Too few runs: 1 node (A call)"]);
    // No name is known of a workflow without executions.
    let none = shown(&store, &["trend", "other"]);
    assert!(none.trim_start().starts_with("Nothing moved") && !none.contains("Too few"), "{none}");
}
