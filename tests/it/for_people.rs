//! What the command line shows people, on a pseudoterminal.

use std::process::{Command, Stdio};

use crate::pseudoterminal;

fn lens(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n8n-lens"));
    command.args(arguments).env_clear().stdin(Stdio::null());
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
