use serde_json::{Value, json};

use super::super::catalogue::{Catalogue, build};
use super::*;

/// Two types in the shape of n8n's.
fn catalogue() -> Catalogue {
    let nodes = br#"[{"name": "set", "displayName": "Set", "description": "", "version": [3, 3.4], "inputs": ["main"],
        "outputs": ["main"]}, {"name": "switch", "displayName": "Switch", "description": "", "version": [3],
        "inputs": ["main"], "outputs": "={{ (p) => [{type: 'main'}] }}"}]"#;
    build(&[("n8n-nodes-base", "2.41.0", nodes)]).unwrap()
}

fn node(name: &str, node_type: &str, version: f64, parameters: Value) -> Value {
    json!({"name": name, "type": format!("n8n-nodes-base.{node_type}"), "typeVersion": version, "parameters": parameters})
}

fn set(name: &str, value: &str) -> Value {
    node(name, "set", 3.4, json!({"value": value}))
}

fn trigger(name: &str) -> Value {
    node(name, "manualTrigger", 1.0, json!({}))
}

/// Finds problems; connections are `A > B`, from the first output to the first input, or `A:1 > B`.
fn found(nodes: &[Value], connections: &[&str]) -> Problems {
    let mut document = json!({"name": "w", "nodes": nodes, "connections": {}});
    for connection in connections {
        let (source, target) = connection.split_once(" > ").unwrap();
        let (source, output) = source.split_once(':').unwrap_or((source, "0"));
        let (kind, index) = output.parse().map_or((output, 0), |index: usize| ("main", index));
        let outputs = &mut document["connections"][source][kind];
        if outputs.is_null() {
            *outputs = json!([[], [], [], []]);
        }
        outputs[index].as_array_mut().unwrap().push(json!({"node": target, "type": kind, "index": 0}));
    }
    check(&document.to_string())
}

fn check(document: &str) -> Problems {
    let catalogue = catalogue();
    let document = Document::parse(document.as_bytes()).unwrap();
    problems(&document, |node_type| catalogue.find(node_type), |_, pointer| pointer == "/hidden").unwrap()
}

/// The findings as `rule node`, with the detail if there is one.
fn lines(nodes: &[Value], connections: &[&str]) -> Vec<String> {
    let line = |problem: &Problem| {
        let detail = problem.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
        format!("{} {}{detail}", problem.rule, problem.node)
    };
    found(nodes, connections).list.iter().map(line).collect()
}

#[test]
fn an_equals_sign_is_missing() {
    let problems = found(&[set("A", "Hi {{ $json.name }}")], &[]);
    assert_eq!(problems.list[0].rule, Rule::MissingEquals);
    assert_eq!(problems.list[0].parameter.as_deref(), Some("/value"));
    assert_eq!(problems.list[0].reference.as_deref(), Some("{{ $json.name }}"));
    let silent = [
        set("A", "={{ $json.name }}"),
        set("B", "Hi {{ name }}, {{ $value }}"),
        set("C", r#"{"nodes": [{"a": "{{ $json.name }}"}]}"#),
        node("D", "stickyNote", 1.0, json!({"content": "{{ $json.name }}"})),
        node("E", "html", 1.2, json!({"html": "<b>{{ $json.name }}</b>"})),
        node("F", "code", 2.0, json!({"jsCode": "// {{ $json.name }}"})),
        node("G", "executeWorkflow", 1.0, json!({"workflowJson": "{{ $json.name }}"})),
    ];
    assert!(found(&silent, &[]).list.is_empty());
}

#[test]
fn a_name_belongs_to_no_node() {
    let code = |code: &str| node("A", "code", 2.0, json!({"jsCode": code}));
    let problems = found(&[set("A", "={{ $('B').item.json.x + $('B').item.json.y }} {{ $node.A.json }}")], &[]);
    assert_eq!(problems.list.len(), 1);
    assert_eq!((problems.list[0].rule, problems.list[0].times), (Rule::UnknownNode, 2));
    assert_eq!(problems.list[0].reference.as_deref(), Some("$('B')"));
    assert_eq!(lines(&[code("return $('B').all()")], &[]), ["unknownNode A"]);
    assert!(lines(&[code("// $('B')\nconst $ = cheerio.load(x); $('.price')")], &[]).is_empty());
    assert_eq!(lines(&[set("A", "={{ $('B').isExecuted ? 1 : 2 }}")], &[]), ["unknownNode A"], "n8n fails there too");
}

#[test]
fn n8ns_parser_refuses() {
    let problems = found(&[set("A", "={{ $json.a.replace('{{x}}', 1) }}")], &[]);
    assert_eq!(problems.list[0].rule, Rule::Syntax);
    let detail = problems.list[0].detail.as_deref().unwrap();
    assert!(detail.starts_with("a string is not closed; the first }}"), "{detail}");
    assert_eq!(problems.list[0].reference.as_deref(), Some("={{ $json.a.replace('{{x}}', 1) }}"));
    assert_eq!(lines(&[node("A", "code", 2.0, json!({"jsCode": "return ["}))], &[]), ["syntax A: '[' is not closed"]);
}

#[test]
fn half_a_surrogate_pair_hides_nothing() {
    let problems = check(
        r#"{"nodes": [{"name": "A\ud83d", "type": "n8n-nodes-base.set", "typeVersion": 3,
        "parameters": {"x": "\ud83d", "y": "={{ $('B').first() }}"}}],
        "connections": {"A\ud83d": {"main": [[{"node": "C", "type": "main", "index": 0}]]}}}"#,
    );
    let found: Vec<_> = problems.list.iter().map(|problem| (problem.rule, problem.node.as_str())).collect();
    assert_eq!(found, [(Rule::UnknownNode, "A\u{fffd}"), (Rule::NoSuchNode, "A\u{fffd}")]);
}

#[test]
fn disabled_nodes_are_not_checked() {
    let mut nodes = [set("A", "={{ $('B').item.json.x }} {{ ' }}"), set("C", "{{ $json.x }}")];
    assert_eq!(found(&nodes, &[]).list.len(), 3);
    nodes.iter_mut().for_each(|node| node["disabled"] = json!(true));
    assert_eq!(found(&nodes, &[]), Problems::default());
}

#[test]
fn a_loop_never_returns() {
    let nodes = |version: f64| [node("L", "splitInBatches", version, json!({})), set("A", ""), set("B", "")];
    assert_eq!(lines(&nodes(3.0), &["L:1 > A", "A > B"]), ["loopNeverReturns L"]);
    assert!(lines(&nodes(3.0), &["L:1 > A", "A > B", "B > L"]).is_empty());
    assert!(lines(&nodes(3.0), &["L > A"]).is_empty(), "nothing is looped");
    assert_eq!(
        lines(&nodes(2.0), &["L > A", "L:1 > B", "B > L"]),
        ["loopNeverReturns L"],
        "its first output is the loop"
    );
}

#[test]
fn a_response_is_not_awaited_or_never_comes() {
    let hook = |version: f64, mode: &str| node("W", "webhook", version, json!({"path": "a", "responseMode": mode}));
    let respond = || node("R", "respondToWebhook", 1.1, json!({}));
    let of = |hook: Value, connections: &[&str]| lines(&[hook, respond()], connections);
    assert_eq!(of(hook(2.0, "onReceived"), &["W > R"]), ["respondNotAwaited W: 'R' follows"]);
    let by_default = node("W", "webhook", 2.0, json!({"path": "a"}));
    assert_eq!(of(by_default, &["W > R"]), ["respondNotAwaited W: 'R' follows"]);
    assert!(of(node("W", "webhook", 2.0, json!({})), &["W > R"]).is_empty(), "its parameters are not there");
    assert_eq!(of(hook(2.0, "responseNode"), &[]), ["webhookNeverResponds W"]);
    for (version, mode, connections) in [
        (2.0, "responseNode", &["W > R"][..]),
        (2.0, "streaming", &["W > R"]),
        (2.0, "={{ $json.x }}", &["W > R"]),
        (2.0, "onReceived", &[]),
        (1.1, "onReceived", &["W > R"]),
    ] {
        assert!(of(hook(version, mode), connections).is_empty(), "{version} {mode}");
    }
    let form = |version: f64, mode: &str| node("W", "formTrigger", version, json!({"responseMode": mode}));
    assert_eq!(of(form(2.1, "onReceived"), &["W > R"]), ["respondNotAwaited W: 'R' follows"]);
    assert_eq!(of(form(2.1, "responseNode"), &[]), ["webhookNeverResponds W"]);
    assert_eq!(of(form(2.2, "onReceived"), &["W > R"]).len(), 1, "not supported at all");
    let mut disabled = respond();
    disabled["disabled"] = json!(true);
    assert!(lines(&[hook(2.0, "responseNode"), disabled], &["W > R"]).is_empty(), "n8n counts disabled ones");
}

#[test]
fn a_response_to_a_wait_is_not_the_webhooks() {
    let wait = |mode: &str| node("P", "wait", 1.1, json!({"resume": "webhook", "responseMode": mode}));
    let nodes = |mode: &str| {
        [node("W", "webhook", 2.0, json!({"path": "a"})), wait(mode), node("R", "respondToWebhook", 1.1, json!({}))]
    };
    assert!(lines(&nodes("responseNode"), &["W > P", "P > R"]).is_empty());
    assert_eq!(lines(&nodes("onReceived"), &["W > P", "P > R"]).len(), 1);
}

#[test]
fn a_connection_has_two_ends() {
    assert_eq!(lines(&[set("A", "")], &["A > B"]), ["noSuchNode A: A[main:0] -> B[main:0]"]);
    assert_eq!(lines(&[set("A", "")], &["B > A"]), ["noSuchNode B: B[main:0] -> A[main:0]"]);
}

#[test]
fn an_output_is_not_there() {
    let b = || set("B", "");
    assert_eq!(lines(&[set("A", ""), b()], &["A:1 > B"]), ["noSuchOutput A: A[main:1] -> B[main:0]; it has main:0"]);
    let switch = |parameters: Value| node("A", "switch", 3.0, parameters);
    let rules = json!({"rules": {"values": [{}, {}]}});
    assert_eq!(lines(&[switch(rules.clone()), b()], &["A:2 > B"]).len(), 1);
    assert!(lines(&[switch(rules), b()], &["A:1 > B"]).is_empty());
    assert!(lines(&[switch(json!({})), b()], &["A:3 > B"]).is_empty(), "its rules are not there");
    assert!(lines(&[switch(json!({"options": {}})), b()], &["A:3 > B"]).is_empty(), "nor here");
    assert!(lines(&[node("A", "set", 9.0, json!({"a": 1})), b()], &["A:3 > B"]).is_empty(), "an unknown version");
    assert!(lines(&[node("A", "acme", 1.0, json!({"a": 1})), b()], &["A:3 > B"]).is_empty(), "an unknown type");
    let mut failing = set("A", "");
    failing["onError"] = json!("continueErrorOutput");
    assert!(lines(&[failing, b()], &["A:1 > B"]).is_empty(), "the output for errors");
}

#[test]
fn an_item_is_read_of_a_node_that_is_not_before() {
    let nodes = |value: &str| [trigger("T"), set("A", ""), set("B", value), set("C", "")];
    let of = |value: &str| lines(&nodes(value), &["T > A", "T > B", "B > C"]);
    assert_eq!(of("={{ $('A').item.json.x }}"), ["notUpstream B: no path leads from it to this node"]);
    assert_eq!(of("={{ $('C').item.json.x }}"), ["notUpstream B: no path leads from it to this node"]);
    for silent in [
        "={{ $('T').item.json.x }}",
        "={{ $('A').first().json.x }}",
        "={{ $('B').item.json.x }}",
        "={{ $('A').item?.json.x }}",
        "={{ $('A').isExecuted }} {{ $('A').item.json.x }}",
    ] {
        assert!(of(silent).is_empty(), "{silent}");
    }
    assert!(lines(&nodes("={{ $('A').item.json.x }}"), &["T > A", "A > C", "C > B", "B > C"]).is_empty());
    assert!(lines(&nodes("={{ $('A').item.json.x }}"), &["T > A", "C > B"]).is_empty(), "it never runs");
}

#[test]
fn an_item_is_read_of_a_node_of_another_trigger() {
    let nodes = |value: &str| [trigger("T"), trigger("U"), set("A", ""), set("B", value)];
    let of = |value: &str, connections: &[&str]| lines(&nodes(value), connections);
    let apart = &["T > A", "U > B"];
    assert_eq!(of("={{ $('A').first().json.x }}", apart), ["notUpstream B: it only runs after 'T'"]);
    assert_eq!(of("={{ $('T').first().json.x }}", apart), ["notUpstream B: it only runs after 'T'"]);
    assert!(of("={{ $('A').first().json.x }}", &["T > A", "U > A", "U > B"]).is_empty());
    // n8n has the parameters of every node.
    for of_any in ["={{ $('A').params.value }}", "={{ $node['A'].parameter.value }}", "={{ $('A').context.x }}"] {
        assert!(of(of_any, apart).is_empty(), "{of_any}");
    }
}

/// The excerpt of an error is not shown if it may be of a secret.
#[test]
fn an_excerpt_has_no_secret() {
    let header = |name: &str| json!({"headers": [{"name": name, "value": "={{ 'Bearer s3cr3t }}"}]});
    let excerpt =
        |parameters: Value| found(&[node("A", "set", 1.0, parameters)], &[]).list.swap_remove(0).reference.unwrap();
    for secret in [
        header("Authorization"),
        json!({"password": "={{ 's3cr3t }}"}),
        json!({"password": "{{ $json.a + 's3cr3t' }}"}),
        json!({"url": "=https://a.example/?api_key=s3cr3t&a={{ 'b }}"}),
    ] {
        assert_eq!(excerpt(secret.clone()), "[redacted]", "{secret}");
    }
    assert!(excerpt(header("Accept")).contains("s3cr3t"));
}

#[test]
fn a_sub_node_has_the_items_of_its_user() {
    let nodes = |value: &str| [trigger("T"), set("A", ""), set("Agent", ""), set("Tool", value), set("B", "")];
    let of = |value: &str| found(&nodes(value), &["T > A", "A > Agent", "Tool:ai_tool > Agent", "T > B"]);
    let rules = |value: &str| of(value).list.iter().map(|problem| problem.rule).collect::<Vec<_>>();
    assert!(!rules("={{ $('A').item.json.x }}").contains(&Rule::NotUpstream));
    assert!(rules("={{ $('B').item.json.x }}").contains(&Rule::NotUpstream));
    assert!(of("").unreached.is_empty());
}

#[test]
fn names_and_urls_are_there_once() {
    assert_eq!(lines(&[set("A", ""), set("A", "")], &[]), ["duplicateName A"]);
    let note = || node("Note", "stickyNote", 1.0, json!({}));
    assert!(lines(&[note(), note(), set("Note", ""), set("", ""), set("", "")], &["Note > Note"]).is_empty());
    let hook = |name: &str, parameters: Value| node(name, "webhook", 2.0, parameters);
    let of = |one: Value, other: Value| lines(&[hook("A", one), hook("B", other)], &[]);
    let post = || json!({"path": "/x", "httpMethod": "POST"});
    assert_eq!(of(json!({"path": "x"}), json!({"path": "x/"})), ["duplicateWebhook B: GET /x, as 'A'"]);
    assert_eq!(of(post(), json!({"path": "x", "multipleMethods": true})), ["duplicateWebhook B: POST /x, as 'A'"]);
    assert!(of(post(), json!({"path": "x"})).is_empty());
    assert!(of(json!({"path": "={{ 1 }}"}), json!({"path": "={{ 1 }}"})).is_empty());
    assert!(of(json!({}), json!({})).is_empty());
}

#[test]
fn nothing_leads_to_some_nodes() {
    let note = node("Note", "stickyNote", 1.0, json!({}));
    let problems = found(&[trigger("T"), set("A", ""), set("B", ""), set("C", ""), note], &["T > A", "B > C"]);
    assert_eq!(problems.unreached, ["B"]);
}

#[test]
fn errors_come_first_in_the_order_of_the_nodes() {
    let nodes = [set("A", "{{ $json.x }}"), set("B", "={{ $('X').item }}"), set("C", "={{ ' }}")];
    assert_eq!(
        found(&nodes, &[]).list.iter().map(|one| (one.severity, one.node.as_str())).collect::<Vec<_>>(),
        [(Severity::Error, "B"), (Severity::Error, "C"), (Severity::Warning, "A")]
    );
}

#[test]
fn many_names_take_no_time() {
    let names: String = (0..50_000).map(|name| format!("{{{{ $('{name}').item }}}}{{{{ $('A').item }}}}")).collect();
    let others = (0..2_000).map(|name| set(&format!("n{name}"), "={{ $('A').item.json.x }}"));
    let nodes: Vec<_> =
        [trigger("T"), set("A", ""), set("B", &format!("={names}"))].into_iter().chain(others).collect();
    let chain: Vec<_> = (1..2_000).map(|name| format!("n{} > n{name}", name - 1)).collect();
    let connections: Vec<_> =
        ["T > A", "T > B", "T > n0"].into_iter().chain(chain.iter().map(String::as_str)).collect();
    let begun = std::time::Instant::now();
    let problems = found(&nodes, &connections).list;
    assert_eq!(problems.len(), 50_000 + 1 + 2_000);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn always_output_data_is_meant_for_one_output() {
    let of = |kind: &str, parameters: Value, more: Value| {
        let mut asked = node("A", kind, 2.2, parameters);
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let problems = found(&[asked], &[]);
        assert!(problems.list.is_empty(), "it is often meant");
        problems.always_output
    };
    let (always, on_error) = (json!({"alwaysOutputData": true}), "continueErrorOutput");
    let conditions = || json!({"conditions": {}});
    assert_eq!(of("if", conditions(), always.clone()), ["A"]);
    assert_eq!(of("httpRequest", json!({"url": "u"}), json!({"alwaysOutputData": true, "onError": on_error})), ["A"]);
    assert!(of("if", conditions(), json!({"alwaysOutputData": false})).is_empty());
    assert!(of("if", conditions(), json!({"alwaysOutputData": true, "disabled": true})).is_empty());
    assert!(of("set", json!({"value": "v"}), always.clone()).is_empty(), "one output");
    assert!(of("someNode", json!({"a": 1}), always).is_empty(), "its outputs are not known");
}

#[test]
fn what_the_editor_hides_is_not_checked() {
    const WRONG: &str = "={{ $('Nope').item.json.x }} {{ ' }}";
    let request = |version: f64, parameters: Value| node("A", "httpRequest", version, parameters);
    let agent =
        |parameters: Value| json!({"name": "A", "type": "@n8n/n8n-nodes-langchain.agent", "parameters": parameters});
    let fields = json!({"parameters": [{"name": "a", "value": WRONG}]});
    for (asked, is_hidden) in [
        (request(4.2, json!({"jsonBody": WRONG})), true),
        (request(4.2, json!({"sendBody": true, "jsonBody": WRONG})), true),
        (request(4.2, json!({"sendBody": true, "specifyBody": "json", "jsonBody": WRONG})), false),
        (request(2.0, json!({"bodyParametersJson": WRONG})), false),
        (request(4.2, json!({"sendBody": true, "bodyParameters": fields})), false),
        (request(4.2, json!({"sendBody": true, "specifyBody": "json", "bodyParameters": fields})), true),
        (
            request(4.2, json!({"sendBody": true, "contentType": "multipart-form-data", "bodyParameters": fields})),
            false,
        ),
        (request(4.2, json!({"sendBody": true, "contentType": "raw", "body": WRONG})), false),
        (request(4.2, json!({"sendBody": true, "body": WRONG})), true),
        (request(4.2, json!({"sendQuery": true, "queryParameters": fields})), false),
        (request(4.2, json!({"queryParameters": fields})), true),
        (request(4.2, json!({"sendQuery": true, "specifyQuery": "json", "jsonQuery": WRONG})), false),
        (request(4.2, json!({"sendHeaders": false, "headerParameters": fields})), true),
        (request(4.2, json!({"url": WRONG})), false),
        (node("A", "set", 3.4, json!({"jsonOutput": WRONG})), true),
        (node("A", "set", 3.4, json!({"mode": "raw", "jsonOutput": WRONG})), false),
        (node("A", "set", 3.4, json!({"mode": "raw", "assignments": [WRONG]})), true),
        (node("A", "code", 2.0, json!({"language": "python", "jsCode": "return ["})), true),
        (node("A", "code", 2.0, json!({"jsCode": "return ["})), false),
        (agent(json!({"promptType": "auto", "text": WRONG})), true),
        (agent(json!({"promptType": "define", "text": WRONG})), false),
        // As the execution that ran shows it.
        (node("A", "set", 3.4, json!({"hidden": WRONG})), true),
    ] {
        assert_eq!(found(std::slice::from_ref(&asked), &[]).list.is_empty(), is_hidden, "{asked}");
    }
}

#[test]
fn parameters_that_cannot_be_read_are_named() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for parameters in [r#"{"a": 1e400, "b": "={{ ' }}"}"#, &format!(r#"{{"a": {deep}}}"#)] {
        let problems =
            check(&format!(r#"{{"nodes": [{{"name": "A", "parameters": {parameters}}}], "connections": {{}}}}"#));
        assert_eq!(problems.unread, ["A"], "{parameters}");
    }
    assert!(found(&[json!({"name": "A"}), json!({"name": "B", "parameters": null})], &[]).unread.is_empty());
}
