//! The heart, measured beside limits and peers on the same body, in one run: quote ratios.
//!
//! `cargo bench` for all of it; the body is the 100 MB one of `tests/support/generator.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a bench fails by a panic, and nothing here is reachable"
)]

use std::hint::black_box;
use std::io::{self, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use n8n_lens::budget;
use n8n_lens::execution::node::{NodeProjection, NodeView};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::{Batch, Cursor, Projection, Pruner, ReadAhead};
use n8n_lens::n8n::{Address, Client, ExecutionRequest, Progress, Settings};
use n8n_lens::secrets::Secret;
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_by_node::{self, NodeQuery};
use serde_json::Value;

#[path = "../tests/support/mod.rs"]
mod support;
use support::generator::Shape;
use support::server::{Reply, Server};

/// The last of the twenty nodes.
const LATE_NODE: &str = "Step 020";

fn body() -> Vec<u8> {
    let mut text = Vec::new();
    Shape::realistic(100_000_000).read_to_end(&mut text).unwrap();
    text
}

/// The body as it comes from the network: chunks that are not copied.
fn chunks(body: &[u8], mut pruner: Pruner) -> impl Iterator<Item = io::Result<Batch>> {
    let mut chunks = body.chunks(128 * 1024);
    std::iter::from_fn(move || chunks.next().map(|chunk| pruner.feed(chunk).map_err(io::Error::other)))
}

fn projection(node: &str) -> NodeProjection {
    NodeProjection { node: node.to_owned(), window: 0..50, ..NodeProjection::default() }
}

fn look(body: impl Read, node: &str) -> NodeView {
    projection(node).read_from(BufReader::with_capacity(65_536, body)).unwrap()
}

fn group<'a>(criterion: &'a mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(10).measurement_time(Duration::from_secs(4));
    group
}

fn in_memory(criterion: &mut Criterion) {
    let body = body();
    let mut group = group(criterion, "memory", body.len());
    group.bench_function("limit: copy in pieces of 64 KB", |bencher| {
        let mut to = vec![0; 65_536];
        bencher.iter(|| body.chunks(65_536).for_each(|piece| black_box(&mut to)[..piece.len()].copy_from_slice(piece)));
    });
    group.bench_function("ours: summary", |bencher| {
        let cursor = || Cursor::over(chunks(&body, SummaryProjection.pruner()));
        bencher.iter(|| black_box(SummaryProjection.read(cursor()).unwrap()));
    });
    group.bench_function("ours: late node", |bencher| {
        let projection = projection(LATE_NODE);
        let cursor = || Cursor::over(chunks(&body, projection.pruner()));
        bencher.iter(|| black_box(projection.read(cursor()).unwrap()));
    });
    group.bench_function("peer: struson alone, summary", |bencher| {
        bencher.iter(|| black_box(SummaryProjection.read(Cursor::unpruned(&body[..])).unwrap()));
    });
    group.bench_function("peer: serde_json from a reader, skipping everything", |bencher| {
        bencher.iter(|| serde_json::from_reader::<_, serde::de::IgnoredAny>(io::BufReader::new(&body[..])).unwrap());
    });
    group.bench_function("peer: serde_json::Value", |bencher| {
        bencher.iter(|| black_box(serde_json::from_slice::<Value>(&body).unwrap()));
    });
}

fn from_a_file(criterion: &mut Criterion) {
    let body = body();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&body).unwrap();
    let open = || std::fs::File::open(file.path()).unwrap();
    let mut group = group(criterion, "file", body.len());
    group.bench_function("limit: read", |bencher| {
        let mut piece = vec![0; 65_536];
        bencher.iter(|| {
            let mut file = open();
            while file.read(black_box(&mut piece)).unwrap() > 0 {}
        });
    });
    group.bench_function("ours: summary", |bencher| {
        bencher.iter(|| black_box(SummaryProjection.read_from(ReadAhead::new(open())).unwrap()));
    });
}

fn over_http(criterion: &mut Criterion) {
    let body: Arc<[u8]> = body().into();
    let bytes = body.len();
    let n8n = Server::start(move |_| Reply::bytes(200, "application/json", Arc::clone(&body)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = Client::new(Settings {
        address: Address::parse(&n8n.url()).unwrap(),
        api_key: Some(Secret::new("test-key")),
        first_byte_timeout: Duration::from_secs(60),
        idle_timeout: Duration::from_secs(60),
        max_downloads: 4,
    });
    let _ = rustls::crypto::ring::default_provider().install_default();
    let drain = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap();
    let url = format!("{}/api/v1/executions/1", n8n.url());
    let mut group = group(criterion, "http", bytes);
    group.bench_function("limit: download and throw away", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let mut response = drain.get(&url).send().await.unwrap();
                while response.chunk().await.unwrap().is_some() {}
            });
        });
    });
    let request = ExecutionRequest { id: "1".to_owned(), ignore_size_limit: false };
    group.bench_function("ours: summary", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let progress = Progress::default();
                client.read_execution(&request, &SummaryProjection, &progress).await.unwrap().unwrap()
            })
        });
    });
}

fn budgets(criterion: &mut Criterion) {
    let body = body();
    let view = look(&body[..], LATE_NODE);
    budget::count("x");
    let question = NodeQuery {
        projection: projection(LATE_NODE),
        output: None,
        max_tokens: 25_000,
        redact: false,
        locale: Locale::Ja,
    };
    let answer = get_execution_by_node::answer(&view, None, &question).unwrap();
    let mut group = criterion.benchmark_group("budget");
    group.sample_size(20);
    group.bench_function(format!("a full answer of {} tokens", budget::count(&answer)), |bencher| {
        bencher.iter(|| get_execution_by_node::answer(&view, None, &question).unwrap());
    });
    group.bench_function("one count of it", |bencher| bencher.iter(|| budget::count(&answer)));
}

/// From the start of the process to the answer of `tools/list`.
fn startup(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("startup");
    group.sample_size(10);
    group.bench_function("start to tools/list", |bencher| {
        bencher.iter(|| {
            let mut child = Command::new(env!("CARGO_BIN_EXE_n8n-lens"))
                .env("N8N_URL", "http://127.0.0.1:1")
                .env("N8N_API_KEY", "k")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let messages = concat!(
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#,
                "\n",
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                "\n",
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
                "\n"
            );
            child.stdin.as_mut().unwrap().write_all(messages.as_bytes()).unwrap();
            let mut lines = io::BufRead::lines(io::BufReader::new(child.stdout.take().unwrap()));
            assert!(lines.nth(1).unwrap().unwrap().contains("get_execution_by_node"));
            child.kill().unwrap();
            child.wait().unwrap();
        });
    });
}

criterion_group!(heart, in_memory, from_a_file, over_http, budgets, startup);
criterion_main!(heart);
