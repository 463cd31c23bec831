//! Imports of the coordination server: any JSON is accepted or refused as a whole; importing twice is the same as once.

use std::sync::{Arc, Mutex, PoisonError};

use n8n_lens::coordination::admin::{import, project};
use n8n_lens::coordination::store::{Clock, DatabaseLocation};
use n8n_lens::coordination::{Caller, Coordinator, Cost, Error, SessionPolicy, Settings, Tool};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::entropy::Entropy;
use super::tree::Tree;
use super::{mutation, split, text};

/// A text that no refusal may show.
const SECRET: &str = "hunter2";

/// The cheapest hash that argon2 supports.
const CHEAP: Cost = Cost { memory: 8, passes: 1 };

/// The fixed time of the clock.
const NOW: i64 = 1_736_157_600_000;

/// The members of an import that are read.
const PLACES: [&[&str]; 10] = [
    &["projects"],
    &["projects", "*"],
    &["projects", "*", "*"],
    &["agents"],
    &["agents", "*"],
    &["agents", "*", "*"],
    &["assignments", "*"],
    &["assignments", "*", "*"],
    &["tasks", "*"],
    &["tasks", "*", "*"],
];

/// One database for all inputs: opening one takes longer than importing.
static HARNESS: Mutex<Option<Harness>> = Mutex::new(None);

/// Imports the bytes as JSON, or a mutated import.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let text = text(&mut choices, rest, changed);
    let Ok(data) = serde_json::from_slice::<Value>(&text) else {
        return;
    };
    let mut harness = HARNESS.lock().unwrap_or_else(PoisonError::into_inner);
    let harness = harness.get_or_insert_with(Harness::open);
    let before = harness.call(&project::LIST, Map::new());
    match harness.import(&data) {
        Ok(first) => {
            assert_eq!(first["success"], true, "{data}");
            let second = harness.import(&data).expect("it can be imported again");
            let changed: Vec<_> = second["changed"].as_object().into_iter().flatten().collect();
            assert_eq!(changed.len(), 5, "{second}");
            assert!(changed.iter().all(|(_, changed)| **changed == 0), "the second time {second}: {data}");
        }
        Err(refusal @ (Error::Refused(_) | Error::Argument(_))) => {
            let why = refusal.to_string();
            assert!(is_elsewhere(&data) || !why.contains(SECRET), "{why}: {data}");
            assert_eq!(harness.call(&project::LIST, Map::new()), before, "{why}, but something was changed: {data}");
        }
        Err(error) => panic!("{error}: {data}"),
    }
}

/// Closes the database and deletes its files.
pub fn close() {
    drop(HARNESS.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// A coordinator with a fixed clock.
struct Harness {
    coordinator: Arc<Coordinator>,
    runtime: Runtime,
    _folder: TempDir,
}

impl Harness {
    fn open() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            location: DatabaseLocation::Sqlite(folder.path().join("coordination.db")),
            create: true,
            connections: 1,
            policy: SessionPolicy::default(),
            cost: CHEAP,
            clock: Clock::Custom(Arc::new(|| NOW)),
        };
        let coordinator = runtime.block_on(Coordinator::open(&settings)).expect("a database");
        Self { coordinator, runtime, _folder: folder }
    }

    fn import(&self, data: &Value) -> Result<Value, Error> {
        let arguments = Map::from_iter([("data".to_owned(), data.clone())]);
        self.call(&import::TOOL, arguments)
    }

    fn call(&self, tool: &Tool, arguments: Map<String, Value>) -> Result<Value, Error> {
        self.runtime.block_on(self.coordinator.call(tool, arguments, &Caller::Local))
    }
}

/// Whether the secret is anywhere but in a passkey; elsewhere it may be shown.
fn is_elsewhere(data: &Value) -> bool {
    match data {
        Value::String(text) => text.contains(SECRET),
        Value::Array(elements) => elements.iter().any(is_elsewhere),
        Value::Object(members) => members.iter().any(|(name, member)| {
            let is_passkey = name == "passkey" && member.is_string();
            name.contains(SECRET) || (!is_passkey && is_elsewhere(member))
        }),
        _ => false,
    }
}

/// A small import, mutated in a few places.
fn changed(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    // Only a few ids, so that imports meet existing records.
    let number = entropy.below(6);
    let (project, agent, task) = (format!("prj_{number}"), format!("agt_{number}"), format!("tsk_{number}"));
    let data = json!({
        "projects": [{"id": project, "name": "P", "working_directory": "/work", "description": "d", "status": "active"}],
        "agents": [
            {"id": agent, "name": "A", "role": "r", "capabilities": ["x", "y"], "system_prompt": "You are A.",
             "passkey": format!("{SECRET} {}", entropy.below(3)), "ai_type": "claude", "type": "ai"},
            {"id": "agt_human", "name": "H", "type": "human", "status": "inactive"},
        ],
        "assignments": [{"project_id": project, "agent_id": agent}, {"project_id": project, "agent_id": "agt_human"}],
        "tasks": [
            {"id": task, "project_id": project, "title": "T", "status": "in_progress", "priority": "high",
             "assignee_id": agent},
            {"id": format!("{task}_done"), "project_id": project, "title": "U", "description": "d", "status": "done"},
        ],
    });
    let mut tree = Tree::of(&data);
    mutation::change(&mut tree, &PLACES, &mut entropy);
    tree.text().into_bytes()
}
