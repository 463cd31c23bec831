//! Questions about 5,000 executions in SQLite, by the binary: `cargo bench --bench many`.
//!
//! The executions are made by this bench, with texts of 24 MB and of 873 MB in total, and read with a warm page cache. CPU time
//! is that of the whole process, user and system; wall time depends on what else the machine does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "../tests/support/mod.rs"]
mod support;
use support::n8n_store::{N8nFolder, flatten_data};

/// Runs of each question; the median counts.
const RUNS: usize = 5;

/// How many executions there are; each twelfth failed, and a few are large.
const EXECUTIONS: u64 = 5000;
const LARGE: u64 = 20;

/// The kernel's clock ticks per second (`sysconf(_SC_CLK_TCK)`), 100 on Linux.
const TICKS: f64 = 100.0;

fn main() {
    for (name, middle, large) in [("24 MB", 4_000, 60_000), ("873 MB", 190_000, 20_000_000)] {
        let store = filled(N8nFolder::wal(), middle, large);
        println!("\n{EXECUTIONS} executions, {name}");
        println!("{:<46} {:>9} {:>9} {:>9}", "", "wall ms", "CPU ms", "peak MB");
        let until = at(EXECUTIONS);
        let questions: [(&str, &[&str]); 7] = [
            ("find a text in few", &["find", "order 4711"]),
            ("find a text in none", &["find", "nowhere to be found"]),
            ("find digits", &["find", "4711"]),
            ("find a number at a path", &["find", "--path", "total", "--above", "4710"]),
            ("find a text among the newest 100, one hit", &["find", "order 4995", "--limit", "1"]),
            ("group all failures", &["failures", "--started-after", "2020-01-01T00:00:00Z"]),
            ("trend of all executions", &["trend", "w", "--period", "30d", "--until", &until]),
        ];
        for (what, arguments) in questions {
            report(what, &store, arguments);
        }
    }
    alongside();
}

/// When an execution started: one every ten minutes.
fn at(id: u64) -> String {
    let start: jiff::Timestamp = "2026-10-01T00:00:00Z".parse().unwrap();
    start
        .checked_add(jiff::SignedDuration::from_mins(10 * id as i64))
        .unwrap()
        .strftime("%Y-%m-%dT%H:%M:%S.000Z")
        .to_string()
}

/// A store whose executions differ in their ids; half of them are of medium size, the others small.
fn filled(store: N8nFolder, middle: usize, large: usize) -> N8nFolder {
    let texts = [0, middle, large].map(|bytes| flatten_data(&execution(0, bytes)));
    let failed = flatten_data(&failed(&execution(0, 0)));
    let connection = store.open();
    connection.execute_batch("BEGIN").unwrap();
    for id in 1..=EXECUTIONS {
        let is_failed = id % 12 == 0;
        let text = match id {
            _ if is_failed => &failed,
            id if id % (EXECUTIONS / LARGE) == 1 => &texts[2],
            id if id % 2 == 1 => &texts[1],
            _ => &texts[0],
        };
        let mut body = execution(id, 0);
        body["status"] = json!(if is_failed { "error" } else { "success" });
        store.save_row(&connection, &body);
        let text = text
            .replace("order 0000", &format!("order {id:04}"))
            .replace("\"total\":987654", &format!("\"total\":{id}"));
        store.save_data(&connection, id as i64, &body["workflowData"].to_string(), &text);
    }
    connection.execute_batch("COMMIT").unwrap();
    drop(connection);
    store
}

/// An execution of three nodes whose items have this many bytes, most of them in many short texts.
fn execution(id: u64, bytes: usize) -> Value {
    let item = |at: usize| json!({"json": {"at": at, "note": format!("line {at} of {id} {}", "text ".repeat(20)), "tags": ["a", at.to_string()]}});
    let items: Vec<_> = (0..bytes / 200).map(item).collect();
    let first = json!({"json": {"remark": "order 0000 has arrived", "total": 987_654}});
    let run = |index: u64, items: Vec<Value>| {
        json!([{"executionIndex": index, "startTime": index, "executionTime": 300, "executionStatus": "success", "source": [],
            "data": {"main": [items]}}])
    };
    json!({"id": id.to_string(), "workflowId": "w", "status": "success", "finished": true, "mode": "webhook",
        "startedAt": at(id), "stoppedAt": at(id), "workflowVersionId": "aaaaaaaa-0000-4000-8000-000000000000",
        "data": {"version": 1, "resultData": {"runData": {"Start": run(0, vec![first]), "Fetch": run(1, items), "Ship": run(2, Vec::new())}}},
        "workflowData": {"id": "w", "name": "Orders", "nodes": [], "connections": {}}})
}

/// The same, where a node failed.
fn failed(body: &Value) -> Value {
    let mut body = body.clone();
    let result = &mut body["data"]["resultData"];
    let error = json!({"name": "NodeApiError", "message": "order 0000 was refused", "httpCode": "500"});
    result["runData"]["Ship"][0]["error"] = error.clone();
    (result["error"], result["lastNodeExecuted"]) = (error, json!("Ship"));
    body
}

fn report(what: &str, store: &N8nFolder, arguments: &[&str]) {
    let mut runs: Vec<_> = (0..=RUNS).map(|_| ask(store, arguments)).collect();
    // The first one fills the page cache.
    runs.remove(0);
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[RUNS / 2]
    };
    let of = |value: fn(&Run) -> f64| median(runs.iter().map(value).collect());
    println!("{what:<46} {:>9.0} {:>9.0} {:>9.1}", of(|run| run.wall), of(|run| run.cpu), of(|run| run.peak));
}

/// Milliseconds, and MB.
struct Run {
    wall: f64,
    cpu: f64,
    peak: f64,
}

fn ask(store: &N8nFolder, arguments: &[&str]) -> Run {
    let mut command = Command::new(support::binary());
    command.arg(arguments[0]).arg("--json").arg("--store").arg(store.path()).args(&arguments[1..]);
    let (before, begun) = (cpu_of_children(), Instant::now());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak = support::memory::peak_while_running(child.id()).unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_millis(1));
    };
    let wall = begun.elapsed().as_secs_f64() * 1e3;
    assert!(status.success(), "{arguments:?}");
    Run { wall, cpu: (cpu_of_children() - before) * 1e3, peak: peak as f64 / 1e6 }
}

/// User and system time of the children that have ended, in seconds (proc(5)).
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(13) + ticks(14)) / TICKS
}

/// How long commits of n8n 1.x take, whose journal is held up by readers, without us and during one search after another.
fn alongside() {
    let store = filled(N8nFolder::rollback(), 190_000, 2_000_000);
    println!("\nn8n's commits to a rollback journal");
    for (what, searches) in [("without us", 0), ("alongside searches", 6)] {
        let is_over = AtomicBool::new(false);
        let times = std::thread::scope(|scope| {
            let writer = scope.spawn(|| store.commits(&is_over));
            for _ in 0..searches {
                ask(&store, &["find", "nowhere to be found"]);
            }
            if searches == 0 {
                std::thread::sleep(Duration::from_secs(3));
            }
            is_over.store(true, Ordering::Relaxed);
            writer.join().unwrap()
        });
        let ms = |at: usize| times[at].as_secs_f64() * 1e3;
        let count = times.len();
        println!(
            "{what:<46} median {:.1}, p99 {:.1}, longest {:.1} ms of {count}",
            ms(count / 2),
            ms(count * 99 / 100),
            ms(count - 1)
        );
    }
}
