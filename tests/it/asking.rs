//! Helpers for the tests of the tools that ask about an execution.

use std::process::Command;

use serde_json::Value;

use crate::mcp_client::McpClient;
use crate::server::{self, Server};
use crate::support::binary;

/// An n8n with this body as execution 7, and a client of the tools.
pub fn serving(body: &Value, arguments: &[&str]) -> (Server, McpClient) {
    let n8n = server::n8n([("7".to_owned(), body.to_string().into_bytes())].into());
    let client = McpClient::start_with(&n8n.url(), &[&["--locale", "en"], arguments].concat());
    (n8n, client)
}

/// The `data` of a success with this message.
pub fn data(answer: &str, message: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!((&answer["success"], &answer["message"]), (&Value::Bool(true), &Value::from(message)));
    answer["data"].clone()
}

/// A command without settings from the environment of the tests.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.env_clear().args(arguments).args(["--locale", "en"]);
    command
}
