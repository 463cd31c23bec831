//! The command line's output for people, on a pseudoterminal.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::KEY;
use crate::pseudoterminal;
use crate::server::{Reply, Server};
use crate::tools::tools;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn lens(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::binary());
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

fn lens_with(n8n: &Server, arguments: &[&str]) -> Command {
    let mut command = lens(arguments);
    command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY);
    command
}

/// The output of a command on a terminal of 100 columns, which must end with this exit code.
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
        (&["--log-level", "error", "--store", "auto", "tools"], "n8n-lens tools", "--store"),
        (&["--redact", "catalogue", "update"], "n8n-lens catalogue", "--redact"),
        (&["--port", "1", "coordinate", "status"], "n8n-lens coordinate status", "--port"),
        (&["--idle-timeout", "5", "coordinate", "--db", "a.db", "status"], "n8n-lens coordinate", "--idle-timeout"),
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
            // Long enough for a busy machine to draw each of them at least once.
            Reply::json(200, body).delay_first_byte(Duration::from_secs(3)).pace(200_000, Duration::from_millis(200))
        }
        None => Reply::json(200, r#"{"id":"59","jsonSizeBytes":105000000}"#),
    });
    let shown = pseudoterminal::plain(&lens_with(&n8n, &["summary", "59"]), 100);
    let frames: Vec<_> = shown.split('\r').collect();
    let any = |pattern: &str| frames.iter().any(|frame| Regex::new(pattern).unwrap().is_match(frame));
    assert!(any(r"waiting for n8n, 105 MB stored · [1-9]\d* s"), "{frames:?}");
    assert!(any(r"B/3\.00 MB · [\d.]+ [kM]B/s · \d+s left"), "{frames:?}");
    assert!(!any("0/0") && !any("waiting.*█|█.*waiting"), "{frames:?}");
}

/// An n8n with executions of two workflows, one with a long name.
fn n8n_with_a_list() -> Server {
    Server::start(|request| match request.path.as_str() {
        "/api/v1/executions" => {
            let row = |id: u32, status: &str, workflow: &str| {
                json!({"id": id.to_string(), "status": status, "workflowId": workflow,
                    "startedAt": "2026-11-21T02:03:59.994Z", "stoppedAt": "2026-11-21T02:04:12.288Z"})
            };
            let cursor = STANDARD.encode(json!({"lastId": "1001", "limit": 3}).to_string());
            let data = [row(1003, "success", "a"), row(1002, "error", "b"), row(1001, "canceled", "a")];
            Reply::json(200, json!({"data": data, "nextCursor": cursor}).to_string())
        }
        "/api/v1/workflows/a" => {
            Reply::json(200, json!({"id": "a", "name": "毎週のレポートを全ての顧客に送る Weekly report"}).to_string())
        }
        _ => Reply::json(200, r#"{"id":"b","name":"Orders"}"#),
    })
}

/// The columns that a text takes on a terminal.
fn columns(text: &str) -> usize {
    text.chars().map(|char| if ('\u{2e80}'..='\u{ffef}').contains(&char) { 2 } else { 1 }).sum()
}

#[test]
fn tables_fit_the_terminal() {
    let n8n = n8n_with_a_list();
    let fixture = |name: &str| root().join("fixtures/executions").join(name).to_str().unwrap().to_owned();
    let (failed, good) = (fixture("b_http_500.json"), fixture("a_small_success.json"));
    for width in [60, 120] {
        for arguments in
            [&["list", "--limit", "3"][..], &["summary", &failed], &["compare", &failed, &good], &["tools"]]
        {
            let shown = pseudoterminal::plain(&lens_with(&n8n, arguments), width);
            let rules: Vec<_> = shown.lines().enumerate().filter(|(_, line)| line.starts_with('─')).collect();
            assert_eq!(rules.len(), 1, "{arguments:?}: {shown}");
            // A command is one line, for copying.
            for line in shown.lines().skip(rules[0].0 - 1).filter(|line| !line.starts_with("Next: ")) {
                assert!(columns(line) <= usize::from(width), "{arguments:?} at {width}: {line}\n{shown}");
            }
        }
        let list = pseudoterminal::plain(&lens_with(&n8n, &["list", "--limit", "3"]), width);
        let rows: Vec<_> = list.lines().skip(2).collect();
        assert_eq!(rows.len(), 4, "a line for each execution, and one for more: {list}");
        assert!(rows[0].starts_with("1003") && rows[0].contains('…') == (width == 60), "{list}");
        assert!(rows.iter().take(3).all(|row| row.ends_with("2026-11-21 02:03:59   12.294")), "{list}");
        assert_eq!(rows[3], "more: n8n-lens list --cursor 'limit=3&after=1001'");
    }
    let narrow = pseudoterminal::plain(&lens_with(&n8n, &["list", "--limit", "3"]), 45);
    assert!(narrow.ends_with("more: n8n-lens list --cursor … (nextCursor of --json)\n"), "{narrow}");
}

#[test]
fn a_comparison_shows_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let save = |id: &str, quantity: Value, url: &str| {
        let items = (0..300).map(|at| json!({"json": {"qty": if at == 261 { quantity.clone() } else { json!(at) }}}));
        let items: Vec<_> = items.chain([json!({"json": {"qty": 1, format!("of{id}"): 1}})]).collect();
        let body = json!({"id": id, "status": "success", "workflowId": "w",
            "data": {"resultData": {"runData": {"Stock": [{"data": {"main": [items]}}]}}},
            "workflowData": {"nodes": [{"name": "Stock", "type": "t", "parameters": {"url": url}}], "connections": {}}});
        let file = folder.path().join(format!("{id}.json"));
        std::fs::write(&file, body.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (this, other) = (save("7", json!("12 pcs"), "new"), save("3", json!(12), "old"));
    let shown = shown(&["compare", &this, &other], 0);
    let row = |what: &str| shown.lines().find(|line| line.contains(what)).unwrap_or_default().to_owned();
    assert!(row("qty").contains(r#"number|string: "12 pcs" (item 261)"#), "{shown}");
    // What only one of them has is in its column.
    let header = row("Difference");
    assert_eq!(row("newFields").find("of7"), header.find(" 7 ").map(|at| at + 1), "{shown}");
    assert_eq!(row("lostFields").find("of3"), header.rfind('3'), "{shown}");
    let url = row("parameters.url");
    assert!(url.find("new").is_some_and(|new| Some(new) < url.find("old")), "{shown}");
}

#[test]
fn colours_mark_the_status_and_can_be_switched() {
    let n8n = n8n_with_a_list();
    let list = |variables: &[(&str, &str)]| {
        let mut command = lens_with(&n8n, &["list"]);
        command.envs(variables.iter().copied());
        command
    };
    let colored = pseudoterminal::styled(&list(&[]), 100);
    for (color, text) in [("32", "success"), ("31", "error"), ("2", "1003"), ("1", "Workflow")] {
        let styles = Regex::new(&format!("\u{1b}\\[([0-9;]+)m{text}")).unwrap();
        let style = styles.captures(&colored).unwrap_or_else(|| panic!("{text}: {colored:?}"))[1].to_owned();
        let is_in_color =
            style == color || (color == "32" && style == "38;5;2") || (color == "31" && style == "38;5;1");
        assert!(is_in_color, "{text}: {style}");
    }
    let plain = pseudoterminal::styled(&list(&[("NO_COLOR", "1")]), 100);
    assert!(!plain.contains('\u{1b}') && plain.contains("success"), "{plain:?}");
    for variables in [&[][..], &[("CLICOLOR_FORCE", "1")]] {
        let output = list(variables).output().unwrap();
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "JSON in a pipe has no colours");
    }
    let mut help = lens(&["--help"]);
    assert!(!String::from_utf8(help.output().unwrap().stdout).unwrap().contains('\u{1b}'));
    let help = help.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(help.stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn a_server_says_to_a_person_what_it_is_and_serves() {
    let n8n = n8n_with_a_list();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a person", "version": "1"}}});
    let shown = pseudoterminal::typed(&lens_with(&n8n, &[]), &format!("{request}\n"), "\"serverInfo\"");
    assert!(shown.contains("n8n-lens: This is an MCP server") && shown.contains("n8n-lens --help"), "{shown}");
    assert!(shown.contains(r#""serverInfo""#), "{shown}");
    let said = pseudoterminal::plain(&lens(&[]), 100);
    assert!(said.find("This is an MCP server") < said.find("N8N_URL is missing"), "{said}");
    let piped = lens(&[]).output().unwrap();
    assert!(!String::from_utf8(piped.stderr).unwrap().contains("This is an MCP server"));
}

#[test]
fn tools_are_lines_in_a_pipe_and_json_on_request() {
    let piped = String::from_utf8(lens(&["tools", "--read-only"]).output().unwrap().stdout).unwrap();
    assert_eq!(piped.lines().next(), Some("list_executions\texecutions\treads\tList executions"));
    let reading = tools(&["executions", "workflows"]).iter().filter(|tool| tool.reads_only()).count();
    assert!(piped.is_ascii() && piped.lines().count() == reading, "{piped}");
    let table = pseudoterminal::plain(&lens(&["tools", "--read-only"]), 100);
    assert!(table.starts_with("Tool ") && table.lines().count() == reading + 2, "{table}");
    let json = pseudoterminal::plain(&lens(&["tools", "--read-only", "--json"]), 100);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tools"].as_array().unwrap().len(), reading);
    assert_eq!(json["tools"][0]["name"], "list_executions");
}

#[test]
fn the_values_of_status_are_named() {
    let help = shown(&["list", "--help"], 0);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values = "[possible values: success, error, waiting, running, canceled, crashed, new, unknown]";
    assert!(help.contains(values), "{help}");
    let refused = shown(&["list", "--status", "failed"], 2);
    assert!(refused.contains("'failed'") && refused.contains("crashed"), "{refused}");
}

#[test]
fn warnings_are_sentences() {
    let n8n = Server::start(|_| Reply::json(200, fixtures::execution("b_http_500")));
    let file = tempfile::NamedTempFile::new().unwrap();
    let arguments = ["summary", "42", "--cache", file.path().to_str().unwrap()];
    let shown = pseudoterminal::plain(&lens_with(&n8n, &arguments), 100);
    assert!(shown.contains(" The cache has a problem, and n8n is asked again instead"), "{shown:?}");
    assert!(!shown.contains("WARN") && !shown.contains("n8n_lens::"), "{shown:?}");
}

/// The error of the last attempt says how many there were.
#[test]
fn a_request_that_is_retried_shows_one_error_or_none() {
    let first = AtomicBool::new(true);
    let n8n = Server::start(move |_| match first.swap(false, Ordering::SeqCst) {
        true => Reply::json(503, "{}"),
        false => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
    });
    let shown = pseudoterminal::plain(&lens_with(&n8n, &["list"]), 100);
    assert!(!shown.contains("n8n-lens:"), "{shown:?}");
    let failing = Server::start(|_| Reply::json(503, "{}"));
    let shown = pseudoterminal::plain(&lens_with(&failing, &["list"]), 100);
    assert!(shown.starts_with("n8n-lens: n8n returned 503 3 times in ") && shown.lines().count() == 1, "{shown:?}");
}

#[test]
fn the_usage_in_an_error_does_not_require_what_the_environment_sets() {
    for (arguments, usage) in [
        (&["summary"][..], "Usage: n8n-lens summary [OPTIONS] <EXECUTION>"),
        (&["node", "1"], "Usage: n8n-lens node [OPTIONS] <EXECUTION> <NODE>"),
        (&["summary", "1", "--bogus"], "Usage: n8n-lens summary [OPTIONS] <EXECUTION>"),
        (&["catalogue", "update", "more"], "Usage: n8n-lens catalogue update [OPTIONS]"),
    ] {
        let mut command = lens(arguments);
        command.env("N8N_URL", "http://127.0.0.1:9").env("N8N_API_KEY", KEY);
        let shown = pseudoterminal::plain(&command, 100);
        assert!(shown.contains(&format!("\n{usage}\n")), "{shown}");
    }
}

#[test]
fn help_is_grouped_and_wraps_at_words() {
    for width in [60, 120] {
        let help = pseudoterminal::plain(&lens(&["--help"]), width);
        let places: Vec<_> = [
            "Look at executions:",
            "  list, ls ",
            "Serve:",
            "  serve ",
            "Set up:",
            "  check ",
            "Options:",
            "Examples:",
        ]
        .map(|part| help.find(&format!("\n{part}")).unwrap_or_else(|| panic!("{part}: {help}")))
        .to_vec();
        assert!(places.is_sorted(), "{help}");
        let options = &help[places[6]..places[7]];
        assert!(!options.contains("--transport") && !options.contains("--idle-timeout"), "{help}");
        for command in [&["--help"][..], &["list", "--help"], &["serve", "-h"], &["coordinate", "-h"]] {
            let help = pseudoterminal::plain(&lens(command), width);
            let examples = help.find("Examples:").unwrap();
            let words: Vec<_> = help[..examples].split_whitespace().collect();
            let piped = String::from_utf8(lens(command).output().unwrap().stdout).unwrap();
            let whole: Vec<_> = piped[..piped.find("Examples:").unwrap()].split_whitespace().collect();
            assert_eq!(words, whole, "no word is broken: {help}");
            for line in help[..examples].lines() {
                assert!(columns(line) <= usize::from(width), "{width}: {line}\n{help}");
            }
        }
    }
}

#[test]
fn help_shows_only_the_options_that_a_command_uses() {
    let help =
        |command: &[&str]| String::from_utf8(lens(&[command, &["--help"]].concat()).output().unwrap().stdout).unwrap();
    for command in
        [&["tools"][..], &["completions"], &["catalogue", "update"], &["coordinate", "admin", "project", "list"]]
    {
        for option in ["--n8n-url", "--max-downloads", "--redact", "--transport", "--session-ttl"] {
            assert!(!help(command).contains(option), "{command:?} {option}: {}", help(command));
        }
    }
    let list = help(&["list"]);
    assert!(
        list.contains("--n8n-url") && list.contains("--idle-timeout") && !list.contains("--max-downloads"),
        "{list}"
    );
    let serve = help(&["serve"]);
    for option in ["--transport", "--read-only", "--max-downloads", "--redact", "--catalogue", "--n8n-url"] {
        assert!(serve.contains(option), "{option}: {serve}");
    }
    assert_eq!(help(&["ls"]), list, "ls is list");
}

/// The options that several commands have, each group with its commands.
const SHARED_OPTIONS: [(&[&str], &[&str]); 10] = {
    const EXECUTION: &str = "summary, describe, node, search, fields, trace, compare, prove";
    const EXECUTIONS: &str = "list, find, failures, trend";
    const API: &str = "edit, retry, stop, publish";
    const SERVERS: &str = "view, serve";
    [
        (
            &["--n8n-url", "--api-key", "--api-key-file"],
            &[EXECUTION, EXECUTIONS, API, SERVERS, "check-workflow, gateway, setup, check"],
        ),
        (&["--first-byte-timeout", "--idle-timeout"], &[EXECUTION, EXECUTIONS, API, SERVERS, "check-workflow, check"]),
        (
            &["--store", "--deleted", "--reveal", "--spool-dir"],
            &[EXECUTION, EXECUTIONS, SERVERS, "check-workflow, gateway, check, export"],
        ),
        (&["--cache"], &[EXECUTION, SERVERS, "check-workflow, gateway, check, cache, cache clear"]),
        (&["--cache-max", "--cache-ttl"], &[EXECUTION, SERVERS, "check-workflow, gateway, check, cache"]),
        (&["--offline"], &[EXECUTION, SERVERS, "check-workflow, gateway"]),
        (&["--redact"], &[EXECUTION, SERVERS, "export"]),
        (&["--locale"], &[EXECUTION, EXECUTIONS, API, SERVERS, "check-workflow, coordinate, setup"]),
        (&["--max-downloads"], &[SERVERS]),
        (&["--catalogue"], &["serve, gateway, catalogue update"]),
    ]
};

/// All commands that the help lists, and those below them.
fn commands() -> Vec<String> {
    let below = ["cache clear", "catalogue update", "coordinate status", "coordinate watch", "coordinate admin"];
    let help = String::from_utf8(lens(&["--help"]).output().unwrap().stdout).unwrap();
    let (listed, _) = help.split_once("Options:").unwrap();
    let listed = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split([' ', ',']).next());
    let listed: Vec<_> = listed.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect();
    assert!(listed.len() > 25, "{listed:?}");
    let below = below.into_iter().chain(["coordinate admin project list"]).map(str::to_owned);
    listed.into_iter().chain(below).collect()
}

#[test]
fn shared_options_are_those_that_a_command_uses() {
    for command in commands() {
        let arguments: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = String::from_utf8(lens(&arguments).output().unwrap().stdout).unwrap();
        let declared: Vec<_> = help.lines().filter_map(|line| line.trim_start().strip_prefix("--")).collect();
        for (options, users) in SHARED_OPTIONS {
            for option in options {
                let declares = |line: &&str| line.split([' ', ',']).next() == option.strip_prefix("--");
                let is_shown = declared.iter().any(declares);
                let uses = users.iter().flat_map(|users| users.split(", ")).any(|user| user == command);
                assert_eq!(is_shown, uses, "{command} {option}: {help}");
            }
        }
    }
}

#[test]
fn serve_is_the_command_that_is_run_without_one() {
    for arguments in [&[][..], &["serve"], &["--read-only", "serve"], &["serve", "--read-only"]] {
        let output = lens(arguments).env("N8N_URL", "http://127.0.0.1:9").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains("N8N_API_KEY is missing"), "{arguments:?}: {said}");
    }
}
