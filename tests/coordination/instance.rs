//! The real binary as an agent's or a Runner's client starts it: MCP over pipes. It may be killed at any
//! moment, and calls then answer nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::database::Database;

/// A running process, after the handshake.
pub struct Instance {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl Instance {
    pub fn start(database: &Database) -> Self {
        Self::start_with(database, &[])
    }

    pub fn start_with(database: &Database, arguments: &[&str]) -> Self {
        Self::try_start(database, arguments).expect("it starts")
    }

    pub fn try_start(database: &Database, arguments: &[&str]) -> Option<Self> {
        let mut command = binary();
        command.args(["coordinate", "--db", &database.argument]).args(arguments).stderr(Stdio::inherit());
        Self::try_spawn(&mut command)
    }

    pub fn spawn(command: &mut Command) -> Self {
        Self::try_spawn(command).expect("it starts")
    }

    /// `None` if it ends before it says anything.
    pub fn try_spawn(command: &mut Command) -> Option<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut instance = Self { child, stdin, stdout, last_id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        let Some(answer) = instance.request("initialize", hello) else {
            instance.kill();
            return None;
        };
        assert_eq!(answer["result"]["serverInfo"]["name"], "n8n-lens-agents");
        instance.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).ok()?;
        Some(instance)
    }

    fn write(&mut self, message: &Value) -> std::io::Result<()> {
        writeln!(self.stdin, "{message}")?;
        self.stdin.flush()
    }

    /// Sends a request, and waits for nothing; gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> Option<u64> {
        self.last_id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})).ok()?;
        Some(self.last_id)
    }

    /// The answer to a request; `None` if the process is gone.
    pub fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Option<Value> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    /// Calls a tool; `None` if the process is gone. The structured answer and the text are the same JSON.
    pub fn try_call(&mut self, tool: &str, arguments: Value) -> Option<Value> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert_eq!(result["isError"] == true, result["structuredContent"]["success"] == false, "{answer}");
        Some(result["structuredContent"].clone())
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.try_call(tool, arguments).expect("the process is there")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, without a chance to say anything.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input, and waits for its end.
    pub fn close(mut self) -> std::process::ExitStatus {
        drop(self.stdin);
        let _ = self.stdout.read_to_end(&mut Vec::new());
        self.child.wait().unwrap()
    }
}

/// The binary, without any settings of whoever runs the tests.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
    command.env_clear().env("HOME", "/nonexistent");
    command
}

/// Runs a command of the administrator; its exit code, standard output and standard error.
pub fn admin(database: &Database, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = binary();
    command.args(["coordinate", "--db", &database.argument, "admin"]).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The same, for a command that must do it; the JSON that it prints.
pub fn administer(database: &Database, arguments: &[&str]) -> Value {
    administer_with(database, arguments, "")
}

pub fn administer_with(database: &Database, arguments: &[&str], input: &str) -> Value {
    let (code, output, errors) = admin(database, arguments, input);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}: {output}");
    serde_json::from_str(&output).unwrap()
}
