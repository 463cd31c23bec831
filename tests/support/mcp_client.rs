//! A client of the real binary: one JSON message a line, as the MCP specification has it for stdio.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The key that the server in the tests knows.
pub const KEY: &str = "test-key";

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running binary, after the handshake.
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that came while another was awaited.
    aside: Vec<Value>,
    last_id: u64,
}

impl McpClient {
    /// Starts the binary against an n8n.
    pub fn start(n8n_url: &str) -> Self {
        Self::start_with(n8n_url, &[])
    }

    /// The same, with more arguments.
    pub fn start_with(n8n_url: &str, arguments: &[&str]) -> Self {
        Self::start_with_key(n8n_url, KEY, arguments)
    }

    /// The same, with another key.
    pub fn start_with_key(n8n_url: &str, key: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_n8n-lens"))
            .args(arguments)
            .env_clear()
            .env("N8N_URL", n8n_url)
            .env("N8N_API_KEY", key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a protocol message: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let mut client = Self { child, stdin, messages, aside: Vec::new(), last_id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        let answer = client.request("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "n8n-lens");
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// The answer to a request, within a minute.
    pub fn answer(&mut self, id: u64) -> Value {
        self.find(PATIENCE, |message| message["id"] == id).unwrap_or_else(|| panic!("no answer to request {id}"))
    }

    /// The first message like this within some time; others are kept.
    pub fn find(&mut self, patience: Duration, like: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.aside.iter().position(&like) {
            return Some(self.aside.remove(at));
        }
        let end = Instant::now() + patience;
        loop {
            let message = self.messages.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
            if like(&message) {
                return Some(message);
            }
            self.aside.push(message);
        }
    }

    /// Notifications that came so far and were not asked for.
    pub fn notifications(&mut self, method: &str) -> Vec<Value> {
        self.aside.extend(self.messages.try_iter());
        self.aside.iter().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Begins a call; gives its id.
    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}))
    }

    /// Calls a tool: the text of its answer, or of its error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        text(&answer)
    }

    /// Closes standard input and waits for the end; gives the exit code.
    pub fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.wait()
    }

    /// The process that serves.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end; gives the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server did not end");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The one text of a tool's result.
pub fn text(answer: &Value) -> Result<String, String> {
    let result = &answer["result"];
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
    assert_eq!(content.len(), 1, "one text: {answer}");
    assert!(result.get("structuredContent").is_none(), "the payload must not travel twice");
    let text = content[0]["text"].as_str().unwrap().to_owned();
    if result["isError"] == true { Err(text) } else { Ok(text) }
}
