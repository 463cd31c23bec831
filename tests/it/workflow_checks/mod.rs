//! `check_workflow`: true findings in executions that a real n8n wrote, and no others, through the real binary.

use std::path::Path;
use std::process::Command;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server::{self, Reply, Server};
use crate::support::binary;
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::workflows::call;

mod evaluated_once;
mod handled;
mod misread;

/// The mistakes in the expressions of the fixtures' workflows: each is the cause that the fixture was made for, or a trace of it.
const FINDINGS: [(&str, &str, &str, &str); 4] = [
    ("dropped_for_one_country", "missingField", "Freight cost", "$json.zone"),
    ("error_as_item", "nullValue", "Score", "$json.seats"),
    ("renamed_field", "missingField", "Map fields", "$json.person.email"),
    ("type_of_one", "mixedTypes", "Main warehouse", "$json.warehouse.id"),
];

/// Runs the command on a workflow and an execution in files; returns its answer and whether it exited with 0.
fn check(arguments: &[&str]) -> (Value, bool) {
    let output = Command::new(binary())
        .arg("check-workflow")
        .args(arguments)
        .env_remove("N8N_URL")
        .env("N8N_LENS_LOCALE", "en")
        .output()
        .unwrap();
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.success())
}

fn write(folder: &Path, name: &str, body: &[u8]) -> String {
    let file = folder.join(name);
    std::fs::write(&file, body).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn executions_as_they_ran_have_the_problems_that_they_were_made_for_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let all = [fixtures::executions(), fixtures::scenarios(), fixtures::questions()].concat();
    assert!(all.len() > 30);
    for (name, body) in all {
        let file = write(folder.path(), "execution.json", &body);
        let (answer, passed) = check(&["--execution", &file]);
        let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
        let found: Vec<_> = problems
            .iter()
            .map(|one| {
                [&one["rule"], &one["nodeName"], &one["reference"]].map(|text| text.as_str().unwrap_or_default())
            })
            .collect();
        let expected: Vec<_> = FINDINGS
            .iter()
            .filter(|(fixture, ..)| *fixture == name)
            .map(|(_, rule, node, reference)| [*rule, *node, *reference])
            .collect();
        assert_eq!(found, expected, "{name}: {answer}");
        assert_eq!(passed, problems.iter().all(|one| one["severity"] != "error"), "{name}");
        let tokens = budget::count(&answer.to_string());
        assert!(tokens <= if found.is_empty() { 60 } else { 140 }, "{name}: {tokens} tokens: {answer}");
    }
}

/// The body of a fixture whose workflow has another text in the parameters of a node.
fn with_expression(name: &str, node: &str, pointer: &str, text: &str) -> Value {
    let scenarios = fixtures::scenarios();
    let (_, body) = scenarios.iter().find(|(fixture, _)| fixture == name).unwrap();
    let mut body = fixtures::parse(body);
    let nodes = body["workflowData"]["nodes"].as_array_mut().unwrap();
    let node = nodes.iter_mut().find(|one| one["name"] == node).unwrap();
    *node["parameters"].pointer_mut(pointer).unwrap() = json!(text);
    body
}

/// An execution in which If sends items 1 to `yes` to its first output, with `yes`, and 5 more to its second one, with `no`; Filter
/// keeps one of those, and a node makes ten of it. `expressions` are those of the last node.
fn of_outputs(yes: u64, expressions: &[&str]) -> Value {
    let node = |name: &str, node_type: &str| json!({"name": name, "type": format!("n8n-nodes-base.{node_type}"), "typeVersion": 2, "parameters": {}});
    let to = |node: &str| json!([{"node": node, "type": "main", "index": 0}]);
    let items = |numbers: std::ops::Range<u64>, field: &str| -> Value {
        numbers.map(|n| json!({"json": {"n": n, field: if n % 2 == 0 { json!(n) } else { json!("odd") }}, "pairedItem": {"item": n}})).collect()
    };
    let run = |index: u64, source: Value, outputs: Value| {
        json!([{"startTime": 1_795_226_662_000_u64 + index, "executionIndex": index, "executionTime": 1, "executionStatus": "success", "source": source,
            "data": {"main": outputs}}])
    };
    let from = |node: &str, output: u64| json!([{"previousNode": node, "previousNodeOutput": output}]);
    let set = |expressions: &[&str]| -> Value {
        expressions.iter().map(|text| json!(format!("={{{{ {text} }}}}"))).collect()
    };
    let mut last = node("Last", "set");
    last["parameters"] = json!({"fields": set(expressions)});
    let all = yes + 5;
    let repeated: Value = (0..10).map(|_| json!({"json": {"n": 0}, "pairedItem": {"item": 0}})).collect();
    json!({"id": "1", "status": "success", "mode": "manual", "workflowId": "w", "data": {"resultData": {"runData": {
        "Read": run(0, json!([]), json!([items(0..all, "yes")])),
        "If": run(1, from("Read", 0), json!([items(0..yes, "yes"), items(yes..all, "no")])),
        "Filter": run(2, from("If", 1), json!([items(yes..yes + 1, "no"), items(yes + 1..all, "no")])),
        "Split": run(3, from("Filter", 0), json!([repeated.clone()])),
        "Last": run(4, from("Split", 0), json!([repeated])),
    }}}, "workflowData": {"id": "w", "name": "Outputs", "nodes": [node("Read", "code"), node("If", "if"), node("Filter", "filter"), node("Split", "splitOut"), last],
        "connections": {"Read": {"main": [to("If")]}, "If": {"main": [[], to("Filter")]}, "Filter": {"main": [to("Split")]}, "Split": {"main": [to("Last")]}}}})
}

#[test]
fn only_the_outputs_that_lead_to_a_node_are_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let found = |expressions: &[&str]| -> Vec<[String; 3]> {
        let file = write(folder.path(), "execution.json", of_outputs(6, expressions).to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
        problems
            .iter()
            .map(|one| ["rule", "reference", "items"].map(|member| one[member].to_string().replace('"', "")))
            .collect()
    };
    // What only the first output has never comes here.
    for (text, items) in [
        ("$('If').first().json.yes", "1"),
        ("$('If').item.json.yes", "5"),
        ("$node.If.json.yes", "5"),
        ("$('If').all()[0].json.yes", "1"),
    ] {
        assert_eq!(found(&[text]), [["missingField", text, items].map(str::to_owned)], "{text}");
    }
    // Filter keeps one item: the others are in an output that leads nowhere.
    assert!(found(&["$('Filter').item.json.no", "$('Filter').first().json.no"]).is_empty());
    // All ten items came from one: Read's other items are of another type, but never read.
    assert!(found(&["$('Read').item.json.yes", "$('If').item.json.no"]).is_empty());
    // A number says which output is read; which item a computed index reads is not known.
    assert!(
        found(&["$('If').first(0).json.yes", "$items('If', 1)[0].json.no", "$('Read').all()[$json.n].json.yes"])
            .is_empty()
    );
    assert_eq!(
        found(&["$('If').last(1).json.yes"]),
        [["missingField", "$('If').last(1).json.yes", "1"].map(str::to_owned)]
    );
}

#[test]
fn wrong_expressions_are_named_with_what_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let at = "/conditions/conditions/0/leftValue";
    let cases: [(&str, Option<[&str; 3]>); 12] = [
        ("={{ $json.warehouse.ID }}", Some(["missingField", "error", "warehouse.id"])),
        ("={{ $json.warehuose.id }}", Some(["missingField", "error", "warehouse.id"])),
        ("={{ $json.data.warehouse.id }}", Some(["missingField", "error", "warehouse.id"])),
        ("={{ $json.nothing.of.this.kind }}", Some(["missingField", "error", ""])),
        ("={{ $json.nothing?.of?.this }}", None),
        ("={{ $json.warehuose?.id ?? 1 }}", Some(["missingField", "error", "warehouse.id"])),
        ("={{ $('Get tickets').first().json.warehouse.idd }}", Some(["missingField", "error", "warehouse.id"])),
        ("={{ $('Nope').item.json.a }}", Some(["unknownNode", "error", ""])),
        ("={{ $json.warehouse.id + }}", Some(["syntax", "error", ""])),
        ("{{ $json.warehouse.id }}", Some(["missingEquals", "warning", ""])),
        ("={{ $('Get tickets').item.json.warehouse.id ?? 0 }}", Some(["mixedTypes", "warning", ""])),
        ("=a text", None),
    ];
    for (text, expected) in cases {
        let body = with_expression("type_of_one", "Main warehouse", at, text);
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        let problem = &answer["data"]["problems"][0];
        let Some([rule, severity, near]) = expected else {
            assert!(problem.is_null(), "{text}: {answer}");
            continue;
        };
        let found =
            [&problem["rule"], &problem["severity"], &problem["near"]].map(|text| text.as_str().unwrap_or_default());
        assert_eq!(found, [rule, severity, near], "{text}: {answer}");
        assert_eq!((&problem["nodeName"], &problem["parameter"]), (&json!("Main warehouse"), &json!(at)), "{text}");
    }
}

/// Items with these values.
fn items(values: &Value) -> Value {
    values.as_array().unwrap().iter().map(|json| json!({"json": json})).collect()
}

/// An execution of `Source -> Kept -> Use`; its other way, `Source -> No -> Use`, was not taken. `Source` output these values,
/// and `Kept` those.
fn executed(asking: Value, source: &Value, kept: &Value) -> Value {
    let set = |name: &str| json!({"name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {}});
    let mut asking = asking;
    asking["name"] = json!("Use");
    let to = |names: &[&str]| {
        let ends: Vec<_> = names.iter().map(|name| json!({"node": name, "type": "main", "index": 0})).collect();
        json!({ "main": [ends] })
    };
    json!({"id": "1", "status": "success", "data": {"resultData": {"runData": {
            "Source": [{"executionIndex": 0, "source": [], "data": {"main": [items(source)]}}],
            "Kept": [{"executionIndex": 1, "source": [{"previousNode": "Source"}], "data": {"main": [items(kept)]}}],
            "Use": [{"executionIndex": 2, "source": [{"previousNode": "Kept"}], "data": {"main": [[]]}}]}}},
        "workflowData": {"name": "W", "nodes": [set("Source"), set("Kept"), set("No"), asking],
            "connections": {"Source": to(&["Kept", "No"]), "Kept": to(&["Use"]), "No": to(&["Use"])}}})
}

/// The problems of such an execution, as `rule reference`.
fn problems_of(asking: Value, source: &Value, kept: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", executed(asking, source, kept).to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    let text = |problem: &Value, member: &str| problem[member].as_str().unwrap_or_default().to_owned();
    let all = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| format!("{} {}", text(one, "rule"), text(one, "reference"))).collect()
}

fn set_to(text: &str) -> Value {
    json!({"type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {"value": text}})
}

fn code(text: &str) -> Value {
    json!({"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text}})
}

#[test]
fn a_node_that_did_not_run_is_named_however_it_is_read() {
    let one = json!([{"a": 1}]);
    for (asking, expected) in [
        (code("for (const i of $('No').all()) f(i)"), Some("$('No')")),
        (code("return $input.all().concat($items('No'))"), Some("$items('No')")),
        (set_to("={{ JSON.stringify($('No').first().json) }}"), Some("$('No').first().json")),
        (set_to("={{ $('No').item.binary.data.fileName }}"), Some("$('No')")),
        (set_to("={{ $('No').first().json.a }}"), Some("$('No').first().json.a")),
        (set_to("={{ $node['No'].json.a }}"), Some("$node['No'].json.a")),
        (set_to("={{ $('No').params.a }}"), None),
        (set_to("={{ $('No').isExecuted }} {{ $('No').first().json.a }}"), None),
        (set_to("={{ $('No').first()?.json.a }}"), None),
        (set_to("={{ $json.a /* $('No').first().json.a */ }}"), None),
        (code("if (x) f($('No').all())"), None),
        (code("const node = $('No')"), None),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("nodeNotRun {reference}")).collect();
        assert_eq!(problems_of(asking.clone(), &one, &one), expected, "{asking}");
    }
}

#[test]
fn a_pinned_node_need_not_run() {
    let one = json!([{"a": 1}]);
    let mut body = executed(set_to("={{ $('No').first().json.b }}"), &one, &one);
    let rules = |body: &Value| {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
        problems.iter().map(|one| one["rule"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(rules(&body), ["nodeNotRun"]);
    body["data"]["resultData"]["pinData"] = json!({"No": [{"json": {"b": 1}}]});
    assert_eq!(rules(&body), [""; 0]);
}

#[test]
fn placeholders_of_a_crash_are_not_items() {
    let one = json!([{"isArtificialRecoveredEventItem": true}]);
    for text in ["={{ $json.b }}", "={{ $('Source').first().json.b }}", "={{ $('Kept').item.json.b }}"] {
        let mut body = executed(set_to(text), &one, &one);
        let missing = |body: &Value| {
            let folder = tempfile::tempdir().unwrap();
            let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
            check(&["--execution", &file]).0["data"]["problems"].as_array().cloned().unwrap_or_default().len()
        };
        assert_eq!(missing(&body), 1, "{text}");
        for node in ["Source", "Kept"] {
            body["data"]["resultData"]["runData"][node][0]["startTime"] = json!(1_795_226_662);
        }
        assert_eq!(missing(&body), 0, "{text}");
    }
}

#[test]
fn a_list_of_items_is_of_the_first_output_and_a_length_has_two_forms() {
    let mut body = executed(set_to("={{ $items('Source')[0].json.t }}"), &json!([{"t": 1}]), &json!([{"tags": [1]}]));
    body["data"]["resultData"]["runData"]["Source"][0]["data"]["main"] =
        json!([[{"json": {"t": 1}}], [{"json": {"f": 1}}]]);
    body["data"]["resultData"]["runData"]["Kept"][0]["source"] =
        json!([{"previousNode": "Source", "previousNodeOutput": 1}]);
    let connections = json!({"Source": {"main": [[], [{"node": "Kept", "type": "main", "index": 0}]]}, "Kept": {"main": [[{"node": "Use", "type": "main", "index": 0}]]}});
    body["workflowData"]["connections"] = connections;
    let mut references = |text: &str| {
        body["workflowData"]["nodes"][3]["parameters"]["value"] = json!(text);
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
        problems.iter().map(|one| one["reference"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(references("={{ $items('Source')[0].json.t }}"), [""; 0]);
    assert_eq!(references("={{ $items('Source')[0].json.f }}"), ["$items('Source')[0].json.f"]);
    assert_eq!(references("={{ $items('Source', 1)[0].json.f }}"), [""; 0]);
    assert_eq!(references("={{ $items('Source', $runIndex + 1)[0].json.f }}"), [""; 0], "it can be any output");
    assert_eq!(references("={{ $json.tags['length'] + $json['tags'].length }}"), [""; 0]);
}

#[test]
fn a_node_that_ran_only_after_it_is_named_and_not_its_items() {
    let one = json!([{"a": 1}]);
    let body = |connections: Value| {
        let mut body = executed(set_to("={{ $('No').first().json.b }}"), &one, &one);
        let ran = json!([{"executionIndex": 3, "source": [{"previousNode": "Use"}], "data": {"main": [items(&one)]}}]);
        body["data"]["resultData"]["runData"]["No"] = ran;
        body["workflowData"]["connections"]["Source"] =
            json!({"main": [[{"node": "Kept", "type": "main", "index": 0}]]});
        body["workflowData"]["connections"]["No"] = connections;
        body["workflowData"]["connections"]["Use"] = json!({"main": [[{"node": "No", "type": "main", "index": 0}]]});
        body
    };
    let problems = |body: &Value| {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        let (answer, _) = check(&["--execution", &file]);
        let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
        problems.iter().map(|one| json!([one["rule"], one["detail"]])).collect::<Vec<_>>()
    };
    let last = body(json!({}));
    assert_eq!(problems(&last), [json!(["nodeNotRun", "'No' ran only after it."])]);
    // In a loop, it can come before the next run.
    let around = body(json!({"main": [[{"node": "Use", "type": "main", "index": 0}]]}));
    assert_eq!(problems(&around), [json!(["missingField", null])]);
    let mut twice = last.clone();
    let runs = twice["data"]["resultData"]["runData"]["Use"].as_array_mut().unwrap();
    runs.push(json!({"executionIndex": 4, "source": [{"previousNode": "Kept"}], "data": {"main": [[]]}}));
    assert_eq!(problems(&twice), [json!(["missingField", null])]);
}

#[test]
fn an_item_that_the_current_one_came_from_may_be_any() {
    let mails =
        |mails: Value| -> Value { mails.as_array().unwrap().iter().map(|mail| json!({"mail": mail})).collect() };
    let (some, mixed) = (mails(json!(["a", null, "b"])), mails(json!([1, "2", 3])));
    for (path, source, kept, expected) in [
        ("mail", &some, 2, None),
        ("mail", &some, 3, Some("nullValue")),
        ("mail", &mails(json!([null, null, null])), 2, Some("nullValue")),
        ("mail", &mixed, 2, None),
        ("mail", &mixed, 3, Some("mixedTypes")),
        ("mial", &some, 2, Some("missingField")),
    ] {
        let kept = json!(source.as_array().unwrap()[..kept]);
        let expected: Vec<_> = expected.iter().map(|rule| format!("{rule} $('Source').item.json.{path}")).collect();
        let asking = set_to(&format!("={{{{ $('Source').item.json.{path} }}}}"));
        assert_eq!(problems_of(asking, source, &kept), expected, "{path} {source} {kept}");
    }
}

#[test]
fn what_is_provided_for_is_no_problem() {
    let conditions = |kind: &str, conditions: Value| json!({"type": format!("n8n-nodes-base.{kind}"), "typeVersion": 2.2, "parameters": {"conditions": {"conditions": conditions}}});
    let condition = |left: &str, operation: &str| {
        json!({"leftValue": left, "rightValue": "={{ $json.gone }}",
        "operator": {"type": "boolean", "operation": operation, "singleValue": true}})
    };
    let equals = |left: &str| json!({"leftValue": left, "operator": {"type": "number", "operation": "equals"}, "rightValue": 500});
    // The items of the first rule never come to the second.
    let switch = |first: Value| {
        json!({"type": "n8n-nodes-base.switch", "typeVersion": 3.2, "parameters": {"rules": {"values": [
        {"conditions": {"conditions": [first]}}, {"conditions": {"conditions": [equals("={{ $json.error.code }}")]}}]}}})
    };
    let (code_of, next) = ("={{ $json.error.code }}", "$input.first().json.next");
    let errors = json!([{"error": {"code": 500}}, {"a": 1}]);
    let (lines, product) = (json!([{"line1": "x"}]), json!([{"product": {"name": "x"}}]));
    for (asking, source, expected) in [
        (conditions("if", json!([equals(code_of)])), &errors, Some("$json.error.code")),
        (conditions("if", json!([condition("={{ $json.error }}", "exists"), equals(code_of)])), &errors, None),
        (conditions("filter", json!([condition("={{ $json.error.code }}", "exists"), equals(code_of)])), &errors, None),
        (
            conditions("if", json!([condition("={{ $json.a }}", "exists"), equals(code_of)])),
            &errors,
            Some("$json.error.code"),
        ),
        (switch(condition("={{ $json.error }}", "notExists")), &errors, None),
        (switch(condition("={{ $json.a }}", "notExists")), &errors, Some("$json.error.code")),
        // The right side of a condition that has none.
        (conditions("if", json!([condition("={{ $json.line1 }}", "true")])), &lines, None),
        (code(&format!("return f({next})")), &lines, Some(next)),
        (code(&format!("if ({next}) return []")), &lines, None),
        (code(&format!("const v = {next}\nif (v) return []")), &lines, None),
        (code(&format!("if ({next} instanceof Date) return []")), &lines, None),
        (code(&format!("if ({next} === void 0) return []")), &lines, None),
        (code(&format!("switch ({next}) {{ case undefined: return []; }}")), &lines, None),
        (code(&format!("switch ({next}) {{ case 1: return []; }}")), &lines, Some(next)),
        (set_to("={{ Object.keys($json).includes('a') ? 1 : $json.a }}"), &lines, None),
        (set_to("={{ Object.keys($json).length + $json.line2 }}"), &lines, Some("$json.line2")),
        (set_to("={{ $json.line2 }}"), &lines, Some("$json.line2")),
        (set_to("={{ $json.line2 ?? '' }}"), &lines, None),
        (set_to("={{ [$json.line1, $json.line2].filter(Boolean).join() }}"), &lines, None),
        (set_to("={{ ({...$json.address, a: $json.city}) }}"), &lines, Some("$json.city")),
        (set_to("={{ $json.lien1 ?? '' }}"), &lines, Some("$json.lien1")),
        (set_to("={{ $json.customer?.name ?? 'Guest' }}"), &product, None),
        (set_to("={{ $json.prodcut?.name ?? 'Guest' }}"), &product, Some("$json.prodcut?.name")),
        (set_to("={{ $json.name ?? 'Guest' }}"), &product, Some("$json.name")),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("missingField {reference}")).collect();
        assert_eq!(problems_of(asking.clone(), source, source), expected, "{asking}");
    }
}

#[test]
fn what_code_sets_itself_is_not_looked_up() {
    let lines = json!([{"lines": [{"qty": 1}, {"qty": 2}]}, {"lines": [{"qty": 3}]}]);
    let for_each = |text: &str| {
        let mut node = code(text);
        node["parameters"]["mode"] = json!("runOnceForEachItem");
        node
    };
    for (text, expected) in [
        ("const j = $input.item.json; j.late = 1; return {json: {a: $json.late}}", None),
        ("Object.assign($json, {merged: 5}); return {json: {a: $json.merged}}", None),
        ("const f = ($json) => $json.other; return {json: {a: f({other: 1})}}", None),
        ("$json.lines.forEach((l) => { l.total = l.qty }); return {json: {a: $json.lines[0].total}}", None),
        ("$json.lines.push({extra: 1}); return {json: {a: $json.lines[2].extra}}", None),
        ("const a = {}; a.total = 1; return {json: {a: $json.liens.total}}", Some("$json.liens.total")),
        ("const total = $json.totl; return {json: {total}}", Some("$json.totl")),
        ("const out = {}; out.qtty = $json.qtty; return {json: out}", Some("$json.qtty")),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("missingField {reference}")).collect();
        assert_eq!(problems_of(for_each(text), &lines, &lines), expected, "{text}");
    }
}

#[test]
fn an_answer_says_what_could_not_be_looked_at() {
    let message = |change: &dyn Fn(&mut Value)| {
        let mut body = executed(set_to("={{ $json.gone }}"), &json!([{"a": 1}]), &json!([{"a": 1}]));
        change(&mut body);
        let folder = tempfile::tempdir().unwrap();
        let body = body.to_string().replace("\"huge\"", "1e400");
        let file = write(folder.path(), "execution.json", body.as_bytes());
        check(&["--execution", &file]).0["message"].as_str().unwrap().to_owned()
    };
    let too_large = message(&|body| {
        body["dataTooLargeToDisplay"] = json!(true);
        body["data"]["resultData"]["runData"] = json!({});
    });
    assert!(too_large.contains("only the structure") && too_large.contains("ignoreDataSizeLimit"), "{too_large}");
    let no_data = message(&|body| body["data"]["resultData"]["runData"] = json!({}));
    assert_eq!(no_data, "No problems. The execution has no data of any node: only the structure was checked.");
    let unread = message(&|body| body["workflowData"]["nodes"][3]["parameters"]["n"] = json!("huge"));
    assert!(unread.contains("The parameters of 'Use' cannot be read"), "{unread}");
    let problem = message(&|_| {});
    assert!(problem.starts_with("1 problem in the workflow as it ran."), "{problem}");
    let always = message(&|body| {
        let node = &mut body["workflowData"]["nodes"][3];
        (node["alwaysOutputData"], node["onError"]) = (json!(true), json!("continueErrorOutput"));
        node["parameters"]["value"] = json!("x");
    });
    assert!(always.starts_with("No problems. Before n8n 3.0, Always Output Data"), "{always}");
}

/// An n8n with the workflow of an execution as its draft, and the execution, whose workflow has the defaults filled in, and not
/// what n8n's editor hides.
fn n8n(body: &Value, hidden: &str) -> (WorkflowStore, Server) {
    let mut filled = body.clone();
    filled["workflowId"] = json!("w");
    for node in filled["workflowData"]["nodes"].as_array_mut().unwrap() {
        node["parameters"]["authenticationOfTests"] = json!("none");
        node["parameters"]["noticeOfTests"] = json!("");
    }
    let store = WorkflowStore::new(Flavour::V2);
    let mut workflow = body["workflowData"].clone();
    workflow["id"] = json!("w");
    workflow["versionId"] = body["workflowVersionId"].clone();
    for node in workflow["nodes"].as_array_mut().unwrap() {
        node["parameters"]["hiddenOfTests"] = json!(hidden);
    }
    store.put(workflow);
    let id = body["id"].as_str().unwrap().to_owned();
    let executions = server::n8n_handler([(id, filled.to_string().into_bytes())].into_iter().collect());
    let answering = store.clone();
    let n8n = Server::start(move |request| match request.path.as_str() {
        "/api/v1/executions" => Reply::json(200, r#"{"data":[{"id":"37","workflowId":"w"}],"nextCursor":null}"#),
        _ => answering.answer(request).unwrap_or_else(|| executions(request)),
    });
    (store, n8n)
}

#[test]
fn a_draft_is_checked_before_and_after_an_edit() {
    let at = "/conditions/conditions/0/leftValue";
    let body = with_expression("type_of_one", "Main warehouse", at, "={{ $json.warehouse.idd }}");
    let (_store, n8n) = n8n(&body, "={{ $json.leftOver }}");
    let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows", "--locale", "en"]);
    let ask = json!({"workflowId": "w", "executionId": body["id"]});
    let before = call(&mut client, "check_workflow", ask.clone());
    assert_eq!(before["data"]["problems"][0]["near"], "warehouse.id", "{before}");
    let fix = json!({"type": "patchNodeParameter", "nodeName": "Main warehouse", "path": at, "patches": [{"find": ".idd", "replace": ".type"}]});
    let rename = json!({"type": "renameNode", "oldName": "Get tickets", "newName": "Tickets"});
    call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": [fix, rename]}));
    // A renamed node is the same node; its items have no such path either.
    let after = call(&mut client, "check_workflow", ask.clone());
    assert_eq!(after["data"]["problems"][0]["reference"], "$json.warehouse.type", "{after}");
    // Neither is a node another one that names it.
    let names = json!({"type": "setNodeParameter", "nodeName": "Main warehouse", "path": at, "value": "={{ $('Tickets').item.json.warehouse.typ }}"});
    call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": [names]}));
    let after = call(&mut client, "check_workflow", ask.clone());
    assert_eq!(after["data"]["problems"][0]["reference"], "$('Tickets').item.json.warehouse.typ", "{after}");
    // The future output of a changed node is unknown.
    let change = json!({"type": "setNodeParameter", "nodeName": "Tickets", "path": "/changed", "value": true});
    call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": [change]}));
    let stale = call(&mut client, "check_workflow", ask);
    assert!(stale["data"]["problems"].is_null(), "{stale}");
    assert!(stale["message"].as_str().unwrap().contains("not looked up"), "{stale}");

    let alone = call(&mut client, "check_workflow", json!({"workflowId": "w"}));
    assert!(alone["message"].as_str().unwrap().contains("executionId: '37', the newest one"), "{alone}");
    let unknown = json!({"workflowId": "w", "nodeName": "Main warehose"});
    let refused = client.call("check_workflow", unknown).unwrap_err();
    assert!(refused.contains("Did you mean 'Main warehouse'?"), "{refused}");
    let refused = client.call("check_workflow", json!({})).unwrap_err();
    assert!(refused.contains("Pass workflowId"), "{refused}");
    let broken = json!({"type": "setNodeParameter", "nodeName": "Main warehouse", "path": at, "value": "={{ $('Nope').item.json.v }}"});
    let edited = call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": [broken]}));
    assert_eq!(edited["data"]["newProblems"][0]["rule"], "unknownNode", "{edited}");
    let again = json!({"type": "setNodeSettings", "nodeName": "Main warehouse", "settings": {"notes": "x"}});
    let edited = call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": [again]}));
    assert_eq!((&edited["data"]["newProblems"], &edited["data"]["oldProblems"]), (&Value::Null, &json!(1)), "{edited}");
}

#[test]
fn a_draft_is_named_and_what_is_hidden_in_it_is_not_checked() {
    let at = "/conditions/conditions/0/leftValue";
    let body = with_expression("type_of_one", "Main warehouse", at, "={{ $json.warehouse.idd }}");
    let (store, n8n) = n8n(&body, "={{ $('Gone').item.json.leftOver }}");
    let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows", "--locale", "en"]);
    let mut ask = |with: Value| call(&mut client, "check_workflow", with);
    let both = json!({"workflowId": "w", "executionId": body["id"]});
    let answer = ask(both.clone());
    let problems = answer["data"]["problems"].as_array().unwrap();
    assert!(problems.len() == 1 && problems[0]["near"] == "warehouse.id", "{answer}");
    assert!(answer["message"].as_str().unwrap().starts_with("1 problem. References were"), "{answer}");
    let mut draft = store.get("w").unwrap();
    draft["active"] = json!(true);
    store.put(draft.clone());
    store.save_draft("w", draft["nodes"].clone());
    for with in [both, json!({"workflowId": "w"})] {
        let answer = ask(with);
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("The draft was checked, not the published version."), "{answer}");
    }
}

#[test]
fn a_summary_names_the_check_where_an_expression_failed() {
    let guidance = |error: Value, toolsets: &str| {
        let one = json!([{"a": 1}]);
        let mut body = executed(set_to("={{ $json.b.c }}"), &one, &one);
        body["status"] = json!("error");
        body["data"]["resultData"]["error"] = error.clone();
        let run = &mut body["data"]["resultData"]["runData"]["Use"][0];
        (run["executionStatus"], run["error"]) = (json!("error"), error);
        let n8n =
            Server::start(server::n8n_handler([("1".to_owned(), body.to_string().into_bytes())].into_iter().collect()));
        let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", toolsets, "--locale", "en"]);
        let answer = call(&mut client, "get_execution", json!({"id": "1"}));
        assert_eq!(answer["data"]["_guidance"]["example"], "get_execution_by_node(id: '1', nodeName: 'Use')");
        answer["data"]["_guidance"]["message"].as_str().unwrap().to_owned()
    };
    let said = |name: &str, message: &str| json!({"name": name, "message": message, "node": {"name": "Use"}});
    let undefined = || said("TypeError", "Cannot read properties of undefined (reading 'c') [line 1]");
    for (error, toolsets, is_named) in [
        (undefined(), "executions,workflows", true),
        (undefined(), "executions", false),
        (said("ExpressionError", "Referenced node doesn't exist"), "executions,workflows", true),
        (said("NodeApiError", "Forbidden"), "executions,workflows", false),
    ] {
        let message = guidance(error.clone(), toolsets);
        assert_eq!(message.contains("check_workflow(executionId: '1')"), is_named, "{error}: {message}");
        assert!(message.starts_with("Use get_execution_by_node"), "{message}");
    }
}

#[test]
fn a_redacted_execution_is_not_looked_into() {
    let at = "/conditions/conditions/0/leftValue";
    let mut body = with_expression("type_of_one", "Main warehouse", at, "={{ $json.warehouse.idd }}");
    body["data"]["redactionInfo"] = json!({"isRedacted": true});
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    assert!(
        answer["data"]["problems"].is_null() && answer["message"].as_str().unwrap().contains("redacted"),
        "{answer}"
    );
}

#[test]
fn files_are_edited_and_checked_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = json!({"name": "W", "nodes": [{"name": "A", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [0, 0], "parameters": {"v": 1}}], "connections": {}});
    let file = write(folder.path(), "w.json", workflow.to_string().as_bytes());
    let run = |arguments: &[&str]| {
        let output =
            Command::new(binary()).args(arguments).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en").output().unwrap();
        (
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
            output.status.code(),
        )
    };
    let bad =
        json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/v", "value": "={{ $('Nope').item.json.v }}"}]);
    let operations = write(folder.path(), "operations.json", bad.to_string().as_bytes());
    let (said, code) = run(&["edit", &file, &operations, "--dry-run"]);
    assert!(code == Some(0) && said.contains("nothing was written") && said.contains("unknownNode"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), workflow.to_string());
    assert_eq!(run(&["check-workflow", &file]).1, Some(0));
    assert_eq!(run(&["edit", &file, &operations]).1, Some(0));
    let (said, code) = run(&["check-workflow", &file]);
    assert!(code == Some(1) && said.contains("unknownNode"), "{said}");
    let (said, code) = run(&["edit", &file, "nope.json"]);
    assert!(code == Some(1) && said.contains("'nope.json' cannot be read"), "{said}");
}

#[test]
fn standard_input_is_not_said_to_be_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let at = "/conditions/conditions/0/leftValue";
    let body = with_expression("type_of_one", "Main warehouse", at, "={{ $json.warehouse.idd }}");
    let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
    let mut command = Command::new(binary());
    command.args(["check-workflow", "--execution", "-"]).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en");
    let output = command.stdin(std::fs::File::open(file).unwrap()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("only the structure was checked") && !message.contains("looked up"), "{answer}");
    assert!(answer["data"]["checked"].is_null(), "{answer}");
}

/// A name with half a surrogate pair, which n8n's editor can create, is no reason to refuse a check.
#[test]
fn a_draft_with_half_a_surrogate_pair_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = "/conditions/conditions/0/leftValue";
    let body = with_expression("type_of_one", "Main warehouse", at, "={{ $json.warehouse.idd }}").to_string();
    let body = body.replace("Get tickets", "Get \\ud83d tickets");
    let execution = write(folder.path(), "execution.json", body.as_bytes());
    let from = body.find("\"workflowData\":").unwrap() + "\"workflowData\":".len();
    let workflow =
        serde_json::Deserializer::from_str(&body[from..]).into_iter::<Box<serde_json::value::RawValue>>().next();
    let draft = write(folder.path(), "draft.json", workflow.unwrap().unwrap().get().as_bytes());
    let (answer, _) = check(&[&draft, "--execution", &execution]);
    assert_eq!(answer["data"]["problems"][0]["near"], "warehouse.id", "{answer}");
}
