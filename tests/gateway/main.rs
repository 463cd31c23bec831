//! The gateway: the real binary over real HTTP, with real child processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by a panic, and nothing here is reachable"
)]

/// Access control.
mod access;
/// Results and errors of calls.
mod calls;
/// Processes that leave the group and the tree of their server.
mod daemons;
/// A running gateway.
mod gateway;
/// Changes of the configuration.
mod reload;
/// Remote servers that misbehave.
mod remote_faults;
/// Validation of requests.
mod rules;
/// Secrets do not leak.
mod secrets;
/// Children that die, hang, or leave processes.
mod supervision;
#[path = "../support/mod.rs"]
mod support;
/// Real third-party servers.
mod third_party;

use support::{http_client, mcp_child, random, server, tools, wait};

/// The server that [`gateway::child`] starts: a process of this binary that runs only this test, with the flags after `--`.
/// Before it, the test harness writes a line to standard output, which the gateway ignores.
#[test]
#[ignore = "a process of the other tests"]
fn child() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--");
    if arguments.next().is_some() {
        std::process::exit(mcp_child::main(&arguments.collect::<Vec<_>>()));
    }
}
