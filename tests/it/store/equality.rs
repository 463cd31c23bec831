//! The same answers as from n8n's API, byte for byte except for `source`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::execution;
use crate::mcp_client::McpClient;
use crate::support::n8n_store::N8nFolder;
use crate::{fixtures, server};

/// All fixtures that are executions with a workflow, each with its own id.
fn executions(bodies: Vec<(String, Vec<u8>)>) -> Vec<(String, Value)> {
    let names = bodies.into_iter().map(|(name, _)| name);
    let bodies = names.enumerate().map(|(at, name)| (name.clone(), execution(&name, 1000 + at as u64)));
    bodies.filter(|(_, body)| !body["workflowData"].is_null() && !body["dataTooLargeToDisplay"].is_boolean()).collect()
}

/// Starts the binary with a store and no API.
fn client(store: &N8nFolder) -> McpClient {
    let mut command = std::process::Command::new(super::binary());
    command.arg("--store").arg(store.path()).env_clear();
    McpClient::try_spawn(command.stderr(std::process::Stdio::piped())).expect("the server to start")
}

/// Compares the summary and every node of these executions.
fn assert_equal(store: &N8nFolder, bodies: &[(String, Value)]) {
    let served: HashMap<_, _> = bodies
        .iter()
        .map(|(_, body)| (body["id"].as_str().unwrap().to_owned(), body.to_string().into_bytes()))
        .collect();
    let n8n = server::n8n(served);
    let (mut api, mut stored) = (McpClient::start(&n8n.url()), client(store));
    for (name, body) in bodies {
        // Only the store shows whether n8n is running: here it is, as long as an execution is.
        let _n8n = (body["status"] == "running").then(|| {
            let n8n = store.open();
            n8n.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).unwrap();
            n8n
        });
        let mut compare = |tool: &str, arguments: Value| {
            let expected = api.call(tool, arguments.clone());
            let found = stored.call(tool, arguments.clone());
            match (expected, found) {
                (Ok(expected), Ok(found)) => {
                    let marked = format!("{},\"source\":\"store\"}}", &expected[..expected.len() - 1]);
                    assert_eq!(found, marked, "{name}: {tool} {arguments}");
                    serde_json::from_str(&expected).unwrap()
                }
                (expected, found) => {
                    assert_eq!(found, expected, "{name}: {tool} {arguments}");
                    Value::Null
                }
            }
        };
        compare("get_execution", json!({"id": body["id"]}));
        let nodes = body["data"]["resultData"]["runData"].as_object().map(|nodes| nodes.keys().cloned().collect());
        let nodes: Vec<String> = nodes.unwrap_or_default();
        // Each view of a large execution takes a while in a debug build.
        let most = if body["data"].to_string().len() > 1_000_000 { 2 } else { 12 };
        for node in nodes.iter().take(most) {
            let view = compare("get_execution_by_node", json!({"id": body["id"], "nodeName": node}));
            let runs = view["data"]["run"]["total"].as_u64().unwrap_or(0);
            for run in (0..runs.min(4)).filter(|_| runs > 1) {
                compare("get_execution_by_node", json!({"id": body["id"], "nodeName": node, "runIndex": run}));
            }
            compare("get_execution_by_node", json!({"id": body["id"], "nodeName": node, "offset": 3, "limit": 2}));
        }
        compare("get_execution_by_node", json!({"id": body["id"], "nodeName": "no such node"}));
        compare("compare_executions", json!({"id": body["id"], "with": bodies[0].1["id"]}));
        compare("compare_executions", json!({"id": body["id"]}));
    }
}

#[test]
fn small_fixtures_have_the_same_answers_from_a_database_with_a_write_ahead_log() {
    let mut bodies = executions(fixtures::executions());
    bodies.retain(|(_, body)| body.to_string().len() < 40_000);
    same_from_a_write_ahead_log(&bodies);
}

fn same_from_a_write_ahead_log(bodies: &[(String, Value)]) {
    let store = N8nFolder::wal();
    assert!(bodies.len() > 20);
    bodies.iter().for_each(|(_, body)| store.save(body));
    assert_equal(&store, bodies);
}

#[test]
fn some_fixtures_have_the_same_answers_from_the_other_kinds_of_stores() {
    let bodies: Vec<_> =
        executions(fixtures::executions()).into_iter().filter(|(_, body)| body.to_string().len() < 12_000).collect();
    let (store, bundles) = (N8nFolder::rollback(), N8nFolder::wal());
    for (_, body) in &bodies {
        store.save(body);
        bundles.save_bundle(body);
    }
    assert_equal(&store, &bodies);
    assert_equal(&bundles, &bodies);
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 10 s"]
    fn every_fixture_has_the_same_answers_from_a_database_with_a_write_ahead_log() {
        same_from_a_write_ahead_log(&executions(fixtures::executions_of_any_size()));
    }
}
