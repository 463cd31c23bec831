//! The cache of executions, compared with reading and expanding its file alone: `cargo bench --bench cache`.
//!
//! A generated body of 325 MB from a server in this process. n8n builds a body for many seconds before it sends the first
//! byte; the server here sends at once, so that the cache's cost on the first read is seen at its largest: at the full
//! speed of loopback, where client, server and compression share the cores, and at 200 MB/s.
//!
//! With `N8N_URL`, `N8N_API_KEY`, `N8N_EXECUTION` and `N8N_PID` (the process of n8n), also four reads of an execution of a
//! real n8n, with n8n's CPU seconds and memory.
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
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use n8n_lens::cache::{self, Cache};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::n8n::{Address, Caching, Client, ExecutionRequest, Progress, Settings};
use n8n_lens::secrets::Secret;
use serde_json::json;

#[path = "../tests/support/mod.rs"]
mod support;
use support::generator::Shape;
use support::mcp_client::McpClient;
use support::server::{Reply, Server};

/// The body, bytes.
const BODY: u64 = 325_000_000;

/// Runs of each measurement; the median counts.
const RUNS: usize = 7;

/// Runs of the second read, which is short.
const SHORT_RUNS: usize = 21;

/// About 200 MB/s.
const PIECE: (u64, Duration) = (1_000_000, Duration::from_millis(5));

fn main() {
    let mut body = Vec::new();
    Shape::realistic(BODY).read_to_end(&mut body).unwrap();
    let body: Arc<[u8]> = body.into();
    for (name, pace) in [("as fast as loopback", None), ("at 200 MB/s", Some(PIECE))] {
        println!("\n{name}");
        measure(&body, pace);
    }
    match std::env::var("N8N_EXECUTION") {
        Ok(id) => real(&id),
        Err(_) => println!("\nN8N_EXECUTION is not set: no real n8n"),
    }
}

fn n8n(body: &Arc<[u8]>, pace: Option<(u64, Duration)>) -> Server {
    let body = body.clone();
    let head = std::str::from_utf8(&body[..1000]).unwrap();
    let metadata = head.split(r#","data":"#).next().unwrap().to_owned() + "}";
    Server::start(move |request| match (request.query("includeData"), pace) {
        (None, _) => Reply::json(200, metadata.clone()),
        (Some(_), None) => Reply::bytes(200, "application/json", Arc::clone(&body)),
        (Some(_), Some((bytes, pause))) => Reply::bytes(200, "application/json", Arc::clone(&body)).pace(bytes, pause),
    })
}

fn client(n8n: &Server, folder: Option<&Path>) -> Client {
    let client = Client::new(Settings {
        address: Address::parse(&n8n.url()).unwrap(),
        api_key: Some(Secret::new("test-key")),
        first_byte_timeout: Duration::from_secs(60),
        idle_timeout: Duration::from_secs(60),
        max_downloads: 4,
    });
    let Some(folder) = folder else { return client };
    let settings =
        cache::Settings { folder: folder.to_owned(), max_bytes: u64::MAX, ttl: Duration::from_secs(24 * 3600) };
    client.with_cache(Caching { cache: Cache::new(settings), offline: false })
}

fn measure(body: &Arc<[u8]>, pace: Option<(u64, Duration)>) {
    let n8n = n8n(body, pace);
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cache");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = ExecutionRequest { id: "59".to_owned(), ignore_size_limit: false };
    let look = |client: &Client| {
        let progress = Progress::default();
        runtime.block_on(client.read_execution(&request, &SummaryProjection, &progress)).unwrap().view.unwrap();
    };
    let (plain, cached) = (client(&n8n, None), client(&n8n, Some(&folder)));
    // Alternating, so that a noisy minute affects both.
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        without.push(timed(|| look(&plain)));
        entries(&folder).iter().for_each(|entry| std::fs::remove_file(entry).unwrap());
        with.push(timed(|| look(&cached)));
    }
    let (without, with) = (median(without), median(with));
    report("first look, without a cache", without, "");
    report("first look, with a cache", with, &format!("{:+.1} % (at most +5)", (with / without - 1.0) * 100.0));
    if pace.is_some() {
        return;
    }
    let entry = entries(&folder).remove(0);
    let bytes = entry.metadata().unwrap().len();
    let share = bytes as f64 / body.len() as f64 * 100.0;
    println!("{:<44} {:>7.1} MB {share:.1} % of the body (at most 15)", "its file", bytes as f64 / 1e6);
    let (mut limits, mut seconds) = (Vec::new(), Vec::new());
    for _ in 0..SHORT_RUNS {
        limits.push(timed(|| expand(&entry)));
        seconds.push(timed(|| look(&cached)));
    }
    let (limit, second) = (median(limits), median(seconds));
    report("limit: read and expand the file", limit, "");
    report("second look", second, &format!("{:.2} times the limit (at most 1.3; 0.35 s)", second / limit));
    memory(&n8n, &root.path().join("other"));
}

/// Reads and expands the body in a file of the cache, and does nothing with it.
fn expand(entry: &Path) {
    let mut decoder = zstd::Decoder::new(BufReader::new(File::open(entry).unwrap())).unwrap().single_frame();
    let mut buffer = vec![0; 256 * 1024];
    while decoder.read(&mut buffer).unwrap() > 0 {}
}

/// How much the process grows with a cache.
#[cfg(target_os = "linux")]
fn memory(n8n: &Server, folder: &Path) {
    let peak = |client: &mut McpClient| {
        client.call("get_execution", json!({"id": "59"})).unwrap();
        support::memory::peak(client.pid()) as f64 / 1e6
    };
    let cached = ["--cache", folder.to_str().unwrap()];
    let without = peak(&mut McpClient::start_with(&n8n.url(), &[]));
    let first = peak(&mut McpClient::start_with(&n8n.url(), &cached));
    let second = peak(&mut McpClient::start_with(&n8n.url(), &cached));
    for (what, peak) in [("first look", first), ("second look", second)] {
        let label = format!("memory at its peak, {what}");
        println!("{label:<44} {peak:>7.1} MB {:+.1} MB with a cache (at most +8)", peak - without);
    }
}

#[cfg(not(target_os = "linux"))]
fn memory(_n8n: &Server, _folder: &Path) {}

/// Four reads of an execution of a real n8n.
fn real(id: &str) {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("set {name}"));
    let n8n: u32 = variable("N8N_PID").parse().unwrap();
    let (node, text) = (std::env::var("N8N_NODE"), std::env::var("N8N_TEXT"));
    let (node, text) = (node.unwrap_or_else(|_| "Done".to_owned()), text.unwrap_or_else(|_| "order".to_owned()));
    let looks: [&[&str]; 4] =
        [&["summary", id], &["node", id, &node], &["node", id, &node, "--limit", "1"], &["search", id, &text]];
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cache");
    for (name, cache) in [("without a cache", ""), ("with a cache", folder.to_str().unwrap())] {
        println!("\nfour looks at execution {id} of a real n8n, {name}");
        for look in looks {
            let before = cpu(n8n);
            let mut command = Command::new(support::binary());
            command.args(look).args(["--ignore-data-size-limit", "--cache", cache]);
            command.env_clear().env("N8N_URL", variable("N8N_URL")).env("N8N_API_KEY", variable("N8N_API_KEY"));
            let took = timed(|| {
                let output = command.output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            });
            report(&look.join(" "), took, &format!("n8n: {:.1} s of CPU, {}", cpu(n8n) - before, resident(n8n)));
        }
    }
}

/// The CPU seconds of a process, which proc(5) reports in ticks of 10 ms.
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect::<Vec<_>>()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

#[cfg(target_os = "linux")]
fn resident(pid: u32) -> String {
    format!(
        "{:.0} MB resident, {:.0} MB at its peak",
        bytes(support::memory::resident(pid)),
        bytes(support::memory::peak(pid))
    )
}

#[cfg(not(target_os = "linux"))]
fn resident(_pid: u32) -> String {
    "memory unknown".to_owned()
}

#[cfg(target_os = "linux")]
fn bytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|its| its == "zst")).collect()
}

fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(what: &str, seconds: f64, note: &str) {
    println!("{what:<44} {seconds:>7.3} s  {note}");
}
