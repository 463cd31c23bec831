//! What answers about many executions of a store say of the rest: what was not searched, has not ended, or does not fit.

use serde_json::{Value, json};

use crate::many::{ask, execution, failed, failures, find, ids, moving};
use crate::mcp_client::McpClient;
use crate::server::{Server, n8n_handler};
use crate::support::n8n_store::{N8nFolder, flatten_data};

/// A value that is nested deeper than a search goes.
fn deep(value: &str) -> Value {
    (0..40).fold(json!(value), |inside, _| json!({"d": inside}))
}

/// An execution whose one node returned these items.
fn with_items(id: u64, items: &[Value]) -> Value {
    let mut body = execution(id, "aaaaaaaa");
    let items: Vec<_> = items.iter().map(|item| json!({"json": item})).collect();
    body["data"]["resultData"]["runData"]["A call"][0]["data"]["main"] = json!([items]);
    body
}

#[test]
fn what_is_too_large_or_too_deep_is_named_with_and_without_hits() {
    let large = json!({"note": format!("{} needle", "x".repeat(1_200_000))});
    let bodies = [
        with_items(1, &[json!({"deep": deep("needle")})]),
        with_items(2, std::slice::from_ref(&large)),
        with_items(3, &[json!({"note": "needle"}), large, json!({"deep": deep("needle")})]),
        execution(4, "aaaaaaaa"),
    ];
    let store = N8nFolder::wal();
    let connection = store.open();
    bodies.iter().for_each(|body| store.save_with(&connection, body));
    let n8n = Server::start(n8n_handler(
        bodies.iter().map(|body| (body["id"].as_str().unwrap().to_owned(), body.to_string().into_bytes())).collect(),
    ));
    let mut client = McpClient::start(&n8n.url());
    let mut over_api = |text: &str| -> Value {
        serde_json::from_str(&client.call("find_executions", json!({"text": text})).unwrap()).unwrap()
    };
    for answer in [find(&store, &["needle"]), over_api("needle")] {
        assert_eq!(ids(&answer), ["3"], "{answer}");
        assert_eq!(answer["data"]["notSearched"], json!({"tooLargeItems": 2, "tooDeep": 2}), "{answer}");
    }
    // In a text that cannot have the value, there is nothing to search.
    assert_eq!(find(&store, &["nowhere"])["data"]["notSearched"], Value::Null);
}

fn client_of(store: &N8nFolder) -> McpClient {
    McpClient::start_with("http://127.0.0.1:9", &["--store", store.path().to_str().unwrap()])
}

#[test]
fn a_status_and_a_cursor_that_do_not_exist_are_refused() {
    let store = N8nFolder::wal();
    store.save_with(&store.open(), &execution(1, "aaaaaaaa"));
    let mut client = client_of(&store);
    let mut refused = |tool: &str, arguments: Value| client.call(tool, arguments).unwrap_err();
    let listed = refused("list_executions", json!({"status": "Success"}));
    assert_eq!(refused("find_executions", json!({"text": "a", "status": "Success"})), listed);
    let foreign = refused("find_executions", json!({"cursor": "limit=20&after=1"}));
    for after in ["x", "", "1e3"] {
        let cursor = format!("text=a&limit=20&after={after}");
        assert_eq!(refused("find_executions", json!({"cursor": cursor})), foreign, "{after}");
    }
}

#[test]
fn the_workflow_may_be_called_as_in_the_list() {
    let store = N8nFolder::wal();
    store.save_with(&store.open(), &failed(1, "aaaaaaaa", "A call", json!({"message": "no"})));
    for option in ["--workflow", "--workflow-id"] {
        for (id, count) in [("w", 1), ("other", 0)] {
            assert_eq!(ids(&find(&store, &["--path", "n", option, id])).len(), count, "{option}");
            assert_eq!(failures(&store, &[option, id])["data"]["failures"], count, "{option}");
        }
    }
}

fn trend(store: &N8nFolder) -> Value {
    ask(store.path(), &["trend", "w", "--until", "2026-10-08T23:59:59Z"])
}

/// Executions of eight days; of the last day's 24, this many have ended, without the node that ran before.
fn ending(ended: u64) -> N8nFolder {
    let store = N8nFolder::wal();
    moving(&store, |id, body| {
        if id >= 24 * 7 {
            body["data"]["resultData"]["runData"].as_object_mut().unwrap().remove("A call");
        }
        if id >= 24 * 7 + ended {
            body["status"] = json!(if id % 2 == 0 { "waiting" } else { "running" });
        }
    });
    store
}

#[test]
fn a_node_may_still_run_in_executions_that_have_not_ended() {
    for (ended, is_known) in [(0, false), (19, false), (20, true), (24, true)] {
        let answer = trend(&ending(ended));
        let data = &answer["data"];
        let stopped = data["moved"].as_array().unwrap().iter().any(|moved| moved["what"] == "stopped");
        assert_eq!((stopped, data["notEnded"].as_u64().unwrap_or(0)), (is_known, 24 - ended), "{answer}");
        let said = data["_guidance"].as_str().unwrap_or_default();
        assert_eq!(
            said.starts_with(&format!("{} executions of the last period have not ended", 24 - ended)),
            !is_known
        );
        assert!(is_known || data["tooFew"] == json!([]), "{answer}");
    }
    // An earlier one says nothing about the last period, and a manual one says nothing at all.
    let store = ending(24);
    store.run("UPDATE execution_entity SET status = 'waiting' WHERE id = 5");
    store.run(&format!("UPDATE execution_entity SET status = 'waiting', mode = 'manual' WHERE id = {}", 24 * 8 - 1));
    assert_eq!(trend(&store)["data"]["notEnded"], Value::Null);
}

#[test]
fn a_good_execution_without_runs_was_not_read() {
    let store = N8nFolder::wal();
    moving(&store, |_, _| {});
    store.run(&format!("DELETE FROM execution_data WHERE executionId >= {}", 24 * 7));
    let connection = store.open();
    for id in 24 * 7..24 * 8 {
        let mut body = execution(id, "bbbbbbbb");
        let text = match id % 2 {
            0 => "[]".to_owned(),
            _ => {
                body["data"]["resultData"]["runData"] = json!({});
                flatten_data(&body)
            }
        };
        store.save_data(&connection, id as i64, "{}", &text);
    }
    let data = trend(&store)["data"].clone();
    assert_eq!((&data["moved"], &data["tooFew"]), (&json!([]), &json!([])), "{data}");
    assert_eq!((&data["notRead"], &data["after"]["executions"]), (&json!({"noData": 24}), &json!(0)), "{data}");
    // A failure needs no node.
    store.run(&format!("UPDATE execution_entity SET status = 'crashed' WHERE id >= {}", 24 * 7));
    let data = trend(&store)["data"].clone();
    assert_eq!((&data["notRead"], &data["after"]["failures"]), (&Value::Null, &json!(24)), "{data}");
}

#[test]
fn a_workflow_of_which_nothing_is_known_is_said_to_be_so() {
    let store = N8nFolder::wal();
    moving(&store, |_, _| {});
    let said = |more: &[&str]| {
        let answer = ask(store.path(), &[&["trend"], more].concat());
        answer["data"]["_guidance"].as_str().unwrap_or_default().to_owned()
    };
    let until = ["--until", "2026-10-08T23:59:59Z"];
    assert!(said(&["Orders", until[0], until[1]]).contains("workflowId is an id, not a name"));
    assert!(said(&["w", "--until", "2020-01-01T00:00:00Z"]).starts_with("No execution started in these eight periods"));
    assert_eq!(said(&["w", until[0], until[1]]), "");
}

#[test]
fn the_message_names_the_time_span() {
    let store = N8nFolder::wal();
    let connection = store.open();
    for id in [30, 100, 190] {
        store.save_with(&connection, &failed(id, "aaaaaaaa", "A call", json!({"message": "no"})));
    }
    let message = |more: &[&str]| {
        let answer = ask(store.path(), &[&["failures"], more].concat());
        answer["message"].as_str().unwrap().to_owned()
    };
    let (after, before) = ("--started-after", "--started-before");
    assert_eq!(message(&[after, "2026-10-02T00:00:00Z"]), "3 failures in 1 group since 2026-10-02 00:00 UTC");
    // Seven days before the end, not before now.
    let week = "2 failures in 1 group since 2026-10-01 12:00 UTC until 2026-10-08 12:00 UTC";
    assert_eq!(message(&[before, "2026-10-08T12:00:00Z"]), week);
    let none = "No failures since 2025-12-25 00:00 UTC until 2026-01-01 01:30 UTC";
    assert_eq!(message(&[after, "2025-12-25T02:00:00+02:00", before, "2026-01-01T01:30:00Z"]), none);

    let mut client = client_of(&store);
    let turned = json!({"startedAfter": "2026-10-03T00:00:00Z", "startedBefore": "2026-10-02T00:00:00Z"});
    let said = client.call("group_failures", turned).unwrap_err();
    assert_eq!(said, "Argument 'startedAfter' is later than the end of the time span.");
}

#[test]
fn the_texts_of_a_group_say_how_long_they_are_and_what_is_missing() {
    let store = N8nFolder::wal();
    let connection = store.open();
    let errors = [
        json!({"message": "y".repeat(5000), "description": "z".repeat(301)}),
        json!({"name": "NodeApiError"}),
        json!({"name": "NodeApiError", "message": " "}),
    ];
    for (id, error) in (1..).zip(errors) {
        store.save_with(&connection, &failed(id, "aaaaaaaa", "A call", error));
    }
    let mut crashed = execution(9, "aaaaaaaa");
    crashed["status"] = json!("crashed");
    store.save_with(&connection, &crashed);
    let answer = failures(&store, &[]);
    let groups: Vec<_> = answer["data"]["groups"].as_array().unwrap().iter().collect();
    let texts: Vec<_> = groups.iter().map(|group| (group["message"].as_str().unwrap(), &group["count"])).collect();
    let long = format!("{}…[+4840 chars]", "y".repeat(160));
    assert_eq!(
        texts,
        [("no message was recorded", &json!(2)), ("no error was recorded", &json!(1)), (&long, &json!(1))],
        "{answer}"
    );
    assert_eq!(groups[2]["description"], format!("{}…[+181 chars]", "z".repeat(120)));
}

#[test]
fn groups_that_do_not_fit_are_said_to_need_more_tokens() {
    let store = N8nFolder::wal();
    let connection = store.open();
    let mut body = failed(1, "aaaaaaaa", "A call", json!({"message": "no"}));
    // Ids are not shortened.
    body["workflowId"] = json!("漢字😀".repeat(300));
    store.save_with(&connection, &body);
    let answer = failures(&store, &["--max-tokens", "1000"]);
    assert_eq!((&answer["data"]["groups"], &answer["data"]["moreGroups"]), (&json!([]), &json!(1)), "{answer}");
    assert!(answer["data"]["_guidance"].as_str().unwrap().contains("a larger maxTokens shows them"), "{answer}");
}
