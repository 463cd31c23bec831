//! An MCP client of the real binary over stdio: one JSON message per line, as the specification requires.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stderr::Stderr;

/// The API key that the fake n8n accepts.
pub const KEY: &str = "test-key";

/// Longer than any answer takes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A running binary, after the handshake.
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Messages, or a line that is not a message.
    messages: Receiver<Result<Value, String>>,
    /// Messages that arrived while the client waited for another one.
    aside: Vec<Value>,
    last_id: u64,
    /// The result of the handshake.
    pub hello: Value,
    _stderr: Option<Stderr>,
}

impl McpClient {
    /// Starts the binary with an n8n.
    pub fn start(n8n_url: &str) -> Self {
        Self::start_with(n8n_url, &[])
    }

    /// The same, with more arguments.
    pub fn start_with(n8n_url: &str, arguments: &[&str]) -> Self {
        Self::start_with_key(n8n_url, KEY, arguments)
    }

    /// The same, with another key.
    pub fn start_with_key(n8n_url: &str, key: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(crate::support::binary());
        command.args(arguments).env_clear().env("N8N_URL", n8n_url).env("N8N_API_KEY", key);
        command.env("N8N_LENS_FILES_ROOT", "/");
        let client = Self::try_spawn(command.stderr(Stdio::piped())).expect("the server to start");
        assert_eq!(client.hello["serverInfo"]["name"], "n8n-lens");
        client
    }

    /// Starts a command, whose standard error is kept if it is piped; `None` if it ends before the handshake.
    pub fn try_spawn(command: &mut Command) -> Option<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, messages) = channel();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut line = String::new();
            // A line without a line break comes from a process that was killed while writing.
            while stdout.read_line(&mut line).is_ok() && line.ends_with('\n') {
                let message = serde_json::from_str(&line).map_err(|_| std::mem::take(&mut line));
                if sender.send(message).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let stdin = child.stdin.take();
        let stderr = child.stderr.is_some().then(|| Stderr::of(&mut child));
        let mut client =
            Self { child, stdin, messages, aside: Vec::new(), last_id: 0, hello: Value::Null, _stderr: stderr };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        client.hello = client.try_request("initialize", hello)?["result"].take();
        client.try_write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}))?;
        Some(client)
    }

    /// Sends a line that may be no message.
    pub fn write_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).expect("the server to read");
    }

    /// `None` if the process is gone.
    fn try_write(&mut self, message: &Value) -> Option<()> {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).ok()
    }

    fn write(&mut self, message: &Value) {
        self.try_write(message).expect("the server to read");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; returns its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.try_send(method, params).expect("the server to read")
    }

    /// Sends a request; returns its id, or `None` if the process is gone.
    pub fn try_send(&mut self, method: &str, params: Value) -> Option<u64> {
        self.last_id += 1;
        self.try_write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))?;
        Some(self.last_id)
    }

    /// The answer to a request, within a minute.
    pub fn answer(&mut self, id: u64) -> Value {
        self.try_answer(id).unwrap_or_else(|| panic!("no answer to request {id}: the server is gone"))
    }

    /// The answer to a request, within a minute; `None` if the process is gone.
    pub fn try_answer(&mut self, id: u64) -> Option<Value> {
        match self.receive(ANSWER_TIMEOUT, |message| message["id"] == id) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no answer to request {id} within {ANSWER_TIMEOUT:?}"),
        }
    }

    /// The first message that matches, within some time; other messages are kept.
    pub fn find(&mut self, within: Duration, like: impl Fn(&Value) -> bool) -> Option<Value> {
        self.receive(within, like).ok()
    }

    fn receive(&mut self, within: Duration, like: impl Fn(&Value) -> bool) -> Result<Value, RecvTimeoutError> {
        if let Some(at) = self.aside.iter().position(&like) {
            return Ok(self.aside.remove(at));
        }
        let end = Instant::now() + within;
        loop {
            let message = self.messages.recv_timeout(end.saturating_duration_since(Instant::now()))?;
            let message = message.unwrap_or_else(|line| panic!("not a protocol message: {line}"));
            if like(&message) {
                return Ok(message);
            }
            self.aside.push(message);
        }
    }

    /// The notifications with this method so far.
    pub fn notifications(&mut self, method: &str) -> Vec<Value> {
        self.aside.extend(self.messages.try_iter().flatten());
        self.aside.iter().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The same; `None` if the process is gone.
    pub fn try_request(&mut self, method: &str, params: Value) -> Option<Value> {
        let id = self.try_send(method, params)?;
        self.try_answer(id)
    }

    /// Begins a call; returns its id.
    pub fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}))
    }

    /// Calls a tool; returns the text of its answer or error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        text(&answer)
    }

    /// Closes standard input and waits until the process ends; returns the exit code.
    pub fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.wait()
    }

    /// The process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process; it has no chance to answer.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process ends; returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let end = Instant::now() + ANSWER_TIMEOUT;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server did not end within {ANSWER_TIMEOUT:?}");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The single text of a tool's result.
pub fn text(answer: &Value) -> Result<String, String> {
    let result = &answer["result"];
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
    assert_eq!(content.len(), 1, "a single text: {answer}");
    assert!(result.get("structuredContent").is_none(), "the payload is not sent twice");
    let text = content[0]["text"].as_str().unwrap().to_owned();
    if result["isError"] == true { Err(text) } else { Ok(text) }
}
