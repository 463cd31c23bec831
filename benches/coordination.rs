//! Lease claims per second, next to what the disk achieves in the same run, and the speed of `should_start` on a
//! large database. Run it with `cargo bench --bench coordination`; PostgreSQL is included if it is installed.
//!
//! A claim is an `authenticate` and a `logout`: two durable transactions. Passkeys use the cheapest hash.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "../tests/support/mod.rs"]
mod support;

use support::coordination::database::{Database, Kind};
use support::coordination::harness::{Harness, run};

/// How long each load runs.
const RUN_TIME: Duration = Duration::from_secs(5);

const CLIENTS: [usize; 3] = [1, 8, 64];

fn main() {
    let kinds = Kind::installed();
    println!("disk: {:.0} appends of 4 KiB per second, each synced", disk());
    for kind in &kinds {
        for clients in CLIENTS {
            claims(*kind, clients);
        }
    }
    for kind in kinds {
        should_start(kind);
    }
}

/// Synced appends to one file per second, one after another.
fn disk() -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::create(folder.path().join("log")).unwrap();
    let (mut appends, started_at) = (0, Instant::now());
    while started_at.elapsed() < RUN_TIME {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        appends += 1;
    }
    f64::from(appends) / started_at.elapsed().as_secs_f64()
}

/// Runs the same work in several clients until the time is up. Returns the calls per second and the sorted
/// durations in ms.
async fn load<F: Future<Output = ()>>(clients: usize, work: impl Fn(usize) -> F) -> (f64, Vec<f64>) {
    let started_at = Instant::now();
    let client = |number: usize| {
        let work = &work;
        async move {
            let mut times = Vec::new();
            while started_at.elapsed() < RUN_TIME {
                let start = Instant::now();
                work(number).await;
                times.push(start.elapsed().as_secs_f64() * 1000.0);
            }
            times
        }
    };
    let mut times = futures::future::join_all((0..clients).map(client)).await.concat();
    let rate = times.len() as f64 / started_at.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    (rate, times)
}

fn print_figures(what: &str, (rate, times): (f64, Vec<f64>)) {
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what}: {rate:.0} per second, p50 {:.2} ms, p99 {:.2} ms, max {:.1} ms", at(0.5), at(0.99), at(1.0));
}

fn claims(kind: Kind, clients: usize) {
    let database = Database::new(kind);
    run(async {
        let harness = Harness::open(&database).await;
        harness.people(1, clients).await;
        let claim = |client: usize| {
            let harness = harness.clone();
            async move {
                let token = harness.session(client, 0).await;
                let ended = harness.call("logout", json!({ "session_token": token })).await;
                assert_eq!(ended["success"], true);
            }
        };
        print_figures(&format!("{kind:?}, {clients} clients, claims"), load(clients, claim).await);
    });
}

/// 1,000 agents in each of 100 projects, 100,000 tasks, a million executions.
fn should_start(kind: Kind) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let database = Database::new(kind);
    run(async {
        let harness = Harness::open(&database).await;
        harness.people(1, 1).await;
        drop(harness.session(0, 0).await);
    });
    for statement in rows(kind) {
        database.run(&statement);
    }
    run(async {
        let harness = Harness::open(&database).await;
        let call = |client: usize| {
            let harness = harness.clone();
            let number = NUMBER.fetch_add(7919, Ordering::Relaxed) + client as u64;
            async move {
                let pair =
                    json!({"agent_id": format!("a{}", number % 1000), "project_id": format!("p{}", number % 100)});
                let answer = harness.call("should_start", pair).await;
                assert!(matches!(answer["should_start"], Value::Bool(_)));
            }
        };
        // The first run warms the caches up.
        load(8, call).await;
        print_figures(&format!("{kind:?}, 8 clients, should_start"), load(8, call).await);
    });
}

fn rows(kind: Kind) -> Vec<String> {
    let numbers = |end: u64| match kind {
        Kind::Sqlite => {
            format!("WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {end})")
        }
        Kind::Postgres => format!("WITH numbers(n) AS (SELECT generate_series(0, {}))", end - 1),
    };
    let insert = |end: u64, into: &str, select: &str| {
        let (numbers, from) = (numbers(end), "FROM numbers");
        format!("INSERT INTO {into} {numbers} SELECT {select} {from};")
    };
    vec![
        insert(
            1000,
            "agents (id, name, capabilities, type, status, created_at, updated_at)",
            "'a' || n, 'A', '[]', 'ai', 'active', 0, 0",
        ),
        insert(
            100,
            "projects (id, name, status, working_directory, created_at, updated_at)",
            "'p' || n, 'P', 'active', '/', 0, 0",
        ),
        insert(100_000, "project_agents (project_id, agent_id, assigned_at)", "'p' || (n % 100), 'a' || (n / 100), 0"),
        insert(
            100_000,
            "tasks (id, project_id, title, status, priority, assignee_id, assigned_at, created_at, updated_at)",
            "'t' || n, 'p' || (n % 100), 'T', CASE WHEN n % 3 = 0 THEN 'in_progress' ELSE 'todo' END, 'medium', 'a' || (n / 100), 0, 0, 0",
        ),
        insert(
            1_000_000,
            "execution_logs (id, task_id, agent_id, session_id, status, started_at, completed_at)",
            "'e' || n, 't' || (n % 100000), 'a' || ((n % 100000) / 100), (SELECT id FROM sessions LIMIT 1), 'completed', n, n",
        ),
    ]
}
