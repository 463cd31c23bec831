//! The gateway compared with mcpo: the same child and the same load generator, alternating in one run.
//! `tests/gateway/setup.sh && cargo bench --bench gateway`.
//!
//! Load generator, gateway and child share the machine's cores. The first line shows what the child does alone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a script that prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

#[path = "../tests/support/mod.rs"]
mod support;
use support::mcp_child;

/// The duration of each load, and how often it is repeated.
const LOAD_DURATION: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;

const MIB_16: usize = 16 * 1024 * 1024;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "child") {
        std::process::exit(mcp_child::main(&arguments[2..]));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(compare());
}

/// A gateway under test, in front of one fixture child.
struct Subject {
    name: &'static str,
    process: Child,
    authority: String,
    /// The HTTP request that calls a tool, from the authority, the tool and its input.
    requests: fn(&str, &str, &str) -> String,
    _folder: tempfile::TempDir,
}

impl Subject {
    fn ours() -> Self {
        let command = |config: &Path, port: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
            command.args(["gateway", "--port", port, "--config"]).arg(config);
            command
        };
        let requests = |authority: &str, tool: &str, input: &str| {
            let body = format!(r#"{{"server":"fixture","toolName":"{tool}","input":{input}}}"#);
            post(authority, "/mcp/call", &body)
        };
        Self::start("n8n-lens gateway", command, requests)
    }

    fn mcpo() -> Option<Self> {
        let peers = std::env::var_os("PEERS_DIR")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"), PathBuf::from);
        let mcpo = peers.join("mcpo/bin/mcpo");
        let command = move |config: &Path, port: &str| {
            let mut command = Command::new(&mcpo);
            command.args(["--host", "127.0.0.1", "--log-level", "warning", "--port", port, "--config"]).arg(config);
            command
        };
        let requests = |authority: &str, tool: &str, input: &str| post(authority, &format!("/fixture/{tool}"), input);
        peers.join("mcpo/bin/mcpo").exists().then(|| Self::start("mcpo", command, requests))
    }

    fn start(
        name: &'static str,
        command: impl Fn(&Path, &str) -> Command,
        requests: fn(&str, &str, &str) -> String,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.json");
        let fixture = json!({"command": std::env::current_exe().unwrap(), "args": ["child"]});
        std::fs::write(&config, json!({"mcpServers": {"fixture": fixture}}).to_string()).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = command(&config, &port.to_string());
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { name, process, authority: format!("127.0.0.1:{port}"), requests, _folder: folder }
    }

    fn request(&self, tool: &str, input: &str) -> String {
        (self.requests)(&self.authority, tool, input)
    }

    /// Makes one call on its own connection; `None` if it fails.
    async fn call(&self, tool: &str, input: &str) -> Option<Vec<u8>> {
        let mut connection = TcpStream::connect(&self.authority).await.ok()?;
        let (request, mut buffer) = (self.request(tool, input), Vec::new());
        let exchange = exchange(&mut connection, request.as_bytes(), &mut buffer);
        tokio::time::timeout(Duration::from_secs(60), exchange).await.ok()?.filter(|good| *good)?;
        Some(buffer)
    }

    /// Waits until it answers; returns how long that took.
    async fn ready(&self) -> Duration {
        let started = Instant::now();
        while self.call("echo", "{}").await.is_none() {
            assert!(started.elapsed() < Duration::from_secs(30), "{} does not answer", self.name);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        started.elapsed()
    }

    /// Resident memory in MiB, now (`VmRSS`) or at its peak (`VmHWM`), including helper processes.
    fn memory(&self, which: &str) -> f64 {
        let own = of_process(self.process.id(), which);
        let helpers = children(self.process.id()).into_iter().filter(|pid| !is_fixture(*pid));
        own + helpers.map(|pid| of_process(pid, which)).sum::<f64>()
    }

    async fn kill_child(&self) -> Duration {
        let fixture = children(self.process.id()).into_iter().find(|pid| is_fixture(*pid)).unwrap();
        Command::new("kill").args(["-KILL", &fixture.to_string()]).status().unwrap();
        self.ready().await
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

fn post(authority: &str, path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn of_process(pid: u32, which: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap_or_default();
    line.trim_start_matches(':').split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0)
        / 1024.0
}

fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parent_of = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    all.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn is_fixture(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"child")
}

/// Sends a request and reads the answer; returns whether it is a success, or `None` if the connection ends.
async fn exchange(connection: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> Option<bool> {
    connection.write_all(request).await.ok()?;
    buffer.clear();
    let head = loop {
        if let Some(end) = memchr::memmem::find(buffer, b"\r\n\r\n") {
            break end + 4;
        }
        if connection.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let text = std::str::from_utf8(&buffer[..head]).ok()?.to_ascii_lowercase();
    let length: usize = text.split_once("content-length: ")?.1.lines().next()?.parse().ok()?;
    while buffer.len() < head + length {
        if connection.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    Some(text.starts_with("http/1.1 200"))
}

/// Returns calls per second, and p50 and p99 in milliseconds.
async fn load(subject: &Subject, connections: usize) -> [f64; 3] {
    let request: Arc<[u8]> = subject.request("echo", r#"{"value":"hello"}"#).into_bytes().into();
    let end = Instant::now() + LOAD_DURATION;
    let clients: Vec<_> =
        (0..connections).map(|_| tokio::spawn(client(subject.authority.clone(), request.clone(), end))).collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.unwrap());
    }
    figures(times)
}

fn figures(mut times: Vec<Duration>) -> [f64; 3] {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    [times.len() as f64 / LOAD_DURATION.as_secs_f64(), at(0.5), at(0.99)]
}

async fn client(authority: String, request: Arc<[u8]>, end: Instant) -> Vec<Duration> {
    let mut connection = TcpStream::connect(authority).await.unwrap();
    connection.set_nodelay(true).unwrap();
    let (mut times, mut buffer) = (Vec::new(), Vec::new());
    while Instant::now() < end {
        let started = Instant::now();
        assert_eq!(exchange(&mut connection, &request, &mut buffer).await, Some(true), "a call failed");
        times.push(started.elapsed());
    }
    times
}

/// The child without a gateway, with this many calls in flight on its pipes.
async fn alone(in_flight: usize) -> [f64; 3] {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut child = command.arg("child").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let stdin = std::os::fd::OwnedFd::from(child.stdin.take().unwrap());
    let stdout = std::os::fd::OwnedFd::from(child.stdout.take().unwrap());
    let mut input = tokio::net::unix::pipe::Sender::from_owned_fd(stdin).unwrap();
    let mut lines = BufReader::new(tokio::net::unix::pipe::Receiver::from_owned_fd(stdout).unwrap()).lines();
    let call = |id: usize| {
        let params = json!({"name": "echo", "arguments": {"value": "hello"}});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    let end = Instant::now() + LOAD_DURATION;
    let (mut sent, mut times) = (std::collections::VecDeque::new(), Vec::new());
    for id in 0..in_flight {
        sent.push_back(Instant::now());
        input.write_all(call(id).as_bytes()).await.unwrap();
    }
    while Instant::now() < end {
        lines.next_line().await.unwrap().unwrap();
        times.push(sent.pop_front().unwrap().elapsed());
        sent.push_back(Instant::now());
        input.write_all(call(0).as_bytes()).await.unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    figures(times)
}

/// The median of each figure across the rounds.
fn median(rounds: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|at| {
        let mut values: Vec<_> = rounds.iter().map(|round| round[at]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

async fn compare() {
    let mut subjects = vec![Subject::ours()];
    match Subject::mcpo() {
        Some(mcpo) => subjects.push(mcpo),
        None => println!("mcpo is not installed: run tests/gateway/setup.sh first"),
    }
    println!("{:<20} {:>5} {:>10} {:>9} {:>9}", "", "conn.", "calls/s", "p50 ms", "p99 ms");
    let line = |name: &str, connections: usize, [rate, p50, p99]: [f64; 3]| {
        println!("{name:<20} {connections:>5} {rate:>10.0} {p50:>9.2} {p99:>9.2}");
    };
    let mut idle = Vec::new();
    for subject in &subjects {
        subject.ready().await;
        idle.push(subject.memory("VmRSS"));
    }
    for connections in [1, 16, 64] {
        line("the child alone", connections, alone(connections).await);
        let mut rounds = vec![Vec::new(); subjects.len()];
        for _ in 0..ROUNDS {
            for (subject, figures) in subjects.iter().zip(&mut rounds) {
                figures.push(load(subject, connections).await);
            }
        }
        for (subject, figures) in subjects.iter().zip(&rounds) {
            line(subject.name, connections, median(figures));
        }
    }
    println!(
        "\n{:<20} {:>9} {:>11} {:>13} {:>14} {:>15}",
        "", "idle MiB", "peak MiB", "16 MiB ms", "peak after MiB", "kill -9: ms"
    );
    for (subject, idle) in subjects.iter().zip(idle) {
        let peak = subject.memory("VmHWM");
        // Before the large answer, from which mcpo may not recover.
        let recovery = subject.kill_child().await.as_millis();
        let started = Instant::now();
        let large = subject.call("big", &json!({"bytes": MIB_16, "kind": "text"}).to_string()).await.unwrap();
        assert!(large.len() > MIB_16);
        let took = started.elapsed().as_millis();
        let after = subject.memory("VmHWM");
        println!("{:<20} {idle:>9.1} {peak:>11.1} {took:>13} {after:>14.1} {recovery:>15}", subject.name);
    }
}
