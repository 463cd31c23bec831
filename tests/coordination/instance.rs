//! The real binary over pipes, as clients of agents and Runners start it. It can be killed at any moment; calls then
//! return `None`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::database::Database;
use crate::mcp_client::McpClient;

/// A running process, after the handshake.
pub struct Instance {
    pub mcp: McpClient,
}

impl Instance {
    pub fn start(database: &Database) -> Self {
        Self::start_with(database, &[])
    }

    pub fn start_with(database: &Database, arguments: &[&str]) -> Self {
        Self::try_start(database, arguments).expect("the process to start")
    }

    pub fn try_start(database: &Database, arguments: &[&str]) -> Option<Self> {
        let mut command = binary();
        command.args(["coordinate", "--db", &database.argument]).args(arguments).stderr(Stdio::piped());
        Self::try_spawn(&mut command)
    }

    /// `None` if the process ends before the handshake.
    pub fn try_spawn(command: &mut Command) -> Option<Self> {
        let mcp = McpClient::try_spawn(command)?;
        assert_eq!(mcp.hello["serverInfo"]["name"], "n8n-lens-agents");
        Some(Self { mcp })
    }

    /// Calls a tool; `None` if the process is gone. The structured content and the text must be the same JSON.
    pub fn try_call(&mut self, tool: &str, arguments: Value) -> Option<Value> {
        let answer = self.mcp.try_request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        let content = &result["structuredContent"];
        // The health check reports a status instead of a success.
        let is_failure = content["success"] == false || content["status"] == "error";
        assert_eq!(result["isError"] == true, is_failure, "{answer}");
        Some(content.clone())
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.try_call(tool, arguments).expect("the process to answer")
    }
}

/// The binary, without settings from the environment of the tests.
pub fn binary() -> Command {
    let mut command = Command::new(crate::support::binary());
    command.env_clear().env("HOME", "/nonexistent");
    command
}

/// Runs an administrator's command; returns its exit code, standard output and standard error.
pub fn admin(database: &Database, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = binary();
    command.args(["coordinate", "--db", &database.argument, "admin"]).args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs an administrator's command that must succeed; returns the JSON that it prints.
pub fn administer(database: &Database, arguments: &[&str]) -> Value {
    administer_with(database, arguments, "")
}

pub fn administer_with(database: &Database, arguments: &[&str], input: &str) -> Value {
    let (code, output, errors) = admin(database, arguments, input);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}: {output}");
    serde_json::from_str(&output).unwrap()
}
