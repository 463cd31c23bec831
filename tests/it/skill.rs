//! The skill that `n8n-lens setup CLIENT --skill` writes: its calls are made, in their order, against an n8n that plays copies.

use std::sync::Arc;

use n8n_lens::tools::TOOLSETS;
use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::proof_n8n::ProofN8n;
use crate::server::{Reply, Server};

const SKILL: &str = include_str!("../../src/cli/setup/SKILL.md");
/// The workflow and the version of the examples.
const WORKFLOW: &str = "FQdqeOn0AKRkTjhI";
const VERSION: &str = "9f94a43e-9e53-489e-a51a-43e069da04b8";

/// The calls in the examples: the tool, and its arguments as JSON.
fn calls() -> Vec<(&'static str, &'static str)> {
    let blocks = SKILL.split("```text\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    blocks.flat_map(str::lines).map(|line| line.split_once(' ').unwrap()).collect()
}

/// An execution whose second price is a text with a comma.
fn execution(failed: bool) -> Value {
    let node = |name: &str, kind: &str, parameters: Value| json!({"id": format!("id {name}"), "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 2, "position": [0, 0], "parameters": parameters});
    let mut hook = node("Webhook", "webhook", json!({"path": "orders"}));
    hook["webhookId"] = json!("secret-path");
    let code = "return $input.all().map(({json}) => ({json: {...json, total: Number(json.price)}}));";
    let nodes = json!([hook, node("Price", "code", json!({ "jsCode": code }))]);
    let price = if failed { json!("3,50") } else { json!(3.5) };
    let item = |id: u8, price: Value| json!({"json": {"id": id, "price": price}, "pairedItem": {"item": id - 1}});
    let items = json!([item(1, json!(2)), item(2, price)]);
    let mut run = json!({"startTime": 2, "executionIndex": 1, "source": [{"previousNode": "Webhook"}], "executionStatus": "success", "data": {"main": [items]}});
    if failed {
        run["executionStatus"] = json!("error");
        run["error"] = json!({"message": "'price' expects a number but we got '3,50' [item 1] [line 1]"});
        run.as_object_mut().unwrap().remove("data");
    }
    let (id, status) = if failed { ("1234", "error") } else { ("1230", "success") };
    let mut result = json!({"lastNodeExecuted": "Price", "runData": {
        "Webhook": [{"startTime": 1, "executionIndex": 0, "source": [], "executionStatus": "success", "data": {"main": [items]}}],
        "Price": [run]
    }});
    if failed {
        result["error"] = result["runData"]["Price"][0]["error"].clone();
    }
    json!({"id": id, "workflowId": "w", "status": status, "mode": "webhook", "startedAt": "2026-01-02T03:04:05.000Z",
        "data": {"resultData": result},
        "workflowData": {"name": "Orders", "nodes": nodes, "connections": {"Webhook": {"main": [[{"node": "Price", "type": "main", "index": 0}]]}}, "settings": {}}})
}

/// The behaviour of the changed copy.
fn passes(_: &Value, execution: &mut Value) {
    let total = |id: u8, total: f64| json!({"json": {"id": id, "total": total}, "pairedItem": {"item": id - 1}});
    let run = &mut execution["data"]["resultData"]["runData"]["Price"][0];
    run.as_object_mut().unwrap().remove("error");
    run["executionStatus"] = json!("success");
    run["data"] = json!({"main": [[total(1, 2.0), total(2, 3.5)]]});
    execution["data"]["resultData"]["error"] = Value::Null;
    execution["status"] = json!("success");
}

#[test]
fn its_calls_lead_from_a_failed_execution_to_a_published_fix() {
    let proof = ProofN8n::new(execution(true), Arc::new(passes));
    let (answering, good) = (proof.clone(), execution(false).to_string());
    let n8n = Server::start(move |request| match request.path.as_str() {
        "/api/v1/executions/1230" => Reply::json(200, good.clone()),
        _ => answering.answer(request),
    });
    let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows,proof", "--locale", "en"]);
    let mut version = VERSION.to_owned();
    let mut answers: Vec<(&str, String)> = Vec::new();
    for (tool, arguments) in calls() {
        let arguments = arguments.replace(WORKFLOW, "w").replace(VERSION, &version);
        let arguments = serde_json::from_str(&arguments).unwrap_or_else(|error| panic!("{arguments}: {error}"));
        let answer = client.call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let data = serde_json::from_str::<Value>(&answer).unwrap()["data"].take();
        if let Some(proven) = data["tested"]["versionId"].as_str() {
            version = proven.to_owned();
        }
        answers.push((tool, data.to_string()));
    }
    let said = |tool: &str, text: &str| answers.iter().any(|(other, answer)| *other == tool && answer.contains(text));
    let expected = [
        ("get_execution", "'price' expects a number"),
        ("describe_execution", "Price"),
        ("get_execution_by_node", "Number(json.price)"),
        ("search_execution", "3,50"),
        ("get_execution_fields", "3,50"),
        ("trace_execution_item", "3,50"),
        ("compare_executions", "\"with\":\"1230\""),
        ("edit_workflow", "Price"),
        ("prove_fix", "\"verdict\":\"fixed\""),
        ("prove_fix", "publish_workflow_version"),
    ];
    for (tool, text) in expected {
        assert!(said(tool, text), "{tool} does not say {text}: {answers:#?}");
    }
    assert_eq!(answers.last().unwrap().0, "publish_workflow_version");
    assert_eq!(proof.copies(), Vec::<String>::new());
}

#[test]
fn it_is_a_skill_that_fits_and_names_only_what_there_is() {
    assert!(SKILL.lines().count() <= 200);
    let (front, body) = SKILL.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let member = |name: &str| front.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    assert_eq!(member("name: "), "n8n-lens", "the name of its folder");
    assert!((50..=1024).contains(&member("description: ").len()) && !member("description: ").contains(": "));
    let tools: Vec<_> = TOOLSETS.iter().flat_map(|toolset| toolset.tools).map(|tool| tool.name).collect();
    let code = body.split('`').skip(1).step_by(2).filter(|text| text.contains('_') && !text.contains([' ', '\n']));
    for name in code.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')) {
        assert!(name == "_guidance" || tools.contains(&name), "{name} is no tool");
    }
}
