//! Code that the test binaries and benchmarks share. Each of them declares this module once.
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

/// The coordination server: its databases, and the coordinator in the test process.
pub mod coordination;
/// Real execution bodies.
pub mod fixtures;
/// Flatted text, as n8n stores it.
pub mod flatten;
/// Execution bodies of any size.
pub mod generator;
/// A PostgreSQL server that misbehaves.
pub mod hostile_postgres;
/// A client of the real binary over HTTP.
pub mod http_client;
/// Run data of any size as n8n stores it.
pub mod large_store;
/// A misbehaving MCP server on stdio, for the gateway.
pub mod mcp_child;
/// An MCP client of the real binary over stdio.
pub mod mcp_client;
/// The memory of a process.
#[cfg(target_os = "linux")]
pub mod memory;
/// n8n's own store.
pub mod n8n_store;
/// An n8n that plays copies of workflows.
pub mod proof_n8n;
/// Deterministic random numbers.
pub mod random;
/// A fake n8n that misbehaves on demand.
pub mod server;
/// The log of a process, printed if the test fails.
pub mod stderr;
/// The tools that tests expect.
pub mod tools;
/// The page of `n8n-lens view`.
pub mod view_server;
/// Waiting for a condition.
pub mod wait;
/// The workflows of a fake n8n.
pub mod workflow_store;

/// The program under test: the one that cargo has built, or the one that `TEST_BINARY` names, such as a
/// script that runs it in an emulator.
pub fn binary() -> &'static str {
    static NAMED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let named = NAMED.get_or_init(|| std::env::var("TEST_BINARY").ok());
    named.as_deref().unwrap_or(env!("CARGO_BIN_EXE_n8n-lens"))
}
