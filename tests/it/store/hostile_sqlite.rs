//! Database files forged to look like n8n's: computed values in place of stored ones are refused, and nothing runs
//! forever.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{binary, complaint, execution, lens};
use crate::mcp_client::McpClient;
use crate::support::memory;
use crate::support::n8n_store::N8nFolder;

/// The longest that a refusal may take, on a machine that may be busy.
const SOON: Duration = Duration::from_secs(12);

/// More than a server needs that shows nothing.
const MEMORY: u64 = 100 * 1024 * 1024;

/// Columns of `execution_entity`; `{}` is a query's `FROM`.
const ROWS: &str = "SELECT 7 AS id, 'w' AS workflowId, 1 AS finished, 'manual' AS mode, 'success' AS status,
    '2026-01-01 00:00:00.000' AS startedAt, '2026-01-01 00:00:00.000' AS stoppedAt";

const ENDLESS: &str = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)";

fn store() -> N8nFolder {
    let store = N8nFolder::wal();
    store.save(&execution("b_http_500", 7));
    store
}

/// Stores whose tables are not tables, each with the expected message.
fn computed() -> Vec<(String, &'static str)> {
    let drop = |table: &str| format!("DROP TABLE {table};");
    let (rows, data) = (drop("execution_entity"), drop("execution_data"));
    vec![
        (
            format!("{rows} CREATE VIEW execution_entity AS {ROWS} FROM {ENDLESS} WHERE i < 0"),
            "execution_entity is a view",
        ),
        (format!("{rows} CREATE VIEW execution_entity AS {ROWS} FROM {ENDLESS}"), "execution_entity is a view"),
        (
            format!(
                "{data} CREATE VIEW execution_data AS SELECT 7 AS executionId, '{{}}' AS workflowData, zeroblob(1400000000) AS data"
            ),
            "execution_data is a view",
        ),
        (
            format!(
                "{data} CREATE VIEW execution_data AS SELECT 7 AS executionId, zeroblob(1400000000) AS workflowData, '[]' AS data"
            ),
            "execution_data is a view",
        ),
        (
            format!("{data} CREATE VIRTUAL TABLE execution_data USING fts5(executionId, workflowData, data)"),
            "execution_data is a virtual",
        ),
        (
            format!(
                "{data} CREATE TABLE execution_data (executionId int PRIMARY KEY, workflowData text, data text AS (hex(zeroblob(100000000 + executionId)))); INSERT INTO execution_data (executionId, workflowData) VALUES (7, '{{}}')"
            ),
            "execution_data has no column data",
        ),
        // A view that claims to be a table.
        (
            format!(
                "{rows} CREATE VIEW execution_entity AS {ROWS} FROM {ENDLESS} WHERE i < 0; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'table' WHERE name = 'execution_entity'"
            ),
            "SQLite reports a malformed file",
        ),
        (
            "UPDATE execution_entity SET mode = hex(zeroblob(10000000))".to_owned(),
            "returned more than n8n keeps of an execution",
        ),
        (
            "UPDATE execution_entity SET mode = hex(zeroblob(4000))".to_owned(),
            "returned more than n8n keeps of an execution",
        ),
    ]
}

#[test]
fn what_is_computed_is_refused_soon() {
    for (statements, expected) in computed() {
        let store = store();
        store.run(&statements);
        for arguments in [&["summary", "7"][..], &["node", "7", "HTTP Request"], &["list"]] {
            let begun = Instant::now();
            let said = complaint(&mut lens(store.path(), arguments));
            assert!(said.contains(expected), "{statements}, {arguments:?}: {said}");
            assert!(begun.elapsed() < SOON, "{statements}, {arguments:?}: {:?}", begun.elapsed());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_computed_takes_no_memory() {
    for (statements, _) in computed() {
        let store = store();
        store.run(&statements);
        let mut client = client(&store, &["--idle-timeout", "5"]);
        client.call("get_execution", json!({"id": "7"})).unwrap_err();
        client.call("list_executions", json!({})).unwrap_err();
        assert!(memory::peak(client.pid()) < MEMORY, "{statements}: {} bytes", memory::peak(client.pid()));
    }
}

/// A store with tables whose rows can only be joined by comparing all with all.
fn slow() -> N8nFolder {
    let store = store();
    store.run(
        "DROP TABLE execution_entity; DROP TABLE execution_data;
         CREATE TABLE execution_entity (id bigint, workflowId text, mode text, status text, startedAt text, stoppedAt text);
         CREATE TABLE execution_data (executionId text COLLATE NOCASE, workflowData text, data text);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
         INSERT INTO execution_entity SELECT i, 'w', 'manual', 'success', '2026-01-01', '2026-01-01' FROM n;
         INSERT INTO execution_data SELECT 'x' || id, '{}', '[]' FROM execution_entity",
    );
    store
}

fn client(store: &N8nFolder, arguments: &[&str]) -> McpClient {
    let mut command = Command::new(binary());
    command.arg("--store").arg(store.path()).args(arguments).env_clear().stderr(Stdio::piped());
    McpClient::try_spawn(&mut command).unwrap()
}

#[test]
fn a_statement_has_a_deadline() {
    let store = slow();
    let begun = Instant::now();
    let said = complaint(&mut lens(store.path(), &["list", "--idle-timeout", "2"]));
    assert!(said.contains("The database did not answer in time"), "{said}");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
#[cfg(target_os = "linux")]
fn a_statement_ends_with_its_call() {
    /// The processor time of a process, in ticks (proc_pid_stat(5)).
    fn ticks(pid: u32) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
    let store = slow();
    let mut client = client(&store, &[]);
    let call = client.begin("list_executions", json!({}));
    std::thread::sleep(Duration::from_secs(1));
    let at_work = ticks(client.pid());
    std::thread::sleep(Duration::from_secs(1));
    assert!(ticks(client.pid()) > at_work + 10, "the statement is slow");
    client.notify("notifications/cancelled", json!({"requestId": call, "reason": "enough"}));
    std::thread::sleep(Duration::from_millis(500));
    let left = ticks(client.pid());
    std::thread::sleep(Duration::from_secs(1));
    assert!(ticks(client.pid()) <= left + 10, "it goes on after it was cancelled");
}
