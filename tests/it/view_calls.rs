//! The calls that only the page makes: its sentences, a node as it shows it, conversations.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::fixtures;
use crate::view::{ID, call, lines, n8n, saved, view};

/// A sentence as a terminal prints it.
fn plain(sentence: &Value) -> String {
    let text = |part: &Value| {
        let known = ["text", "strong", "code"].iter().find_map(|kind| part[*kind].as_str());
        known.or(part["link"]["text"].as_str()).unwrap_or_default().replace('\u{1}', "")
    };
    sentence.as_array().into_iter().flatten().map(text).collect()
}

#[test]
fn the_sentences_of_the_cause_come_from_the_server() {
    let n8n = n8n();
    let view = view(&n8n);
    let cookie = view.enter();
    let result = |tool: &str, arguments: Value| lines(&view.call(&cookie, &call(tool, arguments))).pop().unwrap();
    let overview = result("view_overview", json!({"id": ID, "language": "en"}));
    let node = overview["result"]["execution"]["error"]["nodeName"].as_str().unwrap();
    for (language, word) in [("en", "Item 0 was being"), ("ja", "アイテム 0 を処理中")] {
        let found = result("view_findings", json!({"id": ID, "nodeName": node, "language": language}));
        let found = &found["result"];
        let request = found["request"][0]["code"].as_str().unwrap_or_default();
        assert!(request.contains("http"), "{found}");
        assert!(found["items"].as_array().unwrap().iter().any(|item| plain(item).contains(word)), "{found}");
    }
}

/// What the page of a saved execution answers to a call.
fn asked(body: &Value, calls: &[(&str, Value)]) -> Vec<Value> {
    let (_folder, view, cookie) = saved(body.to_string().as_bytes());
    let result = |(tool, more): &(&str, Value)| {
        let mut arguments = json!({"id": "0"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = lines(&view.call(&cookie, &call(tool, arguments))).pop().unwrap();
        assert!(answer.get("result").is_some(), "{tool}: {answer}");
        answer["result"].clone()
    };
    calls.iter().map(result).collect()
}

/// An execution in which one node failed and went on, and another one ended it: their errors hold JSON in a string, and a long stack.
fn failed_twice() -> Value {
    let stack: String = (0..40).map(|line| format!("    at line{line} (node.ts:{line})\n")).collect();
    let error = |node: &str| {
        let message = r#"500 - "{\"reason\": \"full\"}""#;
        json!({"name": "NodeApiError", "message": message, "messages": [message], "stack": stack, "node": {"name": node},
            "context": {"request": {"method": "POST", "uri": "https://h.example/a?token=s3cret", "body": {"n": 1}}}})
    };
    let run = |index: u64, items: u64, node: Option<&str>| {
        let items: Vec<_> = (0..items).map(|item| json!({"json": {"n": item}, "pairedItem": {"item": item}})).collect();
        let status = if node.is_some() { "error" } else { "success" };
        let source = if index == 0 { json!([]) } else { json!([{"previousNode": "Split"}]) };
        let outputs = if index == 0 { json!([items, [{"json": {}}]]) } else { json!([items]) };
        json!({"startTime": 1_795_226_662_000_u64 + index, "executionTime": 1, "executionIndex": index, "executionStatus": status,
            "source": source, "data": {"main": outputs}, "error": node.map(error)})
    };
    let node = |name: &str, kind: &str| json!({"name": name, "type": format!("n8n-nodes-base.{kind}"), "position": [0, 0], "parameters": {"url": "https://h.example/b"}});
    json!({"id": "7", "status": "error", "mode": "manual", "workflowId": "w",
        "data": {"resultData": {"error": error("Send"), "lastNodeExecuted": "Send",
            "runData": {"Split": [run(0, 2, None)], "Try": [run(1, 0, Some("Try"))], "Send": [run(2, 0, Some("Send"))]}}},
        "workflowData": {"id": "w", "name": "w",
            "nodes": [node("Split", "if"), node("Try", "httpRequest"), node("Send", "httpRequest")],
            "connections": {"Split": {"main": [[], [{"node": "Try", "type": "main", "index": 0}]]}}}})
}

#[test]
fn the_page_and_the_terminal_say_the_same_sentences() {
    let mut good = failed_twice();
    good["status"] = json!("success");
    good["data"]["resultData"].as_object_mut().unwrap().remove("error");
    let redacted = fixtures::executions().into_iter().find(|(name, _)| name == "a_small_success.redacted").unwrap().1;
    let redacted = fixtures::parse(&redacted);
    for (body, known, expected) in [
        (
            failed_twice(),
            json!({"nodeName": "Send", "said": r#"500 - {"reason": "full"}"#}),
            &[
                "POST https://h.example/a?token=[redacted]",
                "Try: 1 run failed, too",
                "Split: 2 items go nowhere: output “true” is not connected",
            ][..],
        ),
        (
            good,
            json!({"known": "Try\nSend"}),
            &[
                "Try: 1 run failed, but the execution continued",
                "Send: 1 run failed, but the execution continued",
                "Split: 2 items go nowhere: output “true” is not connected",
            ],
        ),
        (
            redacted,
            json!({}),
            &[
                "Nothing unusual was found. No node failed, and no connection seems to be missing.",
                "Values were not examined. n8n redacted the data: the values of items are not included.",
            ],
        ),
    ] {
        let mut known = known;
        known["language"] = json!("en");
        let answers = asked(&body, &[("view_overview", json!({"language": "en"})), ("view_findings", known)]);
        let [overview, found] = &answers[..] else { panic!("{answers:?}") };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let one = |member: &str| Some(found[member].clone()).filter(|sentence| sentence.is_array());
        let cause = one("request").into_iter().chain(one("answered")).chain(list(&found["items"]));
        let flow = list(&overview["findings"]);
        let nothing = one("nothing").filter(|_| flow.is_empty());
        let shown = cause.chain(flow).chain(list(&found["odd"])).chain(nothing).chain(one("unseen"));
        let shown: Vec<_> = shown.map(|sentence| plain(&sentence)).collect();
        assert_eq!(
            shown.iter().filter(|sentence| !sentence.starts_with("Item")).collect::<Vec<_>>(),
            expected.iter().collect::<Vec<_>>()
        );

        let file = tempfile::NamedTempFile::with_suffix(".json").unwrap();
        std::fs::write(file.path(), body.to_string()).unwrap();
        let mut command = Command::new(crate::support::binary());
        command.arg("summary").arg(file.path()).env_clear();
        let terminal = crate::pseudoterminal::plain(&command, 400);
        let said: Vec<_> = terminal.lines().filter_map(|line| line.strip_prefix("• ")).collect();
        assert_eq!(said, shown, "{terminal}");
        if body["status"] == "error" {
            assert!(terminal.contains(r#"Send: 500 - {"reason": "full"}"#), "{terminal}");
        }
    }
}

#[test]
fn a_node_has_its_whole_stack_its_request_and_messages_without_escapes() {
    let node = json!({"nodeName": "Send"});
    let answers = asked(
        &failed_twice(),
        &[("view_overview", json!({})), ("view_node", node.clone()), ("get_execution_by_node", node)],
    );
    let [overview, shown, agent] = &answers[..] else { panic!("{answers:?}") };
    let message = json!(r#"500 - {"reason": "full"}"#);
    assert_eq!(overview["execution"]["error"]["message"], message);
    assert_eq!((&shown["error"]["message"], &shown["error"]["messages"][0]), (&message, &message));
    let lines = |answer: &Value| answer["error"]["stack"].as_str().unwrap().lines().count();
    assert_eq!((lines(shown), lines(agent)), (40, 10));
    assert_eq!(
        shown["curl"],
        "curl -g -X 'POST' 'https://h.example/a?token=[redacted]' -H 'Content-Type: application/json' --data-raw '{\"n\":1}'"
    );
    assert_eq!(agent.get("curl"), None);
}

#[test]
fn the_cause_is_that_of_the_last_failed_run() {
    let mut body = failed_twice();
    let runs = body["data"]["resultData"]["runData"]["Send"].as_array_mut().unwrap();
    let mut last = runs[0].clone();
    last["executionIndex"] = json!(3);
    last["error"]["context"]["request"]["uri"] = json!("https://h.example/last");
    runs.push(last);
    let asked = asked(
        &body,
        &[
            ("view_overview", json!({})),
            ("view_findings", json!({"nodeName": "Send", "runIndex": 1, "language": "en"})),
        ],
    );
    let [overview, found] = &asked[..] else { panic!("{asked:?}") };
    let nodes = overview["nodes"].as_array().unwrap();
    let failed: Vec<_> = nodes.iter().map(|node| (node["nodeName"].as_str().unwrap(), node.get("failedRun"))).collect();
    assert_eq!(failed, [("Split", None), ("Try", None), ("Send", Some(&json!(1)))]);
    assert_eq!(plain(&found["request"]), "POST https://h.example/last");
}

#[test]
fn what_a_filter_discards_is_not_missing_a_connection() {
    let mut body = failed_twice();
    for (kind, labels, unconnected) in
        [("if", json!(["true", "false"]), Some(json!([0]))), ("filter", json!(["kept", "discarded"]), None)]
    {
        body["workflowData"]["nodes"][0]["type"] = json!(format!("n8n-nodes-base.{kind}"));
        let overview = asked(&body, &[("view_overview", json!({"language": "en"}))]).remove(0);
        let split = &overview["nodes"][0];
        assert_eq!((&split["outputLabels"], split.get("unconnected")), (&labels, unconnected.as_ref()));
    }
}

/// Names of nodes as `view_talk` takes them.
fn names(names: &[&str]) -> Value {
    json!(names).to_string().into()
}

#[test]
fn a_conversation_nests_by_who_called() {
    let body = fixtures::executions().into_iter().find(|(name, _)| name == "l_ai_agent").unwrap().1;
    let nodes = names(&["AI Agent", "OpenAI Chat Model", "Calculator"]);
    let talk = asked(&fixtures::parse(&body), &[("view_talk", json!({ "nodes": nodes }))]).remove(0);
    let turns = talk["turns"].as_array().unwrap();
    let told: Vec<_> = turns.iter().map(|turn| (turn["node"].as_str().unwrap(), &turn["caller"])).collect();
    let by = json!(["AI Agent", 0]);
    let expected =
        [("AI Agent", &Value::Null), ("OpenAI Chat Model", &by), ("Calculator", &by), ("OpenAI Chat Model", &by)];
    assert_eq!(told, expected);
    assert_eq!(turns[1]["input"]["messages"], "Human: What is 6*7? please");
    let later = turns[3]["input"]["messages"].as_str().unwrap();
    assert!(later.starts_with("AI: [{") && later.ends_with("Tool: 42"), "only what is new: {later}");
    assert_eq!(turns[3]["continues"], true);
    assert_eq!(turns[2]["input"]["query"], "6*7");
    assert_eq!(turns[2]["output"]["response"], "42");
    assert_eq!(talk.get("more"), None);
}

#[test]
fn a_long_conversation_is_read_part_by_part() {
    let run = |at: u64, index: u64, source: Value, json: Value, kind: &str| {
        json!({"startTime": 1_795_226_662_000_u64 + at, "executionTime": 1, "executionIndex": index, "executionStatus": "success",
            "source": source, "data": {kind: [[{"json": json}]]}, "inputOverride": {kind: [[{"json": {"query": index}}]]}})
    };
    const RUNS: u64 = 5_000;
    // The clock stands still within each ten runs: the counter tells them apart.
    let agents: Vec<_> = (0..RUNS).map(|n| run(n / 10, 2 * n, json!([]), json!({"output": n}), "main")).collect();
    let caller = |n: u64| json!([{"previousNode": "Agent", "previousNodeRun": n}]);
    let tools: Vec<_> =
        (0..RUNS).map(|n| run(n / 10, 2 * n + 1, caller(n), json!({"response": n}), "ai_tool")).collect();
    let body = json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {"Tool": tools, "Agent": agents}}},
        "workflowData": {"name": "w", "nodes": [{"name": "Agent", "type": "agent", "parameters": {"text": "=Hi {{ $json.a }}"}}]}});
    let (_folder, view, cookie) = saved(body.to_string().as_bytes());
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    for part in 1..=3 {
        let mut asked = json!({"id": "0", "nodes": names(&["Agent", "Tool"])});
        if after.is_string() {
            asked["after"] = after;
        }
        let answer = lines(&view.call(&cookie, &call("view_talk", asked))).pop().unwrap()["result"].take();
        assert_eq!(answer["more"], 2 * RUNS - 30 * part);
        assert_eq!(answer["told"]["Agent"]["text"], "=Hi {{ $json.a }}");
        seen.extend(answer["turns"].as_array().unwrap().clone());
        after = answer["after"].clone();
    }
    for (at, turn) in seen.iter().enumerate() {
        let (n, is_tool) = (at as u64 / 2, at % 2 == 1);
        assert_eq!((&turn["run"], turn["node"] == "Tool"), (&json!(n), is_tool));
        assert_eq!(turn.get("caller"), is_tool.then_some(&json!(["Agent", n])));
    }
}

#[test]
fn notes_are_in_the_language_of_the_page() {
    let redacted = fixtures::executions().into_iter().find(|(name, _)| name == "a_small_success.redacted").unwrap().1;
    let mut crashed = failed_twice();
    crashed["status"] = json!("crashed");
    let calls = ["view_overview", "view_ran"].map(|tool| ["ja", "en"].map(|it| (tool, json!({"language": it}))));
    for (body, words) in [
        (fixtures::parse(&redacted), ["n8n がデータを秘匿しています", "n8n redacted the data: items are counted"]),
        (crashed, ["それまでに保存されたデータを表示しています", "what it had saved until then is shown"]),
    ] {
        let answers = asked(&body, calls.as_flattened());
        for (answer, words) in answers.iter().zip(words.iter().cycle()) {
            let notes = if answer["notes"].is_array() { &answer["notes"] } else { &answer["execution"]["notes"] };
            assert!(notes[0].as_str().unwrap().contains(words), "{answer}");
        }
    }
}

#[test]
fn facts_about_values_are_data_for_the_page_and_words_for_agents() {
    let item = |at: u64| {
        let status = if at.is_multiple_of(3) { "open" } else { "paid in 2" };
        json!({"json": {"status": status, "n": at, "one": "x, y: 1", "note": if at == 7 { json!(7) } else { json!(format!("text {at}")) }}})
    };
    let items: Vec<_> = (0..60).map(item).collect();
    let run = |index: u64, source: Value| {
        json!([{"startTime": 1_795_226_662_000_u64 + index, "executionTime": 1, "executionIndex": index,
            "executionStatus": "success", "source": source, "data": {"main": [items.clone()]}}])
    };
    let body = json!({"id": "7", "status": "success", "mode": "manual", "workflowId": "w",
        "data": {"resultData": {"runData": {"Read": run(0, json!([])), "Keep": run(1, json!([{"previousNode": "Read"}]))}}},
        "workflowData": {"id": "w", "name": "w", "nodes": [], "connections": {}}});
    let answers = asked(&body, &[("view_ran", json!({"language": "en"})), ("describe_execution", json!({}))]);
    let [data, words] = &answers[..] else { panic!("{answers:?}") };
    let values = |answer: &Value| answer["nodes"][0]["values"].clone();
    assert_eq!(
        values(words),
        json!([
            "note: 59 texts, 1 number (item 7: 7)",
            "status: paid in 2 (40), open (20)",
            "n: 0 to 59",
            "one: always \"x, y: 1\""
        ])
    );
    assert_eq!(
        values(data),
        json!([
            {"path": "note", "facts": [{"is": "kinds", "kinds": [["string", 59], ["number", 1]], "place": {"item": 7}, "value": "7"}]},
            {"path": "status", "facts": [{"is": "values", "values": [["paid in 2", 40], ["open", 20]]}]},
            {"path": "n", "facts": [{"is": "range", "from": 0.0, "to": 59.0}]},
            {"path": "one", "facts": [{"is": "always", "value": "\"x, y: 1\""}]},
        ])
    );
    assert_eq!(words["nodes"][1]["sample"], "as Read");
    assert_eq!((&data["nodes"][1]["sampleOf"], &data["nodes"][1]["sample"]), (&json!("Read"), &Value::Null));
}
