//! The description of an execution, through the real binary; `properties` compares it with a reference.

use n8n_lens::budget;
use n8n_lens::execution::describe::DescribeProjection;
use n8n_lens::execution::fields::FieldsProjection;
use n8n_lens::json::Projection;
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::describe_execution::{DescribeRequest, answer};
use serde_json::{Value, json};

use crate::asking::{self, command, serving};
use crate::fixtures;
use crate::http_client::HttpServer;
use crate::mcp_client::McpClient;
use crate::server;

fn data(answer: &str) -> Value {
    asking::data(answer, "Execution described")
}

/// A real execution, as execution 7.
fn real(name: &str) -> Value {
    let mut body = fixtures::parse(&fixtures::execution(name));
    body["id"] = json!("7");
    body
}

fn described(body: &Value, arguments: &[&str]) -> Value {
    let (_n8n, mut client) = serving(body, arguments);
    data(&client.call("describe_execution", json!({"id": "7"})).unwrap())
}

fn node<'d>(data: &'d Value, name: &str) -> &'d Value {
    data["nodes"].as_array().unwrap().iter().find(|node| node["node"] == name).unwrap()
}

/// A node's run with these items in its first output.
fn run(index: usize, source: &str, items: &[Value]) -> Value {
    let items: Vec<_> = items.iter().map(|json| json!({"json": json})).collect();
    let source = if source.is_empty() { json!([]) } else { json!([{"previousNode": source}]) };
    json!([{"executionIndex": index, "executionStatus": "success", "source": source, "data": {"main": [items]}}])
}

/// Orders, a third of which have another kind of amount; a Filter, and a node that did not run.
fn execution() -> Value {
    let order = |n: usize| {
        let is_new = n.is_multiple_of(3);
        let amount = if is_new { json!(format!("{n}.50")) } else { json!(n) };
        json!({"orderId": 100 + n, "amount": amount, "software": if is_new { "4.1.0" } else { "4.0.2" }, "note": "n".repeat(90)})
    };
    let orders: Vec<_> = (0..60).map(order).collect();
    let kept: Vec<_> = orders.iter().filter(|order| order["amount"].is_number()).cloned().collect();
    let total = |order: &Value| {
        let mut order = order.clone();
        order["total"] = json!(1);
        order
    };
    let totals: Vec<_> = kept.iter().map(total).collect();
    let condition =
        json!({"leftValue": "={{ $json.amount }}", "rightValue": 5, "operator": {"type": "number", "operation": "gt"}});
    let mut body = json!({"id": "7", "status": "success", "startedAt": "2026-11-21T02:04:22.500Z",
        "workflowVersionId": "bc7ab95c-518d-41b6-85d4-a769c4512042",
        "data": {"resultData": {"runData": {
            "Start": run(0, "", &[json!({"go": true})]),
            "Total": run(3, "Keep", &totals),
            "Orders": run(1, "Start", &orders),
            "Keep": run(2, "Orders", &kept),
        }}},
        "workflowData": {"name": "Sales", "nodes": [
            {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "parameters": {"notice": ""}},
            {"name": "Orders", "type": "n8n-nodes-base.httpRequest", "parameters": {"url": "https://shop.example/orders", "options": {}}},
            {"name": "Keep", "type": "n8n-nodes-base.filter", "typeVersion": 2.2,
                "parameters": {"conditions": {"options": {"version": 2}, "conditions": [condition], "combinator": "and"}}},
            {"name": "Total", "type": "n8n-nodes-base.set", "typeVersion": 3.4,
                "parameters": {"mode": "manual", "assignments": {"assignments": [{"id": "1", "name": "total", "value": "=1", "type": "number"}]}}},
            {"name": "Send", "type": "n8n-nodes-base.emailSend", "parameters": {}},
            {"name": "Off", "type": "n8n-nodes-base.noOp", "parameters": {}, "disabled": true},
            {"name": "Note", "type": "n8n-nodes-base.stickyNote", "parameters": {}},
        ], "connections": {}}});
    let discarded: Vec<_> =
        orders.iter().filter(|order| !order["amount"].is_number()).map(|json| json!({"json": json})).collect();
    body["data"]["resultData"]["runData"]["Keep"][0]["data"]["main"].as_array_mut().unwrap().push(discarded.into());
    body
}

#[test]
fn an_agent_sees_what_each_node_did() {
    let long = format!("{}…[+30 chars]", "n".repeat(60));
    let expected = json!({
        "id": "7", "workflowName": "Sales", "status": "success", "startedAt": "2026-11-21T02:04:22.500Z", "version": "bc7ab95c",
        "nodes": [
            {"node": "Start", "type": "manualTrigger", "out": 1, "sample": {"go": true}},
            {"node": "Orders", "type": "httpRequest", "in": 1, "out": 60, "does": "GET https://shop.example/orders",
                "sample": {"orderId": 100, "amount": "0.50", "software": "4.1.0", "note": long},
                "values": ["amount: 40 numbers, 20 texts (item 0: \"0.50\")", "software: 4.0.2 (40), 4.1.0 (20)", "orderId: 100 to 159"],
                "together": ["amount is a text: just where software = 4.1.0 (20)"]},
            {"node": "Keep", "type": "filter", "in": 60, "out": {"kept": 40, "discarded": 20}, "does": "={{ $json.amount }} > 5",
                "sample": {"orderId": 101, "amount": 1, "software": "4.0.2", "note": long}},
            {"node": "Total", "type": "set", "from": ["Keep (kept)"], "in": 40, "out": 40, "does": "total = =1", "sample": {"…": "as Keep", "total": 1},
                "values": ["amount: 1 to 59", "software: always 4.0.2", "total: always 1"]},
        ],
        "notRun": ["Send"],
    });
    let (n8n, mut client) = serving(&execution(), &[]);
    let answer = client.call("describe_execution", json!({"id": "7"})).unwrap();
    assert_eq!(data(&answer), expected, "{answer}");
    let rest = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let call = json!({"name": "describe_execution", "parameters": {"id": "7"}}).to_string();
    let over_rest = rest.send("POST", "/mcp/execute", &[("content-type", "application/json")], &call);
    assert_eq!(over_rest.message(), serde_json::from_str::<Value>(&answer).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), execution().to_string()).unwrap();
    let output = command(&["describe", file.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
}

#[test]
fn without_data_it_is_not_known_what_did_not_run() {
    let mut body = execution();
    assert!(described(&body, &[])["notRun"].is_array());
    let result = body["data"]["resultData"].take();
    body["data"] = json!({"resultData": {"lastNodeExecuted": result["lastNodeExecuted"]}});
    body["dataTooLargeToDisplay"] = json!(true);
    let described = described(&body, &[]);
    assert!(described["notRun"].is_null() && !described["notes"][0].as_str().unwrap().is_empty(), "{described}");
}

#[test]
fn splits_name_causes_and_hardly_anything_else() {
    let (_n8n, mut client) = serving(&execution(), &[]);
    let fields = client.call("get_execution_fields", json!({"id": "7"})).unwrap();
    let fields = asking::data(&fields, "Fields retrieved");
    let split =
        json!({"nodeName": "Orders", "items": 60, "split": "amount is a text: just where software = 4.1.0 (20)"});
    assert_eq!(fields["splits"], json!([split]), "{fields}");
    let mut splits = Vec::new();
    for (name, body) in fixtures::executions().into_iter().chain(fixtures::scenarios()).chain(fixtures::questions()) {
        let view = FieldsProjection::default().read_from(&body[..]).unwrap();
        splits.extend(view.splits.into_iter().map(|split| format!("{name}: {}", split.node)));
    }
    let causes = [
        "dropped_for_one_country: Freight cost",
        "amounts_as_text: Get sales",
        "twice_in_the_sheet: All pages",
        "twice_in_the_sheet: Row",
    ];
    // An article occurs in several orders, which is not a cause.
    let false_leads = ["child_keeps_the_last.child: When called", "child_keeps_the_last: Lines"];
    let mut expected = [&causes[..], &false_leads].concat();
    splits.sort();
    expected.sort_unstable();
    assert_eq!(splits, expected);
}

#[test]
fn a_sub_node_of_an_agent_shows_what_it_was_called_with() {
    let data = described(&real("l_ai_agent"), &[]);
    let tool = node(&data, "Calculator");
    assert_eq!((&tool["calls"], &tool["input"], &tool["out"]), (&json!(1), &json!({"query": "6*7"}), &Value::Null));
    let model = node(&data, "OpenAI Chat Model");
    assert_eq!((&model["calls"], &model["input"]), (&json!(2), &json!({"messages": ["Human: What is 6*7? please"]})));
    assert_eq!(node(&data, "AI Agent")["does"], "promptType: define\ntext: =What is 6*7? {{ $json.body.q }}");
}

#[test]
fn a_node_that_returned_pinned_data_says_so() {
    let mut body = real("l_pinned_manual");
    let pinned = |body: &Value| {
        let (_n8n, mut client) = serving(body, &[]);
        let described = data(&client.call("describe_execution", json!({"id": "7"})).unwrap());
        let nodes = described["nodes"].as_array().unwrap().clone();
        let pinned: Vec<_> =
            nodes.iter().filter(|node| node["pinned"] == true).map(|node| node["node"].clone()).collect();
        let node = json!({"id": "7", "nodeName": "Pinned HTTP"});
        let node: Value = serde_json::from_str(&client.call("get_execution_by_node", node).unwrap()).unwrap();
        (pinned, node["data"]["pinned"].clone())
    };
    assert_eq!(pinned(&body), (vec![json!("Pinned HTTP")], json!(true)));
    // n8n passes the items through a disabled node, whatever is pinned.
    body["workflowData"]["nodes"][1]["disabled"] = json!(true);
    assert_eq!(pinned(&body), (vec![], Value::Null));
}

#[test]
fn a_number_that_no_program_holds_is_shown_as_it_is() {
    let body = shown(&[("S", vec![json!({"v": "HUGE"})], of_type("code"))]).to_string().replace("\"HUGE\"", "1e400");
    let n8n = server::n8n([("7".to_owned(), body.into_bytes())].into());
    let mut client = McpClient::start_with(&n8n.url(), &["--locale", "en"]);
    let answer = client.call("describe_execution", json!({"id": "7"})).unwrap();
    assert!(answer.contains(r#""node":"S","type":"code","out":1,"sample":{"v":1e400}"#), "{answer}");
}

#[test]
fn the_error_output_has_a_name_whatever_the_type() {
    let outputs = json!([[{"json": {"k": 1}}], [{"json": {"error": "bad"}}]]);
    let mut body = shown(&[
        ("Fetch", vec![], of_type("httpRequest")),
        ("Keep", vec![], of_type("filter")),
        ("Next", vec![json!({"error": "bad"})], of_type("noOp")),
    ]);
    for node in ["Fetch", "Keep"] {
        body["data"]["resultData"]["runData"][node][0]["data"]["main"] = outputs.clone();
    }
    body["data"]["resultData"]["runData"]["Next"][0]["source"] =
        json!([{"previousNode": "Keep", "previousNodeOutput": 1}]);
    let without = described(&body, &[]);
    assert_eq!(node(&without, "Fetch")["out"], json!({"0": 1, "1": 1}));
    assert_eq!(node(&without, "Keep")["out"], json!({"kept": 1, "discarded": 1}));
    for at in [0, 1] {
        body["workflowData"]["nodes"][at]["onError"] = json!("continueErrorOutput");
    }
    let with = described(&body, &[]);
    assert_eq!(node(&with, "Fetch")["out"], json!({"0": 1, "error": 1}));
    // n8n puts the failed items in place of those that a Filter discards.
    assert_eq!(node(&with, "Keep")["out"], json!({"0": 1, "error": 1}));
    assert_eq!(node(&with, "Next")["from"], json!(["Keep (error)"]));
}

#[test]
fn nothing_is_said_of_values_that_n8n_hides() {
    let mut body = shown(&[("A", vec![json!({}); 4], of_type("code")), ("B", vec![json!({}); 4], of_type("code"))]);
    body["data"]["redactionInfo"] = json!({"isRedacted": true});
    let data = described(&body, &[]);
    for name in ["A", "B"] {
        let node = node(&data, name);
        assert_eq!((&node["out"], node.get("sample"), node.get("values")), (&json!(4), None, None));
    }
}

/// What is shown of nodes with these items, each node after the one before it, with these settings.
fn shown(nodes: &[(&str, Vec<Value>, Value)]) -> Value {
    let (mut runs, mut settings, mut before) = (serde_json::Map::new(), Vec::new(), "");
    for (at, (name, items, node)) in nodes.iter().enumerate() {
        runs.insert((*name).to_owned(), run(at, before, items));
        let mut node = node.clone();
        node["name"] = json!(name);
        settings.push(node);
        before = name;
    }
    json!({"id": "7", "status": "success", "data": {"resultData": {"runData": runs}},
        "workflowData": {"name": "w", "connections": {}, "nodes": settings}})
}

fn of_type(node_type: &str) -> Value {
    json!({"type": format!("n8n-nodes-base.{node_type}"), "parameters": {}})
}

#[test]
fn a_sample_is_as_another_only_if_all_of_it_is() {
    let long = |end: &str| {
        vec![json!({"n": 1, "a": 2, "b": 3, "text": "x".repeat(6000) + end, "list": [[1, "y".repeat(6000) + end]]})]
    };
    let mut more = long("1");
    more[0]["new"] = json!(5);
    let body = shown(&[
        ("A", long("1"), of_type("code")),
        ("Same", long("1"), of_type("noOp")),
        ("Other", long("2"), of_type("code")),
        ("More", more, of_type("code")),
    ]);
    let data = described(&body, &[]);
    let sample = |name| &node(&data, name)["sample"];
    assert_eq!(sample("Same"), "as A");
    // What may be different is shown.
    for (name, before) in [("Other", "as Same"), ("More", "as Other")] {
        let text = sample(name)["text"].as_str().unwrap();
        assert_eq!(
            (&sample(name)["…"], text.starts_with("xxx"), sample(name)["list"].is_array()),
            (&json!(before), true, true)
        );
    }
    assert_eq!((&sample("Other")["a"], &sample("More")["new"]), (&Value::Null, &json!(5)));
}

#[test]
fn a_fact_is_left_out_only_where_it_was_told() {
    let items =
        |n: i64| (0..5).map(|at| json!({"kind": "A", "class": "A", "n": n + at, "m": n + at})).collect::<Vec<_>>();
    let assignments = json!({"assignments": [{"id": "1", "name": "kind", "value": "A", "type": "string"}]});
    let set = json!({"type": "n8n-nodes-base.set", "parameters": {"assignments": assignments}, "continueOnFail": true});
    let data = described(&shown(&[("Set", items(1), set), ("Code", items(1), of_type("code"))]), &[]);
    let values = |name| node(&data, name)["values"].to_string();
    assert!(values("Set").contains("class: always A") && !values("Set").contains("kind"), "{data}");
    assert!(values("Set").contains("n: 1 to 5") && values("Set").contains("m: 1 to 5"), "{data}");
    assert_eq!(
        (node(&data, "Set")["onError"].as_str(), &node(&data, "Code")["values"]),
        (Some("continueOnFail"), &json!(["kind: always A"]))
    );
    // Another path with the same facts says something else, a member that was moved does not.
    let moved: Vec<_> = (1..=5).map(|n| json!({"order": {"n": n}, "rank": n})).collect();
    let data = described(&shown(&[("Code", items(1), of_type("code")), ("Moved", moved, of_type("code"))]), &[]);
    assert_eq!(node(&data, "Moved")["values"], json!(["rank: 1 to 5"]));
}

#[test]
fn what_a_node_has_too_much_of_is_counted_and_not_ascribed_to_a_later_one() {
    let item = |at: usize| {
        let paths = (0..15).map(|path| (format!("p{path:02}"), json!(["a", "b"][at % 2])));
        Value::Object(paths.chain([("size".to_owned(), json!([6, 12][at % 2]))]).collect())
    };
    let items: Vec<_> = (0..6).map(item).collect();
    let mut more = items.clone();
    more[0]["p14"] = json!("c");
    let filter = json!({"type": "n8n-nodes-base.code", "parameters": {}, "alwaysOutputData": true});
    let body =
        shown(&[("Read", items.clone(), of_type("code")), ("Pass", items, of_type("noOp")), ("Change", more, filter)]);
    let data = described(&body, &[]);
    let values = node(&data, "Read")["values"].as_array().unwrap();
    assert_eq!((values.len(), &values[0], &values[12]), (13, &json!("p00: a 3, b 3"), &json!("…[+4]")), "{data}");
    assert_eq!(node(&data, "Pass").get("values"), None);
    let changed = node(&data, "Change");
    assert_eq!((&changed["values"], &changed["alwaysOutputData"]), (&json!(["p14: b 3, a 2, c 1"]), &json!(true)));
    assert!(data["truncated"]["reason"].as_str().unwrap().starts_with("…[+n] marks what is left out"), "{data}");
    // The count after a number is in brackets, and kinds come before values.
    let item = |at: usize| json!({"size": if at == 0 { 6 } else { 12 }, "firm": (at > 2).then_some(["Kontor AG", "Nord"][at % 2])});
    let data = described(&shown(&[("Read", (0..6).map(item).collect(), of_type("code"))]), &[]);
    let expected = json!(["firm: 3 null, 3 texts (item 3: \"Nord\"); Nord 2, Kontor AG 1", "size: 12 (5), 6 (1)"]);
    assert_eq!(node(&data, "Read")["values"], expected);
}

#[test]
fn the_smaller_part_has_its_first_item() {
    let item = |n: usize| {
        let mut json =
            json!({"many": if n == 3 { "x" } else { "" }, "few": if n == 4 { json!([]) } else { json!([n]) }});
        json["always"] = json!(n);
        if n >= 8 {
            json["rare"] = json!(n);
        }
        if n != 2 {
            json["common"] = json!(n);
        }
        json
    };
    let data = described(&shown(&[("Code", (0..10).map(item).collect(), of_type("code"))]), &[]);
    let values = node(&data, "Code")["values"].to_string();
    for line in [
        "many: 9 empty (not in item 3)",
        "few: 1 empty (item 4)",
        "rare: in 2 of 10 (item 8)",
        "common: in 9 of 10 (not in item 2)",
    ] {
        assert!(values.contains(line), "{line}: {values}");
    }
}

#[test]
fn an_error_that_did_not_end_the_execution_is_told() {
    let mut body = shown(&[
        ("Read", vec![json!({"n": 1})], json!({"type": "n8n-nodes-base.code", "onError": "continueRegularOutput"})),
        ("Send", vec![json!({"n": 1})], of_type("code")),
    ]);
    let read = &mut body["data"]["resultData"]["runData"]["Read"][0];
    read["executionStatus"] = json!("error");
    read["error"] = json!({"message": format!("Refused: token=planted {}", "x".repeat(300))});
    let data = described(&body, &[]);
    let error = node(&data, "Read")["error"].as_str().unwrap();
    assert!(error.starts_with("Refused: ") && error.chars().count() < 140 && !error.contains("planted"), "{error}");
    // The error that ended it is not repeated.
    body["status"] = json!("error");
    body["data"]["resultData"]["error"] = json!({"message": "Refused", "node": {"name": "Read"}});
    let data = described(&body, &[]);
    assert_eq!((&data["error"]["message"], &node(&data, "Read")["error"]), (&json!("Refused"), &Value::Null));
}

#[test]
fn a_node_with_too_many_paths_says_so() {
    let wide: serde_json::Map<_, _> = (0..1000).map(|n| (format!("m{n}"), json!(n))).collect();
    let data = described(&shown(&[("Code", vec![wide.clone().into(); 3], of_type("code"))]), &[]);
    assert!(data["truncated"]["reason"].as_str().unwrap().contains("more than 400 paths"), "{data}");
}

#[test]
fn three_hundred_nodes_fit_with_names_and_counts() {
    let body = real("j_320_nodes");
    let (_n8n, mut client) = serving(&body, &[]);
    let answer = client.call("describe_execution", json!({"id": "7", "maxTokens": 4000})).unwrap();
    assert!(budget::fits(&answer, 4000));
    let data = data(&answer);
    let nodes = data["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 321);
    assert!(nodes.iter().any(|node| node == "Step 001 – validate record: 1"), "{data}");
    assert!(data["truncated"]["reason"].as_str().unwrap().contains("larger maxTokens"), "{data}");
    let whole = client.call("describe_execution", json!({"id": "7", "maxTokens": 25000})).unwrap();
    assert!(whole.len() > 2 * answer.len());
}

#[test]
fn every_budget_holds() {
    for (name, body) in fixtures::executions().into_iter().chain(fixtures::scenarios()) {
        if body.len() > 300_000 && name != "j_320_nodes" {
            continue;
        }
        let description = DescribeProjection { redacts: false }.read_from(&body[..]).unwrap();
        for max_tokens in [300, 500, 1000, 3000] {
            let answer = answer(&description, None, DescribeRequest { max_tokens, locale: Locale::En });
            assert!(budget::fits(&answer, max_tokens), "{name}, {max_tokens}: {answer}");
            serde_json::from_str::<Value>(&answer).unwrap();
        }
    }
}

#[test]
fn secrets_are_masked_in_samples_values_and_parameters() {
    let secret = |n: usize| json!({"password": format!("planted-{}", n % 2), "n": n});
    let items: Vec<_> = (0..30).map(secret).collect();
    let body = json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {
        "Read": run(0, "", &items),
        "Tool": [{"executionIndex": 1, "source": [{"previousNode": "Read"}], "data": {"ai_tool": [[{"json": {"token": "planted-3"}}]]},
            "inputOverride": {"ai_tool": [[{"json": {"apiKey": "planted-4"}}]]}}],
    }}}, "workflowData": {"name": "w", "connections": {}, "nodes": [
        {"name": "Read", "type": "n8n-nodes-base.httpRequest", "parameters": {"url": "u",
            "headerParameters": {"parameters": [{"name": "Authorization", "value": "planted-5"}]}, "password": "planted-6"}},
        {"name": "Tool", "type": "n8n-nodes-base.set", "parameters": {"assignments": {"assignments": [{"name": "api_key", "value": "planted-7"}]}}},
    ]}});
    let masked = described(&body, &["--redact"]).to_string();
    assert!(!masked.contains("planted"), "{masked}");
    assert!(masked.contains("[redacted]") && masked.contains("api_key = "), "{masked}");
    let open = described(&body, &[]).to_string();
    for secret in ["planted-0", "planted-4", "planted-5", "planted-6", "planted-7"] {
        assert!(open.contains(secret), "{secret} is shown without --redact: {open}");
    }
}

#[test]
fn secrets_are_masked_where_values_are_related() {
    let item = |n: usize| {
        let is_old = n.is_multiple_of(3);
        let amount = if is_old { json!(format!("{n}.50")) } else { json!(n) };
        let password = if is_old { "planted-0".to_owned() } else { format!("planted-{}", 1 + n % 3) };
        json!({"amount": amount, "password": password, "token": format!("planted-{}", 5 + n % 2), "user": format!("u{n}")})
    };
    let items: Vec<_> = (0..30).map(item).collect();
    let body =
        json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {"Read": run(0, "", &items)}}}});
    let calls = [
        ("describe_execution", json!({"id": "7"}), "amount is a text: just where password = planted-0 (10)"),
        ("get_execution_fields", json!({"id": "7"}), "amount is a text: just where password = planted-0 (10)"),
        (
            "get_execution_fields",
            json!({"id": "7", "nodeName": "Read", "path": "password", "by": "token"}),
            "planted-6",
        ),
        (
            "search_execution",
            json!({"id": "7", "path": "user", "notEquals": {"path": "password"}}),
            "\"other\":\"planted-0\"",
        ),
        (
            "search_execution",
            json!({"id": "7", "path": "user", "where": {"path": "token", "equals": "planted-5"}}),
            "u2",
        ),
    ];
    let (_n8n, mut open) = serving(&body, &[]);
    let (_n8n, mut masked) = serving(&body, &["--redact"]);
    for (tool, arguments, shows) in calls {
        let answer = open.call(tool, arguments.clone()).unwrap();
        assert!(answer.contains(shows), "{tool} {arguments}: {answer}");
        let answer = masked.call(tool, arguments.clone()).unwrap();
        assert!(!answer.contains("planted") && !answer.contains(shows), "{tool} {arguments}: {answer}");
    }
}

#[test]
fn parameters_alone_are_whole_and_html_shows_its_text() {
    let code = "const a = 1;\n".repeat(900);
    let page = format!(
        "<!DOCTYPE html><html><head><title>Velmar B2B</title><style>{}</style></head><body><h1>Please sign in</h1></body></html>",
        "p{}".repeat(2500)
    );
    let items: Vec<_> = (0..200).map(|n| json!({"n": n, "body": page})).collect();
    let body = json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {"Code": run(0, "", &items)}}},
        "workflowData": {"name": "w", "connections": {}, "nodes": [{"name": "Code", "type": "n8n-nodes-base.code", "parameters": {"jsCode": code}}]}});
    let (_n8n, mut client) = serving(&body, &[]);
    let message = "Execution details of node 'Code' retrieved";
    let alone =
        client.call("get_execution_by_node", json!({"id": "7", "nodeName": "Code", "part": "parameters"})).unwrap();
    let alone = asking::data(&alone, message);
    assert_eq!(alone["parameters"]["jsCode"], code.as_str());
    assert_eq!(
        (&alone["output"]["total"], &alone["output"]["items"]),
        (&json!(200), &Value::Null),
        "the items are counted"
    );
    let both = client.call("get_execution_by_node", json!({"id": "7", "nodeName": "Code"})).unwrap();
    let both = asking::data(&both, message);
    assert_eq!(both["parameters"]["jsCode"], code.as_str(), "they are cut after the items");
    let shown = both["output"]["items"][0]["json"]["body"].as_str().unwrap();
    assert_eq!(shown, format!("[html, {} chars] Velmar B2B · Please sign in", page.chars().count()));
}

#[test]
fn one_field_by_another_and_conditions_between_two() {
    let item = |n: usize| {
        let currency = if n.is_multiple_of(3) { "CHF" } else { "EUR" };
        json!({"currency": currency, "amount": n, "limit": if n == 7 { 3 } else { 100 }, "text": format!("{}", 10 - n % 10),
            "lines": [{"qty": n, "stock": 9}, {"qty": 1, "stock": 0}]})
    };
    let items: Vec<_> = (0..30).map(item).collect();
    let body =
        json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {"Read": run(0, "", &items)}}}});
    let (_n8n, mut client) = serving(&body, &[]);
    let by = json!({"id": "7", "nodeName": "Read", "path": "amount", "by": "currency"});
    let rows = asking::data(&client.call("get_execution_fields", by).unwrap(), "Fields retrieved");
    assert_eq!(
        rows,
        json!({"nodeName": "Read", "path": "amount", "by": "currency", "items": 30, "rows": [
            {"value": "CHF", "items": 10, "type": "number", "min": 0, "max": 27, "values":
                [[0, 1], [3, 1], [6, 1], [9, 1], [12, 1], [15, 1], [18, 1], [21, 1], [24, 1], [27, 1]]},
            {"value": "EUR", "items": 20, "type": "number", "min": 1, "max": 29, "distinct": 20, "example": 1},
        ]})
    );
    let refused = client.call("get_execution_fields", json!({"id": "7", "by": "currency"})).unwrap_err();
    assert!(refused.contains("needs 'nodeName' and 'path'"), "{refused}");

    let mut total = |more: Value| {
        let mut arguments = json!({"id": "7", "limit": 0});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = asking::data(&client.call("search_execution", arguments).unwrap(), "Execution searched");
        assert!(found["truncated"].is_null() && found["hits"] == json!([]), "{found}");
        found["total"].as_u64().unwrap()
    };
    assert_eq!(total(json!({"path": "amount", "above": {"path": "limit"}})), 1);
    assert_eq!(
        total(json!({"path": "amount", "above": "{\"path\": \"limit\"}"})),
        1,
        "as a string, for strict clients"
    );
    assert_eq!(total(json!({"path": "qty", "above": {"path": "stock"}})), 20 + 30, "of the same line");
    assert_eq!(total(json!({"path": "currency", "equals": "CHF", "where": {"path": "amount", "above": 20}})), 3);
    assert_eq!(total(json!({"path": "text", "above": "9"})), 0, "a string that is a number is a number");
    assert_eq!(total(json!({"path": "text", "above": 8, "as": "number"})), 6);
    assert_eq!(total(json!({"path": "amount", "outputIndex": 1})), 0);
    let refused = client
        .call("search_execution", json!({"id": "7", "path": "a", "where": {"path": "b", "beyond": 1}}))
        .unwrap_err();
    assert_eq!(refused, "Argument 'where' has no member 'beyond'. It takes path, is, equals, notEquals, above, below.");
}

#[test]
fn what_a_tool_was_called_with_is_found() {
    let body = real("l_ai_agent");
    let (_n8n, mut client) = serving(&body, &[]);
    let found = client.call("search_execution", json!({"id": "7", "path": "query", "nodeName": "Calculator"})).unwrap();
    let found = asking::data(&found, "Execution searched");
    assert_eq!(
        found["hits"],
        json!([{"nodeName": "Calculator", "item": 0, "part": "input", "path": "query", "value": "6*7"}])
    );
}
