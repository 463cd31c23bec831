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

/// An n8n with the workflow of an execution as its draft, and the execution, whose workflow has defaults filled in and lacks
/// what n8n's editor hides.
fn n8n(body: &Value) -> (WorkflowStore, Server) {
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
        node["parameters"]["hiddenOfTests"] = json!("={{ $json.leftOver }}");
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
    let (_store, n8n) = n8n(&body);
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
