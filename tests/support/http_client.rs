//! A client of the real binary over Streamable HTTP. It uses plain sockets, so that tests control every byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::mcp_client::KEY;
use super::stderr::Stderr;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A running binary that listens on a free port.
pub struct HttpServer {
    child: Child,
    /// `127.0.0.1:PORT`
    pub authority: String,
    pub stderr: Stderr,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl HttpServer {
    /// Starts the binary with an n8n and its key.
    pub fn start(n8n_url: &str, arguments: &[&str]) -> Self {
        Self::start_with_key(n8n_url, Some(KEY), arguments)
    }

    pub fn start_with_key(n8n_url: &str, key: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = Command::new(crate::support::binary());
        command.args(["--transport", "http", "--port", "0"]).args(arguments).env_clear().env("N8N_URL", n8n_url);
        if let Some(key) = key {
            command.env("N8N_API_KEY", key);
        }
        Self::spawn(&mut command)
    }

    /// Starts a command that reports on standard error where it listens.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = Stderr::of(&mut child);
        let address = stderr.find(ANSWER_TIMEOUT, |line| {
            let (_, url) = line.split_once("listens on http://")?;
            Some(url.trim_end_matches("/mcp").to_owned())
        });
        Self { child, authority: address.expect("the server listens"), stderr }
    }

    /// A process that was started, and where it listens.
    pub fn of(mut child: Child, authority: String) -> Self {
        let stderr = Stderr::of(&mut child);
        Self { child, authority, stderr }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process ends; returns the exit code and how long that took.
    pub fn wait(&mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        while begun.elapsed() < ANSWER_TIMEOUT {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server did not end within {ANSWER_TIMEOUT:?}");
    }

    /// Sends a request on its own connection and returns the response.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut connection = self.open(method, path, headers, body);
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        Answer::parse(&answer)
    }

    /// Sends a request without reading the response.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut connection = TcpStream::connect(&self.authority).unwrap();
        connection.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("host: {}\r\n", self.authority));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        connection.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        connection
    }

    /// Sends a stateless (2026-07-28) JSON-RPC request with additional headers.
    pub fn request(&self, method: &str, mut params: Value, more: &[(&str, &str)]) -> Answer {
        let name = params["name"].as_str().map(str::to_owned);
        params["_meta"] = stateless_meta();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut headers = json_headers();
        headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]);
        headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
        headers.extend_from_slice(more);
        self.send("POST", "/mcp", &headers, &body)
    }

    /// Calls a tool statelessly; returns the text of its answer or error.
    pub fn call(&self, tool: &str, arguments: Value, more: &[(&str, &str)]) -> Result<String, String> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}), more);
        assert_eq!(answer.status, 200, "{answer:?}");
        super::mcp_client::text(&answer.message())
    }
}

/// The client metadata of every stateless request.
pub fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

/// The headers that every POST needs.
pub fn json_headers<'a>() -> Vec<(&'a str, &'a str)> {
    vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").expect("an HTTP response");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        Self { status, headers, body: if chunked { dechunk(body) } else { body.to_owned() } }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// The JSON in the body, or in the last event of a stream.
    pub fn message(&self) -> Value {
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let json = data.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(json).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}

fn dechunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    whole
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
