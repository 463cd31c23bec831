//! Folders and files that are replaced with links while the builder works on them, and servers that share a folder,
//! through the real binary.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::mcp_client::{McpClient, text};

/// A name in a workflow outside the root.
const CANARY: &str = "outside the root";

/// How long the links are swapped.
const ATTACK: Duration = Duration::from_secs(3);

fn workflow(name: &str) -> Value {
    json!({"name": name, "nodes": [], "connections": {}})
}

fn client(root: &Path) -> McpClient {
    let arguments = ["--toolsets", "builder,workflows", "--files-root", root.to_str().unwrap(), "--log-level", "error"];
    McpClient::start_with("http://127.0.0.1:1", &arguments)
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

/// Swaps pairs of paths as fast as it can while `work` runs; returns how often.
fn exchanging<T>(pairs: &[[&Path; 2]], work: impl FnOnce() -> T) -> (T, u64) {
    let (done, exchanges) = (AtomicBool::new(false), AtomicU64::new(0));
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(SeqCst) {
                for [one, other] in pairs {
                    renameat_with(CWD, *one, CWD, *other, RenameFlags::EXCHANGE).unwrap();
                    exchanges.fetch_add(1, SeqCst);
                }
            }
        });
        let result = work();
        done.store(true, SeqCst);
        result
    });
    (result, exchanges.into_inner())
}

#[test]
fn links_that_are_exchanged_with_folders_and_files_never_lead_out_of_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    for folder in [&root.join("sub/deep"), &outside.join("deep")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    for file in ["sub/flow.json", "sub/deep/flow.json", "flow.json"] {
        std::fs::write(root.join(file), workflow("inside").to_string()).unwrap();
    }
    for file in ["flow.json", "deep/flow.json"] {
        std::fs::write(outside.join(file), workflow(CANARY).to_string()).unwrap();
    }
    symlink(&outside, root.join("link")).unwrap();
    symlink(outside.join("flow.json"), root.join("link.json")).unwrap();
    let before = [files(&outside), files(&outside.join("deep"))];

    let mut client = client(&root);
    let mut calls = (0_u64, 0_u64);
    let sub = root.join("sub");
    let pairs = [[&*sub, &*root.join("link")], [&*root.join("flow.json"), &*root.join("link.json")]];
    let ((), exchanges) = exchanging(&pairs, || {
        let begun = Instant::now();
        while begun.elapsed() < ATTACK {
            for file in ["sub/flow.json", "sub/deep/flow.json", "flow.json"] {
                let new = format!("{}/new{}.json", file.rsplit_once('/').map_or(".", |(folder, _)| folder), calls.0);
                let arguments = [
                    ("workflow_load", json!({"workflowIdOrPath": file})),
                    ("workflow_save", json!({"workflowId": "x", "filePath": file, "workflowData": workflow("inside")})),
                    ("workflow_list", json!({"directoryPath": "sub"})),
                    ("node_add", json!({"workflowId": file, "nodeType": "n8n-nodes-base.set"})),
                    ("workflow_create", json!({"name": "inside", "target": new})),
                ];
                for (tool, arguments) in arguments {
                    let answer = client.call(tool, arguments);
                    let (Ok(said) | Err(said)) = &answer;
                    assert!(!said.contains(CANARY), "{tool} read a file outside the root: {said}");
                    calls.0 += 1;
                    calls.1 += u64::from(answer.is_ok());
                }
            }
        }
    });
    println!("{} calls, {} of them successful, alongside {exchanges} exchanges", calls.0, calls.1);
    assert_eq!([files(&outside), files(&outside.join("deep"))], before);
    assert!(calls.1 > 0 && exchanges > calls.0);
}

#[test]
fn two_servers_on_one_folder_lose_no_edit() {
    const EDITS: usize = 40;
    let root = tempfile::tempdir().unwrap();
    for file in ["a.json", "b.json"] {
        std::fs::write(root.path().join(file), workflow(file).to_string()).unwrap();
    }
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = client(root.path());
                let calls: Vec<_> = (0..EDITS)
                    .map(|at| {
                        let file = ["a.json", "b.json"][at % 2];
                        client.begin("node_add", json!({"workflowId": file, "nodeType": "n8n-nodes-base.set"}))
                    })
                    .collect();
                for call in calls {
                    text(&client.answer(call)).unwrap();
                }
            });
        }
    });
    for file in ["a.json", "b.json"] {
        let document: Value = serde_json::from_slice(&std::fs::read(root.path().join(file)).unwrap()).unwrap();
        let nodes = document["nodes"].as_array().unwrap();
        let names: std::collections::BTreeSet<_> = nodes.iter().map(|node| node["name"].as_str().unwrap()).collect();
        assert_eq!((nodes.len(), names.len()), (EDITS, EDITS), "{file}");
    }
    let left: Vec<_> = files(root.path()).into_keys().collect();
    assert_eq!(left, [".n8n-lens.lock", "a.json", "b.json"]);
}
