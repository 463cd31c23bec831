//! Output to a terminal, through the real binary on a pseudoterminal.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::mcp_client::KEY;
use crate::pseudoterminal;
use crate::server::{Reply, Server};
use crate::support::coordination::harness::people;

/// Sequences that hide text, set the title and the clipboard, erase lines and turn text around, in 7 and 8 bits.
const HOSTILE: &str = "a\u{1b}[8mb\u{1b}]0;title\u{7}\u{1b}]52;c;Y2FuYXJ5\u{7}c\u{9b}2Jd\u{9d}e\r\n\u{8}\u{7f}f\u{202e}g\u{202a}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}\u{2028}\u{85}h\0";

fn is_obeyed(char: char) -> bool {
    let bidirectional = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    let in_ranges = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    char.is_control() || bidirectional.contains(&char) || in_ranges
}

/// An n8n whose every text is hostile.
fn hostile_n8n() -> Server {
    Server::start(|request| match request.path.as_str() {
        "/" => {
            use base64::{Engine, engine::general_purpose::STANDARD};
            let config = STANDARD.encode(json!({"release": format!("n8n@{HOSTILE}")}).to_string());
            Reply::bytes(
                200,
                "text/html",
                format!(r#"<meta name="n8n:config:sentry" content="{config}">"#).into_bytes(),
            )
        }
        "/api/v1/executions" => {
            let row = json!({"id": HOSTILE, "status": HOSTILE, "startedAt": HOSTILE, "workflowId": "w"});
            Reply::json(200, json!({"data": [row], "nextCursor": HOSTILE}).to_string())
        }
        "/api/v1/executions/42" => Reply::json(200, execution().to_string()),
        "/api/v1/executions/43" => Reply::json(400, json!({"message": HOSTILE}).to_string()),
        "/api/v1/executions/44" => Reply::json(200, json!({"id": HOSTILE}).to_string()),
        "/api/v1/executions/45" => Reply::bytes(200, "text/plain", HOSTILE.as_bytes()),
        _ => Reply::json(200, json!({"id": "w", "name": HOSTILE}).to_string()),
    })
}

fn execution() -> Value {
    let error = json!({"message": HOSTILE, "description": HOSTILE, "name": HOSTILE, "node": {"name": HOSTILE}});
    let item = json!({"json": {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}});
    let run = json!({"startTime": 1, "executionTime": 1, "executionStatus": HOSTILE, "error": error, "source": [],
        "data": {"main": [[item]]}});
    json!({
        "id": "42", "status": HOSTILE, "mode": HOSTILE, "startedAt": HOSTILE, "workflowId": HOSTILE,
        "data": {"resultData": {"error": error, "runData": {"A": [run], HOSTILE: [run]}}},
        "workflowData": {"name": HOSTILE, "nodes": [
            {"name": "A", "type": HOSTILE, "parameters": {HOSTILE: HOSTILE}}, {"name": HOSTILE, "type": HOSTILE}]},
    })
}

fn binary(n8n: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::binary());
    command.args(arguments).env_clear().env("N8N_URL", n8n.url()).env("N8N_API_KEY", KEY).stdin(Stdio::null());
    command
}

/// The output of a command on a terminal wide enough to cut nothing, without our own styles.
fn on_terminal(command: &Command) -> String {
    let columns = 5_000;
    assert!(!pseudoterminal::styled(command, columns).contains("\u{1b}[8m"), "{command:?}");
    // On a slow machine there is a progress bar, which is erased.
    let progress = regex::Regex::new("[^\n]*\r\u{1b}\\[2K").unwrap();
    progress.replace_all(&pseudoterminal::plain(command, columns), "").into_owned()
}

/// Checks that a text has no characters that a terminal obeys, but shows that they were there.
fn check(shown: &str, what: &str) {
    let obeyed = shown.chars().find(|char| is_obeyed(*char) && !matches!(char, '\n' | '\t'));
    assert_eq!(obeyed, None, "{what}: {shown:?}");
    assert!(shown.contains("\\u202e") && shown.contains("\\u001b"), "{what}: {shown}");
}

const COMMANDS: [&[&str]; 4] = [&["summary", "42"], &["node", "42", "A"], &["list"], &["list", "--raw"]];

#[test]
fn names_and_items_do_not_control_a_terminal() {
    let n8n = hostile_n8n();
    for arguments in COMMANDS {
        let shown = on_terminal(&binary(&n8n, arguments));
        check(&shown, &format!("{arguments:?}"));
    }
    check(&on_terminal(&binary(&n8n, &["check"])), "check");
    for id in ["43", "44"] {
        check(&on_terminal(&binary(&n8n, &["summary", id])), id);
    }
}

#[test]
fn json_is_the_same_on_a_terminal_and_unchanged_in_a_pipe() {
    let n8n = hostile_n8n();
    for arguments in COMMANDS {
        let arguments = [arguments, &["--json"]].concat();
        let shown = on_terminal(&binary(&n8n, &arguments));
        check(&shown, &format!("{arguments:?}"));
        let piped = String::from_utf8(binary(&n8n, &arguments).output().unwrap().stdout).unwrap();
        assert!(piped.contains("f\u{202e}g"), "{arguments:?}: piped JSON is as the tool returns it");
        let [shown, piped] = [&shown, &piped].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(shown, piped, "{arguments:?}");
    }
}

#[test]
fn errors_on_standard_error_do_not_control_a_terminal() {
    let n8n = hostile_n8n();
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    for id in ["43", "44"] {
        check(&said(binary(&n8n, &["summary", id]).output().unwrap()), id);
    }
    let argument = HOSTILE.replace('\0', "");
    for arguments in [&["summary", &argument][..], &[&argument], &["list", "--status", &argument]] {
        let said = said(binary(&n8n, arguments).output().unwrap());
        let obeyed = said.chars().find(|char| is_obeyed(*char) && *char != '\n');
        assert!(obeyed.is_none() && said.contains("f\\u202eg"), "{arguments:?}: {said:?}");
    }
    let plain = said(binary(&n8n, &["summary", "45"]).output().unwrap());
    assert!(!plain.chars().any(|char| is_obeyed(char) && char != '\n'), "{plain:?}");
}

#[test]
fn the_status_of_agents_does_not_control_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("agents.db");
    let n8n = hostile_n8n();
    let coordinate = |arguments: &[&str]| {
        let common = ["coordinate", "--db", database.to_str().unwrap()];
        binary(&n8n, &[&common, arguments].concat())
    };
    let file = folder.path().join("people.json");
    let mut people = people(1, 1);
    // The administration refuses control characters in names, but not the others.
    people["projects"][0]["name"] = json!(HOSTILE.chars().filter(|char| !char.is_control()).collect::<String>());
    std::fs::write(&file, people.to_string()).unwrap();
    let imported = coordinate(&["admin", "import", Path::new(&file).to_str().unwrap()]).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    for arguments in [&["status"][..], &["admin", "project", "list"]] {
        let shown = on_terminal(&coordinate(arguments));
        let obeyed = shown.chars().find(|char| is_obeyed(*char) && *char != '\n');
        assert_eq!(obeyed, None, "{arguments:?}: {shown:?}");
        assert!(shown.contains("f\\u202eg"), "{arguments:?}: {shown}");
    }
}
