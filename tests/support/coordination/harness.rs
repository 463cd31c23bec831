//! The coordinator without a process around it, with a clock that the test sets and the cheapest password hash.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use n8n_lens::coordination::admin;
use n8n_lens::coordination::store::Clock;
use n8n_lens::coordination::tools::{RUNNER_TOOLS, TOOLS};
use n8n_lens::coordination::{Caller, Coordinator, Cost, SessionPolicy, Settings};
use serde_json::{Value, json};

use super::database::Database;

/// The cheapest argon2 parameters.
pub const CHEAP: Cost = Cost { memory: 8, passes: 1 };

/// When the clock of a harness starts: 2025-01-06T10:00:00Z.
pub const BEGIN: i64 = 1_736_157_600_000;

/// A coordinator and its clock.
#[derive(Clone)]
pub struct Harness {
    pub coordinator: Arc<Coordinator>,
    now: Arc<AtomicI64>,
}

impl Harness {
    /// Opens one with the default policy.
    pub async fn open(database: &Database) -> Self {
        Self::open_with(database, SessionPolicy::default()).await
    }

    pub async fn open_with(database: &Database, policy: SessionPolicy) -> Self {
        let now = Arc::new(AtomicI64::new(BEGIN));
        let clock = {
            let now = now.clone();
            Clock::Custom(Arc::new(move || now.load(Ordering::SeqCst)))
        };
        let settings =
            Settings { location: database.location(), create: true, connections: 8, policy, cost: CHEAP, clock };
        Self { coordinator: Coordinator::open(&settings).await.unwrap(), now }
    }

    /// Advances the clock.
    pub fn pass(&self, time: Duration) {
        self.now.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Sets the clock back.
    pub fn set_back(&self, time: Duration) {
        self.now.fetch_sub(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Calls an agent's or an administrator's tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let tool = TOOLS.iter().chain(&RUNNER_TOOLS).chain(&admin::TOOLS).find(|known| known.name == tool).unwrap();
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        self.coordinator.call(tool, arguments, &Caller::Local).await.unwrap_or_else(|error| error.answer())
    }

    /// Imports projects `prj_0`…, and agents `agt_0`… with the passkeys `key_0`…. Each agent is in each project, and
    /// has one task there, `tsk_PROJECT_AGENT`, in progress.
    pub async fn people(&self, projects: usize, agents: usize) {
        let answer = self.call("admin_import", json!({ "data": people(projects, agents) })).await;
        assert_eq!(answer["success"], true, "{answer}");
    }

    pub async fn authenticate(&self, agent: usize, project: usize) -> Value {
        let arguments = json!({
            "agent_id": format!("agt_{agent}"),
            "passkey": format!("key_{agent}"),
            "project_id": format!("prj_{project}"),
        });
        self.call("authenticate", arguments).await
    }

    /// Starts a session; returns its token.
    pub async fn session(&self, agent: usize, project: usize) -> String {
        let answer = self.authenticate(agent, project).await;
        answer["session_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// The data of [`Harness::people`], in the format of `import`.
pub fn people(projects: usize, agents: usize) -> Value {
    let project = |n| json!({"id": format!("prj_{n}"), "name": format!("Project {n}"), "working_directory": format!("/projects/{n}")});
    let agent = |n| json!({"id": format!("agt_{n}"), "name": format!("Agent {n}"), "passkey": format!("key_{n}"), "system_prompt": format!("You are {n}.")});
    let pairs = || (0..projects).flat_map(move |project| (0..agents).map(move |agent| (project, agent)));
    let assignment =
        |(project, agent)| json!({"project_id": format!("prj_{project}"), "agent_id": format!("agt_{agent}")});
    let task = |(project, agent)| {
        json!({
            "id": format!("tsk_{project}_{agent}"),
            "project_id": format!("prj_{project}"),
            "title": format!("Task of {agent}"),
            "description": "Do it.",
            "status": "in_progress",
            "priority": "medium",
            "assignee_id": format!("agt_{agent}"),
        })
    };
    json!({
        "projects": (0..projects).map(project).collect::<Vec<_>>(),
        "agents": (0..agents).map(agent).collect::<Vec<_>>(),
        "assignments": pairs().map(assignment).collect::<Vec<_>>(),
        "tasks": pairs().map(task).collect::<Vec<_>>(),
    })
}

/// Runs an asynchronous test.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test)
}
