//! Who may use a store, and with which tools.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{answer, binary, complaint, execution, lens};
use crate::http_client::HttpServer;
use crate::mcp_client::McpClient;
use crate::server;
use crate::support::n8n_store::N8nFolder;
use crate::tools;

fn store() -> N8nFolder {
    let store = N8nFolder::wal();
    store.save(&execution("b_http_500", 7));
    store
}

fn client(store: &N8nFolder, settings: &[(&str, &str)]) -> McpClient {
    let mut command = Command::new(binary());
    command.arg("--store").arg(store.path()).env_clear().envs(settings.iter().copied());
    McpClient::try_spawn(command.stderr(Stdio::piped())).expect("the server to start")
}

fn names(client: &mut McpClient) -> Vec<String> {
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_an_api_only_the_tools_for_executions_are_offered() {
    let store = store();
    let mut alone = client(&store, &[]);
    let of_executions = tools::names(&tools::of_store(&["executions"]));
    assert_eq!(names(&mut alone), of_executions);
    let instructions = alone.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("list_executions") && !instructions.contains("edit_workflow"), "{instructions}");
    // An address without a key is not enough on standard input and output.
    assert_eq!(names(&mut client(&store, &[("N8N_URL", "http://127.0.0.1:1")])), of_executions);
    let both = [("N8N_URL", "http://127.0.0.1:1"), ("N8N_API_KEY", "test-key")];
    assert!(names(&mut client(&store, &both)).contains(&"get_workflow".to_owned()));
    let said = complaint(lens(store.path(), &["--toolsets", "workflows"]).stdin(Stdio::null()));
    assert!(said.contains("No tool is left") && said.contains("N8N_URL"), "{said}");
}

#[test]
fn searching_is_offered_only_with_a_store() {
    let store = store();
    let parameters = |client: &mut McpClient| {
        let tools = client.request("tools/list", json!({}))["result"]["tools"].take();
        let list = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "list_executions").unwrap().clone();
        list["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let with_store = parameters(&mut client(&store, &[]));
    assert!(with_store.contains(&"failingNode".to_owned()) && with_store.contains(&"error".to_owned()));
    let n8n = server::n8n([].into());
    let without = parameters(&mut McpClient::start(&n8n.url()));
    assert_eq!(without.len() + 2, with_store.len());
    let refused = complaint(Command::new(binary()).args(["list", "--failing-node", "A"]).env_clear());
    assert!(refused.contains("--failing-node works only with --store"), "{refused}");
}

#[test]
fn over_http_a_store_needs_a_token() {
    let store = store();
    let said = complaint(&mut lens(store.path(), &["--transport", "http", "--port", "0"]));
    assert!(said.contains("needs a token") && said.contains("N8N_LENS_AUTH_TOKEN"), "{said}");
    let config = store.path().join("config.yaml");
    std::fs::write(&config, "servers: {}").unwrap();
    let said = complaint(lens(store.path(), &["gateway"]).arg("--config").arg(&config));
    assert!(said.contains("needs a token") && said.contains("GATEWAY_TOKEN"), "{said}");
}

#[test]
fn over_http_a_token_opens_the_store() {
    let store = store();
    let mut command = lens(store.path(), &["--transport", "http", "--port", "0"]);
    let server = HttpServer::spawn(command.env("N8N_LENS_AUTH_TOKEN", "a-token-of-clients").stderr(Stdio::piped()));
    let json = ("content-type", "application/json");
    let body = json!({"name": "get_execution", "parameters": {"id": "7"}}).to_string();
    assert_eq!(server.send("POST", "/mcp/execute", &[json], &body).status, 401);
    let token = ("authorization", "Bearer a-token-of-clients");
    let read = server.send("POST", "/mcp/execute", &[json, token], &body);
    assert_eq!((read.status, &read.message()["source"]), (200, &json!("store")));
    let listed = server.send("GET", "/mcp/tools", &[token], "").message();
    assert_eq!(listed["tools"].as_array().unwrap().len(), tools::of_store(&["executions"]).len());
    let health = server.send("GET", "/health?deep=true", &[token], "");
    assert_eq!((health.status, &health.message()["n8n"]["status"]), (200, &json!("unknown")));
}

#[test]
fn what_the_store_cannot_give_comes_from_the_api_and_says_so() {
    let store = store();
    let mut elsewhere = execution("b_http_500", 8);
    elsewhere["storedAt"] = json!("s3");
    store.save_row(&store.open(), &elsewhere);
    elsewhere["id"] = json!("9");
    elsewhere["storedAt"] = json!("az");
    store.save_row(&store.open(), &elsewhere);
    let said = complaint(&mut lens(store.path(), &["summary", "8"]));
    assert!(said.contains("stored in s3") && said.contains("Set N8N_URL and N8N_API_KEY"), "{said}");
    let said = complaint(&mut lens(store.path(), &["node", "9", "HTTP Request"]));
    assert!(said.contains("stored in azure"), "{said}");
    let uuid = "0197a3c2-5a1e-7000-8000-000000000001";
    let said = complaint(&mut lens(store.path(), &["summary", uuid]));
    assert!(said.contains("looks like an id of n8n's engine v2"), "{said}");

    let n8n = server::n8n([("8".to_owned(), execution("b_http_500", 8).to_string().into_bytes())].into());
    let with_api = |arguments: &[&str]| {
        let mut command = lens(store.path(), arguments);
        command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", "test-key");
        command
    };
    let read: Value = answer(&mut with_api(&["summary", "8"]));
    assert_eq!((&read["source"], &read["data"]["id"]), (&json!("api"), &json!("8")));
    assert_eq!(answer(&mut with_api(&["summary", "7"]))["source"], "store");
    // n8n is asked, and refuses such an id.
    let said = complaint(&mut with_api(&["summary", uuid]));
    assert!(said.contains("n8n returned 400"), "{said}");
    // An execution that the store should have is not read from elsewhere.
    let said = complaint(&mut with_api(&["summary", "99"]));
    assert!(said.contains("Execution '99' not found in n8n's store"), "{said}");
    let asked: Vec<_> = n8n.requests().into_iter().map(|request| request.path).collect();
    assert!(asked.iter().all(|path| !path.ends_with("/99") && !path.ends_with("/7")), "{asked:?}");
}

#[test]
fn what_n8n_redacts_is_shown_only_with_reveal_which_is_logged() {
    let store = N8nFolder::wal();
    let mut body = execution("a_small_success", 7);
    // As n8n records it when an execution begins.
    body["data"]["executionData"]["runtimeData"]["redaction"] =
        json!({"version": 2, "production": true, "manual": true});
    store.save(&body);
    let node = body["data"]["resultData"]["runData"].as_object().unwrap().keys().next().unwrap().clone();
    let read = |more: &[&str]| {
        let output = lens(store.path(), &[&["node", "7", &node], more].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), said)
    };
    let (hidden, said) = read(&[]);
    let (shown, logged) = read(&["--reveal"]);
    let item = |answer: &Value| answer["data"]["output"]["items"][0]["json"].clone();
    assert_eq!((item(&hidden), said.as_str()), (json!({}), ""));
    assert_eq!(item(&shown), body["data"]["resultData"]["runData"][&node][0]["data"]["main"][0][0]["json"]);
    assert!(logged.contains("--reveal") && logged.contains("execution=\"7\""), "{logged}");
    let summary = answer(&mut lens(store.path(), &["summary", "7"]));
    assert!(summary["data"]["notes"][0].as_str().unwrap().contains("n8n redacted the data"), "{summary}");
}

#[test]
fn deleted_executions_are_shown_only_if_wanted_and_are_marked() {
    let store = store();
    let mut deleted = execution("b_http_500", 8);
    deleted["deletedAt"] = json!("2026-11-22T01:02:03.004Z");
    store.save(&deleted);
    let said = complaint(&mut lens(store.path(), &["summary", "8"]));
    assert!(said.contains("was deleted in n8n") && said.contains("--deleted"), "{said}");
    assert_eq!(answer(&mut lens(store.path(), &["list"]))["data"]["count"], 1);
    assert_eq!(answer(&mut lens(store.path(), &["summary", "8", "--deleted"]))["deleted"], true);
    let node = answer(&mut lens(store.path(), &["node", "8", "HTTP Request", "--deleted"]));
    assert_eq!((&node["deleted"], &node["source"]), (&json!(true), &json!("store")));
    let listed = answer(&mut lens(store.path(), &["list", "--deleted"]));
    let [deleted, other] = [0, 1].map(|at| &listed["data"]["executions"][at]);
    assert_eq!((&deleted["deleted"], deleted.get("deletedAt")), (&json!(true), None));
    assert!(other.get("deleted").is_none());
}
