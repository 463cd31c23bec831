//! What the command line shows people, on a pseudoterminal.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::mcp_client::KEY;
use crate::pseudoterminal;
use crate::server::{Reply, Server};

fn lens(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

fn lens_with(n8n: &Server, arguments: &[&str]) -> Command {
    let mut command = lens(arguments);
    command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY);
    command
}

/// What a command prints to a terminal of 100 columns, if it ends with this exit code.
fn shown(arguments: &[&str], code: i32) -> String {
    let command = lens(arguments);
    let output = pseudoterminal::run(&command, 100);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    pseudoterminal::plain(&command, 100)
}

#[test]
fn options_before_a_subcommand_count_as_written_after_it() {
    for before in [&["--read-only"][..], &["--toolsets", "workflows", "--read-only"], &["--tools=get_workflow"]] {
        let after = [&["tools"], before].concat();
        let before = [before, &["tools"]].concat();
        assert_eq!(shown(&before, 0), shown(&after, 0));
        assert!(!shown(&before, 0).contains("delete_workflow"), "{before:?}");
    }
    // The value of an option can be the name of a subcommand.
    let unknown = shown(&["--tools", "list", "tools"], 2);
    assert!(unknown.contains("'list'") || unknown.contains("\"list\""), "{unknown}");
    let port = shown(&["--port", "70000", "gateway"], 2);
    assert!(port.contains("70000"), "{port}");
}

#[test]
fn options_that_a_subcommand_does_not_use_are_refused() {
    for (arguments, command, option) in [
        (&["--port", "3000", "tools"][..], "n8n-lens tools", "--port"),
        (&["--read-only", "list"], "n8n-lens list", "--read-only"),
        (&["--toolsets", "builder", "check"], "n8n-lens check", "--toolsets"),
        (&["--tools", "list_executions", "catalogue", "update"], "n8n-lens catalogue", "--tools"),
        (&["coordinate", "--db", "a.db", "--port", "1", "status"], "n8n-lens coordinate status", "--port"),
    ] {
        let said = shown(arguments, 2);
        assert!(said.contains(&format!("'{command}' does not use {option}: leave it out")), "{arguments:?}: {said}");
    }
}

#[test]
fn a_wait_shows_its_reason_and_then_bytes_with_a_rate_and_an_estimate() {
    let n8n = Server::start(|request| match request.query("includeData") {
        Some(_) => {
            let body = format!(r#"{{"id":"59","data":{{}},"padding":"{}"}}"#, "x".repeat(3_000_000));
            let wait = Duration::from_millis(1_800);
            Reply::json(200, body).delay_first_byte(wait).pace(500_000, Duration::from_millis(200))
        }
        None => Reply::json(200, r#"{"id":"59","jsonSizeBytes":105000000}"#),
    });
    let shown = pseudoterminal::plain(&lens_with(&n8n, &["summary", "59"]), 100);
    let (waiting, reading) = shown.split_once("B/3.00 MB").expect(&shown);
    assert!(waiting.contains("waiting for n8n, 105 MB stored · 1 s"), "{waiting:?}");
    assert!(!shown.contains("0/0") && !waiting.contains('█'), "{waiting:?}");
    assert!(reading.contains("MB/s · ") && reading.contains("s left"), "{reading:?}");
}
