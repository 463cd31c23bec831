//! Messages of tools, worded for their readers: arguments and tools for agents, options and commands on a terminal,
//! visible controls on the page. And one item is not "1 items".

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::pseudoterminal;
use crate::support::view_server::ViewServer;

/// Names that only an agent passes or calls.
const OF_AGENTS: [&str; 12] = [
    "nodeName",
    "runIndex",
    "outputIndex",
    "maxTokens",
    "nextOffset",
    "nextCursor",
    "ignoreDataSizeLimit",
    "get_execution",
    "search_execution",
    "trace_execution_item",
    "compare_executions",
    "list_executions",
];

/// A name that ends its quotes, if they are not escaped.
const QUOTED: &str = r"Bob's: \ node";

/// An execution in which each count is `count`: runs, items, nodes.
fn body(count: usize) -> Value {
    let long = "needle ".repeat(200);
    let item = |at: usize| json!({"json": {"at": at, "text": format!("{long}{at}")}, "pairedItem": {"item": at}});
    let items: Vec<_> = (0..count).map(item).collect();
    let run = |source: Value| {
        json!({"startTime": 1_795_226_662_000_u64, "executionTime": 5, "executionStatus": "success", "source": source,
            "data": {"main": [items]}})
    };
    let of_node = |source: Value| (0..count).map(|_| run(source.clone())).collect::<Vec<_>>();
    let nodes = ["Read", QUOTED].map(|name| json!({"name": name, "type": "n8n-nodes-base.code", "position": [0, 0]}));
    json!({
        "id": "7", "status": "success", "mode": "manual", "workflowId": "w",
        "data": {"resultData": {"runData": {"Read": of_node(json!([])), QUOTED: of_node(json!([{"previousNode": "Read"}]))}}},
        "workflowData": {"id": "w", "name": "Orders", "nodes": nodes, "connections": {}},
    })
}

/// A file with an execution.
fn saved(body: &Value) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("7.json");
    std::fs::write(&file, body.to_string()).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (folder, path)
}

fn lens(arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::binary());
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// A command's output before the data of the execution, on one line.
fn seen(arguments: &[&str]) -> String {
    let shown = pseudoterminal::plain(&lens(arguments), 200).replace('\r', "");
    let said = shown.split("\n\n").next().unwrap();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Calls of the page that leave something out or are refused, with the arguments of the matching command.
fn questions(file: &str) -> Vec<(&'static str, Value, Vec<String>)> {
    let command =
        |words: &[&str]| [&[words[0], file][..], &words[1..]].concat().iter().map(|&word| word.to_owned()).collect();
    vec![
        ("search_execution", json!({"text": "needle", "limit": 1}), command(&["search", "needle", "--limit", "1"])),
        (
            "search_execution",
            json!({"text": "needle", "limit": 100, "maxTokens": 1000}),
            command(&["search", "needle", "--limit", "100", "--max-tokens", "1000"]),
        ),
        (
            "get_execution_by_node",
            json!({"nodeName": "Read", "maxTokens": 1000}),
            command(&["node", "Read", "--max-tokens", "1000"]),
        ),
        (
            "get_execution_by_node",
            json!({"nodeName": QUOTED, "runIndex": 99}),
            command(&["node", QUOTED, "--run-index", "99"]),
        ),
        (
            "get_execution_by_node",
            json!({"nodeName": QUOTED, "outputIndex": 9}),
            command(&["node", QUOTED, "--output-index", "9"]),
        ),
        ("get_execution_by_node", json!({"nodeName": "Bob's"}), command(&["node", "Bob's"])),
        ("get_execution_fields", json!({"nodeName": "Letter"}), command(&["fields", "Letter"])),
        ("trace_execution_item", json!({"nodeName": QUOTED, "item": 99}), command(&["trace", QUOTED, "99"])),
    ]
}

/// `text` without its quoted parts.
fn unquoted(text: &str) -> String {
    let quotes = regex::Regex::new(r"(?:^|[^\w])'(?:[^'\\]|\\.)*'").unwrap();
    quotes.replace_all(text, " ").into_owned()
}

#[test]
fn people_read_options_and_what_is_in_sight() {
    // "1" takes the singular.
    let plural = regex::Regex::new(r"\b1 (?:more )?(?:runs|items|nodes|hits|outputs|inputs|fields|steps)\b").unwrap();
    for count in [1, 2, 12] {
        let (_folder, file) = saved(&body(count));
        let view = ViewServer::start(&[&file], &[]);
        let cookie = view.enter();
        for (tool, mut arguments, command) in questions(&file) {
            arguments["id"] = json!("0");
            let answer = view.call(&cookie, &json!({"tool": tool, "arguments": arguments}).to_string());
            let last = answer.body.lines().rfind(|line| line.starts_with('{')).unwrap();
            let last: Value = serde_json::from_str(last).unwrap();
            let said = [&last["error"]["message"], &last["result"]["truncated"]["reason"]];
            let on_page = said.into_iter().filter_map(Value::as_str).collect::<String>();
            let command: Vec<_> = command.iter().map(String::as_str).collect();
            let on_terminal = seen(&command);
            for (reader, text) in [("page", &on_page), ("terminal", &on_terminal)] {
                let text = unquoted(text);
                let word = OF_AGENTS.into_iter().find(|word| text.contains(word));
                assert_eq!(word, None, "{count}, {command:?}, {reader}: {text}");
                assert!(!plural.is_match(&text), "{count}, {command:?}, {reader}: {text}");
            }
        }
    }
}

#[test]
fn agents_read_names_of_arguments_and_tools() {
    let (_folder, file) = saved(&body(12));
    let output = lens(&["search", &file, "needle", "--limit", "1"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = answer["data"]["truncated"]["reason"].as_str().unwrap();
    assert!(reason.contains("narrow the search with nodeName, path or a condition"), "{reason}");
    let on_terminal = seen(&["search", &file, "needle", "--limit", "1"]);
    assert!(
        on_terminal.contains("raise --limit, or narrow the search with the node's name, path or a condition"),
        "{on_terminal}"
    );
    let refused = seen(&["node", &file, "Read", "--max-tokens", "5"]);
    assert!(refused.contains("Option --max-tokens is 5; it must be a whole number from 1000 to 25000."), "{refused}");
}

#[test]
fn options_in_messages_are_options_of_commands() {
    let help = |command: &str| pseudoterminal::plain(&lens(&[command, "--help"]), 200);
    let help = ["list", "summary", "node", "search", "fields", "trace", "compare"].map(help).concat();
    for option in
        ["--ignore-data-size-limit", "--offset", "--cursor", "--max-tokens", "--limit", "--run-index", "--output-index"]
    {
        assert!(help.contains(option), "{option}: {help}");
    }
}

#[test]
fn a_name_in_a_message_ends_where_its_quotes_end() {
    let (_folder, file) = saved(&body(1));
    for arguments in [
        &["node", &file, QUOTED, "--run-index", "5"][..],
        &["node", &file, QUOTED, "--output-index", "5"],
        &["node", &file, &format!("{QUOTED}s")],
        &["search", &file, "x", "--node", &format!("{QUOTED}s")],
        &["fields", &file, &format!("{QUOTED}s")],
        &["trace", &file, QUOTED, "9"],
    ] {
        let output = lens(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(r"'Bob\'s: \\ node"), "{arguments:?}: {said}");
        assert!(!said.contains("'Bob's"), "{arguments:?}: {said}");
    }
}

#[test]
fn only_a_near_name_is_proposed() {
    let (_folder, file) = saved(&body(1));
    let refused = |name: &str| String::from_utf8(lens(&["node", &file, name]).output().unwrap().stderr).unwrap();
    assert!(refused("Raed").contains("Did you mean 'Read'?"), "{}", refused("Raed"));
    assert!(refused("Re").contains("Did you mean 'Read'?"), "{}", refused("Re"));
    let far = refused("Merge");
    assert!(far.contains("Nodes: ") && !far.contains("Did you mean"), "{far}");
}
