//! Workflow files that are edited on the command line: what an edit brought, and which bytes stay.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::binary;

fn run(arguments: &[&str]) -> Value {
    let output = Command::new(binary()).args(arguments).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en").output();
    let output = output.unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What the edit of a workflow with these nodes and connections answers; nothing is written.
fn edited(nodes: &[Value], connections: &Value, operations: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let workflow = json!({"name": "W", "nodes": nodes, "connections": connections}).to_string();
    let operations = write(folder.path(), "operations.json", &operations.to_string());
    run(&["edit", &write(folder.path(), "w.json", &workflow), &operations, "--dry-run"])["data"].clone()
}

/// Why the edit of a workflow with these nodes and connections is refused.
fn refused(nodes: &[Value], connections: &Value, operations: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let workflow = json!({"name": "W", "nodes": nodes, "connections": connections}).to_string();
    let operations = write(folder.path(), "operations.json", &operations.to_string());
    let file = write(folder.path(), "w.json", &workflow);
    let mut command = Command::new(binary());
    command.args(["edit", &file, &operations]).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en");
    let output = command.output().unwrap();
    assert!(!output.status.success() && std::fs::read_to_string(file).unwrap() == workflow, "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn set(name: &str, parameters: &Value) -> Value {
    json!({"name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [0, 0], "parameters": parameters})
}

#[test]
fn each_problem_that_an_edit_brought_is_new() {
    let broken = "={{ $('Nope').first().json.v }}";
    let nodes = [set("A", &json!({"a": broken}))];
    let again = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/b", "value": broken}]);
    let data = edited(&nodes, &json!({}), &again);
    assert_eq!((&data["newProblems"][0]["parameter"], &data["oldProblems"]), (&json!("/b"), &json!(1)), "{data}");
    // An element that moves is the same.
    let list = [set("A", &json!({"list": ["x", broken]}))];
    let moved = json!([{"type": "removeNodeParameter", "nodeName": "A", "path": "/list/0"}]);
    let data = edited(&list, &json!({}), &moved);
    assert_eq!((&data["newProblems"], &data["oldProblems"]), (&Value::Null, &json!(1)), "{data}");
    let many: Vec<_> =
        (0..30).map(|at| set(&format!("N{at}"), &json!({"v": "={{ $('X').first().json.v }}"}))).collect();
    let data = edited(
        &[&many[..], &[set("X", &json!({}))]].concat(),
        &json!({}),
        &json!([{"type": "removeNode", "nodeName": "X"}]),
    );
    let shown = data["newProblems"].as_array().unwrap().len() as u64;
    assert_eq!(shown + data["moreNewProblems"].as_u64().unwrap(), 30, "{data}");
}

#[test]
fn a_problem_that_names_a_renamed_node_is_old() {
    let trigger = |name: &str| json!({"name": name, "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}});
    let nodes = [
        trigger("T"),
        trigger("Timer"),
        set("A", &json!({"v": "={{ $('B').first().json.x }}"})),
        set("B", &json!({"v": "={{ $('B'.first().json.x }}"})),
    ];
    let to = |node: &str| json!({"main": [[{"node": node, "type": "main", "index": 0}]]});
    let connections = json!({"T": to("A"), "Timer": to("B")});
    let before = edited(&nodes, &connections, &json!([{"type": "setWorkflowMetadata", "name": "V"}]));
    assert!(before["newProblems"].is_null() && before["oldProblems"].as_u64() >= Some(2), "{before}");
    for (from, to) in [("B", "A much longer name"), ("Timer", "Every hour")] {
        let rename = json!([{"type": "renameNode", "oldName": from, "newName": to}]);
        let data = edited(&nodes, &connections, &rename);
        assert_eq!((&data["newProblems"], &data["oldProblems"]), (&Value::Null, &before["oldProblems"]), "{data}");
    }
}

/// `Set` is a part of `Set User`, and the text without `=` does not follow.
#[test]
fn a_problem_whose_text_a_rename_leaves_is_old() {
    let nodes = [
        set("Set", &json!({})),
        set("A", &json!({"v": "={{ $('Set User').item.json.x }}"})),
        set("B", &json!({"v": "{{ $('Set').item.json.a }}"})),
    ];
    let rename = json!([{"type": "renameNode", "oldName": "Set", "newName": "Fields"}]);
    let data = edited(&nodes, &json!({}), &rename);
    assert_eq!((&data["newProblems"], &data["oldProblems"]), (&Value::Null, &json!(2)), "{data}");
    assert_eq!(
        data["notes"],
        json!(["'Set' is also written where it may not name the node, and was left there, in: B."])
    );
}

#[test]
fn a_note_is_about_the_workflow_after_all_operations() {
    let nodes = [set("A", &json!({})), set("B", &json!({})), set("S", &json!({"v": "={{ $('A').item.json.x }}"}))];
    let remove = json!({"type": "removeNode", "nodeName": "A"});
    let notes = |operations: &[&Value]| edited(&nodes, &json!({}), &json!(operations))["notes"].clone();
    assert_eq!(notes(&[&remove]), json!(["'A' is still named in expressions of: S."]));
    let patches = json!([{"find": "$('A')", "replace": "$('B')"}]);
    let patch = json!({"type": "patchNodeParameter", "nodeName": "S", "path": "/v", "patches": patches});
    let again = json!({"type": "renameNode", "oldName": "B", "newName": "A"});
    for next in [patch, json!({"type": "removeNode", "nodeName": "S"}), again] {
        assert_eq!(notes(&[&remove, &next]), Value::Null, "{next}");
    }
    // The nodes after a removed one have other indexes.
    let nodes = [set("A", &json!({})), set("B", &json!({})), set("S", &json!({"v": "{{ $('B').item.json.x }}"}))];
    let rename = json!({"type": "renameNode", "oldName": "B", "newName": "C"});
    let data = edited(&nodes, &json!({}), &json!([rename, remove]));
    assert_eq!(
        data["notes"],
        json!(["'B' is also written where it may not name the node, and was left there, in: S."])
    );
}

#[test]
fn what_is_left_of_a_missing_node_is_not_lost_or_taken_over_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let pinned = json!({"B": [{"json": {"b": 1}}], "Gone": [{"json": {"stale": 1}}]});
    let to = |node: &str| json!({"main": [[{"node": node, "type": "main", "index": 0}]]});
    let workflow = json!({"name": "W", "nodes": [set("A", &json!({})), set("B", &json!({}))],
        "connections": {"A": to("Gone")}, "pinData": pinned});
    let file = write(folder.path(), "w.json", &workflow.to_string());
    let edit = |operation: Value| {
        let operations = write(folder.path(), "operations.json", &json!([operation]).to_string());
        Command::new(binary()).args(["edit", "--lang", "en", &file, &operations, "--dry-run"]).output().unwrap()
    };
    let output = edit(json!({"type": "renameNode", "oldName": "B", "newName": "Gone"}));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("pinned data of a missing node 'Gone' are left; pass another name"), "{error}");
    let output =
        edit(json!({"type": "addNode", "node": {"name": "Gone", "type": "n8n-nodes-base.set", "typeVersion": 3}}));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let note =
        "Connections and pinned data of a missing node 'Gone' were left in the workflow: this node has them now.";
    assert_eq!(answer["data"]["notes"], json!([note]));
}

#[test]
fn a_connection_to_a_missing_node_is_removed() {
    let nodes = [set("A", &json!({})), set("B", &json!({}))];
    let to = |node: &str| json!({"main": [[{"node": node, "type": "main", "index": 0}]]});
    let connections = json!({"A": to("Gone"), "Ghost": to("B")});
    let remove = |source: &str, target: &str| json!([{"type": "removeConnection", "source": source, "target": target, "sourceOutput": 0}]);
    for (source, target) in [("A", "Gone"), ("Ghost", "B")] {
        let data = edited(&nodes, &connections, &remove(source, target));
        assert_eq!(data["changes"], json!([format!("- {source}[main:0] -> {target}[main:0]")]));
    }
    assert!(refused(&nodes, &connections, &remove("A", "Nope")).contains("There is no node 'Nope'"));
}

/// Bridges between all of them: each is compared with the connections of its own output only.
#[test]
fn a_hub_is_taken_out() {
    const SIDES: usize = 100;
    let side = |name: &str| (0..SIDES).map(|at| set(&format!("{name}{at}"), &json!({}))).collect::<Vec<_>>();
    let nodes = [side("In"), side("Out"), vec![set("Hub", &json!({}))]].concat();
    let end = |name: String| json!({"node": name, "type": "main", "index": 0});
    let mut connections: serde_json::Map<_, _> =
        (0..SIDES).map(|at| (format!("In{at}"), json!({"main": [[end("Hub".to_owned())]]}))).collect();
    let out: Vec<_> = (0..SIDES).map(|at| end(format!("Out{at}"))).collect();
    connections.insert("Hub".to_owned(), json!({"main": [out]}));
    let remove = json!([{"type": "removeNode", "nodeName": "Hub", "reconnect": true}]);
    let data = edited(&nodes, &connections.into(), &remove);
    assert!(data["changes"][0].as_str().unwrap().starts_with("- node Hub; now In0[main:0] -> Out0[main:0]"), "{data}");
}

#[test]
fn a_removed_element_is_shown_as_removed() {
    let nodes = [set("A", &json!({"l": [1, 2, 2, 3]}))];
    for (at, value) in [(0, 1), (1, 2), (3, 3)] {
        let remove = json!([{"type": "removeNodeParameter", "nodeName": "A", "path": format!("/l/{at}")}]);
        assert_eq!(edited(&nodes, &json!({}), &remove)["changes"], json!([format!("- A: /l/{at}: {value}")]));
    }
}

#[test]
fn a_path_in_another_notation_is_refused() {
    let nodes = [set("A", &json!({"l": [{"a": 1}], "o": {"x": 1}}))];
    let set = |path: &str| json!([{"type": "setNodeParameter", "nodeName": "A", "path": path, "value": 2}]);
    for path in ["/l[0]/a", "/o['x']", "$.o.x", "o.", "l..a", "#/l/a", " o.x", "/o/ x", "parameters", "/"] {
        refused(&nodes, &json!({}), &set(path));
    }
    for path in ["/o/price [EUR]", "/o/$ a", "/o/a.b", "l[0].a", "o['x']", "parameters.o.x"] {
        assert!(edited(&nodes, &json!({}), &set(path))["changes"].is_array(), "{path}");
    }
}

#[test]
fn a_member_of_the_wrong_type_is_named() {
    let patch =
        |patches: Value| json!({"type": "patchNodeParameter", "nodeName": "A", "path": "/v", "patches": patches});
    let add = |node: Value| json!({"type": "addNode", "node": node});
    for (operation, expected) in [
        (patch(json!(["t", "u"])), "'patches' must be a list of objects {find, replace}"),
        (patch(json!([["t", "u"]])), "'patches' must be a list of objects {find, replace}"),
        (patch(json!([{"find": 1, "replace": "x"}])), "'find' must be a text"),
        (patch(json!([])), "there is nothing to change; pass patches"),
        (patch(json!([{"find": "t", "replace": "abc…[+801 chars]"}])), "from a clipped answer"),
        (add(json!("n8n-nodes-base.set")), "'node' must be an object"),
        (add(json!({"type": "n8n-nodes-base.set", "typeVersion": "3.4"})), "'typeVersion' must be a number"),
        (
            add(json!({"type": "n8n-nodes-base.set", "position": ["1", "2"]})),
            "'position' must be a list of two numbers",
        ),
        (json!({"type": 5}), "its 'type' must be a text"),
        (json!({"type": "removeNode", "nodeName": 5}), "'nodeName' must be a text"),
        (
            json!({"type": "setNodeSettings", "nodeName": "A", "settings": {"onError": "stop"}}),
            "onError must be one of stopWorkflow",
        ),
    ] {
        let error = refused(&[set("A", &json!({"v": "t"}))], &json!({}), &json!([operation]));
        assert!(error.contains(expected), "{error}");
    }
    let nameless = json!({"id": "1", "type": "n8n-nodes-base.set"});
    let error = refused(&[nameless], &json!({}), &json!([{"type": "removeNode", "nodeName": "A"}]));
    assert!(error.contains("There are no nodes. Nothing was changed."), "{error}");
}

#[test]
fn each_file_has_its_own_versions() {
    let folder = tempfile::tempdir().unwrap();
    let workflow = |name: &str| {
        json!({"name": name, "nodes": [set(name, &json!({"v": 1}))], "connections": {}, "settings": {"a": 1}})
            .to_string()
    };
    let [one, other] = ["A", "B"].map(|name| write(folder.path(), &format!("{name}.json"), &workflow(name)));
    let edit = |file: &str, operations: Value, more: &[&str]| {
        let operations = write(folder.path(), "operations.json", &operations.to_string());
        let arguments = [&["edit", "--lang", "en", file, &operations], more].concat();
        Command::new(binary()).args(arguments).output().unwrap()
    };
    let answer =
        |output: std::process::Output| serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
    let changes =
        json!([{"type": "setWorkflowMetadata", "name": "New"}, {"type": "setWorkflowSettings", "settings": {"a": 2}}]);
    let tried = answer(edit(&one, changes.clone(), &["--dry-run"]));
    assert_eq!(tried["previousVersionId"], Value::Null);
    let made = answer(edit(&one, changes, &[]));
    assert_eq!(made["previousVersionId"], tried["versionId"], "what was tried is the same version");
    let restore = json!([{"type": "restoreVersion", "versionId": made["previousVersionId"]}]);
    let refused = edit(&other, restore.clone(), &[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("There is no version"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), workflow("B"));
    let restored = answer(edit(&one, restore, &[]));
    assert_eq!(std::fs::read_to_string(&one).unwrap(), workflow("A"));
    assert_eq!(restored["changes"], json!(["~ name: New -> A", "~ settings.a: 2 -> 1"]));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let workflow = json!({"name": "W", "nodes": [set("A", &json!({"v": 1}))], "connections": {}}).to_string();
    let file = write(folder.path(), "w.json", &workflow);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let operations = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/v", "value": 2}]);
    let operations = write(folder.path(), "operations.json", &operations.to_string());
    let output = Command::new(binary()).args(["edit", "--lang", "en", &file, &operations]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"), "{output:?}");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{names:?}");
}

#[test]
fn a_byte_order_mark_stays() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "\u{feff}{\"name\": \"W\", \"nodes\": [{\"name\": \"A\", \"parameters\": {\"v\": 1}}], \"connections\": {}}";
    let file = write(folder.path(), "w.json", text);
    let edit = |operations: Value| {
        let operations = write(folder.path(), "operations.json", &operations.to_string());
        run(&["edit", &file, &operations])["data"]["previousVersionId"].clone()
    };
    let previous = edit(json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/v", "value": 2}]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace('1', "2"));
    edit(json!([{"type": "restoreVersion", "versionId": previous}]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn an_execution_of_another_workflow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let body = crate::support::fixtures::executions().into_iter().find(|(name, _)| name == "b_http_500").unwrap().1;
    let execution = folder.path().join("execution.json");
    std::fs::write(&execution, body).unwrap();
    let workflow =
        json!({"name": "W", "nodes": [set("Elsewhere", &json!({"v": "={{ $json.a }}"}))], "connections": {}});
    let file = write(folder.path(), "w.json", &workflow.to_string());
    let answer = run(&["check-workflow", &file, "--execution", execution.to_str().unwrap()]);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("seems to be of another workflow") && !message.contains("were looked up"), "{answer}");
    // One shared name, such as that of a trigger, does not make it the same workflow; and the command fails.
    let body = json!({"id": "1", "workflowId": "v", "data": {"resultData": {"runData": {"Webhook": [{"data": {"main": [[{"json": {}}]]}}]}}},
        "workflowData": {"id": "v", "nodes": [set("Webhook", &json!({})), set("Else", &json!({}))], "connections": {}}});
    std::fs::write(&execution, body.to_string()).unwrap();
    let nodes = [set("Webhook", &json!({})), set("A", &json!({"v": "={{ $json.a }}"})), set("B", &json!({}))];
    let workflow = json!({"id": "w", "name": "W", "nodes": nodes, "connections": {}});
    let file = write(folder.path(), "w.json", &workflow.to_string());
    let arguments = ["check-workflow", &file, "--execution", execution.to_str().unwrap()];
    let answer = run(&arguments);
    assert!(answer["message"].as_str().unwrap().contains("fewer than half of these nodes"), "{answer}");
    assert!(answer["data"]["checked"].is_null() && answer["data"]["isOfAnotherWorkflow"] == true, "{answer}");
    let output = Command::new(binary()).args(arguments).env_remove("N8N_URL").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
