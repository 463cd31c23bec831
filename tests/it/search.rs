//! The search: the projection against a reference, and the tool through the real binary.

use std::time::Duration;

use n8n_lens::budget;
use n8n_lens::execution::StoredProjection;
use n8n_lens::execution::search::{SearchProjection, SearchView};
use n8n_lens::json::{Cursor, Projection};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::asking::{self, command, serving};
use crate::flatten::{Share, stored};
use crate::http_client::HttpServer;
use crate::mcp_client::{McpClient, text as text_of};
use crate::projections::{Cut, pruned};
use crate::properties::checks::search::{as_json, projection};
use crate::properties::checks::search_reference::{Question, search};
use crate::server::{Reply, Server};
use crate::wait;
use crate::{fixtures, oracle};

fn view(body: &[u8], projection: &SearchProjection, sizes: &[usize]) -> SearchView {
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes)))).unwrap()
}

fn text(text: &str) -> Question {
    Question { text: Some(text.to_owned()), limit: 50, ..Question::default() }
}

fn path(path: &str, condition: Option<(&'static str, Value)>) -> Question {
    Question { path: Some(path.to_owned()), condition, limit: 50, ..Question::default() }
}

/// Questions that most fixtures answer.
fn questions() -> Vec<Question> {
    vec![
        text("a"),
        text("Error"),
        text("1"),
        text("true"),
        text("é"),
        text("/"),
        text("\n"),
        Question { limit: 1, ..text("http") },
        path("i", Some(("above", json!(20)))),
        path("id", None),
        path("message", None),
        path("headers", Some(("is", json!("object")))),
        path("id", Some(("is", json!("missing")))),
        path("[]", None),
        path("fileName", Some(("equals", json!("a.txt")))),
        path("name", Some(("notEquals", json!("x")))),
        path("i", Some(("below", json!(2.5)))),
        path("i", Some(("equals", json!("3")))),
    ]
}

#[test]
fn the_search_agrees_with_the_reference_on_every_fixture() {
    agrees_with_the_reference(fixtures::executions(), 15_000);
}

/// Asks all questions about bodies of fewer than `small` bytes, and one about each of the others.
fn agrees_with_the_reference(bodies: Vec<(String, Vec<u8>)>, small: usize) {
    for (name, body) in bodies {
        let value = fixtures::parse(&body);
        let body = value.to_string().into_bytes();
        // The reference takes a second for ten megabytes.
        let questions = questions().into_iter().take(if body.len() < small { usize::MAX } else { 1 });
        for question in questions {
            let truth = search(&value, &question, oracle::error);
            let ours = as_json(&view(&body, &projection(&question), &[65_536]));
            assert_eq!(ours["total"], truth["total"], "{name}: {question:?}");
            assert_eq!(ours, truth, "{name}: {question:?}");
        }
    }
}

#[test]
fn other_spellings_of_a_text_are_found() {
    let body = br#"{"id":"1","data":{"resultData":{"runData":{"A":[{"data":{"main":[[
        {"json":{"a":"caf\u00e9"}}, {"json":{"a":"CAF\u00c9"}}, {"json":{"a":"caf\u00E9 \/ x"}}, {"json":{"\u0061":"cafe"}},
        {"json":{"a":"\u0063af\u00e9"}}, {"json":{"a":"no"}}]]}}]}}}}"#;
    let found = |question: &Question| {
        let view = view(body, &projection(question), &[64]);
        view.hits.iter().map(|hit| hit.item.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(found(&text("café")), [0, 1, 2, 4]);
    assert_eq!(found(&text("/ X")), [0; 0]);
    assert_eq!(found(&text("/ x")), [2]);
    assert_eq!(found(&path("a", Some(("equals", json!("cafe"))))), [3]);
    assert_eq!(found(&path("a", None)), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn hits_come_in_the_order_of_execution_and_all_are_counted() {
    let run = |index: u64, items: usize| {
        let items: Vec<_> = (0..items).map(|at| json!({"json": {"at": at}})).collect();
        json!({"data": {"main": [items]}, "executionIndex": index})
    };
    let body = json!({"id": "1", "data": {"resultData": {"runData": {
        "Last": [run(5, 30)], "Loop": [run(1, 2), run(3, 2)], "First": [run(0, 1)], "Body": [run(2, 2), run(4, 2)],
    }}}});
    let question = Question { limit: 6, ..path("at", None) };
    let view = view(body.to_string().as_bytes(), &projection(&question), &[7]);
    let hits: Vec<_> = view.hits.iter().map(|hit| (&*hit.node, hit.run, hit.item.unwrap())).collect();
    let expected = [("First", 0, 0), ("Loop", 0, 0), ("Loop", 0, 1), ("Body", 0, 0), ("Body", 0, 1), ("Loop", 1, 0)];
    assert_eq!(hits, expected);
    assert_eq!(view.total, 39);
    let nodes: Vec<_> = view.nodes.iter().map(|node| (&*node.name, node.hits)).collect();
    assert_eq!(nodes, [("First", 1), ("Loop", 4), ("Body", 4), ("Last", 30)]);
}

#[test]
fn large_items_are_searched_up_to_a_mebibyte_and_larger_ones_counted() {
    let item = |bytes: usize| json!({"json": {"long": "x".repeat(bytes), "wanted": "needle"}});
    let items = [item(10), item(100_000), item(900_000), item(1_100_000), item(3_000_000), item(10)];
    let body =
        json!({"id": "1", "data": {"resultData": {"runData": {"A": [{"data": {"main": [items]}}]}}}}).to_string();
    for question in [text("needle"), path("wanted", None)] {
        for sizes in [&[65_536][..], &[1000, 4096, 3], &[usize::MAX]] {
            let view = view(body.as_bytes(), &projection(&question), sizes);
            let hits: Vec<_> = view.hits.iter().map(|hit| hit.item.unwrap()).collect();
            assert_eq!((hits, view.too_large), (vec![0, 1, 2, 5], 2));
        }
    }
}

#[test]
fn a_broken_item_is_a_fault_if_it_is_read() {
    let body = br#"{"id":"1","data":{"resultData":{"runData":{"A":[{"data":{"main":[[{"json":{"a" "needle"}}]]}}]}}}}"#;
    let error = projection(&text("needle")).read_from(&body[..]).unwrap_err().to_string();
    assert!(error.contains("unexpected '\"' in an item"), "{error}");
}

#[test]
fn a_stored_execution_is_searched_like_its_body() {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 100_000) {
        let body = String::from_utf8(body).unwrap();
        let stored = stored(&body, Share::Equal);
        for question in questions() {
            let projection = projection(&question);
            let from_store = projection.read_stored(stored.revealed()).unwrap();
            let from_body = view(body.as_bytes(), &projection, &[65_536]);
            assert_eq!(as_json(&from_store), as_json(&from_body), "{name}: {question:?}");
        }
    }
}

fn items(items: &[Value]) -> Value {
    json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {
        "Read": [{"executionIndex": 0, "data": {"main": [items]}}],
        "Send": [{"executionIndex": 1, "error": {"message": "401 - Authorization: Bearer s3cret.s3cret", "node": {"credentials": "s3cret"}}}],
    }}}})
}

fn data(answer: &str) -> Value {
    asking::data(answer, "Execution searched")
}

#[test]
fn an_agent_finds_a_value_over_mcp_rest_and_on_the_command_line() {
    let body = items(&[
        json!({"json": {"to": "Ann"}}),
        json!({"json": {"to": "Bob", "lines": [{"rate": 0.07}, {"rate": "0.7"}]}}),
    ]);
    let (n8n, mut client) = serving(&body, &[]);
    let question = json!({"id": "7", "path": "rate", "is": "string"});
    let answer = client.call("search_execution", question.clone()).unwrap();
    let expected = json!({"total": 1, "perNode": [{"nodeName": "Read", "hits": 1}],
        "hits": [{"nodeName": "Read", "item": 1, "path": "lines[1].rate", "value": "0.7"}]});
    assert_eq!(data(&answer), expected);
    let rest = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let call = json!({"name": "search_execution", "parameters": question}).to_string();
    let over_rest = rest.send("POST", "/mcp/execute", &[("content-type", "application/json")], &call);
    assert_eq!(over_rest.message(), serde_json::from_str::<Value>(&answer).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body.to_string()).unwrap();
    let file = file.path().to_str().unwrap();
    let output = command(&["search", file, "--path", "lines[].rate", "--is", "string"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
    let also = r#"{"path": "to", "equals": "Bob"}"#;
    let output =
        command(&["search", file, "--path", "lines[].rate", "--is", "string", "--where", also]).output().unwrap();
    assert_eq!(data(&String::from_utf8(output.stdout).unwrap())["total"], 1);
    let output = command(&["search", file, "0.7", "--where", "rate"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Option --where is a string; it must be an object."), "{said}");
}

#[test]
fn a_hit_says_which_element_it_is_and_a_path_leads_to_all_of_them() {
    let rows: Vec<_> = (0..40).map(|row| json!({"title": format!("Row {row}"), "tags": [["a"], ["b", row]]})).collect();
    let body = items(&[json!({"json": {"rows": rows}})]).to_string();
    let stored = stored(&body, Share::Equal);
    let paths = |question: &Question| {
        let projection = projection(question);
        let from_body = view(body.as_bytes(), &projection, &[4096]);
        let from_store = projection.read_stored(stored.revealed()).unwrap();
        assert_eq!(as_json(&from_body), as_json(&from_store));
        from_body.hits.into_iter().map(|hit| hit.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(&text("Row 26")), ["rows[26].title"]);
    assert_eq!(paths(&path("tags[][]", Some(("equals", json!(7))))), ["rows[7].tags[1][1]"]);
    assert_eq!(paths(&path("tags[]", Some(("is", json!("array")))))[3], "rows[1].tags[1]");
    for end in ["rows[].title", "rows[3].title", "title"] {
        let paths = paths(&path(end, None));
        assert_eq!((paths.len(), &*paths[39]), (40, "rows[39].title"), "{end}");
    }
}

/// The first hits of a question about one item: their paths, and what they were compared with.
fn related(item: &str, question: &Question) -> Vec<(String, Option<String>)> {
    let body = items(&[json!({"json": {"here": 0}})]).to_string().replacen("{\"here\":0}", item, 1);
    let found = view(body.as_bytes(), &projection(question), &[4096]);
    found.hits.into_iter().map(|hit| (hit.path, hit.other)).collect()
}

#[test]
fn a_value_is_compared_with_the_values_that_are_meant() {
    let orders = r#"{"id":1,"order":{"id":2}}"#;
    let limits = r#"{"amount":10,"limit":100,"meta":{"limit":5}}"#;
    let (one, other) = (r#"{"x":[1.0,"é"],"y":null}"#, r#"{ "y" : null, "x" : [1, "\u00e9"] }"#);
    for (item, at, (condition, of), expected) in [
        // A path that is there whole; what only ends like it is not meant.
        (orders, "order.id", ("notEquals", "id"), &[("order.id", Some("1"))][..]),
        (orders, "order.id", ("equals", "id"), &[]),
        (orders, "id", ("notEquals", "id"), &[("order.id", Some("1"))]),
        (limits, "amount", ("above", "limit"), &[]),
        (limits, "amount", ("above", "meta.limit"), &[("amount", Some("5"))]),
        (r#"{"amount":10,"meta":{"limit":5}}"#, "amount", ("above", "limit"), &[("amount", Some("5"))]),
        (r#"{"id":1}"#, "id", ("equals", "id"), &[]),
        // What is shown is what decided.
        (r#"{"qty":5,"stock":[9,3]}"#, "qty", ("above", "stock[]"), &[("qty", Some("3"))]),
        (r#"{"qty":3,"stock":[9,"3",3.0]}"#, "qty", ("equals", "stock[]"), &[("qty", Some("\"3\""))]),
        (r#"{"qty":"10","stock":10.0}"#, "qty", ("equals", "stock"), &[("qty", Some("10.0"))]),
        (r#"{"qty":"10","stock":10}"#, "qty", ("notEquals", "stock"), &[]),
        (r#"{"qty":"10","stock":"10.0"}"#, "qty", ("equals", "stock"), &[]),
        // Containers by their content.
        (r#"{"tags":["a"],"old":["a"]}"#, "tags", ("notEquals", "old"), &[]),
        (r#"{"tags":["a"],"old":["b"]}"#, "tags", ("notEquals", "old"), &[("tags", None)]),
        (&format!(r#"{{"a":{one},"b":{other}}}"#), "a", ("equals", "b"), &[("a", None)]),
    ] {
        let question = path(at, Some((condition, json!({"path": of}))));
        let expected: Vec<_> =
            expected.iter().map(|(path, other)| ((*path).to_owned(), other.map(str::to_owned))).collect();
        assert_eq!(related(item, &question), expected, "{at} {condition} {of} in {item}");
    }
}

#[test]
fn a_large_item_is_compared_line_by_line() {
    const LINES: usize = 40_000;
    let lines: Vec<_> = (0..LINES).map(|line| format!(r#"{{"q":{},"s":{line}}}"#, line + line % 2)).collect();
    let item = format!(r#"{{"lines":[{}]}}"#, lines.join(","));
    let also = |condition| Some(("s".to_owned(), Some(condition)));
    let begin = std::time::Instant::now();
    for (also, line) in [(None, 99), (also(("above", json!(10))), 109), (also(("below", json!({"path": "q"}))), 99)] {
        let question = Question { also, ..path("q", Some(("above", json!({"path": "s"})))) };
        let (path, other) = &related(&item, &question)[49];
        assert_eq!((path, other.as_ref()), (&format!("lines[{line}].q"), Some(&line.to_string())));
    }
    // Each with each: minutes.
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[test]
fn what_is_nested_too_deep_is_not_empty_and_not_searched() {
    let item = |levels: usize, inside: &str| format!("{}{inside}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let empty = path("a", Some(("is", json!("empty"))));
    assert_eq!(related(&item(40, r#"{"x":1}"#), &empty), []);
    assert_eq!(related(&item(30, "{}"), &empty).len(), 1);
    let body = items(&[serde_json::from_str(&format!(r#"{{"json":{}}}"#, item(40, r#"{"x":1}"#))).unwrap()]);
    let (_n8n, mut client) = serving(&body, &[]);
    let answer = data(&client.call("search_execution", json!({"id": "7", "path": "x"})).unwrap());
    let said = "Values nested deeper than 32 levels were not searched.";
    assert_eq!((&answer["total"], &answer["truncated"]["reason"]), (&json!(0), &json!(said)));
}

#[test]
fn the_counts_of_nodes_are_kept_when_hits_have_no_room() {
    let run = |node: usize| {
        let items: Vec<_> =
            (0..3).map(|_| json!({"json": {"text": format!("needle {}", "漢字 ".repeat(60))}})).collect();
        json!([{"executionIndex": node, "data": {"main": [items]}}])
    };
    let nodes: serde_json::Map<_, _> = (0..50).map(|node| (format!("Node {node}"), run(node))).collect();
    let body = json!({"id": "7", "status": "success", "data": {"resultData": {"runData": nodes}}});
    let (_n8n, mut client) = serving(&body, &[]);
    for (max_tokens, least) in [(1000, 1), (1500, 4)] {
        let question = json!({"id": "7", "text": "needle", "limit": 100, "maxTokens": max_tokens});
        let answer = client.call("search_execution", question).unwrap();
        assert!(budget::count(&answer) <= max_tokens, "{answer}");
        let data = data(&answer);
        assert_eq!((&data["total"], data["perNode"].as_array().unwrap().len()), (&json!(150), 50), "{answer}");
        let hits = data["hits"].as_array().unwrap().len();
        assert!((least..100).contains(&hits), "{hits} hits in {max_tokens} tokens");
        let said = format!("There are {} more hits", 150 - hits);
        assert!(data["truncated"]["reason"].as_str().unwrap().starts_with(&said), "{answer}");
    }
}

#[test]
fn what_cannot_be_searched_is_refused_with_what_to_do() {
    let (_n8n, mut client) = serving(&items(&[json!({"json": {}})]), &[]);
    for (more, said) in [
        (json!({}), "Argument 'text' or 'path' is missing: say which value to search."),
        (json!({"regex": true, "path": "a"}), "'regex: true' needs 'text', the regular expression."),
        (
            json!({"text": "a(b", "regex": true}),
            "Argument 'text' is not a valid regular expression: unclosed group at character 2.",
        ),
        (json!({"text": "a", "is": "missing"}), "A missing value has no text: search for it by its path alone."),
        (
            json!({"path": "a", "above": 1, "below": 2}),
            "Pass only one of is, equals, notEquals, above, below; a second one goes into 'where'.",
        ),
        (json!({"path": "a", "limit": 101}), "Argument 'limit' is 101; it must be a whole number from 0 to 100."),
        (
            json!({"text": "a", "nodeName": "read"}),
            "Node 'read' not found in execution '7'. Did you mean 'Read'? Nodes: 'Read', 'Send'",
        ),
    ] {
        let mut arguments = more;
        arguments["id"] = json!("7");
        assert_eq!(client.call("search_execution", arguments).unwrap_err(), said);
    }
}

#[test]
fn an_error_of_an_item_is_searched_whatever_it_is() {
    let errors = [
        json!("quota exceeded, Authorization: Bearer planted.planted"),
        json!(["quota", 7]),
        json!({"message": "quota"}),
        json!(429),
        json!(null),
    ];
    let items: Vec<_> = errors.iter().map(|error| json!({"json": {}, "error": error})).collect();
    let (_n8n, mut client) = serving(&self::items(&items), &[]);
    let mut hits = |question: Value| data(&client.call("search_execution", question).unwrap())["hits"].clone();
    assert_eq!(
        hits(json!({"id": "7", "text": "quota"})),
        json!([
            {"nodeName": "Read", "item": 0, "path": "error", "value": "quota exceeded, Authorization: [redacted]"},
            {"nodeName": "Read", "item": 1, "path": "error.message[0]", "value": "quota"},
            {"nodeName": "Read", "item": 2, "path": "error.message", "value": "quota"},
        ])
    );
    assert_eq!(
        hits(json!({"id": "7", "path": "error", "equals": 429})),
        json!([{"nodeName": "Read", "item": 3, "path": "error", "value": 429}])
    );
    let shown = client.call("get_execution_by_node", json!({"id": "7", "nodeName": "Read"})).unwrap();
    assert!(shown.contains("quota exceeded, Authorization: [redacted]") && !shown.contains("planted"), "{shown}");
}

#[test]
fn any_name_can_be_asked_for_and_what_is_hidden_is_not_missing() {
    let title = format!("Which of these did you use{}?", ", or this one".repeat(20));
    let item =
        |at: usize| json!({"json": {title.clone(): "yes", "items[0][sku]": at, "x[0]": "k", "list": [{"sku": at}]}});
    let mut body = items(&[item(0), item(1)]);
    let (_n8n, mut client) = serving(&body, &[]);
    let mut total = |question: Value| data(&client.call("search_execution", question).unwrap())["total"].clone();
    for path in [title.as_str(), "items[0][sku]", "items[][sku]", "[sku]", "x[0]", "list[1].sku", "sku"] {
        assert_eq!(total(json!({"id": "7", "path": path})), 2, "{path}");
        assert_eq!(total(json!({"id": "7", "nodeName": "Read", "path": path, "is": "missing"})), 0, "{path}");
    }
    assert_eq!(total(json!({"id": "7", "nodeName": "Read", "path": "none", "is": "missing"})), 2);
    let fields = |path: &str, by: &str| json!({"id": "7", "nodeName": "Read", "path": path, "by": by});
    for (path, by) in [("items[0][sku]", "x[0]"), ("sku", title.as_str()), (title.as_str(), "x[0]")] {
        let answer =
            client.call("get_execution_fields", fields(if path == "sku" { "list[0].sku" } else { path }, by)).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["data"]["rows"][0]["items"], 2, "{answer}");
    }
    body["data"]["redactionInfo"] = json!({"isRedacted": true});
    let (_n8n, mut client) = serving(&body, &[]);
    let hidden = client.call("search_execution", json!({"id": "7", "path": "none", "is": "missing"})).unwrap();
    assert_eq!((&data(&hidden)["total"], &data(&hidden)["hits"]), (&json!(0), &json!([])), "{hidden}");
}

#[test]
fn secrets_are_masked_before_they_are_searched() {
    let item = json!({"json": {"headers": {"Authorization": "Bearer planted"}, "note": "planted", "password": 12345, "qty": "12"}});
    let (_n8n, mut client) = serving(&items(std::slice::from_ref(&item)), &[]);
    let mut search = |text: &str| data(&client.call("search_execution", json!({"id": "7", "text": text})).unwrap());
    assert_eq!(search("s3cret")["total"], 0, "secrets in errors are not searched");
    assert_eq!(
        search("authorization")["hits"],
        json!([{"nodeName": "Send", "path": "error.message", "value": "401 - Authorization: [redacted]"}])
    );
    assert_eq!(search("planted")["total"], 2, "items are the user's data");
    let (_n8n, mut client) = serving(&items(&[item]), &["--redact"]);
    let mut search = |question: Value| data(&client.call("search_execution", question).unwrap());
    assert_eq!(
        search(json!({"id": "7", "text": "planted"}))["hits"],
        json!([{"nodeName": "Read", "item": 0, "path": "note", "value": "planted"}])
    );
    assert_eq!(search(json!({"id": "7", "path": "headers.Authorization"}))["hits"][0]["value"], "[redacted]");
    // What is masked is searched as it is shown, whatever it was.
    for (more, total) in [
        (json!({"path": "password", "is": "string"}), 1),
        (json!({"path": "password", "is": "number"}), 0),
        (json!({"path": "password", "equals": "[redacted]"}), 1),
        (json!({"path": "password", "equals": 12345}), 0),
        (json!({"text": "[redacted]"}), 3),
        (json!({"path": "qty", "equals": " 12 ", "as": "number"}), 1),
    ] {
        let mut question = more;
        question["id"] = json!("7");
        assert_eq!(search(question.clone())["total"], total, "{question}");
    }
}

#[test]
fn an_answer_says_what_it_leaves_out() {
    let long = |at: usize| json!({"json": {"text": format!("{} needle {at}", "漢字 ".repeat(200))}});
    let (_n8n, mut client) = serving(&items(&(0..300).map(long).collect::<Vec<_>>()), &[]);
    let mut search = |more: Value| {
        let mut question = json!({"id": "7", "text": "needle"});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("search_execution", question).unwrap()
    };
    let answer = data(&search(json!({})));
    assert_eq!((answer["total"].clone(), answer["hits"].as_array().unwrap().len()), (json!(300), 20));
    let said = "There are 280 more hits: raise limit, or narrow the search with nodeName, path or a condition.";
    assert_eq!(answer["truncated"], json!({"reason": said}));
    assert!(answer["hits"][3]["value"].as_str().unwrap().ends_with("needle 3"), "{}", answer["hits"][3]);
    let small = search(json!({"maxTokens": 1000, "limit": 100}));
    assert!(budget::count(&small) <= 1000 && budget::count(&small) > 600, "{small}");
    assert!(small.contains("more hits: use a larger maxTokens"), "{small}");
}

#[test]
fn an_execution_without_data_says_so() {
    let (_n8n, mut client) = serving(&json!({"id": "7", "status": "running"}), &[]);
    let answer = data(&client.call("search_execution", json!({"id": "7", "text": "a"})).unwrap());
    assert_eq!(answer["total"], 0);
    assert!(answer["notes"][0].as_str().unwrap().starts_with("This execution is running"), "{answer}");
}

/// Calls of both tools that locate values.
const CALLS: [(&str, &str); 3] = [
    ("search_execution", r#"{"id": "7", "text": "a"}"#),
    ("search_execution", r#"{"id": "7", "path": "a", "above": 1e9}"#),
    ("get_execution_fields", r#"{"id": "7"}"#),
];

#[test]
fn a_broken_body_is_an_error_and_progress_is_reported() {
    let body = items(&(0..3000).map(|at| json!({"json": {"at": at, "text": "x".repeat(1000)}})).collect::<Vec<_>>());
    let body = body.to_string().into_bytes();
    let whole = body.clone();
    let n8n = Server::start(move |_| Reply::json(200, whole.clone()).pace(1_000_000, Duration::from_millis(150)));
    let mut client = McpClient::start(&n8n.url());
    for (tool, arguments) in CALLS {
        let call = client.begin(tool, serde_json::from_str(arguments).unwrap());
        assert!(text_of(&client.answer(call)).is_ok(), "{tool}");
        let progress = client.notifications("notifications/progress");
        assert!(progress.len() >= 2, "{tool}: {progress:?}");
    }
    for end in [100, 50_000, body.len() - 1] {
        let cut = body[..end].to_vec();
        let n8n = Server::start(move |_| Reply::json(200, cut.clone()));
        let mut client = McpClient::start(&n8n.url());
        for (tool, arguments) in CALLS {
            let said = client.call(tool, serde_json::from_str(arguments).unwrap()).unwrap_err();
            assert!(said.contains("ends early") && said.contains(&end.to_string()), "{tool}, {end} bytes: {said}");
        }
    }
}

#[test]
fn a_cancelled_search_stops_its_download() {
    for (tool, arguments) in CALLS {
        let n8n = Server::start(|_| {
            let begin = r#"{"id":"7","data":{"resultData":{"runData":{"A":[{"data":{"main":[["#;
            Reply::json(200, begin).endless(br#"{"json":{"a":[1,"a",3]}},"#)
        });
        let mut client = McpClient::start(&n8n.url());
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let id = client.send("tools/call", json!({"name": tool, "arguments": arguments}));
        while n8n.sent() < 5_000_000 {
            std::thread::sleep(Duration::from_millis(10));
        }
        client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
        wait::eventually("the connection is closed", || n8n.open() == 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_cuts_change_nothing(sizes in prop::collection::vec(1usize..3000, 1..20), pick in any::<prop::sample::Index>()) {
        let names = ["e_loop_25", "k_odd_names", "l_ai_agent", "c_stop_and_error", "v1/h_binary", "d_branches_merge"];
        let body = fixtures::execution(names[pick.index(names.len())]);
        for question in questions() {
            let projection = projection(&question);
            prop_assert_eq!(as_json(&view(&body, &projection, &sizes)), as_json(&view(&body, &projection, &[usize::MAX])));
        }
    }

    #[test]
    fn a_body_that_ends_early_is_never_shown(at in any::<prop::sample::Index>()) {
        let body = fixtures::execution("d_branches_merge");
        let cut = &body[..at.index(body.len() - 1)];
        prop_assert!(projection(&text("a")).read_from(cut).is_err());
    }
}

/// All questions about larger fixtures.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 29 s"]
    fn the_search_agrees_with_the_reference_on_larger_fixtures() {
        agrees_with_the_reference(fixtures::executions_of_any_size(), 300_000);
    }
}
