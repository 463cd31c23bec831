//! Workflows from files.

use std::path::Path;

use serde_json::{Value, json};

use super::{FLAVOURS, agent, bodies, call, node, start, start_with};
use crate::workflow_store::{Flavour, WorkflowStore};

/// An export from n8n's editor, with keys that other versions do not know.
pub fn export() -> Value {
    let mut workflow = agent();
    let more = json!({"versionId": "v", "meta": {"instanceId": "i"}, "active": false, "description": "d",
        "settings": {"executionOrder": "v1", "timeSavedMode": "fixed", "binaryMode": "separate"}});
    workflow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    workflow["nodes"][0]["customTelemetryTags"] = json!({});
    workflow
}

#[test]
fn files_become_workflows_and_omissions_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flow.json"), format!("\u{feff}{}", export())).unwrap();
    for flavour in FLAVOURS {
        let store = WorkflowStore::new(flavour);
        let (n8n, mut client) = start_with(&store, &["--files-root", folder.path().to_str().unwrap()]);
        let made = call(&mut client, "create_workflow_from_file", json!({"filePath": "flow.json"}));
        let message = made["message"].as_str().unwrap();
        assert!(message.starts_with("ファイルからワークフローを作成しました（送信しなかった項目: "), "{message}");
        for member in ["id", "active", "versionId", "meta", "tags", "description"] {
            assert!(message.contains(member), "{member} in {message}");
        }
        let id = made["data"]["id"].as_str().unwrap().to_owned();
        assert_ne!(id, "agent1", "the id in the file is not used");
        let stored = store.get(&id).unwrap();
        assert_eq!(stored["connections"], export()["connections"]);
        assert_eq!(stored["nodes"].as_array().unwrap().len(), 4);
        match flavour {
            Flavour::V2 => {
                assert_eq!(stored["pinData"], export()["pinData"]);
                assert_eq!(bodies(&n8n, "POST").len(), 1);
            }
            Flavour::V1 => {
                for left_out in ["pinData", "settings.timeSavedMode", "nodes[].customTelemetryTags"] {
                    assert!(message.contains(left_out), "{left_out} in {message}");
                }
                assert_eq!(bodies(&n8n, "POST").len(), 2, "n8n 1 refused the first attempt without a change");
            }
        }
        let mut other = export();
        other["name"] = json!("Replaced");
        other["nodes"] = json!([node("Only", "t")]);
        other["connections"] = json!({});
        std::fs::write(folder.path().join("other.json"), other.to_string()).unwrap();
        let replaced = call(&mut client, "replace_workflow_from_file", json!({"id": id, "filePath": "./other.json"}));
        assert_eq!(replaced["data"], json!({"id": id, "name": "Replaced"}));
        assert!(replaced["message"].as_str().unwrap().starts_with("ファイルからワークフローを置き換えました"));
        assert_eq!(store.get(&id).unwrap()["nodes"][0]["name"], "Only");
    }
}

#[test]
fn files_that_are_not_workflows_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("broken.json", "{\n  \"name\": \"x\",\n  \"nodes\": [,]\n}");
    write("cut.json", "{\"name\": \"x\"");
    write("list.json", "[{}]");
    write("text.json", "\"hello\"");
    write("rest.json", "12x");
    write("deep.json", &"[".repeat(300_000));
    write("nameless.json", r#"{"nodes":[],"connections":{}}"#);
    write("nodeless.json", r#"{"name":"x","connections":{}}"#);
    write("nodes.json", r#"{"name":"x","nodes":{},"connections":{}}"#);
    write("node.json", r#"{"name":"x","nodes":[{"name":"A","type":"t"},{"name":"B"}],"connections":{}}"#);
    write("connections.json", r#"{"name":"x","nodes":[],"connections":[]}"#);
    write("settings.json", r#"{"name":"x","nodes":[],"connections":{},"settings":"no"}"#);
    write("long.json", &json!({"name": "n".repeat(129), "nodes": [], "connections": {}}).to_string());
    std::fs::create_dir(folder.path().join("folder.json")).unwrap();
    let huge = std::fs::File::create(folder.path().join("huge.json")).unwrap();
    huge.set_len(64 * 1024 * 1024 + 1).unwrap();
    let (n8n, mut client) =
        start_with(&WorkflowStore::new(Flavour::V2), &["--files-root", folder.path().to_str().unwrap()]);
    let cases = [
        ("broken.json", "it is not JSON: expected value at line 3, column 13."),
        ("cut.json", "it is not JSON: EOF while parsing an object at line 1, column 12."),
        ("list.json", "it is not a workflow: it is a list; pass one workflow."),
        ("text.json", "it is not a workflow: it is not an object."),
        ("rest.json", "it is not JSON: trailing characters at line 1, column 3."),
        ("deep.json", "it is not JSON: EOF while parsing a list at line 1, column 300000."),
        ("nameless.json", "it is not a workflow: name is missing."),
        ("nodeless.json", "it is not a workflow: nodes is missing."),
        ("nodes.json", "it is not a workflow: nodes must be a list of objects."),
        ("node.json", "it is not a workflow: nodes[1].type is missing."),
        ("connections.json", "it is not a workflow: connections must be an object."),
        ("settings.json", "it is not a workflow: settings must be an object."),
        ("long.json", "it is not a workflow: name must have 1 to 128 characters."),
        ("folder.json", "'folder.json' is not a file."),
        ("huge.json", "File 'huge.json' is larger than 64 MiB, which no workflow is."),
        ("none.json", "File 'none.json' does not exist. Relative paths start at the folder for workflow files."),
    ];
    for (file, why) in cases {
        for (tool, arguments) in [
            ("create_workflow_from_file", json!({"filePath": file})),
            ("replace_workflow_from_file", json!({"id": "w", "filePath": file})),
        ] {
            let refused = client.call(tool, arguments).unwrap_err();
            assert!(refused.ends_with(why), "{file}: {refused}");
        }
    }
    assert!(n8n.requests().is_empty());
}

#[test]
#[cfg(unix)]
fn files_outside_of_the_root_are_refused_however_they_are_named() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let flow = json!({"name": "F", "nodes": [], "connections": {}}).to_string();
    std::fs::write(outside.path().join("secret.json"), &flow).unwrap();
    std::fs::write(root.path().join("inside.json"), &flow).unwrap();
    std::fs::create_dir(root.path().join("sub")).unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
    link(&outside.path().join("secret.json"), "link.json");
    link(outside.path(), "linked");
    link(&root.path().join("inside.json"), "good.json");
    let pipe = root.path().join("pipe.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (_n8n, mut client) =
        start_with(&WorkflowStore::new(Flavour::V2), &["--files-root", root.path().to_str().unwrap()]);
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let absolute = outside.path().join("secret.json");
    let outside = [
        format!("../{name}/secret.json"),
        format!("sub/../../{name}/secret.json"),
        absolute.to_str().unwrap().to_owned(),
        "link.json".to_owned(),
        "linked/secret.json".to_owned(),
        // The error does not reveal whether a file exists.
        format!("../{name}/nothing.json"),
        "linked/nothing.json".to_owned(),
        "/etc/no-such-file".to_owned(),
    ];
    for path in outside {
        let refused = client.call("create_workflow_from_file", json!({"filePath": path})).unwrap_err();
        assert!(refused.contains("is outside the folder for workflow files"), "{path}: {refused}");
    }
    let refused = client.call("create_workflow_from_file", json!({"filePath": "pipe.json"})).unwrap_err();
    assert_eq!(refused, "'pipe.json' is not a file.");
    for path in ["inside.json", "sub/../inside.json", "good.json", root.path().join("inside.json").to_str().unwrap()] {
        assert!(client.call("create_workflow_from_file", json!({"filePath": path})).is_ok(), "{path}");
    }
}

#[test]
fn settings_that_n8n_keeps_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.json");
    std::fs::write(&file, json!({"name": "F", "nodes": [], "connections": {}, "settings": {}}).to_string()).unwrap();
    let store = WorkflowStore::new(Flavour::V2);
    store.put(json!({"id": "w", "name": "W", "nodes": [], "connections": {}, "settings": {"timezone": "UTC"}}));
    let (_n8n, mut client) = start(&store);
    let replaced = call(&mut client, "replace_workflow_from_file", json!({"id": "w", "filePath": file}));
    assert_eq!(replaced["message"], "ファイルからワークフローを置き換えました（n8n に残った設定: timezone）");
}
