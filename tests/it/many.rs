//! Questions about many executions, through the real binary on n8n's own store: groups of failures, and trends.

use std::path::Path;
use std::process::Command;

use n8n_lens::execution::node_runs::NodeRunsProjection;
use n8n_lens::execution::search::{SearchProjection, TextPattern, ValueQuery};
use n8n_lens::execution::{StoredProjection, summary::SummaryProjection};
use n8n_lens::json::Projection;
use serde_json::{Value, json};

use crate::fixtures;
use crate::flatten::{Share, stored};
use crate::properties::checks::search::one_of_many;
use crate::random::Random;
use crate::support::n8n_store::N8nFolder;

/// When an execution started: one each hour from the first of October on.
fn at(id: u64) -> String {
    format!("2026-10-{:02}T{:02}:00:00.000Z", 1 + id / 24, id % 24)
}

/// An execution of three nodes.
pub(crate) fn execution(id: u64, version: &str) -> Value {
    let run = |index: u64, ms: u64, items: usize| {
        json!([{"executionIndex": index, "startTime": index, "executionTime": ms,
        "executionStatus": "success", "source": [], "data": {"main": [vec![json!({"json": {"n": id}}); items]]}}])
    };
    // Texts that are equal in n8n vary here, as in practice.
    let ms = 300 + (id * 7919) % 97;
    json!({"id": id.to_string(), "workflowId": "w", "status": "success", "finished": true, "mode": "webhook",
        "startedAt": at(id), "stoppedAt": at(id), "workflowVersionId": format!("{version}-0000-4000-8000-000000000000"),
        "data": {"resultData": {"runData": {"Z start": run(0, 1, 1), "A call": run(1, ms, 2), "constructor": run(2, 120, 3)}}},
        "workflowData": {"id": "w", "name": "Orders \u{1f600}", "nodes": [], "connections": {}}})
}

/// The same, where a node failed.
pub(crate) fn failed(id: u64, version: &str, node: &str, error: Value) -> Value {
    let mut body = execution(id, version);
    (body["status"], body["finished"]) = (json!("error"), json!(false));
    let result = &mut body["data"]["resultData"];
    result["runData"][node][0]["executionStatus"] = json!("error");
    result["runData"][node][0]["error"] = error.clone();
    (result["error"], result["lastNodeExecuted"]) = (error, json!(node));
    body
}

pub(crate) fn ask(store: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(crate::support::binary());
    command.arg(arguments[0]).args(["--json", "--locale", "en", "--store"]).arg(store).args(&arguments[1..]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn failures(store: &N8nFolder, more: &[&str]) -> Value {
    ask(store.path(), &[&["failures", "--started-after", "2026-01-01T00:00:00Z"], more].concat())
}

#[test]
fn failures_are_grouped_by_what_failed() {
    for (store, has_versions) in [(N8nFolder::wal(), true), (N8nFolder::rollback(), false)] {
        let connection = store.open();
        let http = |id: u64, code: u64| {
            let description = format!("parcel 9a8a7f13-239d-4815-a3a7-a72bcd4e{id:04} of no. {}", id * 31);
            json!({"name": "NodeApiError", "message": "The service failed", "description": description, "httpCode": code.to_string()})
        };
        for id in 1..=60 {
            let version = if id < 30 { "aaaaaaaa" } else { "bbbbbbbb" };
            let body = match id {
                // A pinned execution is good but says nothing about others.
                29 => json!({"mode": "manual"}),
                30 | 33 | 36 => failed(id, version, "A call", http(id, 500)),
                // The same text with another status, and at another node.
                31 => failed(id, version, "A call", http(id, 404)),
                34 => failed(id, version, "constructor", http(id, 500)),
                // Two texts that differ in a number, one of them quoted with halves of an emoji.
                10 | 12 => failed(
                    id,
                    version,
                    "Z start",
                    json!({"name": "Error", "message": format!("bad row {id} of \u{1f600}")}),
                ),
                40 => json!({"status": "canceled"}),
                _ => execution(id, version),
            };
            let mut whole = execution(id, version);
            for (name, value) in body.as_object().unwrap() {
                whole[name] = value.clone();
            }
            store.save_with(&connection, &whole);
        }
        let mut crashed = execution(61, "bbbbbbbb");
        crashed["status"] = json!("crashed");
        store.save_with(&connection, &crashed);
        drop(connection);

        let data = failures(&store, &["--limit", "20"])["data"].clone();
        let row = |group: &Value| {
            json!([
                group["node"],
                group["error"],
                group["count"],
                group["variants"],
                group["first"]["id"],
                group["last"]["id"],
                group["goodBefore"]["id"],
                group["edited"],
                group["goodAfter"]
            ])
        };
        // n8n 1.x keeps no version.
        let edited = if has_versions { json!(["aaaaaaaa", "bbbbbbbb"]) } else { Value::Null };
        let groups: Vec<_> = data["groups"].as_array().unwrap().iter().map(row).collect();
        let expected = [
            json!(["A call", "NodeApiError 500", 3, 3, "30", "36", "28", edited, 23]),
            json!(["Z start", "Error", 2, 2, "10", "12", "9", null, 41]),
            json!([null, null, 1, null, "61", "61", "60", null, 0]),
            json!(["constructor", "NodeApiError 500", 1, null, "34", "34", "32", null, 24]),
            json!(["A call", "NodeApiError 404", 1, null, "31", "31", "28", edited, 25]),
        ];
        assert_eq!(groups, expected, "{data}");
        assert_eq!((&data["failures"], &data["canceled"]), (&json!(8), &json!(1)));
        assert!(data["_guidance"].as_str().unwrap().starts_with("compare_executions(id: '"), "{data}");

        let one = failures(&store, &["--node", "constructor"])["data"].clone();
        assert_eq!((one["groups"].as_array().unwrap().len(), &one["failures"]), (1, &json!(1)));
        let first = failures(&store, &["--limit", "2"])["data"].clone();
        assert_eq!((first["groups"].as_array().unwrap().len(), &first["moreGroups"]), (2, &json!(3)));
        let none = ask(store.path(), &["failures", "--started-after", "2027-01-01T00:00:00Z"]);
        assert_eq!(
            (&none["message"], &none["data"]["groups"]),
            (&json!("No failures since 2027-01-01 00:00 UTC"), &json!([]))
        );
    }
}

/// Executions of eight days, 24 each; in the last day the node is slower from an edit on.
pub(crate) fn moving(store: &N8nFolder, change: impl Fn(u64, &mut Value)) {
    let connection = store.open();
    for id in 0..24 * 8 {
        let mut body = execution(id, if id < 24 * 7 + 1 { "aaaaaaaa" } else { "bbbbbbbb" });
        change(id, &mut body);
        store.save_with(&connection, &body);
    }
}

#[test]
fn what_moved_is_said_with_the_execution_and_the_edit() {
    let trend = |store: &N8nFolder, more: &[&str]| {
        ask(store.path(), &[&["trend", "w", "--until", "2026-10-08T23:59:59Z"], more].concat())["data"].clone()
    };
    let quiet = N8nFolder::wal();
    moving(&quiet, |_, _| {});
    let data = trend(&quiet, &[]);
    assert_eq!((&data["moved"], &data["steady"], &data["tooFew"]), (&json!([]), &json!(3), &json!([])), "{data}");
    assert_eq!((&data["before"]["executions"], &data["after"]["executions"]), (&json!(168), &json!(24)));
    let found = find(&quiet, &["--path", "n"]);
    assert_eq!(ids(&found).len(), 20);
    assert!(n8n_lens::budget::count(&found.to_string()) <= 1500, "{found}");

    let slow = N8nFolder::wal();
    moving(&slow, |id, body| {
        if id >= 24 * 7 + 2 && id % 2 == 0 {
            *body = failed(id, "bbbbbbbb", "constructor", json!({"message": "no"}));
        }
        if id > 24 * 7 {
            let run = &mut body["data"]["resultData"]["runData"]["A call"][0];
            run["executionTime"] = json!(run["executionTime"].as_u64().unwrap() * 3);
        }
    });
    let data = trend(&slow, &[]);
    let what: Vec<_> = data["moved"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moved| json!([moved["node"], moved["what"], moved["since"]["id"], moved["edited"]]))
        .collect();
    let edited = json!(["aaaaaaaa", "bbbbbbbb"]);
    assert!(what.contains(&json!(["A call", "slower", "169", edited])), "{data}");
    assert!(what.contains(&json!(["constructor", "failing", "169", edited])), "{data}");
    assert_eq!(what.len(), 2, "{data}");
    let stopped = N8nFolder::wal();
    moving(&stopped, |id, body| {
        if id >= 24 * 7 {
            body["data"]["resultData"]["runData"].as_object_mut().unwrap().remove("A call");
        }
    });
    let data = trend(&stopped, &[]);
    let moved = &data["moved"][0];
    assert_eq!(
        json!([moved["node"], moved["what"], moved["before"], moved["after"], moved["since"]["id"]]),
        json!(["A call", "stopped", {"runs": 168}, {"runs": 0}, "167"]),
        "{data}"
    );
    assert_eq!((data["moved"].as_array().unwrap().len(), &data["steady"], &data["tooFew"]), (1, &json!(2), &json!([])));
    assert!(n8n_lens::budget::count(&data.to_string()) <= 300, "{data}");
    // A longer period has too few earlier ones.
    let data = trend(&slow, &["--period", "7d"]);
    assert_eq!((&data["moved"], data["tooFew"].as_array().unwrap().len()), (&json!([]), 3), "{data}");
}

#[test]
fn what_was_not_read_is_neither_stopped_nor_a_group() {
    let store = N8nFolder::wal();
    // A node runs only in what is read of the seven days; in the last one, the data is in an object store or lost.
    moving(&store, |id, body| {
        if id >= 24 * 7 {
            body["storedAt"] = json!(if id % 2 == 0 { "s3" } else { "fs" });
            body["status"] = json!(if id % 8 == 0 { "error" } else { "success" });
        }
    });
    let trend = || ask(store.path(), &["trend", "w", "--until", "2026-10-08T23:59:59Z"])["data"].clone();
    let data = trend();
    assert_eq!((&data["moved"], &data["tooFew"]), (&json!([]), &json!([])), "{data}");
    assert_eq!((&data["before"]["executions"], &data["after"]["executions"]), (&json!(168), &json!(0)), "{data}");
    assert_eq!(data["notRead"], json!({"elsewhere": 12, "unreadable": 12}), "{data}");
    assert!(data["_guidance"].as_str().unwrap().contains("were not read"), "{data}");
    let answer = failures(&store, &[]);
    assert_eq!(answer["message"], "No failure could be read since 2026-01-01 00:00 UTC");
    assert_eq!(
        (&answer["data"]["failures"], &answer["data"]["notRead"]),
        (&json!(0), &json!({"elsewhere": 3})),
        "{answer}"
    );

    // Read again, but for one of the days before: what stopped is said.
    store.run("UPDATE execution_entity SET storedAt = 'db'; UPDATE execution_entity SET storedAt = 's3' WHERE id = 5");
    store.run(&format!("DELETE FROM execution_data WHERE executionId >= {}", 24 * 7));
    let connection = store.open();
    for id in 24 * 7..24 * 8 {
        let mut body = execution(id, "bbbbbbbb");
        body["data"]["resultData"]["runData"].as_object_mut().unwrap().remove("A call");
        store.save_data(&connection, id as i64, "{}", &crate::support::n8n_store::flatten_data(&body));
    }
    let data = trend();
    assert_eq!((&data["moved"][0]["what"], &data["notRead"]), (&json!("stopped"), &json!({"elsewhere": 1})), "{data}");
}

#[test]
fn more_runs_than_are_held_are_refused() {
    too_many_runs_are_refused(1, 100_001);
}

/// The trend of this many executions, each with this many runs.
fn too_many_runs_are_refused(executions: u64, runs: usize) {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=executions {
        store.save_row(&connection, &execution(id, "aaaaaaaa"));
        // Runs can share an element of the text.
        let runs = vec!["\"4\""; runs].join(",");
        let text = format!(
            r#"[{{"resultData":"1"}},{{"runData":"2"}},{{"A":"3"}},[{runs}],{{"startTime":1,"executionTime":5,"executionStatus":"5"}},"success"]"#
        );
        store.save_data(&connection, id as i64, "{}", &text);
    }
    let mut command = Command::new(crate::support::binary());
    command.args(["trend", "w", "--until", "2026-10-08T23:59:59Z", "--store"]).arg(store.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("choose a shorter period"), "{executions}: {said}");
}

#[test]
fn an_answer_about_many_fits_its_budget() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=60 {
        // Letters only: each is its own kind, until there are more than can be distinguished.
        let word: String = std::iter::repeat_n(char::from(b'a' + (id % 26) as u8), 3 + id as usize).collect();
        let error = json!({"name": format!("Error{word}"), "message": format!("{word} is no good")});
        store.save_with(&connection, &failed(id, "aaaaaaaa", "A call", error));
    }
    let slow = N8nFolder::wal();
    let name = |node: u64| format!("{} {node}", "a long name of a node".repeat(8));
    moving(&slow, |id, body| {
        let nodes = body["data"]["resultData"]["runData"].as_object_mut().unwrap();
        let mut run = nodes["A call"].clone();
        run[0]["executionTime"] = json!(if id > 24 * 7 { 3000 } else { 300 + id % 7 });
        nodes.extend((0..20).map(|node| (name(node), run.clone())));
    });
    for (tokens, store, arguments) in ["1000", "4000"].into_iter().flat_map(|tokens| {
        let trend: &[&str] = &["trend", "w", "--until", "2026-10-08T23:59:59Z"];
        [
            (tokens, &slow, trend),
            (tokens, &slow, &["find", "node", "--limit", "100", "--path", "n"]),
            (tokens, &slow, &["find", "--path", "n", "--limit", "100"]),
        ]
    }) {
        let answer = ask(store.path(), &[arguments, &["--max-tokens", tokens]].concat());
        let used = n8n_lens::budget::count(&answer.to_string());
        assert!(used <= tokens.parse().unwrap(), "{arguments:?}: {used} of {tokens}");
    }
    let ten = failures(&store, &[]);
    assert_eq!(ten["data"]["groups"].as_array().unwrap().len(), 10);
    assert!(n8n_lens::budget::count(&ten.to_string()) <= 1500, "{ten}");
    for tokens in ["1000", "2000", "4000"] {
        let answer = failures(&store, &["--limit", "100", "--max-tokens", tokens]);
        let used = n8n_lens::budget::count(&answer.to_string());
        assert!(used <= tokens.parse().unwrap(), "{used} of {tokens}");
        let shown = answer["data"]["groups"].as_array().unwrap().len() as u64;
        assert!(shown > 0 && shown + answer["data"]["moreGroups"].as_u64().unwrap_or(0) == 60, "{answer}");
    }
}

#[test]
fn the_runs_of_nodes_are_those_of_the_summary_in_a_body_and_in_the_store() {
    runs_are_those_of_the_summary(fixtures::executions());
}

/// Compares the runs of all nodes with their counts in the summary.
fn runs_are_those_of_the_summary(bodies: Vec<(String, Vec<u8>)>) {
    for (name, body) in bodies {
        let text = String::from_utf8(body).unwrap();
        let runs = NodeRunsProjection.read_from(text.as_bytes()).unwrap();
        let summary = SummaryProjection.read_from(text.as_bytes()).unwrap();
        for node in &summary.nodes {
            let of_node = &runs.nodes.iter().find(|(known, _)| *known == node.name).unwrap().1;
            let items: u64 = of_node.iter().map(|run| run.items).sum();
            assert_eq!(of_node.len() as u64, node.runs - node.copied_runs, "{name}: {}", node.name);
            assert!(items == node.items || node.copied_runs > 0, "{name}: {}", node.name);
        }
        let from_store = NodeRunsProjection.read_stored(stored(&text, Share::Equal).revealed()).unwrap();
        assert_eq!(from_store.nodes, runs.nodes, "{name}");
    }
}

#[test]
fn without_a_store_trends_are_not_offered() {
    let output = Command::new(crate::support::binary())
        .args(["trend", "w", "--json"])
        .env("N8N_URL", "http://127.0.0.1:1")
        .env("N8N_API_KEY", "key")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("--store"), "{error}");
}

pub(crate) fn find(store: &N8nFolder, more: &[&str]) -> Value {
    ask(store.path(), &[&["find"], more].concat())
}

pub(crate) fn ids(answer: &Value) -> Vec<String> {
    answer["data"]["executions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// Executions whose items, errors and names contain values in all the ways that n8n writes them.
fn hiding(store: &N8nFolder) -> Vec<Value> {
    let connection = store.open();
    let with = |id: u64, item: Value| {
        let mut body = execution(id, "aaaaaaaa");
        body["data"]["resultData"]["runData"]["A call"][0]["data"]["main"][0][1]["json"] = item;
        body
    };
    let bodies = vec![
        with(1, json!({"note": "order 4711 is late"})),
        with(2, json!({"order 4711": "a name is no value"})),
        with(3, json!({"number": 4711})),
        with(4, json!({"note": "Order 4711"})),
        with(5, json!({"deep": [{"list": ["x", "say \"order 4711\"\n\u{1f600}"]}]})),
        with(6, json!({"number": "4711", "other": 47110})),
        failed(7, "aaaaaaaa", "A call", json!({"message": "order 4711 was refused"})),
        with(8, json!({"rate": 17.5, "rates": 4711.5})),
        execution(9, "aaaaaaaa"),
    ];
    for body in &bodies {
        store.save_with(&connection, body);
    }
    bodies
}

#[test]
fn a_value_is_found_in_all_executions() {
    for store in [N8nFolder::wal(), N8nFolder::rollback()] {
        hiding(&store);
        let cases: [(&[&str], &[&str]); 9] = [
            (&["order 4711"], &["7", "5", "4", "1"]),
            (&["Order 4711"], &["4"]),
            (&["4711"], &["7", "6", "5", "4", "3", "1"]),
            (&["say \"order"], &["5"]),
            (&["\u{1f600}"], &["5"]),
            (&["--path", "number"], &["6", "3"]),
            (&["--path", "rate", "--above", "17"], &["8"]),
            (&["order", "--node", "constructor"], &[]),
            (&["order", "--started-after", &at(5)], &["7", "5"]),
        ];
        for (asked, expected) in cases {
            let answer = find(&store, asked);
            assert_eq!(ids(&answer), expected, "{asked:?}: {answer}");
        }
        let answer = find(&store, &["order 4711"]);
        assert_eq!(answer["message"], "Found in 4 of 9 executions");
        let first = &answer["data"]["executions"][3];
        assert_eq!(
            json!([first["hits"], first["nodeName"], first["path"], first["value"]]),
            json!([1, "A call", "note", "order 4711 is late"])
        );
        assert_eq!(find(&store, &["nowhere"])["message"], "Found in none of 9 executions");
        // Page by page, each execution once.
        let (mut pages, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let answer = match &cursor {
                None => find(&store, &["order 4711", "--limit", "1"]),
                Some(cursor) => find(&store, &["--cursor", cursor]),
            };
            pages.extend(ids(&answer));
            cursor = answer["data"]["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, ["7", "5", "4", "1"]);
    }
}

#[test]
fn finding_agrees_with_the_search_for_random_pieces_of_each_body() {
    agrees_for_random_pieces(6);
}

/// Random pieces of each body, in which an item has digits, quotes, controls, capitals and halves of emojis.
fn agrees_for_random_pieces(pieces: usize) {
    let mut random = Random(4711);
    for (name, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 1_000_000) {
        let mut value = fixtures::parse(&body);
        let odd = "4711 \"Order É 17.5\"\u{1}\t\\n ſK 注文😀\u{fffd}/null";
        let item = json!([[{"json": {"odd": odd, "number": 4711, "4711": {"Order": [true, 1e-7, "4711"]}}}]]);
        value["data"]["resultData"]["runData"]["odd"] = json!([{"startTime": 1, "data": {"main": item}}]);
        let text = value["data"]["resultData"]["runData"].to_string();
        for _ in 0..pieces {
            let of = random.pick(&[odd, &text]);
            let (from, length) = (random.index(of.chars().count()), 1 + random.index(8));
            let needle: String = of.chars().skip(from).take(length).collect();
            let needle = if random.one_in(2) { needle.to_lowercase() } else { needle };
            let query = ValueQuery { text: TextPattern::literal(&needle).ok(), ..ValueQuery::default() };
            let search = SearchProjection { query, node: None, output: None, limit: 1, redacts: random.one_in(4) };
            println!("{name}: {needle:?}");
            one_of_many(value.clone(), &search, random.one_in(2));
        }
    }
}

#[test]
fn finding_agrees_with_the_search_of_each_execution() {
    agrees_with_each_search(144);
}

/// Every piece, and the large execution.
mod slow {
    #[test]
    #[ignore = "slow: 3 s"]
    fn the_runs_of_the_large_execution_are_those_of_its_summary() {
        super::runs_are_those_of_the_summary(super::fixtures::large());
    }

    #[test]
    #[ignore = "slow: 20 s"]
    fn finding_agrees_with_the_search_for_many_random_pieces_of_each_body() {
        super::agrees_for_random_pieces(30);
    }

    #[test]
    #[ignore = "slow: 8 s"]
    fn more_runs_than_are_held_in_several_executions_are_refused() {
        super::too_many_runs_are_refused(11, 95_000);
    }

    #[test]
    #[ignore = "slow: 130 s"]
    fn finding_agrees_with_the_search_of_each_execution() {
        super::agrees_with_each_search(1);
    }
}

/// Searches for every `step`th piece of the bodies: all executions in which a single search finds it must be found.
fn agrees_with_each_search(step: usize) {
    let store = N8nFolder::wal();
    let mut bodies = hiding(&store);
    let connection = store.open();
    for (at, body) in hiding(&N8nFolder::wal()).into_iter().enumerate() {
        let mut body = body;
        body["id"] = json!((50 + at).to_string());
        store.save_bundle(&body);
        bodies.push(body);
    }
    for (at, (_, body)) in fixtures::executions().into_iter().enumerate() {
        // A Rust text cannot hold a lone surrogate.
        let Ok(mut body) = serde_json::from_slice::<Value>(&body) else { continue };
        if body["data"]["resultData"]["runData"].is_null() || body["status"] == "running" {
            continue;
        }
        body["id"] = json!((100 + at).to_string());
        match at % 2 {
            0 => store.save_with(&connection, &body),
            _ => _ = store.save_bundle(&body),
        }
        bodies.push(body);
    }
    // Pieces that occur, wherever they are, and pieces that do not.
    let mut needles =
        vec!["\\".to_owned(), "\"".to_owned(), "true".to_owned(), "0".to_owned(), "É".to_owned(), "zzzzqq".to_owned()];
    needles.extend(["1", "12", "47", "4711", "17.5", "200", "order", "\\n", "/", "K", "\u{fffd}"].map(str::to_owned));
    for body in &bodies {
        let text = body["data"]["resultData"]["runData"].to_string();
        let chars: Vec<char> = text.chars().collect();
        needles.extend([chars.len() / 3, chars.len() / 2].map(|from| chars[from..].iter().take(7).collect::<String>()));
    }
    for needle in needles.iter().step_by(step).filter(|needle| !needle.trim().is_empty()) {
        let found = ids(&find(&store, &["--limit", "100", "--max-tokens", "20000", "--", needle]));
        for body in &bodies {
            let id = body["id"].as_str().unwrap();
            let one = ask(store.path(), &["search", id, "--limit", "0", "--", needle]);
            let has = one["data"]["total"].as_u64().unwrap_or(0) > 0;
            assert_eq!(found.iter().any(|found| found == id), has, "{needle:?} in {id}: {one}");
        }
    }
}

#[test]
fn what_was_not_searched_is_counted_by_its_reason() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=4 {
        store.save_with(&connection, &execution(id, "aaaaaaaa"));
    }
    // Deleted, in an object store, without data, damaged, and in a bundle that does not exist.
    let mut deleted = execution(5, "aaaaaaaa");
    deleted["deletedAt"] = json!("2026-10-02T00:00:00.000Z");
    store.save_with(&connection, &deleted);
    let mut elsewhere = execution(6, "aaaaaaaa");
    elsewhere["storedAt"] = json!("s3");
    store.save_row(&connection, &elsewhere);
    store.save_row(&connection, &execution(7, "aaaaaaaa"));
    store.save_row(&connection, &execution(8, "aaaaaaaa"));
    store.save_data(&connection, 8, &execution(8, "aaaaaaaa")["workflowData"].to_string(), "[{\"resultData\":\"1\"},{");
    let mut gone = execution(9, "aaaaaaaa");
    gone["storedAt"] = json!("fs");
    store.save_row(&connection, &gone);
    store.save_row(&connection, &execution(10, "aaaaaaaa"));
    store.save_data(&connection, 10, "{}", "[]");
    // Cut off after the runs, in the database and in a bundle.
    let long = |id: u64| {
        let mut body = execution(id, "aaaaaaaa");
        body["data"]["resultData"]["runData"]["A call"][0]["data"]["main"][0][1]["json"]["n"] =
            json!("x".repeat(90_000));
        body
    };
    let whole = crate::support::n8n_store::flatten_data(&long(11));
    store.save_row(&connection, &long(11));
    store.save_data(&connection, 11, "{}", &whole[..whole.len() - 1]);
    let bundle = store.save_bundle(&long(12));
    let text = std::fs::read_to_string(&bundle).unwrap().replace("]\",\"workflowData", "\",\"workflowData");
    std::fs::write(bundle, text).unwrap();
    let answer = find(&store, &["--path", "n"]);
    assert_eq!(answer["message"], "Found in 4 of 4 executions");
    let expected = json!({"deleted": 1, "elsewhere": 1, "noData": 2, "unreadable": 4});
    assert_eq!(answer["data"]["notSearched"], expected, "{answer}");
    assert_eq!(find(&store, &["nowhere to be found"])["data"]["notSearched"], expected);
    // Only the executions of the page count.
    let first = find(&store, &["--path", "n", "--limit", "1"]);
    assert_eq!(first["data"]["notSearched"], expected, "{first}");
    let second = find(&store, &["--cursor", first["data"]["nextCursor"].as_str().unwrap()]);
    assert_eq!((ids(&second), &second["data"]["notSearched"]), (vec!["3".to_owned()], &Value::Null), "{second}");
}

#[test]
fn pages_that_the_budget_cuts_count_each_execution_once() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in 1..=90 {
        let mut body = execution(id, "aaaaaaaa");
        if id % 7 == 0 {
            body["deletedAt"] = json!("2026-10-02T00:00:00.000Z");
        }
        store.save_row(&connection, &body);
        let text = if id % 5 == 0 { "[{".to_owned() } else { crate::support::n8n_store::flatten_data(&body) };
        store.save_data(&connection, id as i64, &body["workflowData"].to_string(), &text);
    }
    let whole = find(&store, &["--path", "n", "--limit", "100", "--max-tokens", "20000"]);
    assert_eq!(whole["data"]["nextCursor"], Value::Null);
    let (mut shown, mut searched, mut unreadable, mut deleted, mut pages) = (Vec::new(), 0, 0, 0, 0);
    let mut cursor = None::<String>;
    loop {
        let page: &[&str] = match &cursor {
            None => &["--path", "n", "--limit", "100"],
            Some(cursor) => &["--cursor", cursor],
        };
        let answer = find(&store, &[page, &["--max-tokens", "1000"]].concat());
        let data = &answer["data"];
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        shown.extend(ids(&answer));
        searched += number(&data["searched"]["executions"]);
        unreadable += number(&data["notSearched"]["unreadable"]);
        deleted += number(&data["notSearched"]["deleted"]);
        pages += 1;
        let found = format!("Found in {} of {}", ids(&answer).len(), data["searched"]["executions"]);
        assert!(answer["message"].as_str().unwrap().starts_with(&found), "{answer}");
        assert_eq!(data["searched"]["from"], data["executions"].as_array().unwrap().last().unwrap()["startedAt"]);
        cursor = data["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((shown, pages > 3), (ids(&whole), true));
    let not = &whole["data"]["notSearched"];
    assert_eq!(
        json!([searched, unreadable, deleted]),
        json!([whole["data"]["searched"]["executions"], not["unreadable"], not["deleted"]])
    );
}

#[test]
fn what_was_not_examined_is_examined_by_the_next_call() {
    let store = N8nFolder::wal();
    let fill = |most: u64| {
        store.run(&format!(
            "DELETE FROM execution_entity;
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {most})
             INSERT INTO execution_entity (id, workflowId, finished, mode, startedAt, status)
             SELECT id, 'w', 0, 'webhook', strftime('%Y-%m-%d %H:%M:%f', '2026-10-01', '+' || id || ' seconds'), 'crashed' FROM n"
        ));
    };
    fill(10_050);
    let first = failures(&store, &[])["data"].clone();
    // The start of the last one that is left, not of the last one that was examined.
    assert_eq!(
        (&first["failures"], &first["notExamined"]["before"]),
        (&json!(10_000), &json!("2026-10-01T00:00:50.000Z"))
    );
    let rest = failures(&store, &["--started-before", "2026-10-01T00:00:50.000Z"])["data"].clone();
    assert_eq!((&rest["failures"], &rest["notExamined"]), (&json!(50), &Value::Null), "{rest}");
    fill(10_000);
    let all = failures(&store, &[])["data"].clone();
    assert_eq!((&all["failures"], &all["notExamined"]), (&json!(10_000), &Value::Null), "{all}");
}

#[test]
fn a_failure_that_never_started_counts_from_when_it_was_created() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for (id, status, created) in
        [(1, "crashed", "2026-10-02"), (2, "crashed", "2025-01-01"), (3, "unknown", "2026-10-02")]
    {
        let mut body = execution(id, "aaaaaaaa");
        (body["status"], body["startedAt"]) = (json!(status), Value::Null);
        body["createdAt"] = json!(format!("{created}T00:00:00.000Z"));
        store.save_row(&connection, &body);
    }
    let data = failures(&store, &[])["data"].clone();
    assert_eq!(data["failures"], 1, "{data}");
    assert_eq!(data["groups"][0]["first"], json!({"id": "1", "at": "2026-10-02T00:00Z"}), "{data}");
}

#[test]
fn failures_that_differ_late_in_their_texts_are_two_groups() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for (id, end) in [(1, "alpha"), (2, "alpha"), (3, "omega")] {
        let message = format!("{} {end}", ["word"; 120].join(" * "));
        store.save_with(&connection, &failed(id, "aaaaaaaa", "A call", json!({"message": message})));
    }
    let groups = failures(&store, &[])["data"]["groups"].as_array().unwrap().len();
    // A kind has 300 characters, which come from the first 1,000.
    assert_eq!(groups, 1);
    for (id, end) in [(4, "alpha"), (5, "omega")] {
        let message = format!("{} {end}", ["12345678"; 60].join(", "));
        store.save_with(&connection, &failed(id, "aaaaaaaa", "A call", json!({"message": message})));
    }
    assert_eq!(failures(&store, &[])["data"]["groups"].as_array().unwrap().len(), 3);
}

#[test]
fn what_reveal_shows_is_logged_by_each_question() {
    let store = N8nFolder::wal();
    let connection = store.open();
    let redacted = |id: u64| {
        let mut body = failed(id, "aaaaaaaa", "A call", json!({"message": "no such needle"}));
        body["workflowData"]["settings"] = json!({"redactionPolicy": "all"});
        body
    };
    store.save_with(&connection, &redacted(1));
    store.save_with(&connection, &failed(2, "aaaaaaaa", "A call", json!({"message": "no"})));
    for arguments in [
        &["find", "needle"][..],
        &["failures", "--started-after", "2026-01-01T00:00:00Z"],
        &["trend", "w", "--until", "2026-10-02T00:00:00Z"],
        &["list", "--error", "needle"],
        &["export", "--rows", "runs"],
        &["summary", "1"],
    ] {
        let mut command = Command::new(crate::support::binary());
        command.args(arguments).args(["--reveal", "--store"]).arg(store.path());
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        assert!(said.contains("execution=\"1\"") && !said.contains("execution=\"2\""), "{arguments:?}: {said}");
    }
}

#[test]
fn what_is_redacted_does_not_tell_whether_it_has_the_value() {
    let answers = ["the needle is here", "nothing is here"].map(|note| {
        let store = N8nFolder::wal();
        let connection = store.open();
        let mut body = execution(1, "aaaaaaaa");
        body["data"]["resultData"]["runData"]["A call"][0]["data"]["main"][0][0]["json"] = json!({"note": note});
        body["workflowData"]["settings"] = json!({"redactionPolicy": "all"});
        store.save_with(&connection, &body);
        let mut answer = find(&store, &["needle"]);
        assert_eq!(answer["data"]["notSearched"], json!({"redacted": 1}), "{answer}");
        answer["data"]["searched"].take();
        answer.to_string()
    });
    assert_eq!(answers[0], answers[1]);
}
