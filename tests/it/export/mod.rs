//! `n8n-lens export`, through the real binary on n8n's own store.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fixtures;
use crate::support::binary;
use crate::support::n8n_store::{N8nFolder, flatten_data, id};

/// The rows of whole executions, computed the simple way.
mod reference;
/// Traces.
mod traces;

/// Bodies above this take seconds without optimisation.
const LARGEST: usize = 150_000;

fn export(store: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.arg("export").args(arguments).arg("--store").arg(store).env_clear();
    command
}

/// The output of an export; it must succeed.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn parsed(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rows(store: impl AsRef<OsStr>, kind: &str, more: &[&str]) -> Vec<Value> {
    parsed(&printed(&mut export(store, &[&["--rows", kind], more].concat())))
}

/// Executions from real bodies, each with its own id.
fn bodies() -> Vec<Value> {
    let named = fixtures::executions().into_iter().chain(fixtures::scenarios()).chain(fixtures::questions());
    let bodies = named.filter(|(_, body)| body.len() < LARGEST).map(|(_, body)| fixtures::parse(&body));
    let bodies = bodies.filter(|body| body["workflowData"].is_object() && body["workflowId"].is_string());
    let with_id = |(at, mut body): (usize, Value)| {
        body["id"] = json!((at + 1).to_string());
        body
    };
    bodies.enumerate().map(with_id).collect()
}

/// A run as n8n writes it.
fn run(start: u64, sources: &Value, outputs: &Value) -> Value {
    json!({"startTime": 1_795_226_662_000_u64 + start, "executionTime": 7, "executionIndex": start,
        "executionStatus": "success", "source": sources, "data": outputs})
}

/// Cases that real bodies lack: shuffled nodes, a missing output, invalid indices, a run recovered after a crash.
fn odd(id: u64) -> Value {
    let item = |n: u64| json!({"json": {"n": n, "text": "\u{2028}\u{7f}\"\\"}, "pairedItem": [{"item": n}, {"item": 0, "input": 1}]});
    let mut failed = run(3, &json!([{"previousNode": "Z start"}, null]), &Value::Null);
    failed["executionStatus"] = json!("error");
    failed["error"] = json!({"name": "NodeApiError", "message": "401 Authorization: Bearer abcdefghijklmnop for order 4711",
        "description": "order 4711 of a@example.com", "httpCode": "401", "node": {"name": "A call"}});
    let mut recovered = run(0, &json!([]), &json!({"main": [[item(1)]]}));
    recovered["startTime"] = json!(1_795_226_663_u64);
    let runs = json!({
        "A call": [run(2, &json!([{"previousNode": "Z start", "previousNodeOutput": 2}]), &json!({"main": [null, [item(1)], []]})), failed],
        "constructor": [recovered, {"executionStatus": "crashed"}, {"data": {"ai_tool": [[item(3)]], "main": [[item(4), item(5)]]}}],
        "none": [],
        "Z start": [run(1, &json!([]), &json!({"main": [[], [], [item(0), {"json": {}, "binary": {"data": {"mimeType": "text/plain",
            "data": "c2VjcmV0", "fileName": "a.txt", "directory": "/tmp"}}}, 5, null]]}))],
    });
    json!({"id": id.to_string(), "workflowId": "w\u{1f600}", "status": "error", "finished": false, "mode": "retry", "retryOf": "1",
        "startedAt": "2026-11-21T02:04:22.000Z", "stoppedAt": "2026-11-21T02:04:22.100Z",
        "workflowVersionId": "aaaaaaaa-0000-4000-8000-000000000000",
        "data": {"resultData": {"error": failed_error(), "lastNodeExecuted": "A call", "runData": runs}},
        "workflowData": {"id": "w", "name": "Odd \u{1f600}", "connections": {},
            "nodes": [{"name": "A call", "type": "n8n-nodes-base.httpRequest"}, {"name": "constructor"}]}})
}

fn failed_error() -> Value {
    json!({"name": "NodeApiError", "message": "401 Authorization: Bearer abcdefghijklmnop for order 4711",
        "description": "order 4711 of a@example.com", "httpCode": "401", "node": {"name": "A call"}})
}

fn save(store: &N8nFolder, bodies: &[Value]) {
    let connection = store.open();
    connection.execute_batch("BEGIN").unwrap();
    bodies.iter().for_each(|body| store.save_with(&connection, body));
    connection.execute_batch("COMMIT").unwrap();
}

/// Everything that is exported must equal what the simple way derives from the bodies.
fn compare(store: &Path, bodies: &[Value], has_versions: bool, is_bundle: bool) {
    let bodies: Vec<_> = bodies.iter().filter(|body| body["status"] != "running").collect();
    for (kind, expected) in [
        ("executions", bodies.iter().map(|body| reference::execution(body)).collect::<Vec<_>>()),
        ("runs", bodies.iter().flat_map(|body| reference::runs(body)).collect()),
        ("items", bodies.iter().flat_map(|body| reference::items(body)).collect()),
    ] {
        let found = rows(store, kind, &[]);
        for (found, mut expected) in found.iter().zip(expected.iter().cloned()) {
            if is_bundle && kind == "executions" {
                // There it is the content of a JSON string.
                let body = bodies.iter().find(|body| body["id"] == expected["executionId"]).unwrap();
                expected["textBytes"] = json!(json!(flatten_data(body)).to_string().len() - 2);
            }
            if !has_versions && kind != "items" {
                expected["workflowVersionId"] = Value::Null;
            }
            assert_eq!(found, &expected, "{kind}");
            let names = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(found), names(&expected), "{kind}");
        }
        assert_eq!(found.len(), expected.len(), "{kind}");
        assert!(found.len() > 20, "{kind}");
    }
}

#[test]
fn rows_are_those_of_the_bodies() {
    for (store, has_versions) in [(N8nFolder::wal(), true), (N8nFolder::rollback(), false)] {
        let mut bodies = bodies();
        bodies.push(odd(bodies.len() as u64 + 1));
        save(&store, &bodies);
        compare(store.path(), &bodies, has_versions, false);
    }
}

#[test]
fn rows_of_bundles_are_those_of_the_bodies() {
    let store = N8nFolder::wal();
    let bodies: Vec<_> = bodies().into_iter().take(30).chain([odd(500)]).collect();
    bodies.iter().for_each(|body| drop(store.save_bundle(body)));
    compare(store.path(), &bodies, true, true);
    // A single bundle knows its ids and its data, but none of the columns.
    let file = store.save_bundle(&odd(501));
    let expected = reference::items(&odd(501));
    let mut copied: Vec<_> = rows(&file, "items", &[]);
    copied.retain(|row| row["node"] == "constructor");
    assert_eq!(copied, expected.into_iter().filter(|row| row["node"] == "constructor").collect::<Vec<_>>());
    assert_eq!(rows(&file, "runs", &["--after", "501"]), [] as [Value; 0]);
}

#[test]
fn an_export_can_be_continued_anywhere() {
    let store = N8nFolder::wal();
    let bodies = bodies();
    save(&store, &bodies);
    for kind in ["executions", "runs", "items"] {
        let whole = printed(&mut export(store.path(), &["--rows", kind]));
        for at in ["0", "32", "33"] {
            let first = printed(&mut export(store.path(), &["--rows", kind, "--until-id", at]));
            let second = printed(&mut export(store.path(), &["--rows", kind, "--after", at]));
            assert_eq!(first + &second, whole, "{kind} {at}");
        }
    }
}

#[test]
fn a_killed_export_is_continued() {
    let store = N8nFolder::wal();
    let bodies: Vec<_> = (1..=120).map(odd).collect();
    save(&store, &bodies);
    let whole = printed(&mut export(store.path(), &["--rows", "items"]));
    for bytes in [1, 5_000, 60_001] {
        let mut child = export(store.path(), &["--rows", "items"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut kept = vec![0; bytes];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut kept).unwrap();
        child.kill().unwrap();
        out.read_to_end(&mut kept).unwrap();
        child.wait().unwrap();
        assert!(kept.len() < whole.len(), "it was killed in the middle");
        // The last execution may be incomplete, and the last line cut.
        let kept = String::from_utf8_lossy(&kept);
        let lines: Vec<_> = kept.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let id_of =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["executionId"].as_str().unwrap().to_owned();
        let last = lines.last().map(|line| id_of(line));
        let complete: String = lines.iter().filter(|line| Some(id_of(line)) != last).copied().collect();
        let after = complete.lines().last().map_or_else(|| "0".to_owned(), id_of);
        let rest = printed(&mut export(store.path(), &["--rows", "items", "--after", &after]));
        assert_eq!(complete + &rest, whole);
    }
}

#[test]
fn a_reader_may_leave() {
    let store = N8nFolder::wal();
    save(&store, &(1..=120).map(odd).collect::<Vec<_>>());
    let mut child =
        export(store.path(), &["--rows", "items"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with(r#"{"executionId":"1","#), "{line}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn filters_are_those_of_the_list() {
    let store = N8nFolder::wal();
    let bodies = bodies();
    save(&store, &bodies);
    let ids = |more: &[&str]| -> Vec<String> {
        let rows = rows(store.path(), "executions", more);
        rows.iter().map(|row| row["executionId"].as_str().unwrap().to_owned()).collect()
    };
    let expected = |keep: &dyn Fn(&Value) -> bool| -> Vec<String> {
        bodies.iter().filter(|body| keep(body)).map(|body| body["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&[]), expected(&|body| body["status"] != "running"));
    for status in ["success", "error", "running", "waiting", "crashed", "canceled"] {
        let of_status = expected(&|body| body["status"] == status);
        assert!(!of_status.is_empty(), "{status}");
        assert_eq!(ids(&["--status", status]), of_status, "{status}");
    }
    let workflow = bodies[0]["workflowId"].as_str().unwrap();
    let is_wanted = |body: &Value| body["status"] != "running" && body["workflowId"] == workflow;
    assert_eq!(ids(&["--workflow-id", workflow]), expected(&is_wanted));
    let at = bodies[20]["startedAt"].as_str().unwrap();
    let started = |body: &Value| body["startedAt"].as_str().filter(|_| body["status"] != "running").map(str::to_owned);
    assert_eq!(ids(&["--started-after", at]), expected(&|body| started(body).is_some_and(|start| *start >= *at)));
    assert_eq!(ids(&["--started-before", at]), expected(&|body| started(body).is_some_and(|start| *start <= *at)));
}

#[test]
fn failures_are_filtered_by_node_and_text() {
    let store = N8nFolder::wal();
    let mut bodies = bodies();
    let count = bodies.len() as u64;
    bodies.extend([odd(count + 1), odd(count + 2)]);
    save(&store, &bodies);
    drop(store.save_bundle(&odd(count + 3)));
    let all = rows(store.path(), "executions", &[]);
    let has = |row: &Value, part: &str| {
        let body = bodies.iter().find(|body| body["id"] == row["executionId"]).map_or_else(|| odd(0), Value::clone);
        let error = &body["data"]["resultData"]["error"];
        let texts = [row["errorMessage"].as_str(), error["message"].as_str(), error["description"].as_str()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(part))
    };
    let failed: Vec<_> = all.iter().filter(|row| row["failingNode"].is_string()).collect();
    let nodes: BTreeSet<_> = failed.iter().map(|row| row["failingNode"].as_str().unwrap()).collect();
    assert!(nodes.len() > 3 && nodes.contains("A call"), "{nodes:?}");
    for node in nodes {
        let expected: Vec<_> = failed.iter().filter(|row| row["failingNode"] == node).copied().cloned().collect();
        assert_eq!(rows(store.path(), "executions", &["--failing-node", node]), expected, "{node}");
    }
    let expected: Vec<_> = all.iter().filter(|row| has(row, "order 4711")).cloned().collect();
    assert!(expected.len() >= 3);
    assert_eq!(rows(store.path(), "executions", &["--error", "ORDER 4711"]), expected);
    let both = ["--failing-node", "A call", "--error", "order 4711"];
    for kind in ["runs", "items"] {
        let of_both: Vec<_> = rows(store.path(), kind, &both);
        let mut expected = rows(store.path(), kind, &[]);
        expected.retain(|row| row["executionId"].as_str().unwrap().parse::<u64>().unwrap() > count);
        assert_eq!(of_both, expected, "{kind}");
    }
    assert!(rows(store.path(), "items", &["--failing-node", "a call"]).is_empty());
}

#[test]
fn secrets_and_redacted_items_are_not_exported() {
    let store = N8nFolder::wal();
    let mut body = odd(1);
    body["data"]["resultData"]["runData"]["Z start"][0]["data"]["main"][2][0]["json"] =
        json!({"password": "hunter2hunter2", "deep": {"headers": {"authorization": "Bearer qwertyuiop"}}});
    save(&store, &[body.clone()]);
    let all = |more: &[&str]| -> String {
        let mut all: Vec<_> = ["executions", "runs", "items"].map(|kind| [&["--rows", kind], more].concat()).to_vec();
        all.push([&["--format", "otlp", "--with-traced"], more].concat());
        all.iter().map(|arguments| printed(&mut export(store.path(), arguments))).collect()
    };
    let shown = all(&[]);
    assert!(shown.contains("hunter2") && !shown.contains("abcdefghijklmnop") && !shown.contains("c2VjcmV0"), "{shown}");
    let masked = all(&["--redact"]);
    assert!(!masked.contains("hunter2") && !masked.contains("qwertyuiop") && masked.contains("[redacted]"), "{masked}");
    // n8n's own redaction.
    body["id"] = json!("2");
    body["workflowData"]["settings"] = json!({"redactionPolicy": "all"});
    save(&store, &[body]);
    let hidden = all(&["--after", "1"]);
    assert!(!hidden.contains("hunter2") && !hidden.contains("4711"), "{hidden}");
    assert!(hidden.contains("NodeApiError") && hidden.contains("401"), "{hidden}");
    assert!(all(&["--after", "1", "--reveal"]).contains("hunter2"));
}

#[test]
fn what_cannot_be_read_is_said() {
    let store = N8nFolder::wal();
    let connection = store.open();
    store.save_with(&connection, &odd(1));
    let mut other = odd(2);
    // No data row, data in another place, data that is not text, deleted, no data.
    store.save_row(&connection, &other);
    (other["id"], other["storedAt"]) = (json!("3"), json!("s3"));
    store.save_row(&connection, &other);
    (other["id"], other["storedAt"]) = (json!("4"), json!("db"));
    store.save_row(&connection, &other);
    store.save_data(
        &connection,
        4,
        &other["workflowData"].to_string(),
        r#"[{"resultData":"1"},{"runData":"2"},{"A":"3"},["#,
    );
    (other["id"], other["deletedAt"]) = (json!("5"), json!("2026-11-22T00:00:00.000Z"));
    store.save_with(&connection, &other);
    (other["id"], other["deletedAt"], other["data"]) = (json!("6"), Value::Null, Value::Null);
    store.save_with(&connection, &other);
    // Half of a surrogate pair, and an item of more than 1 MiB.
    other["id"] = json!("7");
    store.save_row(&connection, &other);
    let text = format!(
        r#"[{{"resultData":"1"}},{{"runData":"2"}},{{"A":"3"}},["4"],{{"data":"5"}},{{"main":"6"}},["7"],["8","9"],{{"json":"10"}},{{"json":"11"}},{{"t":"12"}},{{"t":"13"}},"\ud83d!","{}"]"#,
        "x".repeat(1_100_000)
    );
    store.save_data(&connection, 7, &other["workflowData"].to_string(), &text);
    drop(connection);
    let output = export(store.path(), &["--rows", "executions"]).output().unwrap();
    let found = parsed(&String::from_utf8(output.stdout).unwrap());
    let brief: Vec<_> = found.iter().map(|row| json!([row["executionId"], row["status"], row["nodeRuns"]])).collect();
    let expected = json!([
        ["1", "error", 6],
        ["2", "error", null],
        ["3", "error", null],
        ["4", "error", null],
        ["6", "error", 0],
        ["7", "error", 1]
    ]);
    assert_eq!(json!(brief), expected);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("3 executions could not be read") && said.contains("The first is 2: "), "{said}");
    let deleted = rows(store.path(), "executions", &["--deleted", "--after", "4", "--until-id", "5"]);
    assert_eq!(deleted.len(), 1);
    let output = export(store.path(), &["--rows", "items", "--after", "6"]).output().unwrap();
    let items = parsed(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&items[0]["json"]["t"], &items[1]["json"]), (&json!("\u{fffd}!"), &Value::Null));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 item has more than 1 MiB"));
}

#[test]
fn what_has_not_ended_is_named_and_can_be_waited_for() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for (id, status, hour) in [
        (1, "success", 1),
        (2, "success", 9),
        (3, "waiting", 2),
        (4, "success", 3),
        (5, "new", 4),
        (6, "running", 5),
        (7, "error", 6),
    ] {
        let mut body = odd(id);
        (body["status"], body["startedAt"]) = (json!(status), json!(format!("2026-11-22T0{hour}:00:00.000Z")));
        store.save_with(&connection, &body);
    }
    let exported = |more: &[&str]| {
        let output = export(store.path(), &[&["--rows", "executions"], more].concat()).output().unwrap();
        let rows = parsed(&String::from_utf8(output.stdout).unwrap());
        let ids: Vec<_> = rows.iter().map(|row| row["executionId"].as_str().unwrap().to_owned()).collect();
        (ids.join(" "), String::from_utf8(output.stderr).unwrap())
    };
    let (ids, said) = exported(&[]);
    assert_eq!(ids, "1 2 3 4 5 7");
    assert!(said.contains("3 executions have not ended. The first is 3:"), "{said}");
    // What comes with the next export is not named.
    let (ids, said) = exported(&["--started-before", "2026-11-22T03:30:00Z"]);
    assert_eq!(ids, "1 3 4");
    assert!(said.contains("1 execution has not ended. The first is 3:"), "{said}");
    let (ids, said) = exported(&["--until-unfinished"]);
    assert_eq!(ids, "1 2");
    assert!(said.contains("The first is 3:"), "{said}");
    store.run("UPDATE execution_entity SET status = 'success' WHERE id = 3");
    assert_eq!(exported(&["--until-unfinished", "--after", "2"]).0, "3 4");
    store.run("UPDATE execution_entity SET status = 'error' WHERE id IN (5, 6)");
    assert_eq!(exported(&["--until-unfinished", "--after", "4"]), ("5 6 7".to_owned(), String::new()));
    store.run("UPDATE execution_entity SET status = 'running' WHERE id = 5");
    assert_eq!(exported(&["--until-unfinished", "--after", "4"]).0, "");
}

#[test]
fn wrong_usage_is_refused() {
    let store = N8nFolder::wal();
    let complaint = |arguments: &[&str]| {
        let output = export(store.path(), arguments).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(complaint(&[]).contains("--rows executions"));
    assert!(complaint(&["--format", "otlp", "--rows", "runs"]).contains("leave --rows out"));
    assert!(complaint(&["--rows", "runs", "--to", "http://127.0.0.1:4318"]).contains("--format otlp"));
    assert!(complaint(&["--rows", "runs", "--started-after", "yesterday"]).contains("ISO 8601"));
    let said = complaint(&["--format", "otlp", "--to", "ftp://user:hunter2@127.0.0.1"]);
    assert!(said.contains("--to must start with") && !said.contains("hunter2"), "{said}");
    let output = Command::new(binary()).args(["export", "--rows", "runs"]).env_clear().output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("--store"), "{said}");
}

/// How much the peak may grow with the text, bytes.
#[cfg(target_os = "linux")]
const GROWTH: u64 = 8 * 1024 * 1024;

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_an_execution() {
    let peak = |items: usize, kind: &str| {
        let store = N8nFolder::wal();
        let mut body = odd(1);
        let item = |at| json!({"json": {"at": at, "long": format!("{at}\"{}", "y".repeat(1_000))}});
        let items: Vec<_> = (0..items).map(item).collect();
        let runs: Vec<_> = (0..items.len() as u64 / 4).map(|at| run(at, &json!([]), &json!({"main": [[]]}))).collect();
        body["data"]["resultData"]["runData"] =
            json!({"Read": [run(0, &json!([]), &json!({"main": [items]}))], "Loop": runs});
        store.save(&body);
        let mut child = export(store.path(), &["--rows", kind]).stdout(Stdio::piped()).spawn().unwrap();
        let (mut out, mut piece, mut peak, mut bytes) = (child.stdout.take().unwrap(), vec![0; 65_536], 0, 0);
        loop {
            let read = out.read(&mut piece).unwrap();
            if read == 0 {
                break;
            }
            bytes += read;
            peak = crate::support::memory::peak_while_running(child.id()).unwrap_or(0).max(peak);
        }
        assert!(child.wait().unwrap().success());
        (peak, bytes)
    };
    for kind in ["items", "runs"] {
        let (small, large) = (peak(2_000, kind), peak(16_000, kind));
        println!("{kind}: peak and output in bytes: {small:?}, {large:?}");
        assert!(small.0 > 0 && large.1 > 7 * small.1, "{kind}: {small:?} {large:?}");
        assert!(large.0 < small.0 + GROWTH, "{kind}: {small:?} {large:?}");
    }
}

/// The length of an execution's text in the store.
fn text_bytes(body: &Value) -> usize {
    flatten_data(body).len()
}

/// The id of an execution as a number.
fn number(body: &Value) -> i64 {
    id(body)
}
