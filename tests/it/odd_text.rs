//! Texts that n8n writes and few parsers accept, lone surrogates and deep nesting, through every command of the real binary.

use serde_json::{Value, json};

use crate::asking::command;
use crate::fixtures;
use crate::support::view_server::ViewServer;

/// A nesting depth that no recursive parser accepts.
const DEPTH: usize = 1500;

/// Items that n8n can write, as JSON.
fn items() -> Vec<String> {
    let deep = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    vec![
        r#"{"json":{"body":{"x":1},"text":"ab\ud83d","error":null}}"#.to_owned(),
        r#"{"json":{"a":1},"error":{"message":"x\ud83d"}}"#.to_owned(),
        r#"{"json":{"a":2},"error":"\udc00 at the beginning"}"#.to_owned(),
        r#"{"json":{"a":3},"binary":{"d\ud83d":{"fileName":"x\ud83d","mimeType":"text/plain"}}}"#.to_owned(),
        r#"{"json":{"half\ud83d":"\ud83dx","box":["\ud83d"]},"pairedItem":{"item":0,"sourceOverwrite":{"previousNode":"\udc00"}}}"#
            .to_owned(),
        format!(r#"{{"json":{{"a":5,"deep":{deep}}},"error":null}}"#),
        format!(r#"{{"json":{{"a":6}},"error":{{"message":"deep","cause":{deep}}}}}"#),
        format!(r#"{{"json":{{"a":7}},"binary":{{"d":{{"fileName":{deep}}}}},"more":{deep},"error":0}}"#),
        r#"{"json":{"a":8},"error":["in a list\ud83d"]}"#.to_owned(),
    ]
}

fn body() -> String {
    let items = items().join(",");
    format!(
        r#"{{"id":"7","status":"success","data":{{"resultData":{{"runData":{{
            "Start":[{{"executionIndex":0,"source":[],"data":{{"main":[[{{"json":{{}}}}]]}}}}],
            "Odd":[{{"executionIndex":1,"source":[{{"previousNode":"Start"}}],"data":{{"main":[[{items}]]}}}}],
            "After":[{{"executionIndex":2,"source":[{{"previousNode":"Odd"}}],"data":{{"main":[[{items}]]}}}}]
        }}}}}},"workflowData":{{"nodes":[{{"name":"Odd","type":"t","onError":"continueRegularOutput"}}]}}}}"#
    )
}

/// The answer of a command.
fn answer(arguments: &[&str]) -> Value {
    let output = command(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["success"], true, "{arguments:?}: {answer}");
    answer["data"].clone()
}

fn in_file(body: &str, ask: impl Fn(&str)) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body).unwrap();
    ask(file.path().to_str().unwrap());
}

#[test]
fn every_command_reads_lone_surrogates_and_deep_nesting_next_to_an_error() {
    in_file(&body(), |file| {
        for more in [&[][..], &["--redact"]] {
            let ask = |arguments: &[&str]| answer(&[arguments, more].concat());
            let summary = ask(&["summary", file]);
            let odd = &summary["availableNodes"].as_array().unwrap()[1];
            assert_eq!((&odd["nodeName"], &odd["items"]), (&Value::from("Odd"), &Value::from(9)), "{summary}");
            assert_eq!(odd["errorItems"]["count"], 4, "{summary}");
            assert_eq!(odd["errorItems"]["message"], "x\u{fffd}", "{summary}");
            for (text, path) in [
                ("x\u{fffd}", "error.message"),
                ("x\u{fffd}", "binary.d\u{fffd}.fileName"),
                ("ab", "text"),
                ("x", "half\u{fffd}"),
                ("deep", "error.message"),
            ] {
                let found = ask(&["search", file, text, "--node", "Odd"]);
                let hits = found["hits"].as_array().unwrap();
                assert!(hits.iter().any(|hit| hit["path"] == path), "{text} at {path}: {found}");
            }
            let messages = ask(&["search", file, "--path", "message", "--node", "Odd"]);
            assert_eq!(messages["total"], 3, "an error that is an array is its message: {messages}");
            assert_eq!(ask(&["search", file, "--path", "box"])["hits"][0]["value"], json!(["\u{fffd}"]));
            assert_eq!(ask(&["search", file, "--path", "a", "--limit", "100"])["total"], 14);
            ask(&["fields", file]);
            let fields = ask(&["fields", file, "Odd"]);
            assert_eq!(fields["items"], 9, "{fields}");
            for item in 0..items().len() {
                let item = item.to_string();
                let traced = ask(&["trace", file, "After", &item, "--direction", "both"]);
                assert_eq!(traced["steps"][0]["item"].to_string(), item, "{traced}");
            }
            assert_eq!(ask(&["node", file, "Odd"])["output"]["items"].as_array().unwrap().len(), 9);
            ask(&["compare", file, file]);
        }
    });
}

#[test]
fn the_page_reads_them_as_well() {
    in_file(&body(), |file| {
        let view = ViewServer::start(&[file], &[]);
        let cookie = view.enter();
        let ask = |tool: &str, arguments: Value| {
            let answer = view.call(&cookie, &json!({"tool": tool, "arguments": arguments}).to_string());
            let result = answer.body.lines().rfind(|line| line.starts_with('{')).unwrap();
            serde_json::from_str::<Value>(result).unwrap()["result"].clone()
        };
        let overview = ask("view_overview", json!({"id": "0"}));
        let odd = overview["nodes"].as_array().unwrap().iter().find(|node| node["nodeName"] == "Odd").unwrap();
        assert_eq!((&odd["outputs"], &odd["errorItems"]["count"]), (&json!([9]), &json!(4)), "{overview}");
        let timeline = ask("view_timeline", json!({"id": "0", "start": 0, "from": 0, "to": 1000}));
        assert!(timeline["nodes"].is_array(), "{timeline}");
    });
}

#[test]
fn an_error_of_null_next_to_half_a_character_does_not_hide_an_execution() {
    let body = String::from_utf8(fixtures::execution("b_http_500")).unwrap();
    let odd = body.replace(r#""body":{"x":1}"#, r#""body":{"x":1},"text":"ab\ud83d","error":null"#);
    assert_ne!(body, odd);
    in_file(&body, |file| {
        let truth = answer(&["summary", file]);
        in_file(&odd, |file| assert_eq!(answer(&["summary", file]), truth));
    });
}
