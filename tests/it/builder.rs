//! The builder, through the real binary: files, n8n and memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use n8n_lens::budget;
use n8n_lens::workflow::Document;
use serde_json::{Value, json};

use crate::fixtures;
use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::tools;
use crate::workflow_store::{Flavour, WorkflowStore};

/// A small catalogue, built by the binary from the fixtures.
pub fn catalogue() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let file = tempfile::tempdir().unwrap().keep().join("data/catalogue.json");
        let mut command = Command::new(crate::support::binary());
        command.args(["catalogue", "update", "--from"]).arg(fixtures::folder().join("catalogue"));
        let output = command.arg("--catalogue").arg(&file).env_clear().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("13 node types of n8n-nodes-base 0.0.0-test"), "{said}");
        file
    })
}

pub struct Harness {
    pub root: tempfile::TempDir,
    _n8n: Server,
    pub client: McpClient,
}

pub fn harness() -> Harness {
    harness_with(&WorkflowStore::new(Flavour::V2), &[])
}

fn harness_with(store: &WorkflowStore, more: &[&str]) -> Harness {
    let root = tempfile::tempdir().unwrap();
    let answering = store.clone();
    let n8n = Server::start(move |request| {
        answering.answer(request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#))
    });
    let mut arguments = vec!["--toolsets", "builder", "--files-root", root.path().to_str().unwrap()];
    if !more.contains(&"--catalogue") {
        arguments.extend(["--catalogue", catalogue().to_str().unwrap()]);
    }
    arguments.extend(more);
    let client = McpClient::start_with(&n8n.url(), &arguments);
    Harness { root, _n8n: n8n, client }
}

impl Harness {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let text = self.client.call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"));
        assert!(budget::count(&text) <= 20_000);
        serde_json::from_str(&text).unwrap()
    }

    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        self.client.call(tool, arguments).unwrap_err()
    }

    pub fn file(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.root.path().join(name)).unwrap()).unwrap()
    }
}

/// Builds the workflow of the README.
fn build(harness: &mut Harness, target: Option<&str>) -> String {
    let mut create = json!({"name": "Orders"});
    if let Some(target) = target {
        create["target"] = json!(target);
    }
    let id = harness.call("workflow_create", create)["workflowId"].as_str().unwrap().to_owned();
    let found = harness.call("node_search", json!({"keyword": "http"}));
    assert_eq!(found["nodes"][0]["id"], "n8n-nodes-base.httpRequest");
    let mut add = |node_type: &str, more: Value| {
        let mut arguments = json!({"workflowId": id, "nodeType": node_type});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let added = harness.call("node_add", arguments);
        assert_eq!(added["success"], true);
        added["nodeId"].as_str().unwrap().to_owned()
    };
    let webhook = add("n8n-nodes-base.webhook", json!({"parameters": {"path": "orders", "httpMethod": "POST"}}));
    let http = add("n8n-nodes-base.httpRequest", json!({"parameters": {"url": "https://example.com"}}));
    let check = add("n8n-nodes-base.if", json!({"name": "Is large"}));
    let slack = add("n8n-nodes-base.slack", json!({}));
    let rest = add("n8n-nodes-base.noOp", json!({"name": "Rest", "position": {"x": 960, "y": 200}}));
    let mut connect = |source: &str, target: &str, output: Value| {
        let connected = harness.call(
            "connection_create",
            json!({"workflowId": id, "sourceNodeId": source, "targetNodeId": target, "sourceOutput": output}),
        );
        assert_eq!(connected["connection"]["targetInput"], "main");
    };
    connect(&webhook, &http, json!("main"));
    connect("HTTP Request", "Is large", json!(0));
    connect(&check, &slack, json!(true));
    connect("Is large", &rest, json!("false"));
    connect("Is large", &rest, json!("main:1"));
    let replaced = harness
        .call("node_replace", json!({"workflowId": id, "targetNodeId": "Rest", "newNodeType": "n8n-nodes-base.set"}));
    assert_eq!(
        replaced["compatibilityReport"],
        json!({
            "maintainedConnections": ["Is large[main:1] -> Rest[main:0]"],
            "removedConnections": []
        })
    );
    assert_eq!(replaced["nodeId"], rest.as_str());
    id
}

fn assert_is_the_readmes(workflow: &Value) {
    let names: Vec<_> = workflow["nodes"].as_array().unwrap().iter().map(|node| node["name"].clone()).collect();
    assert_eq!(names, ["Webhook", "HTTP Request", "Is large", "Slack", "Rest"]);
    let to = |node: &str| json!({"node": node, "type": "main", "index": 0});
    assert_eq!(
        workflow["connections"],
        json!({
            "Webhook": {"main": [[to("HTTP Request")]]},
            "HTTP Request": {"main": [[to("Is large")]]},
            "Is large": {"main": [[to("Slack")], [to("Rest")]]},
        })
    );
    assert_eq!(workflow["nodes"][0]["typeVersion"], 2);
    assert_eq!(workflow["nodes"][1]["typeVersion"], json!(4.2));
    assert!(workflow["nodes"][0]["webhookId"].is_string(), "n8n needs the id for the address");
    assert_eq!(workflow["nodes"][4]["type"], "n8n-nodes-base.set");
    assert_eq!(workflow["nodes"][4]["position"], json!([960, 200]));
    assert_eq!(workflow["nodes"][1]["position"], json!([240, 0]));
}

#[test]
fn the_readme_workflow_is_built_as_a_file() {
    let mut harness = harness();
    let id = build(&mut harness, None);
    assert_is_the_readmes(&harness.file("Orders.json"));
    let saved = harness.call("workflow_save", json!({"workflowId": id, "filePath": "copy.json"}));
    assert_eq!(saved["success"], true);
    let loaded = harness.call("workflow_load", json!({"workflowIdOrPath": "copy.json"}));
    assert_is_the_readmes(&loaded["workflowData"]);
    let listed = harness.call("workflow_list", json!({}));
    assert_eq!((&listed["total"], &listed["workflows"][0]["name"]), (&json!(2), &json!("Orders")));
    assert!(listed["workflows"][0]["lastModified"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn the_readme_workflow_is_built_in_memory() {
    let mut harness = harness();
    let id = build(&mut harness, Some("memory"));
    assert!(id.starts_with("mem-"));
    assert_is_the_readmes(&harness.call("workflow_load", json!({"workflowIdOrPath": id}))["workflowData"]);
    assert!(std::fs::read_dir(harness.root.path()).unwrap().next().is_none(), "no file was created");
    let gone = harness.refused("workflow_load", json!({"workflowIdOrPath": "mem-none"}));
    assert!(gone.contains("not in memory"), "{gone}");
}

#[test]
fn the_readme_workflow_is_built_in_n8n() {
    for flavour in [Flavour::V2, Flavour::V1] {
        let store = WorkflowStore::new(flavour);
        let mut harness = harness_with(&store, &[]);
        let id = build(&mut harness, Some("n8n"));
        assert_is_the_readmes(&store.get(&id).unwrap());
    }
}

#[test]
fn sub_nodes_are_connected_to_their_consumer() {
    let mut harness = harness();
    let id = harness.call("workflow_create", json!({"name": "ai", "target": "memory"}))["workflowId"].clone();
    for node_type in ["agent", "lmChatOpenAi", "toolCode"] {
        harness
            .call("node_add", json!({"workflowId": id, "nodeType": format!("@n8n/n8n-nodes-langchain.{node_type}")}));
    }
    // The consumer is named first.
    let turned = json!({"workflowId": id, "sourceNodeId": "AI Agent", "targetNodeId": "OpenAI Chat Model", "sourceOutput": "ai_languageModel"});
    harness.call("connection_create", turned);
    let plain = harness
        .call("connection_create", json!({"workflowId": id, "sourceNodeId": "Code Tool", "targetNodeId": "AI Agent"}));
    assert_eq!(plain["connection"]["sourceOutput"], "ai_tool");
    // The consumer named first, with the connection type at the input or nowhere: the same connection.
    for more in [json!({"targetInput": "ai_languageModel"}), json!({})] {
        let mut turned = json!({"workflowId": id, "sourceNodeId": "AI Agent", "targetNodeId": "OpenAI Chat Model"});
        turned.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let connected = harness.call("connection_create", turned);
        assert_eq!(connected["connection"]["sourceOutput"], "ai_languageModel");
    }
    let mismatch = json!({"workflowId": id, "sourceNodeId": "OpenAI Chat Model", "targetNodeId": "AI Agent", "targetInput": "ai_tool"});
    let refused = harness.refused("connection_create", mismatch);
    assert!(refused.contains("ai_tool"), "{refused}");
    let to = |kind: &str| json!([[{"node": "AI Agent", "type": kind, "index": 0}]]);
    assert_eq!(
        plain["workflowData"]["connections"],
        json!({"OpenAI Chat Model": {"ai_languageModel": to("ai_languageModel")}, "Code Tool": {"ai_tool": to("ai_tool")}})
    );
}

#[test]
fn a_replaced_node_keeps_the_connections_that_fit() {
    let mut harness = harness();
    let id = harness.call("workflow_create", json!({"name": "r", "target": "memory"}))["workflowId"].clone();
    for (name, node_type) in [("A", "if"), ("B", "noOp"), ("C", "noOp")] {
        harness.call(
            "node_add",
            json!({"workflowId": id, "nodeType": format!("n8n-nodes-base.{node_type}"), "name": name}),
        );
    }
    for (target, output) in [("B", "true"), ("C", "false")] {
        harness.call(
            "connection_create",
            json!({"workflowId": id, "sourceNodeId": "A", "targetNodeId": target, "sourceOutput": output}),
        );
    }
    let replaced = harness
        .call("node_replace", json!({"workflowId": id, "targetNodeId": "A", "newNodeType": "n8n-nodes-base.code"}));
    assert_eq!(replaced["compatibilityReport"]["maintainedConnections"], json!(["A[main:0] -> B[main:0]"]));
    assert_eq!(replaced["compatibilityReport"]["removedConnections"], json!(["A[main:1] -> C[main:0]"]));
    assert_eq!(replaced["workflowData"]["nodes"][0]["name"], "A");
}

#[test]
fn impossible_edits_are_refused_with_a_reason() {
    let mut harness = harness();
    let id = harness.call("workflow_create", json!({"name": "w"}))["workflowId"].clone();
    harness.call("node_add", json!({"workflowId": id, "nodeType": "n8n-nodes-base.if", "name": "A"}));
    harness.call("node_add", json!({"workflowId": id, "nodeType": "n8n-nodes-base.code", "name": "B"}));
    std::fs::write(harness.root.path().join("no.json"), r#"{"a":1}"#).unwrap();
    let before = harness.file("w.json");
    let add = |node_type: &str, more: Value| {
        let mut arguments = json!({"workflowId": "w.json", "nodeType": node_type});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("node_add", arguments)
    };
    let connect = |source: &str, target: &str, output: Value| {
        let more =
            json!({"workflowId": "w.json", "sourceNodeId": source, "targetNodeId": target, "sourceOutput": output});
        ("connection_create", more)
    };
    let cases = [
        (add("n8n-nodes-base.htpRequest", json!({})), "Nearest: 'n8n-nodes-base.httpRequest'"),
        (add("n8n-nodes-base.code", json!({"name": "A"})), "there is already a node 'A'"),
        (add("n8n-nodes-base.code", json!({"position": {"x": "left"}})), "two numbers, x and y"),
        (connect("A", "A", json!("main")), "'A' cannot be connected to itself"),
        (connect("A", "D", json!("main")), "There is no node 'D' in this workflow. Nodes: 'A'"),
        (connect("A", "B", json!("main:2")), "'A' has no output 'main:2'"),
        (connect("A", "B", json!("maybe")), "'A' has no output 'maybe'"),
        (connect("A", "B", json!("ai_tool")), "'A' has no output 'ai_tool:0'"),
        (
            (
                "node_replace",
                json!({"workflowId": "w.json", "targetNodeId": "Z", "newNodeType": "n8n-nodes-base.code"}),
            ),
            "There is no node 'Z'",
        ),
        (("workflow_load", json!({"workflowIdOrPath": "no.json"})), "it is not a workflow: nodes is missing"),
        (("workflow_load", json!({"workflowIdOrPath": "../x.json"})), "outside the folder"),
        (("workflow_load", json!({"workflowIdOrPath": "none"})), "Workflow 'none' not found."),
        (("workflow_save", json!({"workflowId": "w.json", "filePath": "../x.json"})), "outside the folder"),
        (("workflow_save", json!({"workflowId": "w.json", "filePath": "none/x.json"})), "does not exist"),
        (("workflow_create", json!({"name": "w"})), "already exists"),
        (("workflow_create", json!({"name": "n".repeat(129), "target": "memory"})), "1 to 128 characters"),
        (("workflow_list", json!({"directoryPath": "/etc"})), "outside the folder"),
        (("workflow_list", json!({"directoryPath": "w.json"})), "is not a folder"),
        (("test_workflow", json!({"workflowId": "w.json"})), "Only a workflow in n8n can be tested"),
        (
            (
                "workflow_save",
                json!({"workflowId": "w.json", "filePath": "y.json", "workflowData":
                {"name": "x", "nodes": ["…[+990 items]"], "connections": {}}}),
            ),
            "",
        ),
    ];
    for ((tool, arguments), why) in cases {
        let refused = harness.refused(tool, arguments);
        assert!(refused.contains(why), "{tool}: {refused}");
    }
    let clipped = json!({"name": "x", "connections": {}, "nodes": [{"name": "A", "type": "t", "parameters": {"js": "abc…[+123 chars]"}}]});
    let refused = harness
        .refused("workflow_save", json!({"workflowId": "w.json", "filePath": "y.json", "workflowData": clipped}));
    assert!(refused.contains("is from a clipped answer"), "{refused}");
    assert_eq!(harness.file("w.json"), before, "nothing was changed");
    assert!(!harness.root.path().join("y.json").exists());
}

#[test]
fn read_only_hides_the_builder_tools_that_write() {
    let mut harness = harness_with(&WorkflowStore::new(Flavour::V2), &["--read-only"]);
    let listed = harness.client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let reading: Vec<_> = tools::tools(&["builder"]).into_iter().filter(|tool| tool.reads_only()).collect();
    assert_eq!(names, tools::names(&reading));
    let refused = harness.refused("test_workflow", json!({"workflowId": "w"}));
    assert!(refused.contains("--read-only"), "{refused}");
}

#[test]
fn a_file_keeps_its_layout_and_untouched_values() {
    let mut harness = harness();
    let text = "{\n\t\"custom\": {\"b\": 1.50, \"a\": [1,  2]},\n\t\"nodes\": [],\n\t\"connections\": {},\n\t\"name\": \"n\"\n}\n";
    std::fs::write(harness.root.path().join("f.json"), text).unwrap();
    harness.call("node_add", json!({"workflowId": "f.json", "nodeType": "n8n-nodes-base.code"}));
    let after = std::fs::read_to_string(harness.root.path().join("f.json")).unwrap();
    assert!(
        after.starts_with(
            "{\n\t\"custom\": {\"b\": 1.50, \"a\": [1,  2]},\n\t\"nodes\": [\n\t\t{\n\t\t\t\"parameters\""
        ),
        "{after}"
    );
    assert!(after.ends_with("\n\t\"name\": \"n\"\n}\n"), "{after}");
    let keys: Vec<_> = harness.file("f.json").as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["custom", "nodes", "connections", "name"]);
}

/// n8n 3.0 is not on npm: its packages come from an image or from its repository.
#[test]
fn a_catalogue_is_built_from_packages_in_any_folder() {
    let from = fixtures::folder().join("catalogue");
    let packages = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"];
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("repository");
    for (package, folder) in packages.iter().zip(["packages/nodes-base", "packages/@n8n/nodes-langchain"]) {
        let folder = repository.join(folder);
        std::fs::create_dir_all(folder.join("dist/types")).unwrap();
        for file in ["package.json", "dist/types/nodes.json"] {
            std::fs::copy(from.join(package).join(file), folder.join(file)).unwrap();
        }
    }
    let archives = root.path().join("archives");
    std::fs::create_dir(&archives).unwrap();
    for (package, archive) in packages.iter().zip(["n8n-nodes-base-3.0.0.tgz", "n8n-n8n-nodes-langchain-3.0.0.tgz"]) {
        let file = std::fs::File::create(archives.join(archive)).unwrap();
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
        archive.append_dir_all("package", from.join(package)).unwrap();
        archive.into_inner().unwrap().finish().unwrap();
    }
    let update = |from: &Path| {
        let mut command = Command::new(crate::support::binary());
        command.args(["catalogue", "update", "--from"]).arg(from).arg("--catalogue").arg(root.path().join("c.json"));
        let output = command.env_clear().output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = update(&repository);
    assert!(said.starts_with("13 node types of n8n-nodes-base 0.0.0-test"), "{said}");
    let said = update(&archives);
    assert!(said.starts_with("13 node types of n8n-nodes-base 3.0.0"), "{said}");
    std::fs::remove_file(archives.join("n8n-nodes-base-3.0.0.tgz")).unwrap();
    let said = update(&archives);
    assert!(said.contains("There is no n8n-nodes-base in ") && said.contains("as a .tgz"), "{said}");
}

#[test]
fn without_a_catalogue_the_types_in_use_are_searched() {
    let store = WorkflowStore::new(Flavour::V2);
    let node = |kind: &str| json!({"id": kind, "name": kind, "type": kind, "typeVersion": 1, "position": [0, 0], "parameters": {}});
    store.put(json!({"id": "w", "name": "W", "connections": {}, "settings": {}, "nodes": [node("n8n-nodes-base.slack"), node("my-nodes.thing")]}));
    let mut harness = harness_with(&store, &["--catalogue", "/nowhere/catalogue.json"]);
    let found = harness.call("node_search", json!({"keyword": "slack message"}));
    assert_eq!((&found["count"], &found["nodes"][0]["id"]), (&json!(1), &json!("n8n-nodes-base.slack")));
    assert!(found["note"].as_str().unwrap().contains("n8n-lens catalogue update"));
    let id = harness.call("workflow_create", json!({"name": "m", "target": "memory"}))["workflowId"].clone();
    let added = harness.call("node_add", json!({"workflowId": id, "nodeType": "n8n-nodes-base.googleSheets"}));
    assert_eq!(added["workflowData"]["nodes"][0]["name"], "Google Sheets");
}

#[test]
fn two_processes_edit_one_file_and_lose_nothing() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("shared.json");
    std::fs::write(&file, r#"{"name":"shared","nodes":[],"connections":{}}"#).unwrap();
    const EACH: usize = 60;
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let root = root.path().to_str().unwrap().to_owned();
            std::thread::spawn(move || {
                let arguments = ["--toolsets", "builder", "--files-root", &root, "--catalogue", "/nowhere"];
                let mut client = McpClient::start_with("http://127.0.0.1:9", &arguments);
                for at in 0..EACH {
                    let name = format!("node {writer} {at}");
                    let add = json!({"workflowId": "shared.json", "nodeType": "n8n-nodes-my.node", "name": name});
                    client.call("node_add", add).unwrap();
                }
            })
        })
        .collect();
    while writers.iter().any(|writer| !writer.is_finished()) {
        Document::parse(&std::fs::read(&file).unwrap()).expect("a complete file at every moment");
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let document = Document::parse(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(document.nodes().unwrap().len(), 2 * EACH);
}

#[test]
fn a_killed_writer_leaves_a_complete_file_and_no_lock() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("shared.json");
    std::fs::write(&file, r#"{"name":"shared","nodes":[],"connections":{}}"#).unwrap();
    let arguments = ["--toolsets", "builder", "--files-root", root.path().to_str().unwrap(), "--catalogue", "/nowhere"];
    let mut acknowledged = 0;
    for round in 0..20 {
        let mut client = McpClient::start_with("http://127.0.0.1:9", &arguments);
        for at in 0..5 {
            let name = format!("node {round} {at}");
            client
                .call("node_add", json!({"workflowId": "shared.json", "nodeType": "n8n-nodes-my.node", "name": name}))
                .unwrap();
            acknowledged += 1;
        }
        // One more call is under way when the process is killed, at a different moment each time.
        client.begin(
            "node_add",
            json!({"workflowId": "shared.json", "nodeType": "n8n-nodes-my.node", "name": format!("last {round}")}),
        );
        std::thread::sleep(Duration::from_micros(150 * round));
        drop(client);
        let document = Document::parse(&std::fs::read(&file).unwrap()).expect("a complete file");
        let nodes = document.nodes().unwrap().len();
        assert!(nodes >= acknowledged, "{nodes} of {acknowledged}");
        acknowledged = nodes;
    }
    let left: Vec<_> = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.len() <= 4, "the file, its lock, its earlier versions, and at most one unfinished file: {left:?}");
}

#[test]
fn a_node_that_keeps_its_type_keeps_its_parameters() {
    let mut harness = harness();
    harness.call("workflow_create", json!({"name": "w"}));
    let url = json!({"url": "https://example.com", "method": "POST"});
    let add = json!({"workflowId": "w.json", "nodeType": "n8n-nodes-base.httpRequest", "name": "A", "parameters": url});
    harness.call("node_add", add);
    let mut replace = |more: Value| {
        let mut arguments = json!({"workflowId": "w.json", "targetNodeId": "A"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        harness.call("node_replace", arguments);
        harness.file("w.json")["nodes"][0]["parameters"].clone()
    };
    assert_eq!(replace(json!({"newNodeType": "n8n-nodes-base.httpRequest"})), url);
    assert_eq!(replace(json!({"newNodeType": "n8n-nodes-base.httpRequest", "parameters": {}})), json!({}));
    replace(json!({"newNodeType": "n8n-nodes-base.httpRequest", "parameters": url}));
    assert_eq!(replace(json!({"newNodeType": "n8n-nodes-base.code"})), json!({}));
}

#[test]
fn what_is_from_a_clipped_answer_is_not_written() {
    let store = WorkflowStore::new(Flavour::V2);
    let whole = json!({"id": "w", "name": "W", "connections": {}, "settings": {}, "nodes": [
        {"id": "1", "name": "A", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [0, 0], "parameters": {"jsCode": "return []"}}]});
    store.put(whole.clone());
    let mut harness = harness_with(&store, &["--toolsets", "builder,workflows"]);
    harness.call("workflow_create", json!({"name": "w"}));
    let clipped = json!({"jsCode": "retu…[+1906 chars]"});
    let nodes = json!([{"id": "1", "name": "A", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [0, 0], "parameters": clipped}]);
    let file = json!({"name": "F", "nodes": nodes, "connections": {}}).to_string();
    std::fs::write(harness.root.path().join("clipped.json"), file).unwrap();
    let set = json!([{"type": "setNodeParameter", "nodeName": "A", "path": "jsCode", "value": clipped["jsCode"]}]);
    for (tool, arguments) in [
        ("update_workflow", json!({"id": "w", "nodes": nodes})),
        ("create_workflow", json!({"name": "N", "nodes": nodes, "connections": {}})),
        ("create_workflow_from_file", json!({"filePath": "clipped.json"})),
        ("replace_workflow_from_file", json!({"id": "w", "filePath": "clipped.json"})),
        ("edit_workflow", json!({"workflowId": "w", "operations": set})),
        ("node_add", json!({"workflowId": "w.json", "nodeType": "n8n-nodes-base.code", "parameters": clipped})),
        (
            "node_replace",
            json!({"workflowId": "w", "targetNodeId": "A", "newNodeType": "n8n-nodes-base.code", "parameters": clipped}),
        ),
    ] {
        let refused = harness.refused(tool, arguments);
        assert!(refused.contains("clipped answer"), "{tool}: {refused}");
    }
    assert_eq!(store.get("w").unwrap()["nodes"], whole["nodes"]);
}

#[test]
fn types_of_other_packages_are_taken_but_no_slips() {
    let mut harness = harness();
    harness.call("workflow_create", json!({"name": "w"}));
    let add = |node_type: &str| json!({"workflowId": "w.json", "nodeType": node_type});
    for slip in ["n8n-nodes-bse.httpRequest", "n8n-node-base.httpRequest", "foo.bar", ".", "n8n-nodes-base."] {
        let refused = harness.refused("node_add", add(slip));
        assert!(refused.contains(&format!("n8n has no node type '{slip}'")), "{refused}");
    }
    for other in ["n8n-nodes-bash.run", "@acme/n8n-nodes-x.y", "CUSTOM.mine"] {
        assert_eq!(harness.call("node_add", add(other))["success"], true);
    }
}

#[test]
fn two_processes_edit_one_workflow_in_n8n_and_lose_nothing() {
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "nodes": [], "connections": {}, "settings": {}}));
    let answering = store.clone();
    let n8n =
        Server::start(move |request| answering.answer(request).unwrap().delay_first_byte(Duration::from_millis(5)));
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let url = n8n.url();
            std::thread::spawn(move || {
                let mut client = McpClient::start_with(&url, &["--toolsets", "builder", "--catalogue", "/nowhere"]);
                for at in 0..15 {
                    let add =
                        json!({"workflowId": "w", "nodeType": "n8n-nodes-my.node", "name": format!("{writer} {at}")});
                    client.call("node_add", add).unwrap();
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(store.get("w").unwrap()["nodes"].as_array().unwrap().len(), 30);
}

#[test]
#[cfg(unix)]
fn links_and_pipes_do_not_lead_outside() {
    let mut harness = harness();
    let outside = tempfile::tempdir().unwrap();
    let root = harness.root.path().to_owned();
    let flow = r#"{"name":"secret","nodes":[],"connections":{}}"#;
    std::fs::write(outside.path().join("secret.json"), flow).unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
    link(&outside.path().join("secret.json"), "leak.json");
    std::fs::write(root.join("v.json"), flow).unwrap();
    link(&outside.path().join("pwned"), ".v.json.n8n-lens.tmp");
    assert!(Command::new("mkfifo").arg(root.join("pipe.json")).status().unwrap().success());
    assert_eq!(harness.call("workflow_list", json!({}))["total"], 1);
    harness.call("node_add", json!({"workflowId": "v.json", "nodeType": "n8n-nodes-my.node"}));
    assert!(!outside.path().join("pwned").exists() && !root.join("v.json").is_symlink());
    let refused = harness.refused("workflow_save", json!({"workflowId": "v.json", "filePath": "pipe.json"}));
    assert!(refused.contains("is not a file"), "{refused}");
    for name in ["notes.txt", ".n8n-lens.lock", ".hidden.json"] {
        let refused = harness.refused("workflow_save", json!({"workflowId": "v.json", "filePath": name}));
        assert!(refused.contains("not a name for a workflow file"), "{name}: {refused}");
    }
}

#[test]
fn malformed_connections_are_repaired_or_refused() {
    let mut harness = harness();
    let root = harness.root.path().to_owned();
    let node = |name: &str| json!({"id": name, "name": name, "type": "n8n-nodes-my.node", "typeVersion": 1, "position": [0, 0], "parameters": {}});
    for odd in [json!({"A": null}), json!({"A": []}), json!({"A": {"main": null}}), json!({"A": {"main": [null]}})] {
        let workflow = json!({"name": "odd", "nodes": [node("A"), node("B")], "connections": odd});
        std::fs::write(root.join("odd.json"), workflow.to_string()).unwrap();
        harness.call("connection_create", json!({"workflowId": "odd.json", "sourceNodeId": "A", "targetNodeId": "B"}));
        let to_b = json!([[{"node": "B", "type": "main", "index": 0}]]);
        assert_eq!(harness.file("odd.json")["connections"], json!({"A": {"main": to_b}}));
    }
    for output in ["main:4000000000", "main:1000", "ai_tool"] {
        let connect = json!({"workflowId": "odd.json", "sourceNodeId": "A", "targetNodeId": "B", "sourceOutput": output, "targetInput": "ai_memory"});
        let refused = harness.refused("connection_create", connect);
        assert!(refused.contains("This edit is not possible"), "{output}: {refused}");
    }
}

#[test]
fn a_completed_edit_is_never_answered_with_an_error() {
    let mut harness = harness();
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    let text = format!(r#"{{"name":"deep","nodes":[],"connections":{{}},"custom":{deep}}}"#);
    std::fs::write(harness.root.path().join("deep.json"), text).unwrap();
    let added = harness.call("node_add", json!({"workflowId": "deep.json", "nodeType": "n8n-nodes-my.node"}));
    assert_eq!((&added["success"], &added["truncated"]), (&json!(true), &json!(true)));
    let written = std::fs::read_to_string(harness.root.path().join("deep.json")).unwrap();
    assert!(written.contains("n8n-nodes-my.node") && written.contains(&"[".repeat(100)));
}

#[test]
fn a_new_workflow_is_shown_as_n8n_stored_it() {
    let store = WorkflowStore::new(Flavour::V2);
    let mut harness = harness_with(&store, &[]);
    let made =
        harness.call("workflow_create", json!({"name": "N", "target": "n8n", "description": "d", "active": true}));
    assert_eq!(made["workflowData"]["active"], false);
    assert_eq!(made["note"], "Left out, since n8n does not accept it for a new workflow: description, active.");
    let long = harness.call("workflow_create", json!({"name": "日".repeat(128)}));
    assert!(long["workflowId"].as_str().unwrap().ends_with(".json"));
    for at in 0..101 {
        harness.call("workflow_create", json!({"name": format!("{at}"), "target": "memory"}));
    }
}

#[test]
fn a_display_name_is_a_node_type_if_only_one_type_has_it() {
    let mut harness = harness();
    let id = harness.call("workflow_create", json!({"name": "d", "target": "memory"}))["workflowId"].clone();
    for (name, node_type) in [("HTTP Request", "httpRequest"), ("code", "code")] {
        let added = harness.call("node_add", json!({"workflowId": id, "nodeType": name}));
        let added = added["workflowData"]["nodes"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(added["type"], format!("n8n-nodes-base.{node_type}"));
    }
    let replace = json!({"workflowId": id, "targetNodeId": "Code", "newNodeType": "Slack"});
    assert_eq!(harness.call("node_replace", replace)["workflowData"]["nodes"][1]["type"], "n8n-nodes-base.slack");
    let unknown = harness.refused("node_add", json!({"workflowId": id, "nodeType": "HTTP Reqest"}));
    assert!(unknown.contains("Nearest: 'n8n-nodes-base.httpRequest'"), "{unknown}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("twice.json");
    let kind = |name: &str| json!({"type": format!("n8n-nodes-base.{name}"), "name": "Twin", "v": 1, "vs": [1], "in": "unknown", "out": "unknown"});
    let index = json!({"format": 1, "source": "test", "nodes": [kind("one"), kind("two")]});
    std::fs::write(&file, index.to_string()).unwrap();
    let mut harness = harness_with(&WorkflowStore::new(Flavour::V2), &["--catalogue", file.to_str().unwrap()]);
    let id = harness.call("workflow_create", json!({"name": "d", "target": "memory"}))["workflowId"].clone();
    let several = harness.refused("node_add", json!({"workflowId": id, "nodeType": "Twin"}));
    assert!(several.contains("pass one of 'n8n-nodes-base.one', 'n8n-nodes-base.two'"), "{several}");

    let mut harness = harness_with(&WorkflowStore::new(Flavour::V2), &["--catalogue", "/nowhere/catalogue.json"]);
    let id = harness.call("workflow_create", json!({"name": "d", "target": "memory"}))["workflowId"].clone();
    let refused = harness.refused("node_add", json!({"workflowId": id, "nodeType": "HTTP Request"}));
    assert!(refused.contains("is not a full node type") && refused.contains("catalogue update"), "{refused}");
}

#[test]
fn outputs_are_found_by_name_without_a_catalogue() {
    let mut harness = harness_with(&WorkflowStore::new(Flavour::V2), &["--catalogue", "/nowhere/catalogue.json"]);
    let node = |name: &str, kind: &str, version: f64, parameters: Value| json!({"id": name, "name": name, "type": kind, "typeVersion": version, "position": [0, 0], "parameters": parameters});
    let rules = json!({"rules": {"values": [{"renameOutput": true, "outputKey": "Urgent"},
        {"renameOutput": true, "outputKey": "Later"}]}, "options": {"fallbackOutput": "extra"}});
    let nodes = [
        node("Route", "n8n-nodes-base.switch", 3.2, rules),
        node("Large?", "n8n-nodes-base.if", 2.2, json!({})),
        node("End", "n8n-nodes-my.node", 1.0, json!({})),
    ];
    let workflow = json!({"name": "s", "nodes": nodes, "connections": {}});
    std::fs::write(harness.root.path().join("s.json"), workflow.to_string()).unwrap();
    let connect = |source: &str, output: &str| json!({"workflowId": "s.json", "sourceNodeId": source, "targetNodeId": "End", "sourceOutput": output});
    for (source, output, expected) in [
        ("Route", "later", "main:1"),
        ("Route", "Fallback", "main:2"),
        ("Route", "main:0", "main"),
        ("Large?", "false", "main:1"),
    ] {
        let connected = harness.call("connection_create", connect(source, output));
        assert_eq!(connected["connection"]["sourceOutput"], expected, "{source} {output}");
    }
    let refused = harness.refused("connection_create", connect("Route", "Never"));
    assert!(refused.contains("'Route' has no output 'Never'; it has main:0 'Urgent', main:1 'Later'"), "{refused}");
    let mut unknown = connect("End", "Never");
    unknown["targetNodeId"] = json!("Route");
    let refused = harness.refused("connection_create", unknown);
    assert!(refused.contains("is not known without the node catalogue; pass main:0, main:1, …"), "{refused}");
}

#[test]
fn answers_about_workflows_in_n8n_leave_out_what_n8n_only_reads() {
    let store = WorkflowStore::new(Flavour::V2);
    let node = |name: &str| {
        json!({"id": name, "name": name, "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0],
        "parameters": {"path": name}})
    };
    store.put(json!({"id": "w", "name": "W", "active": true, "nodes": [node("Hook")], "connections": {},
        "settings": {"executionOrder": "v1"}, "staticData": {"token": "hidden"}, "meta": {"instanceId": "i"},
        "tags": [{"id": "t", "name": "prod"}], "shared": [{"role": "workflow:owner", "project":
        {"id": "p", "name": "Erika Mustermann <erika@example.com>", "type": "personal"}}]}));
    let mut harness = harness_with(&store, &[]);
    let answers = [
        harness.call("workflow_load", json!({"workflowIdOrPath": "w"})),
        harness.call("node_add", json!({"workflowId": "w", "nodeType": "Code"})),
        harness.call("connection_create", json!({"workflowId": "w", "sourceNodeId": "Hook", "targetNodeId": "Code"})),
        harness.call("node_replace", json!({"workflowId": "w", "targetNodeId": "Code", "newNodeType": "Slack"})),
        harness.call("workflow_create", json!({"name": "N", "target": "n8n"})),
    ];
    for answer in answers {
        let members: Vec<_> = answer["workflowData"].as_object().unwrap().keys().map(String::as_str).collect();
        let unwanted = ["createdAt", "updatedAt", "versionId", "shared", "activeVersion", "staticData", "meta", "tags"];
        assert!(!members.iter().any(|member| unwanted.contains(member)), "{members:?}");
        assert!(
            ["id", "name", "active", "nodes", "connections", "settings"].iter().all(|shown| members.contains(shown))
        );
        let text = answer.to_string();
        assert!(!text.contains("erika") && !text.contains("hidden") && !text.contains("Test Owner"), "{text}");
    }
    let kept = store.get("w").unwrap();
    assert_eq!((&kept["staticData"]["token"], &kept["tags"][0]["name"]), (&json!("hidden"), &json!("prod")));
}

#[test]
fn tools_with_a_similar_name_say_when_to_use_which() {
    let mut harness = harness_with(&WorkflowStore::new(Flavour::V2), &["--toolsets", "workflows,builder"]);
    let tools = harness.client.request("tools/list", json!({}))["result"]["tools"].clone();
    let description = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool["description"].as_str().unwrap().to_owned()
    };
    for (one, other) in [("create_workflow", "workflow_create"), ("get_workflow", "workflow_load")] {
        assert!(description(one).contains(other) && description(other).contains(one), "{one}, {other}");
    }
}
