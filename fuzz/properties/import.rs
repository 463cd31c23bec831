//! What the coordination server imports: any JSON is taken or refused, all of it or nothing; twice is the same as once.

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

/// What no refusal shows.
const SECRET: &str = "hunter2";

/// The cheapest hash that argon2 makes.
const CHEAP: Cost = Cost { memory: 8, passes: 1 };

/// When everything happens.
const NOW: i64 = 1_736_157_600_000;

/// Where an import says something.
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

/// One database for all inputs: to open one takes longer than to import.
static OFFICE: Mutex<Option<Office>> = Mutex::new(None);

/// Imports the bytes as JSON, or an import that was changed.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let text = text(&mut choices, rest, changed);
    let Ok(data) = serde_json::from_slice::<Value>(&text) else {
        return;
    };
    let mut office = OFFICE.lock().unwrap_or_else(PoisonError::into_inner);
    let office = office.get_or_insert_with(Office::open);
    let before = office.call(&project::LIST, Map::new());
    match office.import(&data) {
        Ok(first) => {
            assert_eq!(first["success"], true, "{data}");
            let second = office.import(&data).expect("what was imported is imported again");
            let changed: Vec<_> = second["changed"].as_object().into_iter().flatten().collect();
            assert_eq!(changed.len(), 5, "{second}");
            assert!(changed.iter().all(|(_, changed)| **changed == 0), "the second time {second}: {data}");
        }
        Err(Error::Refused(why)) => {
            assert!(is_elsewhere(&data) || !why.contains(SECRET), "{why}: {data}");
            assert_eq!(office.call(&project::LIST, Map::new()), before, "{why}, but something was changed: {data}");
        }
        Err(Error::Store(error)) => panic!("{error}: {data}"),
    }
}

/// Closes the database, and takes its files away.
pub fn close() {
    drop(OFFICE.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// A coordinator with a clock that stands still.
struct Office {
    coordinator: Arc<Coordinator>,
    runtime: Runtime,
    _folder: TempDir,
}

impl Office {
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

/// Whether the secret stands anywhere but as a passkey: there it may be shown.
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

/// A small import, changed in a few places.
fn changed(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    // A few ids, so that imports meet what is there already.
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
