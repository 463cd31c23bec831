//! `edit_workflow`: all or nothing, as a draft, byte for byte, and back again, through the real binary.

use std::path::Path;

use n8n_lens::budget;
use n8n_lens::workflow::catalogue::Catalogue;
use n8n_lens::workflow::document::text as text_of;
use n8n_lens::workflow::edit::{Changed, ConnectionRequest, NewNode, Operation, edited};
use n8n_lens::workflow::{Document, Layout, Written};
use serde_json::{Value, json};

use crate::builder::catalogue;
use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::workflows::{call, node, real_workflows, start_with};

/// A trigger, a request, a condition with two branches, and code at their end.
fn workflow(active: bool) -> Value {
    let mut get = node("Get", "n8n-nodes-base.httpRequest");
    get["parameters"] = json!({"url": "https://a.example", "headerParameters": {"parameters": [{"name": "Authorization", "value": "Bearer hunter2"}]}});
    let mut large = node("Large?", "n8n-nodes-base.if");
    large["typeVersion"] = json!(2);
    let mut code = node("Format", "n8n-nodes-base.code");
    code["parameters"] = json!({"jsCode": "const a = $('Get').first().json;\nreturn Object.keys(a).sort();"});
    let mut hook = node("Hook", "n8n-nodes-base.webhook");
    hook["parameters"] = json!({"path": "orders"});
    let to = |node: &str| json!([{"node": node, "type": "main", "index": 0}]);
    json!({"id": "w", "name": "Orders", "active": active, "nodes": [hook, get, large, code],
        "connections": {"Hook": {"main": [to("Get")]}, "Get": {"main": [to("Large?")]}, "Large?": {"main": [to("Format"), to("Hook")]}},
        "settings": {"timezone": "Europe/Berlin"}})
}

fn store(flavour: Flavour, active: bool) -> WorkflowStore {
    let store = WorkflowStore::new(flavour);
    store.put(workflow(active));
    store
}

fn client(store: &WorkflowStore) -> (Server, McpClient) {
    start_with(store, &["--toolsets", "workflows", "--locale", "en"])
}

fn edit(client: &mut McpClient, operations: Value) -> Value {
    call(client, "edit_workflow", json!({"workflowId": "w", "operations": operations}))
}

fn writes(n8n: &Server) -> usize {
    n8n.requests().iter().filter(|request| request.method != "GET").count()
}

#[test]
fn every_operation_does_what_it_says() {
    let store = store(Flavour::V2, false);
    let (_n8n, mut client) = client(&store);
    let made = edit(
        &mut client,
        json!([
            {"type": "setNodeParameter", "nodeName": "Get", "path": "/options/timeout", "value": 5000},
            {"type": "setNodeParameter", "nodeName": "Get", "path": "headerParameters.parameters[0].value", "value": "Bearer other"},
            {"type": "setNodeParameter", "nodeName": "Get", "path": "/headerParameters/parameters/-", "value": {"name": "Accept", "value": "x"}},
            {"type": "updateNodeParameters", "nodeName": "Get", "parameters": {"method": "POST", "url": null}},
            {"type": "patchNodeParameter", "nodeName": "Format", "path": "/jsCode", "patches": [{"find": "keys(a)", "replace": "keys(a ?? {})"}]},
            {"type": "setNodeSettings", "nodeName": "Get", "settings": {"retryOnFail": true, "maxTries": 3}},
            {"type": "addNode", "node": {"id": "copied", "name": "Step", "type": "n8n-nodes-base.noOp"}, "after": "Large?", "sourceOutput": true},
            {"type": "renameNode", "oldName": "Get", "newName": "Get \"all\""},
        ]),
    );
    let saved = store.get("w").unwrap();
    let nodes = saved["nodes"].as_array().unwrap();
    let (get, format, step) = (&nodes[1], &nodes[3], &nodes[4]);
    assert_eq!(get["name"], "Get \"all\"");
    let headers = json!([{"name": "Authorization", "value": "Bearer other"}, {"name": "Accept", "value": "x"}]);
    assert_eq!(
        get["parameters"],
        json!({"headerParameters": {"parameters": headers}, "options": {"timeout": 5000}, "method": "POST"})
    );
    assert_eq!((&get["retryOnFail"], &get["maxTries"]), (&json!(true), &json!(3)));
    let code = "const a = $('Get \"all\"').first().json;\nreturn Object.keys(a ?? {}).sort();";
    assert_eq!(format["parameters"]["jsCode"], code);
    let to = |node: &str| json!([{"node": node, "type": "main", "index": 0}]);
    assert_eq!(saved["connections"]["Large?"]["main"], json!([to("Step"), to("Hook")]));
    assert_eq!(saved["connections"]["Step"]["main"], json!([to("Format")]));
    assert_eq!(saved["connections"]["Hook"]["main"], json!([to("Get \"all\"")]));
    assert!(uuid(step["id"].as_str().unwrap()) && step["position"] == json!([240, 0]), "{step}");
    let changes: Vec<_> =
        made["data"]["changes"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let expected = [
        "+ Get: /options/timeout: 5000",
        "~ Get: /headerParameters/parameters/0/value: changed (not shown)",
        "+ Get: /headerParameters/parameters/-: {\"name\":\"Accept\",\"value\":\"x\"}",
        "- Get: /url: https://a.example",
        "+ Get: /method: POST",
        "+ Large?[main:0] -> Step -> Format",
        "~ node Get -> Get \"all\"; followed in 1 expression",
    ];
    for line in expected {
        assert!(changes.contains(&line), "{line}: {changes:#?}");
    }
    let notes = made["data"]["notes"].as_array().unwrap();
    assert!(notes.contains(&json!("A new node gets a new id; the id that was passed is not used.")), "{made}");
    assert!(!made.to_string().contains("hunter2") && !made.to_string().contains("Bearer other"), "{made}");
    assert!(budget::count(&made.to_string()) <= 500);
    assert_eq!((&made["data"]["active"], &made["data"]["versionId"]), (&json!(false), &saved["versionId"]));

    let made = edit(
        &mut client,
        json!([
            {"type": "removeNode", "nodeName": "Step", "reconnect": true},
            {"type": "removeConnection", "source": "Large?", "target": "Hook"},
            {"type": "addConnection", "source": "Large?", "target": "Format", "sourceOutput": "false"},
            {"type": "removeNodeParameter", "nodeName": "Get \"all\"", "path": "/options"},
            {"type": "setWorkflowSettings", "settings": {"executionOrder": "v1"}},
            {"type": "setWorkflowMetadata", "name": "Invoices"},
        ]),
    );
    let saved = store.get("w").unwrap();
    assert_eq!(saved["connections"]["Large?"]["main"], json!([to("Format"), to("Format")]), "{made}");
    assert_eq!((&saved["name"], saved["nodes"].as_array().unwrap().len()), (&json!("Invoices"), 4));
    assert_eq!(saved["settings"]["executionOrder"], "v1");
}

fn uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

#[test]
fn what_is_not_possible_changes_nothing_and_says_what_is() {
    let store = store(Flavour::V2, true);
    let before = store.get("w");
    let (n8n, mut client) = client(&store);
    let good = json!({"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"});
    let refusals = [
        (
            json!({"type": "patchNodeField"}),
            "Operation 2: 'patchNodeField' is not an operation. Did you mean 'patchNodeParameter'?",
        ),
        (json!({"nodeName": "Get"}), "Operation 2: its type is missing."),
        (
            json!({"type": "setNodeParameter", "nodeName": "Get", "path": "/url"}),
            "Operation 2: missing member 'value'.",
        ),
        (
            json!({"type": "removeNode", "nodeName": "Get", "force": true}),
            "Operation 2: unknown member 'force', expected",
        ),
        (
            json!({"type": "addConnection", "source": "Large?", "target": "Get", "sourceOutput": "maybe"}),
            "Operation 2 (addConnection): 'Large?' has no output 'maybe'; it has",
        ),
        (json!({"type": "removeNode", "nodeName": "Gett"}), "Did you mean 'Get'?"),
        (
            json!({"type": "setNodeParameter", "nodeName": "Get", "path": "/headerParameters/parameters/7/value", "value": 1}),
            "there is no element '7': the list has 1; - appends one",
        ),
        (
            json!({"type": "setNodeParameter", "nodeName": "Get", "path": "/url/a", "value": 1}),
            "'url' is neither an object nor a list",
        ),
        (
            json!({"type": "removeNodeParameter", "nodeName": "Get", "path": "/uri"}),
            "there is no parameter 'uri'; there are: 'url', 'headerParameters'",
        ),
        (
            json!({"type": "patchNodeParameter", "nodeName": "Format", "path": "/jsCode", "patches": [{"find": "a", "replace": "b"}]}),
            "occurs 2 times",
        ),
        (
            json!({"type": "patchNodeParameter", "nodeName": "Format", "path": "/jsCode", "patches": [{"find": "nope", "replace": "b"}]}),
            "'nope' does not occur in this text",
        ),
        (
            json!({"type": "setNodeSettings", "nodeName": "Get", "settings": {"onError": "explode"}}),
            "onError must be one of stopWorkflow, continueRegularOutput, continueErrorOutput",
        ),
        (
            json!({"type": "setNodeSettings", "nodeName": "Get", "settings": {"color": 1}}),
            "a node has no setting 'color'; it has disabled",
        ),
        (json!({"type": "renameNode", "oldName": "Get", "newName": "Hook"}), "there is already a node 'Hook'"),
        (json!({"type": "renameNode", "oldName": "Get", "newName": "__proto__"}), "is not a name that n8n accepts"),
        (
            json!({"type": "removeNode", "nodeName": "Large?", "reconnect": true}),
            "feeds others through several outputs (main:0, main:1)",
        ),
        (
            json!({"type": "removeConnection", "source": "Get", "target": "Hook"}),
            "there is no such connection; those of 'Get' are: Get[main:0] -> Large?[main:0]",
        ),
        (
            json!({"type": "restoreVersion", "versionId": "x"}),
            "Operation 2: restoreVersion must be the only operation.",
        ),
    ];
    for (bad, why) in refusals {
        let refused = client.call("edit_workflow", json!({"workflowId": "w", "operations": [good, bad]})).unwrap_err();
        assert!(refused.contains(why) && refused.contains("Nothing was changed."), "{bad}: {refused}");
    }
    assert_eq!(writes(&n8n), 0);
    assert_eq!(store.get("w"), before);
}

#[test]
fn nothing_goes_live_unasked() {
    let set = json!([{"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"}]);
    let live =
        |store: &WorkflowStore| store.get("w").unwrap()["activeVersion"]["nodes"][1]["parameters"]["url"].clone();
    let store_2 = store(Flavour::V2, true);
    let (n8n, mut client_2) = client(&store_2);
    let made = edit(&mut client_2, set.clone());
    assert_eq!((live(&store_2), writes(&n8n)), (json!("https://a.example"), 1));
    assert_eq!((&made["data"]["active"], &made["data"]["published"]), (&json!(true), &json!(false)));
    let made = call(&mut client_2, "edit_workflow", json!({"workflowId": "w", "operations": set, "publish": true}));
    assert_eq!((live(&store_2), &made["data"]["published"]), (json!("b"), &json!(true)), "{made}");

    // n8n 1 cannot save a draft.
    let store_1 = store(Flavour::V1, true);
    let (n8n, mut client_1) = client(&store_1);
    let before = store_1.get("w");
    let refused = client_1.call("edit_workflow", json!({"workflowId": "w", "operations": set})).unwrap_err();
    assert!(refused.contains("Nothing was changed") && refused.contains("publish: true"), "{refused}");
    assert_eq!(store_1.get("w"), before);
    let made = call(&mut client_1, "edit_workflow", json!({"workflowId": "w", "operations": set, "publish": true}));
    assert_eq!((live(&store_1), &made["data"]["published"]), (json!("b"), &json!(true)), "{made}");
    drop(n8n);
    // An inactive workflow needs no consent.
    let store_1 = store(Flavour::V1, false);
    let (_n8n, mut client_1) = client(&store_1);
    assert_eq!(edit(&mut client_1, set)["data"]["active"], false);
}

#[test]
fn a_dry_run_writes_nothing_and_an_expected_version_refuses() {
    let store = store(Flavour::V2, false);
    let (n8n, mut client) = client(&store);
    let before = store.get("w").unwrap();
    let set = json!([{"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"}]);
    let tried = call(&mut client, "edit_workflow", json!({"workflowId": "w", "operations": set, "dryRun": true}));
    assert_eq!(tried["data"]["changes"], json!(["~ Get: /url: https://a.example -> b"]));
    assert_eq!((writes(&n8n), store.get("w").unwrap()), (0, before.clone()));
    let version = before["versionId"].as_str().unwrap();
    let expecting = |version: &str| json!({"workflowId": "w", "operations": set, "expectVersionId": version});
    let refused = client.call("edit_workflow", expecting("another")).unwrap_err();
    let at = before["updatedAt"].as_str().unwrap();
    assert!(refused.contains(&format!("changed since by an edit at {at}")) && refused.contains(version), "{refused}");
    assert_eq!(writes(&n8n), 0);
    call(&mut client, "edit_workflow", expecting(version));
    assert_eq!(writes(&n8n), 1);
    let again = edit(&mut client, set.clone());
    assert_eq!(again["message"], "Nothing differs", "{again}");
    assert_eq!(again["data"]["versionId"], store.get("w").unwrap()["versionId"]);
    assert_eq!(writes(&n8n), 1, "nothing is written that does not differ");
}

#[test]
fn an_earlier_version_comes_back() {
    for flavour in [Flavour::V2, Flavour::V1] {
        let store = store(flavour, false);
        let (_n8n, mut client) = client(&store);
        let before = store.get("w").unwrap();
        let made = edit(&mut client, json!([{"type": "removeNode", "nodeName": "Get"}]));
        let previous = made["data"]["previousVersionId"].clone();
        assert_eq!(previous, before["versionId"]);
        let restore = json!([{"type": "restoreVersion", "versionId": previous}]);
        let restored = edit(&mut client, restore);
        let changes = restored["data"]["changes"].to_string();
        assert!(changes.contains("+ node Get"), "{restored}");
        let after = store.get("w").unwrap();
        assert_eq!((&after["nodes"], &after["connections"]), (&before["nodes"], &before["connections"]));
        let operations = json!([{"type": "restoreVersion", "versionId": "nope"}]);
        let refused = client.call("edit_workflow", json!({"workflowId": "w", "operations": operations})).unwrap_err();
        assert!(refused.contains("Version 'nope' of workflow 'w'"), "{refused}");
    }
}

/// Half a surrogate pair, raw numbers, tabs and spaces.
const ODD_FILE: &str = "{\r\n\t\"name\" : \"Odd\",\r\n\t\"nodes\": [\r\n\t\t{ \"id\":\"1\", \"name\":\"A\", \"type\":\"n8n-nodes-base.set\", \"parameters\": {\"x\": 1.50, \
    \"half\": \"\\ud83d\", \"big\": 1e400} , \"position\":[0,0]},\r\n\t\t{\"id\": \"2\", \"name\": \"B\", \"type\": \"n8n-nodes-base.noOp\"}\r\n\t],\r\n\t\"connections\": {}, \"extra\": [ 1,2 ]\r\n}\r\n";

#[test]
fn a_file_keeps_every_other_byte_and_its_text_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.json");
    std::fs::write(&file, ODD_FILE).unwrap();
    let mut client = file_client(folder.path());
    let ask = |operations: Value| json!({"workflowId": "odd.json", "operations": operations});
    let set = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/x", "value": 2}]);
    let made = call(&mut client, "edit_workflow", ask(set));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ODD_FILE.replace("1.50", "2"));
    let previous = made["data"]["previousVersionId"].as_str().unwrap().to_owned();
    let undo = folder.path().join(".n8n-lens.undo");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let kept = std::fs::read_dir(&undo).unwrap().next().unwrap().unwrap().path();
        assert_eq!((mode(&undo), mode(&kept)), (0o700, 0o600));
    }
    call(&mut client, "edit_workflow", ask(json!([{"type": "removeNode", "nodeName": "B"}])));
    let restored = call(&mut client, "edit_workflow", ask(json!([{"type": "restoreVersion", "versionId": previous}])));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ODD_FILE);
    assert_eq!(restored["data"]["changes"], json!(["~ A: /x: 2 -> 1.50", "+ node B"]));
    for number in 0..30 {
        let set = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/x", "value": number}]);
        call(&mut client, "edit_workflow", ask(set));
    }
    assert_eq!(std::fs::read_dir(&undo).unwrap().count(), 20, "the oldest go");
    let refused =
        client.call("edit_workflow", ask(json!([{"type": "restoreVersion", "versionId": "../odd.json"}]))).unwrap_err();
    assert!(refused.contains("There is no version '../odd.json' of this file"), "{refused}");
    let mut expecting = ask(json!([{"type": "removeNode", "nodeName": "B"}]));
    expecting["expectVersionId"] = json!(previous);
    let before = std::fs::read_to_string(&file).unwrap();
    let refused = client.call("edit_workflow", expecting).unwrap_err();
    assert!(refused.contains("has changed since"), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

/// Names with half a surrogate pair are unchanged, even if their connections change.
#[test]
fn connections_of_half_a_character_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("half.json");
    let node = |name: &str| format!(r#"{{"name":"{name}","type":"n8n-nodes-base.noOp","parameters":{{}}}}"#);
    let to = |name: &str| format!(r#"{{"node":"{name}","type":"main","index":0}}"#);
    let text = format!(
        r#"{{"name":"W","nodes":[{},{},{}],"connections":{{"A":{{"main":[[{}]]}},"b\ud83d":{{"main":[[{}]]}}}}}}"#,
        node("A"),
        node(r"b\ud83d"),
        node("C"),
        to(r"b\ud83d"),
        to("C"),
    );
    std::fs::write(&file, &text).unwrap();
    let mut client = file_client(folder.path());
    let mut edit = |operations: Value| {
        call(&mut client, "edit_workflow", json!({"workflowId": "half.json", "operations": operations}));
        std::fs::read_to_string(&file).unwrap()
    };
    let after = edit(json!([{"type": "addConnection", "source": "A", "target": "C"}]));
    assert_eq!(after, text.replace(&format!("[[{}]]", to(r"b\ud83d")), &format!("[[{},{}]]", to(r"b\ud83d"), to("C"))));
    let after = edit(json!([{"type": "removeConnection", "source": "A", "target": "C"}]));
    assert_eq!(after, text);
    let after = edit(json!([{"type": "addConnection", "source": "C", "target": "b\u{fffd}"}]));
    assert!(after.contains(&format!(r#""C":{{"main":[[{}]]}}"#, to(r"b\ud83d"))), "{after}");
    let after = edit(json!([{"type": "renameNode", "oldName": "C", "newName": "D"}]));
    assert!(after.contains(&format!(r#""b\ud83d":{{"main":[[{}]]}}"#, to("D"))), "{after}");
    assert!(after.contains(&format!(r#""D":{{"main":[[{}]]}}"#, to(r"b\ud83d"))), "{after}");
}

fn file_client(root: &Path) -> McpClient {
    McpClient::start_with(
        "http://127.0.0.1:9",
        &["--toolsets", "workflows", "--locale", "en", "--files-root", root.to_str().unwrap()],
    )
}

/// n8n 2.42.6 refuses nodes that it has deprecated, even if the edit did not touch them.
#[test]
fn a_refusal_changes_nothing_and_one_of_another_node_says_so() {
    let store = store(Flavour::V2, false);
    let before = store.get("w");
    for (status, body, expected) in [
        (400, r#"{"message":"Node type n8n-nodes-base.if is deprecated"}"#, "was in the workflow before"),
        (403, r#"{"message":"Forbidden"}"#, "workflow:update"),
        (409, r#"{"message":"Conflict"}"#, "Conflict"),
    ] {
        let answering = store.clone();
        let n8n = Server::start(move |request| match request.method.as_str() {
            "PUT" => Reply::json(status, body),
            _ => answering.answer(request).unwrap(),
        });
        let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "workflows", "--locale", "en"]);
        let set = json!([{"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"}]);
        let refused = client.call("edit_workflow", json!({"workflowId": "w", "operations": set})).unwrap_err();
        assert!(refused.contains(expected), "{status}: {refused}");
        assert_eq!(writes(&n8n), 1, "a write is never sent again");
        assert_eq!(store.get("w"), before);
    }
}

/// n8n 2.42.6 and newer, in n8n's own words.
#[test]
fn a_refusal_of_deprecated_nodes_names_them_and_says_what_is_possible() {
    let store = store(Flavour::V2, false);
    let message = |verb: &str, name: &str| {
        format!(
            "Cannot {verb} \"n8n-nodes-base.httpRequest\" node (\"{name}\"): this node type is deprecated. Replace it with the Code node or remove it from the workflow."
        )
    };
    for (name, is_untouched) in [("Get", false), ("Hook", true)] {
        let (answering, body) = (store.clone(), json!({"message": message("modify a", name)}).to_string());
        let n8n = Server::start(move |request| match request.method.as_str() {
            "PUT" => Reply::json(400, body.clone()),
            _ => answering.answer(request).unwrap(),
        });
        let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "workflows", "--locale", "en"]);
        let set = json!([{"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"}]);
        let refused = client.call("edit_workflow", json!({"workflowId": "w", "operations": set})).unwrap_err();
        assert!(refused.contains(&message("modify a", name)), "n8n's words: {refused}");
        assert!(refused.contains("N8N_DEPRECATED_NODES_BLOCK=false"), "{refused}");
        let untouched = format!("Not because of this edit: '{name}' was in the workflow before");
        assert_eq!(refused.contains(&untouched), is_untouched, "{refused}");
        assert_eq!(writes(&n8n), 1, "a write is never sent again");
    }
}

/// n8n makes the change, and its answer is lost: the failure is not reported as certain, and a second read shows that it was made.
#[test]
fn an_edit_whose_answer_is_lost_was_made_once() {
    let store = store(Flavour::V2, false);
    let before = store.get("w").unwrap();
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        let answer = answering.answer(request).unwrap();
        if request.method == "PUT" { answer.reset_after(5) } else { answer }
    });
    let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "workflows", "--locale", "en"]);
    let set = json!([{"type": "setNodeParameter", "nodeName": "Get", "path": "/url", "value": "b"}]);
    let ask = json!({"workflowId": "w", "operations": set, "expectVersionId": before["versionId"]});
    let unsure = client.call("edit_workflow", ask.clone()).unwrap_err();
    assert!(unsure.contains("it may have been made. Check the workflow"), "{unsure}");
    assert_eq!((writes(&n8n), &store.get("w").unwrap()["nodes"][1]["parameters"]["url"]), (1, &json!("b")));
    let again = client.call("edit_workflow", ask).unwrap_err();
    assert!(again.contains("has changed since") && writes(&n8n) == 1, "{again}");
}

/// Another process writes to the same folder.
#[test]
fn an_edit_waits_for_another_writer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.json");
    std::fs::write(&file, ODD_FILE).unwrap();
    let lock = std::fs::File::create(folder.path().join(".n8n-lens.lock")).unwrap();
    lock.lock().unwrap();
    let mut client = file_client(folder.path());
    let set = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "/x", "value": 2}]);
    client.begin("edit_workflow", json!({"workflowId": "odd.json", "operations": set}));
    std::thread::sleep(std::time::Duration::from_millis(300));
    let theirs = ODD_FILE.replace("\"B\"", "\"C\"");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ODD_FILE);
    std::fs::write(&file, &theirs).unwrap();
    lock.unlock().unwrap();
    crate::wait::eventually("the edit is made", || std::fs::read_to_string(&file).unwrap() != theirs);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), theirs.replace("1.50", "2"), "what the other wrote stays");
}

/// A limit of the file system stands for a full disk.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flow.json");
    let nodes: Vec<_> = (0..400)
        .map(|at| json!({"name": format!("Node {at}"), "type": "n8n-nodes-base.noOp", "parameters": {}}))
        .collect();
    let before = json!({"name": "Large", "nodes": nodes, "connections": {}}).to_string();
    std::fs::write(&file, &before).unwrap();
    let operations = folder.path().join("operations.json");
    let set = json!([{"type": "setNodeParameter", "nodeName": "Node 7", "path": "/a", "value": 1}]);
    std::fs::write(&operations, set.to_string()).unwrap();
    let edit = |limit: &str| {
        let script = format!("{limit} exec \"$0\" edit \"$1\" \"$2\"");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).arg(crate::support::binary()).args([&file, &operations]);
        command.current_dir(folder.path()).env_remove("N8N_URL").env("N8N_LENS_LOCALE", "en").output().unwrap()
    };
    // Kilobytes or half kilobytes, and the signal that the limit sends is ignored.
    let refused = edit("trap '' XFSZ; ulimit -f 8;");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("flow.json"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("tmp")), "{left:?}");
    let made = edit("");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(std::fs::read_to_string(&file).unwrap().contains(r#""a":1"#));
}

#[test]
fn edits_of_real_workflows_leave_the_rest_unchanged() {
    leave_the_rest_unchanged(3);
}

/// All workflows.
mod slow {
    #[test]
    #[ignore = "slow: 28 s"]
    fn edits_of_real_workflows_leave_the_rest_unchanged() {
        super::leave_the_rest_unchanged(1);
    }
}

/// Edits every `step`th workflow, and reverts the edits.
fn leave_the_rest_unchanged(step: usize) {
    let catalogue = Catalogue::read(&std::fs::read(catalogue()).unwrap()).unwrap();
    let mut connected = 0;
    for workflow in real_workflows().into_iter().step_by(step) {
        let text = serde_json::to_string_pretty(&workflow).unwrap();
        let document = Document::parse(text.as_bytes()).unwrap();
        assert_eq!(Layout::of(text.as_bytes()).apply(&document.text()), text, "without an edit, the text is the same");

        let names: Vec<_> = document.nodes().unwrap().iter().filter_map(|node| text_of(node, "name")).collect();
        let mut changed = Written::parse(text.clone()).unwrap();
        let mut edit = |operation: Operation| {
            let types = |node_type: &str| catalogue.find(node_type);
            let (made, after) = edited(&changed, |editor| editor.apply(&operation, &types)).ok()?;
            changed = after;
            Some(made)
        };
        let node = NewNode { node_type: "n8n-nodes-base.code".to_owned(), ..NewNode::default() };
        let made = edit(Operation::AddNode { node, after: None, source_output: None }).unwrap();
        let Changed::Added { name: added, .. } = &made[0] else { panic!("{made:?}") };
        assert!(!names.contains(added));
        for name in &names {
            for (source, target) in [(name, added), (added, name)] {
                let (source, target) = (source.clone(), target.clone());
                let port = || "main:0".to_owned();
                let link = ConnectionRequest { source, target, source_output: port(), target_input: port() };
                // A trigger has no input.
                let Some(made) = edit(Operation::AddConnection(link.clone())) else { continue };
                assert!(matches!(made[..], [Changed::Connected { is_new: true, .. }]));
                let made = edit(Operation::AddConnection(link)).unwrap();
                assert!(
                    matches!(made[..], [Changed::Connected { is_new: false, .. }]),
                    "connecting twice adds nothing"
                );
                connected += 1;
            }
        }
        edit(Operation::RenameNode { old_name: added.clone(), new_name: "Another name".to_owned() }).unwrap();
        edit(Operation::RemoveNode { node_name: "Another name".to_owned(), reconnect: false }).unwrap();
        assert_eq!(changed.text, text, "adding and removing leaves nothing behind, not even white space");
    }
    assert!(connected > 100 / step);
}

/// A workflow of 15 MB, in which 50 nodes are renamed.
#[test]
#[ignore = "prints how long it takes"]
fn fifty_operations_in_a_large_workflow() {
    use std::time::Instant;

    use n8n_lens::workflow::parsed::Parsed;
    use n8n_lens::workflow::problems::problems_of_both;

    let code =
        "const rows = $input.all().map((item) => item.json.name.replace(/\\d+/g, 'x')).filter(Boolean);\n".repeat(40);
    let node = |at: usize| {
        json!({"id": at.to_string(), "name": format!("Step {at}"), "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [at, 0],
            "parameters": {"jsCode": format!("return $('Step {}').first().json;\n{code}", at / 2), "note": format!("={{{{ $json.a{at} }}}}")}})
    };
    let nodes: Vec<_> = (0..3500).map(node).collect();
    let text = json!({"name": "Large", "nodes": nodes, "connections": {}}).to_string();
    let rename =
        |at: usize| Operation::RenameNode { old_name: format!("Step {at}"), new_name: format!("Renamed {at}") };
    let operations: Vec<_> = (0..50).map(|at| rename(at * 7)).collect();
    let timed = |what: &str, begun: Instant| println!("{what}: {} ms", begun.elapsed().as_millis());
    println!("{} bytes", text.len());
    let begun = Instant::now();
    let before = Written::parse(text).unwrap();
    timed("the text read", begun);
    let begun = Instant::now();
    let (_, after) = edited(&before, |editor| editor.apply_all(&operations, &|_| None)).unwrap();
    timed("50 renames, and the new text read", begun);
    let begun = Instant::now();
    problems_of_both(&before.document, || Ok(&*after.document), |_| None).unwrap();
    timed("problems before and after", begun);
    let begun = Instant::now();
    Parsed::of(&after.document).unwrap();
    timed("of that, parsing one", begun);
}
