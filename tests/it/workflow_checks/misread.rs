//! References that read other items, or another part of them, than they seem to.

use serde_json::{Value, json};

use super::{check, code, executed, problems_of, set_to, write};

#[test]
fn items_are_all_read_only_if_none_can_have_been_dropped_and_none_doubled() {
    let values = json!([{"v": null}, {"v": 1}, {"v": "2"}]);
    let problems = |way: Value| {
        let mut body = executed(set_to("={{ $('Source').item.json.v }}"), &values, &values);
        let kept = &mut body["workflowData"]["nodes"][1];
        (kept["type"], kept["parameters"]) = (way["type"].clone(), way["parameters"].clone());
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
        check(&["--execution", &file]).0["data"]["problems"].as_array().map_or(0, Vec::len)
    };
    for (kind, parameters, expected) in [
        ("set", json!({}), 1),
        ("filter", json!({}), 1),
        ("code", json!({"jsCode": "return $input.all()"}), 0),
        ("httpRequest", json!({}), 0),
        ("splitOut", json!({}), 0),
    ] {
        let way = json!({"type": format!("n8n-nodes-base.{kind}"), "parameters": parameters});
        assert_eq!(problems(way), expected, "{kind}");
    }
    // Nor if the node reads the first item only.
    let once = code("return f($('Source').item.json.v)");
    assert_eq!(problems_of(once, &values, &values), [""; 0]);
}

/// The problems of a node after `Source`, as `reference near`.
fn near(asking: Value, values: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", executed(asking, values, values).to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let near = |one: &Value| {
        assert_eq!(
            (&one["rule"], &one["severity"], &one["have"]),
            (&json!("missingField"), &json!("error"), &json!(0))
        );
        format!("{} {}", text(&one["reference"]), text(&one["near"]))
    };
    problems.iter().map(near).collect()
}

#[test]
fn a_missing_json_item_or_call_is_named_where_items_have_the_path() {
    let values = json!([{"status": "a", "body": {"x y": 1}, "tags": []}, {"status": "b"}]);
    for (reference, meant) in [
        ("$input.item.status", "json.status"),
        ("$input.first().status", "json.status"),
        ("$('Source').item.body['x y']", "json.body[\"x y\"]"),
        ("$('Source').first().body['x y']", "json.body[\"x y\"]"),
        ("$node['Source'].status", "json.status"),
        ("$items('Source')[0].status", "json.status"),
        ("$('Source').all()[0].status", "json.status"),
        ("$('Source').json.status", "item.json.status"),
        ("$('Source').body['x y']", "item.json.body[\"x y\"]"),
        ("$input.json.status", "item.json.status"),
        ("$('Source').first.json.status", "first().json.status"),
        ("$('Source').last.json.status", "last().json.status"),
        ("$('Source').item().json.status", "item.json.status"),
        ("$('Source').all().json.status", "all()[0].json.status"),
        ("$input.length", "all().length"),
        ("$('Source').all.length", "all().length"),
    ] {
        let asking = set_to(&format!("={{{{ {reference} }}}}"));
        assert_eq!(near(asking, &values), [format!("{reference} {meant}")], "{reference}");
    }
    for reference in [
        "$input.first().other",
        "$input.item.json.status ?? $input.item.status",
        "$('Source').item.pairedItem",
        "$('Source').params.status",
        "$('Source').all().length",
        "$input.first().keys()",
        "$input.context.status",
    ] {
        assert_eq!(near(set_to(&format!("={{{{ {reference} }}}}")), &values), [""; 0], "{reference}");
    }
    for (text, expected) in [
        ("return f($input.first().status, $('Source').first().status)", 2),
        ("const first = $input.first(); first.status = 1; return first", 0),
        ("$input.first().status = 1; return f($input.first().status)", 0),
        ("const $input = []; return f($input.length)", 0),
    ] {
        assert_eq!(near(code(text), &values).len(), expected, "{text}");
    }
    let default = near(set_to("={{ $input.first().status ?? 1 }}"), &values);
    assert_eq!(default, ["$input.first().status json.status"]);
}

#[test]
fn the_items_that_a_disabled_node_passed_through_are_looked_up() {
    let values = json!([{"total": 1}]);
    let mut body = executed(set_to("={{ $('Kept').item.json.totl }}"), &values, &values);
    let kept = &mut body["workflowData"]["nodes"][1];
    (kept["disabled"], kept["parameters"]) = (json!(true), json!({"value": "={{ $json.gone }}"}));
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", body.to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
    let references: Vec<_> = problems.iter().map(|one| &one["reference"]).collect();
    assert_eq!(references, ["$('Kept').item.json.totl"], "{answer}");
    assert_eq!(answer["data"]["checked"]["nodes"], 2, "{answer}");
}

/// The problems of a node after `Source`, as `severity reference have of items: detail`.
fn told(text: &str, values: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let asking = set_to(&format!("={{{{ {text} }}}}"));
    let file = write(folder.path(), "execution.json", executed(asking, values, values).to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let shown = |one: &Value| {
        assert_eq!(one["rule"], "missingField", "{answer}");
        let (severity, reference, detail) = (text(&one["severity"]), text(&one["reference"]), text(&one["detail"]));
        format!("{severity} {reference} {} of {}: {detail}", one["have"], one["items"])
    };
    problems.iter().map(shown).collect()
}

#[test]
fn a_number_beyond_the_items_is_named() {
    let (one, six) = (json!([{"a": 1}]), json!(vec![json!({"a": 1}); 6]));
    for (text, values, expected) in [
        ("$('Source').all()[1].json.a", &one, Some("warning $('Source').all()[1].json.a 0 of 1: There is 1 item.")),
        ("$('Source').all()[6].json.a", &six, Some("error $('Source').all()[6].json.a 0 of 6: There are 6 items.")),
        ("$input.all()[9].json.a", &six, Some("error $input.all()[9].json.a 0 of 6: There are 6 items.")),
        ("$items('Source')[7].json.a", &six, Some("error $items('Source')[7].json.a 0 of 6: There are 6 items.")),
        ("$('Source').all()[5].json.a", &six, None),
        ("$('Source').all()[6]?.json.a", &six, None),
        ("$('Source').all()[6].json.a ?? 1", &six, None),
        ("$('Source').all()[1].json.a", &json!([]), None),
    ] {
        assert_eq!(told(text, values), Vec::from_iter(expected.map(str::to_owned)), "{text}");
    }
}

#[test]
fn a_length_of_what_has_none_is_named() {
    let values = json!([{"total": 1, "customer": {"name": "x"}, "tags": [], "text": "", "box": {"length": 3}, "some": 1, "none": null},
        {"total": 2, "customer": {}, "tags": [], "text": "", "box": {}, "some": "x", "none": null}]);
    for (text, expected) in [
        ("$json.total.length", Some("error $json.total.length 0 of 2: ")),
        ("$json.customer.length", Some("error $json.customer.length 0 of 2: ")),
        ("$json.customer['length']", Some("error $json.customer.length 0 of 2: ")),
        ("$json.total?.length", None),
        ("$json.tags.length + $json.text.length + $json.box.length", None),
    ] {
        assert_eq!(told(text, &values), Vec::from_iter(expected.map(str::to_owned)), "{text}");
    }
}

#[test]
fn fields_that_a_pattern_takes_are_looked_up() {
    let values = json!([{"total": 1, "status": "a"}]);
    for (text, expected) in [
        ("const { totl } = $input.first().json; return f(totl)", Some("$input.first().json.totl")),
        ("const { totl: t, status } = $('Source').first().json\nreturn f(t)", Some("$('Source').first().json.totl")),
        ("const { total, ...rest } = $input.first().json; return f(total)", None),
        ("const { other = 1 } = $input.first().json; return f(other)", None),
        ("const { other } = $input.first().json; if (other) return f(other)", None),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("missingField {reference}")).collect();
        assert_eq!(problems_of(code(text), &values, &values), expected, "{text}");
    }
    let expression = set_to("={{ (() => { const { totl } = $json; return totl })() }}");
    assert_eq!(problems_of(expression, &values, &values), ["missingField $json.totl"]);
}

#[test]
fn a_file_with_hidden_parameters_is_unchanged() {
    let values = json!([{"a": 1}]);
    let body = executed(set_to("={{ $json.b }}"), &values, &values);
    let message = |change: &dyn Fn(&mut Value)| {
        let folder = tempfile::tempdir().unwrap();
        let mut ran = body.clone();
        // What n8n fills in.
        ran["workflowData"]["nodes"][1]["parameters"] = json!({"options": {}, "duplicateItem": false});
        let mut saved = body["workflowData"].clone();
        saved["nodes"][1]["parameters"] = json!({"options": {}, "jsonOutput": "={{ $json.leftOver }}"});
        change(&mut saved["nodes"][1]["parameters"]);
        let execution = write(folder.path(), "execution.json", ran.to_string().as_bytes());
        let workflow = write(folder.path(), "workflow.json", saved.to_string().as_bytes());
        check(&[&workflow, "--execution", &execution]).0["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message(&|_| {}), "1 problem. References were looked up in the items of execution 1.");
    let changed = message(&|parameters| parameters["options"] = json!({"dotNotation": false}));
    let expected = "No problems. References were looked up in the items of execution 1. \
        1 node was not looked up: it is new or changed since then, or fed by such a node.";
    assert_eq!(changed, expected);
}
