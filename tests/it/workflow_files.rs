//! The files that the tools write and read, through the real binary.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp_client::{KEY, McpClient};

const WORKFLOW: &str = r#"{"name":"W","nodes":[],"connections":{},"own":1}"#;

/// A client of the builder, whose server runs in a folder.
fn client(folder: &Path, arguments: &[&str]) -> McpClient {
    let mut command = Command::new(crate::support::binary());
    command.args(["--toolsets", "builder", "--catalogue", "/nowhere"]).args(arguments).current_dir(folder);
    command.env_clear().env("N8N_URL", "http://127.0.0.1:9").env("N8N_API_KEY", KEY).stderr(Stdio::piped());
    McpClient::try_spawn(&mut command).expect("the server starts")
}

fn save(client: &mut McpClient, file: &Path, workflow: Value) -> Result<String, String> {
    client.call("workflow_save", json!({"workflowId": "x", "filePath": file, "workflowData": workflow}))
}

#[test]
fn a_file_that_is_not_a_workflow_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), &[]);
    let config = folder.path().join("mcp.json");
    for text in [r#"{"mcpServers":{}}"#, "[]", "not JSON", ""] {
        std::fs::write(&config, text).unwrap();
        let refused = save(&mut client, &config, json!({"name": "W", "nodes": [], "connections": {}})).unwrap_err();
        assert!(refused.contains("is not a workflow, so it is not replaced"), "{refused}");
        assert_eq!(std::fs::read_to_string(&config).unwrap(), text);
    }
    let flow = folder.path().join("flow.json");
    std::fs::write(&flow, WORKFLOW).unwrap();
    save(&mut client, &flow, json!({"name": "N", "nodes": [], "connections": {}})).unwrap();
    assert!(std::fs::read_to_string(&flow).unwrap().contains("\"N\""));
}

#[test]
fn only_members_of_workflows_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), &[]);
    let file = folder.path().join("new.json");
    let with = |member: &str| json!({"name": "W", "nodes": [], "connections": {}, member: {}});
    for member in ["mcpServers", "hooks", "own"] {
        let refused = save(&mut client, &file, with(member)).unwrap_err();
        assert_eq!(refused, format!("'{member}' is not a member of a workflow. Leave it out."));
        assert!(!file.exists());
    }
    for member in ["settings", "pinData", "meta"] {
        save(&mut client, &file, with(member)).unwrap();
    }
    // A member that the file already has may stay.
    std::fs::write(&file, WORKFLOW).unwrap();
    save(&mut client, &file, with("own")).unwrap();
    // A document that was read from a file is written unchanged.
    std::fs::write(&file, WORKFLOW).unwrap();
    let copy = folder.path().join("copy.json");
    client.call("workflow_save", json!({"workflowId": "new.json", "filePath": copy})).unwrap();
    assert_eq!(std::fs::read_to_string(copy).unwrap().split_whitespace().collect::<String>(), WORKFLOW);
}

#[test]
fn a_file_that_was_loaded_can_be_saved_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), &[]);
    let text = r#"{"name":"W","zeta":{"b":1.50,"a":"x"},"nodes":[],"connections":{},"own":[1e2]}"#;
    std::fs::write(folder.path().join("loaded.json"), text).unwrap();
    let loaded = client.call("workflow_load", json!({"workflowIdOrPath": "loaded.json"})).unwrap();
    let loaded: Value = serde_json::from_str::<Value>(&loaded).unwrap()["workflowData"].clone();
    let mut save = |to: &str, workflow: &Value| {
        let arguments = json!({"workflowId": "loaded.json", "filePath": to, "workflowData": workflow});
        let saved = client.call("workflow_save", arguments);
        saved.map(|_| {
            let text = std::fs::read_to_string(folder.path().join(to)).unwrap();
            text.split_whitespace().collect::<String>()
        })
    };
    // Members unknown to n8n are kept byte for byte, even if the caller left them out.
    assert_eq!(save("copy.json", &loaded).unwrap(), text);
    let mut known = loaded.clone();
    known.as_object_mut().unwrap().retain(|member, _| !["zeta", "own"].contains(&member.as_str()));
    assert_eq!(
        save("copy.json", &known).unwrap(),
        r#"{"name":"W","nodes":[],"connections":{},"zeta":{"b":1.50,"a":"x"},"own":[1e2]}"#
    );
    // A caller's own value counts; a member that the file does not have is still refused.
    known["zeta"] = json!(2);
    assert!(save("copy.json", &known).unwrap().contains(r#""zeta":2"#));
    known["mcpServers"] = json!({});
    assert_eq!(save("new.json", &known).unwrap_err(), "'mcpServers' is not a member of a workflow. Leave it out.");
    assert_eq!(save("loaded.json", &loaded).unwrap(), text);
}

#[test]
fn files_are_below_the_working_directory_unless_a_root_is_named() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = outside.path().join("flow.json");
    std::fs::write(&file, WORKFLOW).unwrap();
    let mut inside = client(folder.path(), &[]);
    for (tool, arguments) in [
        ("workflow_load", json!({"workflowIdOrPath": file})),
        (
            "workflow_save",
            json!({"workflowId": "x", "filePath": file, "workflowData": {"name": "x", "nodes": [], "connections": {}}}),
        ),
        ("workflow_list", json!({"directoryPath": outside.path()})),
    ] {
        let refused = inside.call(tool, arguments).unwrap_err();
        assert!(refused.contains("is outside the folder for workflow files"), "{tool}: {refused}");
    }
    let mut anywhere = client(folder.path(), &["--files-root", "/"]);
    assert!(anywhere.call("workflow_load", json!({"workflowIdOrPath": file})).is_ok());
}

#[test]
fn a_pipe_or_a_link_in_place_of_the_lock_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flow.json"), WORKFLOW).unwrap();
    let lock = folder.path().join(".n8n-lens.lock");
    let mut client = client(folder.path(), &[]);
    let add = json!({"workflowId": "flow.json", "nodeType": "n8n-nodes-base.set"});
    assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
    let refused = client.call("node_add", add.clone()).unwrap_err();
    assert!(refused.contains("is not a regular file"), "{refused}");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &lock).unwrap();
    let refused = client.call("node_add", add).unwrap_err();
    assert!(refused.contains("is not a regular file"), "{refused}");
}

/// Opening a pipe for reading releases a program that waits to write to it.
#[test]
fn a_pipe_among_the_workflows_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flow.json"), WORKFLOW).unwrap();
    let pipe = folder.path().join("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut client = client(folder.path(), &[]);
    let is_open = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let opened = std::fs::File::options().write(true).open(&pipe);
            is_open.store(true, Ordering::SeqCst);
            opened
        });
        let listed: Value = serde_json::from_str(&client.call("workflow_list", json!({})).unwrap()).unwrap();
        let refused = client.call("workflow_load", json!({"workflowIdOrPath": "pipe.json"})).unwrap_err();
        std::thread::sleep(Duration::from_millis(100));
        let was_open = is_open.load(Ordering::SeqCst);
        let _reader = std::fs::File::open(&pipe).unwrap();
        writer.join().unwrap().unwrap();
        assert!(!was_open, "the pipe was opened");
        assert_eq!(listed["total"], 1);
        assert!(refused.contains("is not a file"), "{refused}");
    });
}

#[test]
fn a_link_that_leads_nowhere_is_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink(folder.path().join("missing.json"), &link).unwrap();
    let mut client = client(folder.path(), &[]);
    let workflow = json!({"name": "N", "nodes": [], "connections": {}});
    let refused = save(&mut client, Path::new("link.json"), workflow.clone()).unwrap_err();
    assert_eq!(refused, "'link.json' is a link to a file that does not exist. Remove it, or pass another path.");
    assert!(link.is_symlink() && !link.exists());
    std::fs::remove_file(&link).unwrap();
    save(&mut client, Path::new("link.json"), workflow).unwrap();
}

#[test]
#[ignore = "long: ten seconds"]
fn a_lock_that_is_held_is_given_up_and_its_holder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("flow.json"), WORKFLOW).unwrap();
    let lock = folder.path().join(".n8n-lens.lock");
    // The process id of one of our processes, killed while it held the lock.
    std::fs::write(&lock, "4242").unwrap();
    let held = std::fs::File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    let mut client = client(folder.path(), &[]);
    let begun = std::time::Instant::now();
    let add = json!({"workflowId": "flow.json", "nodeType": "n8n-nodes-base.set"});
    let waiting: Vec<_> = (0..20).map(|_| client.begin("node_add", add.clone())).collect();
    assert!(client.call("workflow_list", json!({})).is_ok(), "other tools go on");
    let refusals: Vec<_> =
        waiting.into_iter().map(|id| crate::mcp_client::text(&client.answer(id)).unwrap_err()).collect();
    // One call waits for the lock, the others for their turn.
    // Linux shows who holds it: this test, which is another program.
    let named = match cfg!(target_os = "linux") {
        true => format!("process {} (", std::process::id()),
        false => "process 4242 has".to_owned(),
    };
    let holder = |refused: &String| refused.contains(&named) && refused.contains("has held its lock for 10 s");
    let others = |refused: &String| refused.contains("Other calls have been writing files in this folder for 10 s");
    assert!(refusals.iter().any(holder), "{refusals:?}");
    assert!(refusals.iter().all(|refused| holder(refused) || others(refused)), "{refusals:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
