//! What the test binaries and the benches share. Each of them declares this module once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "tests fail by panicking, and each binary uses only some of these modules"
)]

/// The coordination server: its databases, and the coordinator in this process.
pub mod coordination;
/// Real execution bodies.
pub mod fixtures;
/// Execution bodies of any size.
pub mod generator;
/// A client of the real binary over HTTP.
pub mod http_client;
/// An MCP server on stdio that can misbehave, for the gateway.
pub mod mcp_child;
/// A client of the real binary over standard input and output.
pub mod mcp_client;
/// A fake n8n that can misbehave.
pub mod server;
/// The log of a process, shown if the test fails.
pub mod stderr;
/// The tools that there are.
pub mod tools;
/// Waiting.
pub mod wait;
/// A fake n8n's workflows.
pub mod workflow_store;
