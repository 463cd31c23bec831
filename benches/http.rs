//! Load on the real binary over Streamable HTTP, with an n8n in this process: `cargo bench --bench http`.
//!
//! Client, server and n8n share the machine's cores; the figures are a lower bound.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a script that prints")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/executions/b_http_500.json");
const LARGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/executions/i_mid_10mb.json.gz");

/// The duration of each load.
const LAST: Duration = Duration::from_secs(60);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let n8n = start_n8n().await;
        println!(
            "{:<44} {:>9} {:>8} {:>8} {:>8} {:>7} {:>9}",
            "", "calls/s", "p50 ms", "p99 ms", "max ms", "errors", "peak MB"
        );
        for connections in [1, 16, 64] {
            load(&n8n, &format!("small execution, {connections} connections"), "42", connections, LAST / 4).await;
        }
        load(&n8n, "10 MB execution, 64 connections", "59", 64, LAST).await;
    });
}

/// Serves execution 59 with 10 MB, and all others with 5 KB.
async fn start_n8n() -> String {
    let small = Bytes::from(std::fs::read(SMALL).unwrap());
    let mut large = Vec::new();
    let mut file = flate2::read::GzDecoder::new(std::fs::File::open(LARGE).unwrap());
    std::io::Read::read_to_end(&mut file, &mut large).unwrap();
    let large = Bytes::from(large);
    let answer = move |Path(id): Path<String>| {
        let body = if id == "59" { large.clone() } else { small.clone() };
        std::future::ready(([(CONTENT_TYPE, "application/json")], body))
    };
    let router = Router::new().route("/api/v1/executions/{id}", get(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let listener = listener.tap_io(|connection| connection.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

/// The binary, restarted for each load, so that its peak memory is that of one load.
struct Server {
    child: Child,
    authority: String,
}

impl Server {
    fn start(n8n: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
        command.args(["--transport", "http", "--port", "0"]).env("N8N_URL", n8n).env("N8N_API_KEY", "key");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let authority = line.split_once("http://").unwrap().1.trim_end_matches("/mcp").to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, authority }
    }

    /// The peak resident memory in MB; 0 if the system does not report it.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1000
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn load(n8n: &str, what: &str, id: &str, connections: usize, last: Duration) {
    let server = Server::start(n8n);
    let request: Arc<[u8]> = request(&server.authority, id).into_bytes().into();
    let end = Instant::now() + last;
    let begun = Instant::now();
    let clients: Vec<_> =
        (0..connections).map(|_| tokio::spawn(client(server.authority.clone(), request.clone(), end))).collect();
    let (mut times, mut errors) = (Vec::new(), 0);
    for client in clients {
        let (its_times, its_errors) = client.await.unwrap();
        times.extend(its_times);
        errors += its_errors;
    }
    let seconds = begun.elapsed().as_secs_f64();
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    let rate = times.len() as f64 / seconds;
    println!(
        "{what:<44} {rate:>9.0} {:>8.2} {:>8.2} {:>8.2} {errors:>7} {:>9}",
        at(0.5),
        at(0.99),
        at(1.0),
        server.peak()
    );
}

/// Makes calls on one connection, one after the other; returns their durations, and the number of failures.
async fn client(authority: String, request: Arc<[u8]>, end: Instant) -> (Vec<Duration>, u64) {
    let mut connection = TcpStream::connect(authority).await.unwrap();
    connection.set_nodelay(true).unwrap();
    let (mut times, mut errors, mut buffer) = (Vec::new(), 0, Vec::new());
    while Instant::now() < end {
        let begun = Instant::now();
        connection.write_all(&request).await.unwrap();
        buffer.clear();
        while !buffer.ends_with(b"\r\n0\r\n\r\n") {
            assert!(connection.read_buf(&mut buffer).await.unwrap() > 0, "the server closed");
        }
        times.push(begun.elapsed());
        errors += u64::from(!is_success(&buffer));
    }
    (times, errors)
}

/// Whether it is a tool's answer. It is not parsed, because the client must be cheap.
fn is_success(answer: &[u8]) -> bool {
    memchr::memmem::find(answer, br#"\"success\":true"#).is_some()
        && memchr::memmem::find(answer, br#""isError":false"#).is_some()
}

fn request(authority: &str, id: &str) -> String {
    let meta: Value = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({"name": "get_execution", "arguments": {"id": id}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: get_execution\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
