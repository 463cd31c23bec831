//! The fields: the projection against a reference, and the tool through the real binary.

use std::ops::Range;

use n8n_lens::execution::StoredProjection;
use n8n_lens::execution::fields::{ByRow, FieldsProjection, FieldsView, Repeated};
use n8n_lens::json::{Cursor, Projection};
use serde_json::{Value, json};

use crate::asking::{self, command, serving};
use crate::flatten::{Share, stored};
use crate::http_client::HttpServer;
use crate::projections::{Cut, pruned};
use crate::properties::checks::fields::as_json;
use crate::properties::checks::fields_reference::fields;
use crate::{fixtures, oracle};

fn of(node: &str) -> FieldsProjection {
    FieldsProjection { node: Some(node.to_owned()), ..FieldsProjection::default() }
}

fn view(body: &[u8], projection: &FieldsProjection, sizes: &[usize]) -> FieldsView {
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes)))).unwrap()
}

#[test]
fn the_fields_agree_with_the_reference_for_every_node() {
    compare_fields(0..60_000);
}

/// Compares the fields of the nodes of all executions and scenarios with this many bytes.
fn compare_fields(bytes: Range<usize>) {
    let bodies = fixtures::executions().into_iter().chain(fixtures::scenarios());
    for (name, body) in bodies.filter(|(_, body)| bytes.contains(&body.len())) {
        let value = fixtures::parse(&body);
        let body = value.to_string().into_bytes();
        for (node, _) in oracle::nodes(&value).into_iter().take(30) {
            let (items, truth, is_full) = fields(&value, &node);
            let view = view(&body, &of(&node), &[4096]);
            assert_eq!(view.has_more_paths, is_full, "{name}, {node:?}");
            // The reference does not cover files and errors of items.
            let is_json = |path: &str| !path.starts_with("binary") && !path.starts_with("error");
            let ours = view.fields.iter().map(as_json).filter(|field| is_json(field["path"].as_str().unwrap()));
            let truth = truth.into_iter().filter(|field| is_json(field["path"].as_str().unwrap()));
            assert_eq!(ours.collect::<Vec<_>>(), truth.collect::<Vec<_>>(), "{name}, {node:?}");
            assert_eq!(view.items, items as u64, "{name}, {node:?}");
        }
    }
}

#[test]
fn cuts_and_stores_change_nothing() {
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 35_000) {
        let body = String::from_utf8(body).unwrap();
        let stored = stored(&body, Share::Equal);
        let nodes = oracle::nodes(&fixtures::parse(body.as_bytes()));
        for projection in nodes.iter().map(|(node, _)| of(node)).chain([FieldsProjection::default()]) {
            let truth = format!("{:?}", view(body.as_bytes(), &projection, &[usize::MAX]).fields);
            for sizes in [[1], [63], [65]] {
                assert_eq!(format!("{:?}", view(body.as_bytes(), &projection, &sizes).fields), truth, "{name}");
            }
            let from_store = projection.read_stored(stored.revealed()).unwrap();
            assert_eq!(format!("{:?}", from_store.fields), truth, "{name}");
        }
    }
}

/// Sixty similar orders.
fn orders() -> Vec<Value> {
    let order = |n: usize| {
        json!({"json": {
            "id": n, "ref": format!("INV-{n}"), "paid": true, "customer": {"name": "Ann"},
            "lines": [{"sku": format!("S{n}"), "rate": 0.19}, {"sku": "S", "rate": 0.19}],
        }})
    };
    (0..60).map(order).collect()
}

fn execution(items: &[Value]) -> Value {
    let first = json!([{"json": {"id": 1}}]);
    json!({"id": "7", "status": "success", "data": {"resultData": {"runData": {
        "Later": [{"executionIndex": 2, "data": {"main": [items]}}],
        "Orders": [{"executionIndex": 1, "data": {"main": [[], items]}}],
        "Start": [{"executionIndex": 0, "data": {"main": [first]}}],
    }}}})
}

/// The outliers of all nodes after a change to the 18th order.
fn odd_after(change: impl Fn(&mut Value)) -> Vec<(String, u64, String, Option<String>)> {
    let mut items = orders();
    change(&mut items[17]["json"]);
    let view = view(execution(&items).to_string().as_bytes(), &FieldsProjection::default(), &[4096]);
    let odd = view.outliers.into_iter().map(|one| (one.node, one.outlier.place.item, one.path, one.outlier.value));
    odd.collect()
}

#[test]
fn an_odd_value_is_named_once_at_the_first_node_that_has_it() {
    let one =
        |path: &str, value: Option<&str>| vec![("Orders".to_owned(), 17, path.to_owned(), value.map(str::to_owned))];
    assert_eq!(odd_after(|_| {}), []);
    assert_eq!(odd_after(|order| order["id"] = json!("17")), one("id", Some("\"17\"")));
    assert_eq!(odd_after(|order| order["id"] = json!(null)), one("id", Some("null")));
    assert_eq!(odd_after(|order| drop(order["customer"].take())), one("customer", Some("null")));
    assert_eq!(odd_after(|order| drop(order.as_object_mut().unwrap().remove("customer"))), one("customer", None));
    assert_eq!(odd_after(|order| order["new"] = json!(5)), one("new", Some("5")));
    assert_eq!(odd_after(|order| order["paid"] = json!(false)), one("paid", Some("false")));
    assert_eq!(odd_after(|order| order["ref"] = json!("INV 17")), one("ref", Some("\"INV 17\"")));
    assert_eq!(odd_after(|order| order["lines"][1]["rate"] = json!(0.07)), one("lines[].rate", Some("0.07")));
    assert_eq!(
        odd_after(|order| drop(order["lines"][0].as_object_mut().unwrap().remove("rate"))),
        one("lines[].rate", None)
    );
    let fewer = odd_after(|order| drop(order["lines"].as_array_mut().unwrap().pop()));
    assert_eq!(fewer[0].2, "lines");
    // A number that is merely too large is not an outlier by the rule.
    assert_eq!(odd_after(|order| order["id"] = json!(1e12)), []);
}

#[test]
fn a_rare_value_among_several_common_ones_is_odd() {
    let odd = |values: &[(&str, usize)]| {
        let all = values.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count));
        let items: Vec<_> = all.map(|value| json!({"json": {"carrier": value}})).collect();
        let odd = view(execution(&items).to_string().as_bytes(), &FieldsProjection::default(), &[4096]).outliers;
        odd.first().and_then(|one| one.outlier.value.clone())
    };
    let hermes = Some("\"Hermes\"".to_owned());
    assert_eq!(odd(&[("DHL", 60), ("UPS", 30), ("Hermes", 1), ("GLS", 10)]), hermes);
    assert_eq!(odd(&[("DHL", 99), ("Hermes", 1)]), hermes);
    assert_eq!(odd(&[("DHL", 19), ("Hermes", 1)]), hermes);
    // No gap: the counts fall gradually.
    assert_eq!(odd(&[("DHL", 61), ("UPS", 30), ("GLS", 9), ("Hermes", 1)]), None);
    assert_eq!(odd(&[("DHL", 65), ("UPS", 30), ("GLS", 4), ("Hermes", 1)]), None);
    assert_eq!(odd(&[("DHL", 50), ("UPS", 47), ("Hermes", 3)]), None);
}

#[test]
fn a_string_is_one_value_in_whatever_way_it_is_written() {
    // The last two take more than 64 bytes.
    let long = r"\u00e9".repeat(12);
    let [one, two, three, other] = [r"aé\n", r"a\u00e9\n", r"\u0061é\u000a", r"a\\u00e9"];
    let texts = [one, two, one, three, other, two, three, one, other, &long, &long];
    let items: Vec<_> = texts.iter().map(|text| format!(r#"{{"json":{{"text":"{text}"}}}}"#)).collect();
    let body = execution(&[]).to_string().replacen("[[],[]]", &format!("[[{}]]", items.join(",")), 1);
    let field = view(body.as_bytes(), &of("Orders"), &[4096]).fields.remove(0);
    let counts = [(r#""aé\n""#, 7), (r#""a\\u00e9""#, 2), (r#""éééééééééééé""#, 2)];
    assert_eq!(field.values, counts.map(|(text, count)| (text.to_owned(), count)));
    assert_eq!((field.distinct, field.kinds), (Some(3), [0, 0, 0, 11, 0, 0]));
    assert_eq!(field.lengths.both, Some((3.0, 12.0)));
}

/// Items with more different values, or longer ones, than are counted individually.
fn varied_items(item: impl Fn([&str; 4]) -> String) -> String {
    let number = |n: usize| match n % 7 {
        0 => format!("{}", n * 37 % 1000),
        1 => format!("-{}.{n}", n * 53 % 500),
        2 => format!("{n}e{}", n % 3),
        3 => format!("-{n}.5E-{}", n % 4),
        4 => format!("{}.999999999999999999", n * 31 % 900),
        5 => format!("1234567890123456{n}"),
        _ => format!("-{}", n * 29 % 700),
    };
    let close = |n: usize| format!("{}9.{n:03}", ["", "-"][n % 2]);
    let long = |n: usize, many: usize| match n {
        246 => "ä".repeat(50),
        _ => format!("Grüße \\\" {} {}", "ß-".repeat(30), ["q", "7"][n % many % 2].repeat(1 + n % many)),
    };
    let items = (0..400).map(|n| item([&number(n), &close(n), &long(2 * n, 18), &long(n, 40)]));
    let items: Vec<_> = items.collect();
    execution(&[]).to_string().replacen("[[],[]]", &format!("[[{}]]", items.join(",")), 1)
}

#[test]
fn many_different_values_are_counted_by_range_and_pattern() {
    let compact = varied_items(|[number, close, repeated, long]| {
        format!(r#"{{"json":{{"n":{number},"close":{close},"repeated":"{repeated}","long":"{long}"}}}}"#)
    });
    let spaced = varied_items(|[number, close, repeated, long]| {
        let strings = format!("\"repeated\":  \"{repeated}\"\r\n,\"long\" :\"{long}\"");
        format!("{{\n  \"json\" : {{ \"n\" :\t{number} , \"close\": {close}\t, {strings} }}\n}}")
    });
    let (_, truth, _) = fields(&fixtures::parse(compact.as_bytes()), "Orders");
    for body in [compact, spaced] {
        let fields = view(body.as_bytes(), &of("Orders"), &[4096]).fields;
        assert_eq!(fields.iter().map(as_json).collect::<Vec<_>>(), truth);
        assert_eq!(fields[1].numbers.both, Some((-9.399, 9.398)));
        assert_eq!(fields[2].outlier.as_ref().unwrap().place.item, 123);
    }
}

/// The fields of items with this `json`.
fn fields_of(json: &[&str], projection: &FieldsProjection) -> FieldsView {
    let items: Vec<_> = json.iter().map(|json| format!(r#"{{"json":{json}}}"#)).collect();
    let body = execution(&[]).to_string().replacen("[[],[]]", &format!("[[{}]]", items.join(",")), 1);
    view(body.as_bytes(), projection, &[4096])
}

#[test]
fn only_secrets_are_changed_where_values_are_masked() {
    let nested = format!("{}1{}", r#"{"a":["#.repeat(14), "]}".repeat(14));
    let large = format!(
        r#"{{"token":1,"list":[{}],"text":"{}","deep":{nested},"last":true}}"#,
        vec!["7"; 100_000].join(","),
        "x".repeat(300 * 1024)
    );
    let of_all = |redacts| fields_of(&[&large, &large, &large], &FieldsProjection { redacts, ..of("Orders") }).fields;
    let (masked, open) = (of_all(true), of_all(false));
    assert_eq!(masked[1..], open[1..]);
    assert_eq!(
        (masked[0].kinds, masked[0].values.clone()),
        ([0, 0, 0, 3, 0, 0], vec![("\"[redacted]\"".to_owned(), 3)])
    );
}

#[test]
fn one_path_by_another_counts_values_and_not_pairs() {
    let by = |path: &str, by: &str, json: &[&str]| {
        let projection = FieldsProjection { below: Some(path.to_owned()), by: Some(by.to_owned()), ..of("Orders") };
        let rows = fields_of(json, &projection).by.unwrap().rows;
        let row = |row: &ByRow| (row.items, row.field.values.clone(), row.field.missing);
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let eur = |count| vec![("\"EUR\"".to_owned(), count)];
    let lines = r#""lines":[{"sku":"A"},{"sku":"A"},{"sku":"B"}]"#;
    let items = [format!(r#"{{"currency":"EUR",{lines}}}"#), format!("{{{lines}}}")];
    let items = items.each_ref().map(String::as_str);
    assert_eq!(by("currency", "lines[].sku", &items), [(2, eur(1), 1), (2, eur(1), 1)]);
    assert_eq!(by("lines[].sku", "currency", &items)[0].1, [("\"A\"".to_owned(), 2), ("\"B\"".to_owned(), 1)]);
}

#[test]
fn a_name_that_occurred_twice_is_told_even_if_there_are_too_many_names() {
    let names = |repeats: usize, others: usize| {
        let names = [0, 0].into_iter().take(repeats).chain(1..others);
        let items: Vec<_> = names.map(|n| format!(r#"{{"ref":"N-{n}"}}"#)).collect();
        let items: Vec<_> = items.iter().map(String::as_str).collect();
        let field = fields_of(&items, &of("Orders")).fields.remove(0);
        (field.repeated, field.names_compared)
    };
    let some = |(names, compared): (Option<Repeated>, _)| {
        (names.map(|names| (names.values, names.distinct, names.has_more)), compared)
    };
    assert_eq!(some(names(2, 100)), (Some((101, 100, false)), None));
    assert_eq!(some(names(2, 9000)), (Some((8194, 8193, true)), None));
    assert_eq!(some(names(1, 100)), (None, None));
    assert_eq!(some(names(1, 9000)), (None, Some(8193)), "none among these, which are not all");
}

#[test]
fn the_fields_of_one_path_list_the_values_that_occur_again() {
    let names = (0..40).chain([7, 3, 7]).chain(20..30);
    let items: Vec<_> = names.map(|n| json!({"json": {"ref": format!("N-{n}"), "n": n}})).collect();
    let (_n8n, mut client) = serving(&execution(&items), &[]);
    let mut repeated = |more: Value| {
        let mut arguments = json!({"id": "7", "nodeName": "Orders"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        data(&client.call("get_execution_fields", arguments).unwrap())["fields"][0]["repeated"].clone()
    };
    let place = |item: usize| json!([0, 1, item]);
    let again = |n: usize, item: usize| json!([format!("N-{n}"), [place(n), place(item)]]);
    let first = json!({"distinct": 40, "value": "N-7", "items": [place(7), place(40)]});
    assert_eq!(repeated(json!({})), first);
    let mut all = first;
    all["others"] = [again(3, 41)].into_iter().chain((20..28).map(|n| again(n, n + 23))).collect();
    assert_eq!(repeated(json!({"path": "ref"})), all);
}

#[test]
fn unusual_numbers_names_and_lists() {
    let numbers = fields_of(&[r#"{"n":1e999}"#, r#"{"n":2}"#, r#"{"n":-1e999}"#, r#"{"n":-3.5}"#], &of("Orders"));
    assert_eq!(numbers.fields[0].numbers.both, Some((-3.5, 2.0)));
    assert_eq!(fields_of(&[r#"{"n":1e999}"#], &of("Orders")).fields[0].numbers.both, None);
    let paths =
        |json: &[&str]| fields_of(json, &of("Orders")).fields.into_iter().map(|field| field.path).collect::<Vec<_>>();
    assert_eq!(paths(&[r#"{"":5}"#, r#"{"":{"b":6},"c":1}"#]), ["", "b", "c"]);
    assert_eq!(paths(&[r#"{"list":[]}"#, r#"{"list":[],"lists":[[]]}"#]), ["list", "lists", "lists[]"]);
    let deep = format!("{}{{\"x\":1}}{}", "[".repeat(40), "]".repeat(40));
    let field = fields_of(&[&deep, &deep], &of("Orders")).fields.pop().unwrap();
    assert_eq!((field.empty, field.lengths.both), (0, Some((1.0, 1.0))));
}

fn data(answer: &str) -> Value {
    asking::data(answer, "Fields retrieved")
}

#[test]
fn an_agent_sees_the_fields_over_mcp_rest_and_on_the_command_line() {
    let mut items = orders();
    items[17]["json"]["paid"] = json!("no");
    items[3]["json"].as_object_mut().unwrap().remove("id");
    let body = execution(&items);
    let (n8n, mut client) = serving(&body, &[]);
    let question = json!({"id": "7", "nodeName": "Orders"});
    let answer = client.call("get_execution_fields", question.clone()).unwrap();
    let expected = json!({"nodeName": "Orders", "items": 60, "fields": [
        {"path": "id", "type": "number", "missing": 1, "min": 0, "max": 59, "distinct": 59, "example": 0,
            "odd": {"output": 1, "item": 3, "missing": true}},
        {"path": "ref", "type": "string", "minLength": 5, "maxLength": 6, "distinct": 60, "example": "INV-0"},
        {"path": "paid", "types": {"boolean": 59, "string": 1}, "minLength": 2, "maxLength": 2,
            "values": [[true, 59], ["no", 1]], "odd": {"output": 1, "item": 17, "value": "no"}},
        {"path": "customer", "type": "object"},
        {"path": "customer.name", "type": "string", "minLength": 3, "maxLength": 3, "values": [["Ann", 60]]},
        {"path": "lines", "type": "array", "minLength": 2, "maxLength": 2},
        {"path": "lines[]", "type": "object"},
        {"path": "lines[].sku", "type": "string", "minLength": 1, "maxLength": 3, "distinct": 61, "example": "S0"},
        {"path": "lines[].rate", "type": "number", "min": 0.19, "max": 0.19, "values": [[0.19, 120]]},
    ]});
    assert_eq!(data(&answer), expected);
    let below =
        client.call("get_execution_fields", json!({"id": "7", "nodeName": "Orders", "path": "lines[0]"})).unwrap();
    assert_eq!(data(&below)["fields"], json!(expected["fields"].as_array().unwrap()[6..]));
    let all = data(&client.call("get_execution_fields", json!({"id": "7"})).unwrap());
    assert_eq!(
        all,
        json!({"items": 121, "odd": [
            {"nodeName": "Orders", "output": 1, "item": 3, "path": "id", "missing": true},
            {"nodeName": "Orders", "output": 1, "item": 17, "path": "paid", "value": "no"},
        ]})
    );
    let rest = HttpServer::start(&n8n.url(), &["--locale", "en"]);
    let call = json!({"name": "get_execution_fields", "parameters": question}).to_string();
    let over_rest = rest.send("POST", "/mcp/execute", &[("content-type", "application/json")], &call);
    assert_eq!(over_rest.message(), serde_json::from_str::<Value>(&answer).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), body.to_string()).unwrap();
    let output = command(&["fields", file.path().to_str().unwrap(), "Orders"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answer);
}

#[test]
fn a_node_or_run_that_does_not_exist_is_refused() {
    let (_n8n, mut client) = serving(&execution(&orders()), &[]);
    let mut refused = |arguments: Value| client.call("get_execution_fields", arguments).unwrap_err();
    let said = refused(json!({"id": "7", "nodeName": "orders"}));
    assert!(said.starts_with("Node 'orders' not found in execution '7'. Did you mean 'Orders'?"), "{said}");
    let said = refused(json!({"id": "7", "nodeName": "Orders", "runIndex": 1}));
    assert_eq!(said, "Node 'Orders' has 1 run in execution '7': runIndex 1 must be 0.");
}

#[test]
fn a_path_that_begins_in_json_may_be_one_of_a_member_with_this_name() {
    let item = |n: u64| json!({"json": {"id": n, "json": {"city": if n.is_multiple_of(3) { "Ulm" } else { "Bonn" }, "id": "x"}}});
    let (_n8n, mut client) = serving(&execution(&(0..30).map(item).collect::<Vec<_>>()), &[]);
    let mut paths = |arguments: Value| {
        let mut arguments = arguments;
        (arguments["id"], arguments["nodeName"]) = (json!("7"), json!("Orders"));
        data(&client.call("get_execution_fields", arguments).unwrap())
    };
    assert_eq!(paths(json!({"path": "json.city"}))["fields"][0]["values"], json!([["Ulm", 10], ["Bonn", 20]]));
    assert_eq!(paths(json!({"path": "json.id"}))["fields"][0]["type"], "number", "the field of the item itself");
    let by = paths(json!({"path": "id", "by": "json.city"}));
    assert_eq!(by["by"]["rows"].as_array().or(by["rows"].as_array()).map(Vec::len), Some(2), "{by}");
}

#[test]
fn secrets_are_masked_and_paths_are_bounded() {
    let item = |n: usize| {
        let mut json: serde_json::Map<_, _> = (0..410).map(|at| (format!("a{at}"), json!(n))).collect();
        json.shift_insert(0, "password".to_owned(), json!("planted"));
        json!({"json": json, "error": {"message": "Authorization: Bearer s3cret.s3cret"}})
    };
    let (_n8n, mut client) = serving(&execution(&(0..30).map(item).collect::<Vec<_>>()), &["--redact"]);
    let answer =
        client.call("get_execution_fields", json!({"id": "7", "nodeName": "Orders", "maxTokens": 25000})).unwrap();
    assert!(!answer.contains("planted") && !answer.contains("s3cret"), "{answer}");
    let data = data(&answer);
    assert_eq!(data["fields"][0]["values"], json!([["[redacted]", 30]]));
    assert!(data["truncated"]["reason"].as_str().unwrap().contains("more than 400 paths"), "{data}");
}

/// Large executions.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 15 s"]
    fn the_fields_of_larger_executions_agree_with_the_reference_for_every_node() {
        compare_fields(60_000..300_000);
    }
}
