//! Signals and pipes, through the real binary: however a client leaves, the process ends within two seconds with
//! the right code, and writes only protocol messages to standard output.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixtures;
use crate::http_client::{HttpServer, json_headers, stateless_meta};
use crate::mcp_client::{KEY, text};
use crate::server::{Reply, Server};
use crate::wait::{TEST_TIMEOUT, eventually};

/// The time within which a process must end: at most two seconds, on a machine that may be three times too busy.
const SOON: Duration = Duration::from_secs(6);

/// More than kernel buffers hold: once n8n has sent this much, the client is reading the body.
const SOME_BYTES: u64 = 10_000_000;

/// How a client connects the standard streams of a child.
#[derive(Clone, Copy, Debug)]
enum Streams {
    /// As most clients do.
    Pipes,
    /// As Node.js does, and with it many clients.
    Sockets,
}

const STREAMS: [Streams; 2] = [Streams::Pipes, Streams::Sockets];

impl Streams {
    /// A reading end and a writing end.
    fn ends(self) -> (OwnedFd, OwnedFd) {
        match self {
            Self::Pipes => {
                let (reader, writer) = std::io::pipe().unwrap();
                (reader.into(), writer.into())
            }
            Self::Sockets => {
                let (reader, writer) = UnixStream::pair().unwrap();
                (reader.into(), writer.into())
            }
        }
    }
}

/// A running binary, with its standard streams that are still open.
struct Lens {
    child: Child,
    stdin: Option<File>,
    stdout: Option<BufReader<File>>,
}

/// How a process ended.
#[derive(Debug)]
struct End {
    code: Option<i32>,
    took: Duration,
    /// Unread messages on standard output.
    messages: Vec<Value>,
    /// Standard error.
    said: String,
}

impl End {
    /// Checks the end of a process whose client has gone.
    fn must_be_clean(&self) {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(self.took < SOON, "{self:?}");
        assert!(self.said.is_empty(), "{self:?}");
    }
}

/// The binary, without settings from the environment of the tests.
fn binary(n8n_url: &str) -> Command {
    let mut command = Command::new(crate::support::binary());
    command.env_clear().env("HOME", "/nonexistent").env("N8N_URL", n8n_url).env("N8N_API_KEY", KEY);
    command
}

impl Lens {
    /// Starts a command that serves on its standard streams, without a handshake.
    fn start(mut command: Command, streams: Streams) -> Self {
        let ((their_stdin, stdin), (stdout, their_stdout)) = (streams.ends(), streams.ends());
        command.stdin(their_stdin).stdout(their_stdout).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        Self { child, stdin: Some(stdin.into()), stdout: Some(BufReader::new(stdout.into())) }
    }

    /// Starts the MCP server, with a handshake.
    fn serving(n8n: &Server, streams: Streams, arguments: &[&str]) -> Self {
        let mut command = binary(&n8n.url());
        command.args(arguments);
        let mut lens = Self::start(command, streams);
        lens.shake_hands();
        lens
    }

    fn shake_hands(&mut self) {
        self.send(&hello());
        let answer = self.read();
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&ready());
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_ref().unwrap(), "{message}").unwrap();
    }

    fn begin(&mut self, id: u64) {
        self.send(&call(id, json!({"name": "get_execution", "arguments": {"id": "42"}})));
    }

    /// Begins a call with progress.
    fn begin_watched(&mut self, id: u64) {
        let meta = json!({"progressToken": id});
        self.send(&call(id, json!({"name": "get_execution", "arguments": {"id": "42"}, "_meta": meta})));
    }

    /// The next message.
    fn read(&mut self) -> Value {
        let mut stdout = self.stdout.take().unwrap();
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = stdout.read_line(&mut line);
            sender.send((stdout, line, read))
        });
        let (stdout, line, read) = receiver.recv_timeout(TEST_TIMEOUT).expect("a message");
        read.unwrap();
        self.stdout = Some(stdout);
        message(&line)
    }

    /// The answer to a request.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn close_stdin(&mut self) {
        assert!(self.stdin.take().is_some());
    }

    fn close_stdout(&mut self) {
        assert!(self.stdout.take().is_some());
    }

    fn close_stderr(&mut self) {
        assert!(self.child.stderr.take().is_some());
    }

    fn signal(&self, signal: &str) {
        kill(self.child.id(), signal);
    }

    /// Waits until the process ends, and reads the rest of its output.
    fn end(mut self) -> End {
        let (status, took) = wait(&mut self.child);
        let (mut messages, mut said) = (Vec::new(), String::new());
        if let Some(stdout) = self.stdout.take() {
            messages = stdout.lines().map(|line| message(&line.unwrap())).collect();
        }
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        End { code: status.code(), took, messages, said }
    }
}

impl Drop for Lens {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Value {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn ready() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn list(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}})
}

fn call(id: u64, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Parses a line of standard output, which must be a protocol message.
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not a protocol message: {line:?}"));
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    message
}

/// Sends a signal, such as `TERM` or `INT`.
fn kill(pid: u32, signal: &str) {
    assert!(Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap().success());
}

/// Waits until a process ends; kills it if it does not.
fn wait(child: &mut Child) -> (ExitStatus, Duration) {
    let begun = Instant::now();
    while begun.elapsed() < TEST_TIMEOUT {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, begun.elapsed());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("it did not end within {TEST_TIMEOUT:?}");
}

/// An n8n with endless bodies.
fn endless() -> Server {
    Server::start(|_| {
        Reply::json(200, r#"{"id":"42","data":{"resultData":{"runData":{"A":["#)
            .endless(b"{\"a\":[1,2,3]},")
            .pace(256 * 1024, Duration::from_millis(1))
    })
}

/// A well-behaved n8n that answers after a delay.
fn unhurried(delay: Duration) -> Server {
    let body = fixtures::execution("b_http_500");
    Server::start(move |_| Reply::json(200, body.clone()).delay_first_byte(delay))
}

fn downloads(n8n: &Server) {
    eventually("a body is sent", || n8n.sent() > SOME_BYTES);
}

/// Waits until all downloads have stopped.
fn is_left_alone(n8n: &Server) {
    eventually("all connections to n8n are closed", || n8n.open() == 0);
}

#[test]
fn closing_standard_input_ends_an_idle_server() {
    let n8n = endless();
    for streams in STREAMS {
        let mut lens = Lens::serving(&n8n, streams, &[]);
        lens.close_stdin();
        let end = lens.end();
        end.must_be_clean();
        assert!(end.messages.is_empty(), "{end:?}");
    }
}

#[test]
fn closing_standard_input_ends_a_server_during_a_download() {
    for streams in STREAMS {
        let n8n = endless();
        let mut lens = Lens::serving(&n8n, streams, &[]);
        lens.begin(1);
        downloads(&n8n);
        lens.close_stdin();
        lens.end().must_be_clean();
        is_left_alone(&n8n);
    }
}

#[test]
fn a_call_that_is_nearly_done_is_answered_after_standard_input_is_closed() {
    let n8n = unhurried(Duration::from_millis(300));
    for streams in STREAMS {
        let mut lens = Lens::serving(&n8n, streams, &[]);
        let asked = n8n.requests().len();
        lens.begin(1);
        eventually("a request to n8n", || n8n.requests().len() > asked);
        lens.close_stdin();
        let end = lens.end();
        end.must_be_clean();
        let answer = end.messages.iter().find(|message| message["id"] == 1).unwrap_or_else(|| panic!("{end:?}"));
        assert!(text(answer).is_ok(), "{answer}");
    }
}

#[test]
fn a_server_without_a_reader_ends_at_its_next_message() {
    let n8n = endless();
    for streams in STREAMS {
        let mut lens = Lens::serving(&n8n, streams, &[]);
        lens.close_stdout();
        lens.send(&list(1));
        // Standard input stays open.
        lens.end().must_be_clean();
    }
}

#[test]
fn a_server_without_a_reader_stops_its_download() {
    for streams in STREAMS {
        let n8n = endless();
        let mut lens = Lens::serving(&n8n, streams, &[]);
        lens.begin_watched(1);
        downloads(&n8n);
        lens.close_stdout();
        // The next message is a progress notification, at most a quarter of a second later.
        lens.end().must_be_clean();
        is_left_alone(&n8n);
    }
}

#[test]
fn a_closed_standard_error_is_harmless() {
    let body = fixtures::execution("b_http_500");
    let n8n = Server::start(move |request| match request.query("includeData") {
        None => Reply::json(200, r#"{"id":"42","jsonSizeBytes":1000}"#),
        Some(_) => Reply::json(200, body.clone()).cut_after(3000),
    });
    for streams in STREAMS {
        let mut lens = Lens::serving(&n8n, streams, &["--log-level", "trace"]);
        lens.close_stderr();
        let asked = n8n.requests().len();
        lens.begin(1);
        // The body is requested once more, which is logged.
        let said = text(&lens.answer(1)).unwrap_err();
        assert!(said.contains("broke off at byte 3000"), "{said}");
        assert!(n8n.requests().len() >= asked + 2);
        lens.close_stdin();
        lens.end().must_be_clean();
    }
}

#[test]
fn signals_end_an_idle_server() {
    let n8n = endless();
    for streams in STREAMS {
        for signal in ["TERM", "INT"] {
            let lens = Lens::serving(&n8n, streams, &[]);
            lens.signal(signal);
            let end = lens.end();
            end.must_be_clean();
            assert!(end.messages.is_empty(), "{end:?}");
        }
    }
}

#[test]
fn signals_end_a_server_with_downloads_and_a_queue() {
    for streams in STREAMS {
        for signal in ["TERM", "INT"] {
            let n8n = endless();
            let mut lens = Lens::serving(&n8n, streams, &[]);
            (1..=20).for_each(|id| lens.begin_watched(id));
            let is_progress = |message: &Value| message["method"] == "notifications/progress";
            assert!(is_progress(&lens.read()), "queued calls report progress");
            downloads(&n8n);
            lens.signal(signal);
            let end = lens.end();
            end.must_be_clean();
            assert!(end.messages.iter().all(is_progress), "no call is answered: {end:?}");
            is_left_alone(&n8n);
        }
    }
}

#[test]
fn a_signal_ends_the_server_before_the_handshake() {
    for signal in ["TERM", "INT"] {
        let mut lens = Lens::start(binary("http://127.0.0.1:1"), Streams::Pipes);
        lens.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}));
        assert!(lens.answer(7)["result"].is_object());
        lens.signal(signal);
        lens.end().must_be_clean();
    }
}

#[test]
fn a_client_that_sends_nothing_gets_at_most_a_sentence() {
    for streams in STREAMS {
        let mut lens = Lens::start(binary("http://127.0.0.1:1"), streams);
        lens.close_stdin();
        let end = lens.end();
        assert!(matches!(end.code, Some(0 | 1)) && end.took < SOON, "{end:?}");
        assert!(end.messages.is_empty() && end.said.lines().count() <= 1, "{end:?}");
        assert!(!end.said.contains("panicked"), "{end:?}");
    }
}

#[test]
fn files_work_like_pipes() {
    let n8n = unhurried(Duration::from_millis(100));
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let asked = [hello(), ready(), list(1), call(2, json!({"name": "get_execution", "arguments": {"id": "42"}}))];
    std::fs::write(&input, asked.map(|message| format!("{message}\n")).concat()).unwrap();
    let mut command = binary(&n8n.url());
    command.stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap());
    let mut child = command.spawn().unwrap();
    let (status, took) = wait(&mut child);
    assert!(status.success() && took < SOON, "{status}, {took:?}");
    let answers: Vec<_> = std::fs::read_to_string(&output).unwrap().lines().map(message).collect();
    assert_eq!(answers.len(), 3, "{answers:?}");
    let answer = answers.iter().find(|message| message["id"] == 2).unwrap();
    assert!(text(answer).is_ok(), "{answer}");
}

/// Starts a server over HTTP that writes standard output to this file.
fn over_http(mut command: Command, output: &Path) -> HttpServer {
    let server = HttpServer::spawn(command.stdout(File::create(output).unwrap()));
    // It reports its address just before it handles signals.
    server.send("GET", "/health", &[], "");
    server
}

fn call_over_http(server: &HttpServer) -> TcpStream {
    let params = json!({"name": "get_execution", "arguments": {"id": "42"}, "_meta": stateless_meta()});
    let body = call(1, params).to_string();
    let mut headers = json_headers();
    headers.extend([
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "get_execution"),
    ]);
    server.open("POST", "/mcp", &headers, &body)
}

/// Opens the stream of a session, which stays open as long as the session.
fn listen_over_http(server: &HttpServer) -> TcpStream {
    let answer = server.send("POST", "/mcp", &json_headers(), &hello().to_string());
    let session = answer.header("mcp-session-id").expect("a session");
    server.open("GET", "/mcp", &[("accept", "text/event-stream"), ("mcp-session-id", session)], "")
}

#[test]
fn lingering_clients_and_a_second_signal_do_not_delay_the_end_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    for signals in [["TERM", "TERM"], ["INT", "TERM"]] {
        let n8n = endless();
        let mut command = binary(&n8n.url());
        command.args(["--transport", "http", "--port", "0"]);
        let mut server = over_http(command, &output);
        let mut half = TcpStream::connect(&server.authority).unwrap();
        half.write_all(b"POST /mcp HTTP/1.1\r\nhost: 127.0").unwrap();
        let lingering = (call_over_http(&server), listen_over_http(&server), half);
        downloads(&n8n);
        let begun = Instant::now();
        kill(server.pid(), signals[0]);
        // The call has a second to finish, so the server is still there for the second signal.
        thread::sleep(Duration::from_millis(300));
        kill(server.pid(), signals[1]);
        let (code, _) = server.wait();
        assert_eq!(code, Some(0));
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "");
        is_left_alone(&n8n);
        drop(lingering);
    }
}

#[test]
fn an_idle_server_over_http_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (output, config) = (folder.path().join("out"), folder.path().join("config.yaml"));
    let database = folder.path().join("agents.db");
    std::fs::write(&config, "servers: {}\n").unwrap();
    let commands: [&[&str]; 3] = [
        &["--transport", "http", "--port", "0"],
        &["gateway", "--port", "0", "--config", config.to_str().unwrap()],
        &["coordinate", "--transport", "http", "--port", "0", "--db", database.to_str().unwrap()],
    ];
    for arguments in commands {
        for signal in ["TERM", "INT"] {
            let mut command = binary("http://127.0.0.1:1");
            command.args(arguments);
            let mut server = over_http(command, &output);
            kill(server.pid(), signal);
            let (code, took) = server.wait();
            assert_eq!(code, Some(0), "{arguments:?}, {signal}");
            assert!(took < Duration::from_secs(1), "{arguments:?}, {signal}: {took:?}");
            assert_eq!(std::fs::read_to_string(&output).unwrap(), "", "{arguments:?}");
        }
    }
}

/// Starts the coordination server, with a handshake.
fn coordinating(database: &Path, streams: Streams) -> Lens {
    let mut command = binary("http://127.0.0.1:1");
    command.arg("coordinate").arg("--db").arg(database);
    let mut lens = Lens::start(command, streams);
    lens.shake_hands();
    lens
}

#[test]
fn the_coordination_server_ends_like_the_n8n_server() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("agents.db");
    for streams in STREAMS {
        let mut lens = coordinating(&database, streams);
        lens.close_stdin();
        lens.end().must_be_clean();
        for signal in ["TERM", "INT"] {
            let lens = coordinating(&database, streams);
            lens.signal(signal);
            lens.end().must_be_clean();
        }
    }
}

#[test]
fn the_coordination_server_ends_without_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    for streams in STREAMS {
        let mut lens = coordinating(&folder.path().join("agents.db"), streams);
        lens.close_stdout();
        lens.send(&list(1));
        lens.end().must_be_clean();
    }
}

/// A pipe without a reader: writing to it fails.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Creates a coordination database with one project.
fn database_with_a_project(folder: &Path) -> String {
    let database = folder.join("agents.db").to_str().unwrap().to_owned();
    let project = ["admin", "project", "add", "--id", "p", "--name", "P", "--working-directory", "/work"];
    let added = binary("http://127.0.0.1:1").args(["coordinate", "--db", &database]).args(project).output().unwrap();
    assert!(added.status.success(), "{added:?}");
    database
}

#[test]
fn commands_succeed_without_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let database = database_with_a_project(folder.path());
    let n8n = unhurried(Duration::ZERO);
    let file = fixtures::folder().join("executions/b_http_500.json");
    let file = file.to_str().unwrap();
    let commands: [&[&str]; 9] = [
        &["summary", file],
        &["summary", "42"],
        &["node", file, "HTTP Request"],
        &["tools"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["coordinate", "--db", database.as_str(), "status"],
        &["coordinate", "--db", database.as_str(), "admin", "project", "list"],
    ];
    for arguments in commands {
        // The commands have output to lose.
        let heard = binary(&n8n.url()).args(arguments).output().unwrap();
        assert!(heard.status.success() && !heard.stdout.is_empty(), "{arguments:?}: {heard:?}");
        let unheard = binary(&n8n.url()).args(arguments).stdout(unread()).output().unwrap();
        assert_eq!(unheard.status.code(), Some(0), "{arguments:?}: {unheard:?}");
        assert!(unheard.stderr.is_empty(), "{arguments:?}: {unheard:?}");
    }
}

#[test]
fn failures_have_their_exit_codes_without_a_reader() {
    let n8n = Server::start(|_| Reply::json(401, r#"{"message":"Unauthorized"}"#));
    let commands: [(&[&str], i32); 4] = [
        (&["summary", "no/such/file"], 1),
        (&["summary", "42", "--log-level", "trace"], 1),
        (&["summary"], 2),
        (&["frobnicate"], 2),
    ];
    for (arguments, code) in commands {
        let status = binary(&n8n.url()).args(arguments).stdout(unread()).stderr(unread()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}: {status}");
    }
}

#[test]
fn watching_ends_without_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let database = database_with_a_project(folder.path());
    let mut command = binary("http://127.0.0.1:1");
    command.args(["coordinate", "--db", &database, "watch", "--interval", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // As `| head -n 1` does.
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    drop(stdout);
    let (status, took) = wait(&mut child);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
    assert!(took < SOON + Duration::from_secs(1), "{took:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let file = fixtures::folder().join("executions/b_http_500.json");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = binary("http://127.0.0.1:1").arg("summary").arg(file).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("n8n-lens: Standard output: ") && said.lines().count() == 1, "{said}");
}

/// Lets SIGINT end the processes that this one starts. It is ignored in what a shell starts in the background, such as
/// `cargo test &`, and what is ignored is inherited; what is caught is not.
fn let_children_be_interrupted() {
    let ignored = Command::new("sh").args(["-c", "kill -s INT $$; echo ignored"]).output().unwrap();
    if !ignored.stdout.is_empty() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _in_runtime = runtime.enter();
        // The handler stays when this is dropped.
        drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).unwrap());
    }
}

#[test]
fn a_signal_ends_a_command_like_any_other_program() {
    let_children_be_interrupted();
    for (signal, number) in [("TERM", 15), ("INT", 2)] {
        let n8n = endless();
        let mut command = binary(&n8n.url());
        let mut child = command.args(["summary", "42"]).stdout(Stdio::piped()).spawn().unwrap();
        downloads(&n8n);
        kill(child.id(), signal);
        let (status, took) = wait(&mut child);
        assert_eq!(status.signal(), Some(number), "{status}");
        assert!(took < SOON, "{took:?}");
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "nothing of an incomplete body");
        is_left_alone(&n8n);
    }
}
