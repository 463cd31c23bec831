//! Executions as n8n stores them, compared with reading the stored text once: `cargo bench --bench store`.
//!
//! The texts are files that this bench writes, read with a warm page cache: unchanged, in SQLite with either journal, in a
//! bundle, and in PostgreSQL where it is installed. Allocations of SQLite itself are not counted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::{StoredExecution, StoredProjection};
use n8n_lens::json::ReadAt;
use n8n_lens::json::flatted::Flatted;
use n8n_lens::store::{Settings, Store};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[path = "../tests/support/mod.rs"]
mod support;
use support::coordination::database::{Database, Kind, postgres_is_installed};
use support::fixtures;
use support::flatten::Stored;
use support::large_store::LargeStore;
use support::n8n_store::{N8nFolder, POSTGRES_TABLES, bundle_path, row};

#[global_allocator]
static ALLOCATIONS: PeakAlloc = PeakAlloc;

/// Runs of each question; the median counts.
const RUNS: usize = 9;

/// How long n8n and we work side by side.
const SIDE_BY_SIDE: Duration = Duration::from_secs(4);

/// Between two readings of the clock.
const PAUSE: Duration = Duration::from_millis(5);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for (name, large) in [("105 MB", LargeStore::LARGE), ("507 MB", LargeStore::HUGE)] {
        let file = folder.path().join("data.flatted");
        large.write_to(&file);
        measure(name, large, &file);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        sqlite(name, large, &text);
        bundle(name, large, &text);
        postgres(name, large, &text);
    }
    many();
}

/// The row of the large execution.
fn body() -> Value {
    let mut body: Value = serde_json::from_str(&LargeStore::stored().header).unwrap();
    body["finished"] = json!(true);
    body["startedAt"] = json!("2026-11-22T00:00:00.000Z");
    body
}

fn sqlite(name: &str, large: LargeStore, text: &str) {
    for (journal, store) in [("write-ahead log", N8nFolder::wal()), ("rollback journal", N8nFolder::rollback())] {
        store.save_row(&store.open(), &body());
        store.save_data(&store.open(), 900, &LargeStore::stored().workflow, text);
        heading(&format!("{name}: SQLite, {journal}"));
        let limit = report("limit: read the blob once", Duration::ZERO, || {
            let connection = store.open();
            let row = connection.query_row("SELECT rowid FROM execution_data", [], |row| row.get(0)).unwrap();
            let mut blob = connection.blob_open(rusqlite::MAIN_DB, "execution_data", "data", row, true).unwrap();
            let mut buffer = vec![0; 65_536];
            while blob.read(&mut buffer).unwrap() > 0 {}
        });
        questions(large, limit, &open(store.path().to_str().unwrap()));
        alongside(large, &store);
    }
}

/// How long n8n's commits take without us, and during one answer after another. A commit that fails ends the bench.
fn alongside(large: LargeStore, store: &N8nFolder) {
    let last =
        NodeProjection { node: LargeStore::node_name(large.nodes - 1), window: 0..50, ..NodeProjection::default() };
    let ours = open(store.path().to_str().unwrap());
    for (what, works) in [("n8n's commits, without us", false), ("n8n's commits, alongside us", true)] {
        let is_over = AtomicBool::new(false);
        let (times, answers) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| store.commits(&is_over));
            let (begun, mut answers) = (Instant::now(), 0);
            while begun.elapsed() < SIDE_BY_SIDE {
                if works {
                    drop(black_box(ask(&last, &ours).unwrap()));
                    answers += 1;
                } else {
                    std::thread::sleep(PAUSE);
                }
            }
            is_over.store(true, Ordering::Relaxed);
            (writer.join().unwrap(), answers)
        });
        let ms = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
        let longest = times[times.len() - 1].as_secs_f64() * 1e3;
        println!(
            "{what:<36} {:>9.2} {:>9.2} ms (median, p99), longest {longest:.1}, {} commits, {answers} answers",
            ms(50),
            ms(99),
            times.len()
        );
    }
}

fn bundle(name: &str, large: LargeStore, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = bundle_path(folder.path(), &body());
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let workflow: Value = serde_json::from_str(&LargeStore::stored().workflow).unwrap();
    let bundle = json!({"data": text, "workflowData": workflow, "workflowVersionId": null, "version": 1});
    serde_json::to_writer(std::io::BufWriter::new(File::create(&file).unwrap()), &bundle).unwrap();
    heading(&format!("{name}: bundle of {} bytes", std::fs::metadata(&file).unwrap().len()));
    let limit = report("limit: read the file once", Duration::ZERO, || read_once(&file));
    questions(large, limit, &open(file.to_str().unwrap()));
}

fn postgres(name: &str, large: LargeStore, text: &str) {
    if !postgres_is_installed() {
        println!("\nPostgreSQL is not installed");
        return;
    }
    let database = Database::new(Kind::Postgres);
    let mut client = postgres::Client::connect(&database.argument, postgres::NoTls).unwrap();
    client.batch_execute(POSTGRES_TABLES).unwrap();
    let insert = "INSERT INTO execution_entity SELECT * FROM json_populate_record(NULL::execution_entity, $json$";
    client.batch_execute(&format!("{insert}{}$json$)", Value::Object(row(&body())))).unwrap();
    let insert = r#"INSERT INTO execution_data ("executionId", "workflowData", data) VALUES (900, $1::text::json, $2)"#;
    client.execute(insert, &[&LargeStore::stored().workflow, &text]).unwrap();
    heading(&format!("{name}: PostgreSQL"));
    let limit = report("limit: stream the text once", Duration::ZERO, || {
        use postgres::fallible_iterator::FallibleIterator;
        let rows = "SELECT substring(d.b FROM i FOR 65536) FROM (SELECT convert_to(data, 'UTF8') AS b FROM execution_data OFFSET 0) d, \
                    LATERAL generate_series(1, octet_length(d.b), 65536) i";
        let mut client = postgres::Client::connect(&database.argument, postgres::NoTls).unwrap();
        let mut rows = client.query_raw(rows, std::iter::empty::<i32>()).unwrap();
        while rows.next().unwrap().is_some() {}
    });
    questions(large, limit, &open(&database.argument));
}

/// 5,000 failed executions, searched by node and message.
fn many() {
    let store = N8nFolder::wal();
    let n8n = store.open();
    n8n.execute_batch("BEGIN").unwrap();
    for id in 1..=5_000_u32 {
        let name = if id.is_multiple_of(100) { "b_http_refused" } else { "b_http_500" };
        let mut body = fixtures::parse(&fixtures::execution(name));
        body["id"] = json!(id.to_string());
        let items = &mut body["data"]["resultData"]["runData"]["Webhook"][0]["data"]["main"][0];
        items[0]["json"]["long"] = json!("y".repeat(36_000));
        store.save_with(&n8n, &body);
    }
    n8n.execute_batch("COMMIT").unwrap();
    drop(n8n);
    heading("5,000 failed executions, 200 MB");
    report("searched by node and message", Duration::ZERO, || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
        command.args(["list", "--failing-node", "HTTP Request", "--error", "refused", "--limit", "100", "--store"]);
        let output = command.arg(store.path()).env_clear().output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["data"]["count"], 50);
    });
}

fn open(location: &str) -> Store {
    Store::find(&Settings { location: location.to_owned(), ..Settings::default() }).unwrap()
}

fn questions(large: LargeStore, limit: Duration, store: &Store) {
    let last = LargeStore::node_name(large.nodes - 1);
    let items = large.items as u64;
    let node = |window| NodeProjection { node: last.clone(), window, ..NodeProjection::default() };
    report("summary", limit, || drop(black_box(ask(&SummaryProjection, store).unwrap())));
    report("50 items of the last node", limit, || drop(black_box(ask(&node(0..50), store).unwrap())));
    report("its last 50 items", limit, || drop(black_box(ask(&node(items - 50..items), store).unwrap())));
}

fn ask<P: StoredProjection>(projection: &P, store: &Store) -> P::View {
    let read = store.read("900", &CancellationToken::new(), |execution| {
        let n8n_lens::store::Execution { header, workflow, data, .. } = execution;
        projection.read_stored(StoredExecution { header, workflow, data, reveal: false })
    });
    read.unwrap()
}

fn heading(what: &str) {
    println!("\n{what}");
    println!("{:<36} {:>9} {:>9} {:>9} {:>8}", "", "median ms", "best ms", "of limit", "peak MB");
}

fn measure(name: &str, large: LargeStore, file: &Path) {
    heading(&format!("{name}: {} bytes in a file", std::fs::metadata(file).unwrap().len()));
    let limit = report("limit: read the file once", Duration::ZERO, || read_once(file));
    let last = LargeStore::node_name(large.nodes - 1);
    let items = large.items as u64;
    let node = |window| NodeProjection { node: last.clone(), window, ..NodeProjection::default() };
    let linear = LargeStore::stored();
    let continuing_node = r#""nodes":[{"name":"Node 0","onError":"continueRegularOutput"}]"#;
    let continuing =
        Stored { workflow: linear.workflow.replace(r#""nodes":[]"#, continuing_node), ..LargeStore::stored() };
    report("summary", limit, || drop(black_box(read(&SummaryProjection, &linear, file).unwrap())));
    report("summary, a node continues on error", limit, || {
        drop(black_box(read(&SummaryProjection, &continuing, file).unwrap()));
    });
    report("50 items of the last node", limit, || drop(black_box(read(&node(0..50), &linear, file).unwrap())));
    report("its last 50 items", limit, || drop(black_box(read(&node(items - 50..items), &linear, file).unwrap())));
}

fn read_once(file: &Path) {
    let mut file = File::open(file).unwrap();
    let (len, mut buffer) = (ReadAt::len(&file), vec![0; 65_536]);
    for position in (0..len).step_by(buffer.len()) {
        let piece = (len - position).min(buffer.len() as u64) as usize;
        file.read_at(position, &mut buffer[..piece]).unwrap();
    }
}

fn read<P: StoredProjection>(projection: &P, stored: &Stored, file: &Path) -> P::View {
    projection.read_stored(stored.with_data(Flatted::new(Box::new(File::open(file).unwrap()))))
}

fn report(what: &str, limit: Duration, run: impl Fn()) -> Duration {
    ALLOCATIONS.reset_peak_usage();
    let before = ALLOCATIONS.current_usage();
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    let (median, peak) = (times[RUNS / 2], ALLOCATIONS.peak_usage() - before);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let of_limit = if limit.is_zero() { 1.0 } else { ms(median) / ms(limit) };
    println!("{what:<36} {:>9.1} {:>9.1} {of_limit:>9.2} {:>8.1}", ms(median), ms(times[0]), peak as f64 / 1e6);
    median
}
