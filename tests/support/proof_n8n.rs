//! An n8n that plays copies of workflows: it keeps workflows, and an active copy has an execution.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::server::{Reply, Request};
use super::workflow_store::{Flavour, WorkflowStore};

/// The node that starts a copy.
pub const START: &str = "n8n-lens replay start";

/// The behaviour of a copy: changes the execution that would result if it did the same as the recorded one.
pub type Play = Arc<dyn Fn(&Value, &mut Value) + Send + Sync>;

/// The n8n; clones share it.
#[derive(Clone)]
pub struct ProofN8n {
    pub store: WorkflowStore,
    /// The execution whose data are used.
    recorded: Value,
    play: Play,
    /// What is in the names of the copies that play; the others do the same again.
    pub plays: &'static str,
    /// Executions of `w` that succeeded, newest first.
    pub good: Vec<Value>,
    /// The executions of copies, by id.
    played: Arc<Mutex<BTreeMap<String, Value>>>,
    /// The bodies with which webhooks of copies were called, by path.
    pub calls: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl ProofN8n {
    /// An n8n with the workflow `w` of an execution, and the execution; `play` is the behaviour of the changed copy.
    pub fn new(recorded: Value, play: Play) -> Self {
        let store = WorkflowStore::new(Flavour::V2);
        let mut workflow = recorded["workflowData"].clone();
        workflow["id"] = json!("w");
        workflow["active"] = json!(true);
        store.put(workflow);
        let (played, calls) = Default::default();
        Self { store, recorded, play, plays: " changed ", good: Vec::new(), played, calls }
    }

    /// The same n8n, where the changed copy behaves like this.
    pub fn playing(&self, play: Play) -> Self {
        Self { play, played: Arc::default(), ..self.clone() }
    }

    /// The names of the copies that exist.
    pub fn copies(&self) -> Vec<String> {
        let names =
            self.store.ids().into_iter().filter_map(|id| Some(self.store.get(&id)?["name"].as_str()?.to_owned()));
        names.filter(|name| name.starts_with("n8n-lens replay")).collect()
    }

    /// The executions of copies so far.
    pub fn played(&self) -> Vec<Value> {
        self.played.lock().unwrap().values().cloned().collect()
    }

    /// The answer to a request.
    pub fn answer(&self, request: &Request) -> Reply {
        if let Some(path) = request.path.strip_prefix("/webhook/") {
            return self.webhook(path, request);
        }
        let path: Vec<&str> = request.path.trim_start_matches("/api/v1/").split('/').collect();
        match (request.method.as_str(), path.as_slice()) {
            ("GET", ["discover"]) => Reply::json(200, json!({"data": {"scopes": SCOPES}}).to_string()),
            ("GET", ["executions"]) if request.query("status") == Some("success") => self.list_good(request),
            ("GET", ["executions"]) => self.list(request.query("workflowId")),
            ("GET", ["executions", id]) => self.execution(id),
            ("POST", ["executions", id, "retry"]) => self.retry(id, request),
            ("POST", ["executions", _, "stop"]) => {
                Reply::json(200, json!({"id": "5", "status": "canceled"}).to_string())
            }
            _ => self.store.answer(request).unwrap_or_else(|| Reply::json(404, r#"{"message":"not found"}"#)),
        }
    }

    /// A webhook of a copy, as n8n 2.41 answers for one that only takes `POST`.
    fn webhook(&self, path: &str, request: &Request) -> Reply {
        if request.method != "POST" {
            let message = "This webhook is not registered for GET requests. Did you mean to make a POST request?";
            return Reply::json(404, json!({"code": 404, "message": message}).to_string());
        }
        self.calls.lock().unwrap().insert(path.to_owned(), request.body.clone());
        Reply::json(200, r#"{"message":"Workflow was started"}"#)
    }

    /// Whether a copy has begun: at once, or when its webhook was called.
    fn has_begun(&self, copy: &Value) -> bool {
        let start = copy["nodes"].as_array().unwrap().iter().find(|node| node["name"] == START).unwrap();
        start["webhookId"].as_str().is_none_or(|path| self.calls.lock().unwrap().contains_key(path))
    }

    /// The good executions before the one that the cursor names.
    fn list_good(&self, request: &Request) -> Reply {
        let cursor = request.query("cursor").and_then(|cursor| STANDARD.decode(cursor).ok()).unwrap_or_default();
        let last: Value = serde_json::from_slice(&cursor).unwrap_or_default();
        let id = |value: &Value| value.as_str().and_then(|id| id.parse::<u64>().ok());
        let before = id(&last["lastId"]).unwrap_or(u64::MAX);
        let good = self.good.iter().filter(|good| id(&good["id"]).is_some_and(|id| id < before));
        let row = |good: &Value| json!({"id": good["id"], "workflowId": "w", "status": "success"});
        Reply::json(200, json!({"data": good.take(1).map(row).collect::<Vec<_>>(), "nextCursor": null}).to_string())
    }

    fn list(&self, workflow: Option<&str>) -> Reply {
        let copy = workflow
            .and_then(|id| self.store.get(id))
            .filter(|workflow| workflow["name"].as_str().unwrap().starts_with("n8n-lens replay"));
        let data = match (copy, workflow) {
            (Some(copy), Some(id)) if copy["active"] == true && self.has_begun(&copy) => {
                let execution = self.run(id, &copy);
                let row =
                    json!({"id": execution["id"], "workflowId": id, "status": execution["status"], "retryOf": null});
                vec![row]
            }
            _ => Vec::new(),
        };
        Reply::json(200, json!({"data": data, "nextCursor": null}).to_string())
    }

    /// The execution of a copy.
    fn run(&self, workflow: &str, copy: &Value) -> Value {
        let mut played = self.played.lock().unwrap();
        let id = (9000 + played.len()).to_string();
        let known = played.values().find(|execution| execution["workflowId"] == workflow);
        if let Some(known) = known {
            return known.clone();
        }
        let name = copy["name"].as_str().unwrap();
        let is_of = |good: &&Value| name.starts_with(&format!("n8n-lens replay {} ", good["id"].as_str().unwrap()));
        let mut execution = self.good.iter().find(is_of).unwrap_or(&self.recorded).clone();
        execution["id"] = json!(id);
        execution["workflowId"] = json!(workflow);
        execution["mode"] = json!("trigger");
        execution["workflowData"] = copy.clone();
        let runs = execution["data"]["resultData"]["runData"].as_object_mut().unwrap();
        runs.insert(START.to_owned(), json!([{"startTime": 1, "executionIndex": 0, "source": [], "executionStatus": "success", "data": {"main": [[{"json": {}}]]}}]));
        if name.contains(self.plays) {
            (self.play)(copy, &mut execution);
        }
        played.insert(id, execution.clone());
        execution
    }

    fn execution(&self, id: &str) -> Reply {
        let played = self.played.lock().unwrap();
        let mut known = std::iter::once(&self.recorded).chain(&self.good);
        match played.get(id).or_else(|| known.find(|execution| execution["id"] == id)) {
            Some(execution) => Reply::json(200, execution.to_string()),
            None => Reply::json(404, r#"{"message":"Not Found"}"#),
        }
    }

    /// Runs the draft, if it is asked for, which does what the changed copy does; its version is only in what is stored.
    fn retry(&self, id: &str, request: &Request) -> Reply {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let mut execution = self.recorded.clone();
        (self.play)(&Value::Null, &mut execution);
        let retry = json!({"id": "77", "retryOf": id, "mode": "retry"});
        execution.as_object_mut().unwrap().extend(retry.as_object().unwrap().clone());
        if body["loadWorkflow"] == true {
            execution["workflowVersionId"] = self.store.get("w").unwrap()["versionId"].clone();
        }
        self.played.lock().unwrap().insert("77".to_owned(), execution.clone());
        Reply::json(200, execution.to_string())
    }
}

/// The scopes of the key.
const SCOPES: [&str; 8] = [
    "execution:read",
    "execution:list",
    "workflow:read",
    "workflow:list",
    "workflow:create",
    "workflow:activate",
    "workflow:deactivate",
    "workflow:delete",
];
