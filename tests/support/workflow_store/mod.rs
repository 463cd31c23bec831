//! An n8n that keeps workflows: list, read, create, replace, activate and delete, as strict as the real one and in
//! its words.
//! Nothing in it is random: ids, versions and times follow the number of writes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, from_slice, json};

use super::server::{Reply, Request};

mod rules;

use rules::{Query, Rules, complete, lay_over, strike, text, without};

/// The version of n8n that is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flavour {
    /// 2.41.1
    V2,
    /// 1.123.81
    V1,
}

use Flavour::{V1, V2};

type Object = Map<String, Value>;
/// A status and n8n's message.
type Refusal = (u16, String);

/// The keys in the response to a GET, in n8n's order; a list omits `NOT_LISTED`.
const KEYS_V2: &str =
    "id name description active activeVersionId createdAt updatedAt isArchived versionId versionCounter
    sourceWorkflowId triggerCount nodes connections nodeGroups settings staticData pinData meta tags shared
    activeVersion";
const KEYS_V1: &str = "updatedAt createdAt id name description active isArchived nodes connections settings staticData
    meta pinData versionId activeVersionId versionCounter triggerCount shared tags activeVersion";
const NOT_LISTED: &str = "description versionCounter sourceWorkflowId";
/// Settings that 2.41 accepts and discards.
const FORGOTTEN: [&str; 3] = ["binaryMode", "credentialResolverId", "redactionPolicy"];

/// Workflows by id; clones share them.
#[derive(Clone)]
pub struct WorkflowStore {
    flavour: Flavour,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    workflows: BTreeMap<String, Object>,
    /// Every version that was saved, by the id of its workflow and its own.
    versions: BTreeMap<(String, String), Object>,
    writes: u64,
}

impl State {
    /// The time and the version of the next write; writes are a second apart.
    fn stamp(&mut self) -> (String, String) {
        self.writes += 1;
        let (minutes, seconds) = (self.writes / 60, self.writes % 60);
        let time = format!("2027-01-01T{:02}:{:02}:{seconds:02}.000Z", minutes / 60, minutes % 60);
        (time, format!("00000000-0000-4000-8000-{:012}", self.writes))
    }

    fn save(&mut self, workflow: Object) {
        let (id, version) = (text(&workflow, "id").to_owned(), text(&workflow, "versionId").to_owned());
        self.versions.insert((id.clone(), version), workflow.clone());
        self.workflows.insert(id, workflow);
    }
}

impl WorkflowStore {
    /// A store without workflows.
    pub fn new(flavour: Flavour) -> WorkflowStore {
        WorkflowStore { flavour, state: Arc::default() }
    }

    /// Stores a workflow in the shape of a GET response, with any keys; missing keys get defaults. Returns its id.
    pub fn put(&self, workflow: Value) -> String {
        let Value::Object(given) = workflow else { panic!("not an object") };
        text(&self.plant(given), "id").to_owned()
    }

    /// The workflow as a GET returns it.
    pub fn get(&self, id: &str) -> Option<Value> {
        self.state().workflows.get(id).cloned().map(Value::Object)
    }

    /// Saves other nodes without publishing them, as n8n's editor does.
    pub fn save_draft(&self, id: &str, nodes: Value) {
        let mut state = self.state();
        let (now, version) = state.stamp();
        let mut workflow = state.workflows[id].clone();
        for (key, value) in [("nodes", nodes), ("versionId", json!(version)), ("updatedAt", json!(now))] {
            workflow.insert(key.to_owned(), value);
        }
        state.save(workflow);
    }

    /// All ids, in list order.
    pub fn ids(&self) -> Vec<String> {
        self.state().workflows.keys().cloned().collect()
    }

    /// The answer to `/api/v1/workflows`, `/api/v1/workflows/{id}` its versions, and its `/activate` and `/deactivate` (key `test-key`);
    /// `None` for any other path.
    pub fn answer(&self, request: &Request) -> Option<Reply> {
        let rest = request.path.strip_prefix("/api/v1/workflows")?.trim_end_matches('/');
        let (rest, action) = match rest.rsplit_once('/') {
            Some((workflow, action @ ("activate" | "deactivate" | "publish"))) if !workflow.is_empty() => {
                (workflow, Some(action))
            }
            _ => (rest, None),
        };
        let id = if rest.is_empty() { None } else { Some(rest.strip_prefix('/')?) };
        let body = if request.body.is_empty() { Some(Value::Null) } else { from_slice(&request.body).ok() };
        let Some(body) = body else {
            let page = "<!DOCTYPE html>\n<pre>ResponseError: Failed to parse request body</pre>\n";
            return Some(Reply::bytes(500, "text/html; charset=utf-8", page.as_bytes()));
        };
        let found = match (id, action) {
            (Some(id), Some("publish")) => self.publish_version(request, id, &body),
            (Some(id), Some(action)) => self.activate(request, id, action == "activate"),
            (Some(path), None) if path.contains('/') => self.version(request, path),
            _ => self.route(request, id, body),
        };
        Some(match found {
            Ok(found) => Reply::json(200, found.to_string()),
            Err((status, message)) => Reply::json(status, json!({ "message": message }).to_string()),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panicked here")
    }

    fn authenticate(&self, request: &Request) -> Result<(), Refusal> {
        match (request.header("x-n8n-api-key"), self.flavour) {
            (Some("test-key"), _) => Ok(()),
            (_, V2) => refuse(401, "Unauthorized"),
            (Some(_), V1) => refuse(401, "unauthorized"),
            (None, V1) => refuse(401, "'X-N8N-API-KEY' header required"),
        }
    }

    /// Publishes the saved version, or unpublishes the workflow.
    fn activate(&self, request: &Request, id: &str, active: bool) -> Result<Value, Refusal> {
        self.authenticate(request)?;
        if request.method != "POST" {
            return refuse(405, format!("{} method not allowed", request.method));
        }
        let mut workflow = self.find(id)?;
        if active && !rules::has_trigger(&workflow) {
            return match self.flavour {
                V2 => refuse(400, format!("Workflow cannot be activated because it has {}", rules::NO_TRIGGER)),
                V1 => refuse(400, format!("Workflow {} (ID: {id}) {}", workflow["name"], rules::NO_START)),
            };
        }
        let mut state = self.state();
        let (now, _) = state.stamp();
        workflow["active"] = json!(active);
        if active {
            self.publish(&mut workflow, &now);
        } else {
            (workflow["activeVersionId"], workflow["activeVersion"]) = (Value::Null, Value::Null);
        }
        state.save(workflow.clone());
        Ok(without(workflow, "shared"))
    }

    /// Publishes one version of a workflow; a newer draft stays a draft.
    fn publish_version(&self, request: &Request, id: &str, body: &Value) -> Result<Value, Refusal> {
        self.authenticate(request)?;
        let mut workflow = self.find(id)?;
        let version = body["versionId"].as_str().unwrap_or_else(|| text(&workflow, "versionId")).to_owned();
        let mut state = self.state();
        let Some(published) = state.versions.get(&(id.to_owned(), version)).cloned() else {
            return refuse(404, "Version not found");
        };
        let (now, _) = state.stamp();
        for (member, value) in
            [("active", json!(true)), ("activeVersionId", published["versionId"].clone()), ("updatedAt", json!(now))]
        {
            workflow.insert(member.to_owned(), value);
        }
        state.workflows.insert(id.to_owned(), workflow.clone());
        Ok(without(workflow, "shared"))
    }

    /// A version of a workflow, by `{id}/{versionId}`.
    fn version(&self, request: &Request, path: &str) -> Result<Value, Refusal> {
        self.authenticate(request)?;
        let path = path.split_once('/').filter(|_| request.method == "GET");
        let found = path.and_then(|(id, version)| self.state().versions.get(&(id.into(), version.into())).cloned());
        let Some(workflow) = found else { return refuse(404, "Version not found") };
        Ok(json!({ "versionId": workflow["versionId"], "workflowId": workflow["id"], "nodes": workflow["nodes"],
            "connections": workflow["connections"], "authors": "Test Owner", "name": null, "description": null,
            "createdAt": workflow["updatedAt"], "updatedAt": workflow["updatedAt"] }))
    }

    fn route(&self, request: &Request, id: Option<&str>, body: Value) -> Result<Value, Refusal> {
        self.authenticate(request)?;
        let rules = Rules { flavour: self.flavour, method: &request.method };
        let query = rules.query(request, id.is_none()).or_else(|fault| refuse(400, fault))?;
        match (&*request.method, id) {
            ("GET", None) => Ok(self.list(&query)),
            ("GET", Some(id)) => Ok(without(self.find(id)?, query.left_out)),
            ("POST", None) => self.create(rules.body(body).or_else(|fault| refuse(400, fault))?),
            ("PUT", Some(id)) => {
                let body = rules.body(body).or_else(|fault| refuse(400, fault))?;
                match (self.find(id), self.flavour) {
                    (Ok(old), _) => self.replace(&old, body, query.publish),
                    (Err(_), V2) => refuse(404, rules::NOT_YOURS),
                    (Err(refusal), V1) => Err(refusal),
                }
            }
            ("DELETE", Some(id)) => {
                let workflow = self.find(id)?;
                if self.flavour == V2 && workflow["active"] == true {
                    return refuse(409, "Cannot delete a published workflow. Unpublish it before deleting.");
                }
                self.state().workflows.remove(id);
                Ok(without(workflow, "tags activeVersion"))
            }
            (method, _) => refuse(405, format!("{method} method not allowed")),
        }
    }

    fn find(&self, id: &str) -> Result<Object, Refusal> {
        self.state().workflows.get(id).cloned().ok_or((404, "Not Found".to_owned()))
    }

    fn list(&self, query: &Query) -> Value {
        let state = self.state();
        let mut found: Vec<&Object> = state.workflows.values().collect();
        found.retain(|workflow| {
            let tags = workflow["tags"].as_array();
            let tagged = |tag: &str| tags.is_some_and(|tags| tags.iter().any(|known| known["name"] == tag.trim()));
            query.active.is_none_or(|active| workflow["active"] == active)
                && text(workflow, "name").to_lowercase().contains(&query.name)
                && query.tags.is_none_or(|tags| match self.flavour {
                    V2 => tags.split(',').all(tagged),
                    V1 => tags.split(',').any(tagged),
                })
        });
        let (limit, offset) = (query.limit, query.offset);
        let take = if limit == 0 { usize::MAX } else { limit };
        let page = found.iter().skip(offset).take(take).map(|workflow| {
            let mut item = Object::clone(workflow);
            for share in item["shared"].as_array_mut().into_iter().flatten() {
                strike(share, |key, _| key == "project");
            }
            strike(&mut item["activeVersion"], |key, _| key == "workflowPublishHistory");
            without(item, &format!("{NOT_LISTED} {}", query.left_out))
        });
        let next = json!({ "limit": limit, "offset": offset + limit }).to_string();
        let next = (found.len() > offset + limit).then(|| STANDARD.encode(next));
        json!({ "data": page.collect::<Vec<_>>(), "nextCursor": next })
    }

    fn create(&self, mut body: Object) -> Result<Value, Refusal> {
        if self.flavour == V1 {
            let mut settings = json!({ "callerPolicy": "workflowsFromSameOwner", "availableInMCP": false });
            lay_over(&mut settings, &body["settings"]);
            body["settings"] = settings;
            return Ok(without(self.plant(body), "tags shared activeVersion"));
        }
        let fault = rules::name_fault(&body, 1).or_else(|| rules::structure_fault(&body));
        fault.map_or(Ok(()), |fault| refuse(400, fault))?;
        strike(&mut body["settings"], |key, _| FORGOTTEN.contains(&key));
        let mut made = self.plant(body);
        made.insert("parentFolder".to_owned(), Value::Null);
        Ok(made.into())
    }

    /// Applies a body to a workflow: absent keys keep their values, settings are merged.
    fn replace(&self, old: &Object, mut body: Object, publish: bool) -> Result<Value, Refusal> {
        let v2 = self.flavour == V2;
        if v2 && old["isArchived"] == true {
            return refuse(400, "Cannot update an archived workflow.");
        }
        let counts = |key: &str| !v2 || ["nodes", "connections", "nodeGroups"].contains(&key);
        let changed = body.iter().any(|(key, value)| counts(key) && old.get(key).is_some_and(|old| old != value));
        let fault = if v2 && changed { rules::structure_fault(&body) } else { None };
        fault.or_else(|| rules::name_fault(&body, 0)).map_or(Ok(()), |fault| refuse(400, fault))?;
        strike(&mut body["settings"], |key, _| v2 && FORGOTTEN.contains(&key));
        let mut settings = old["settings"].clone();
        lay_over(&mut settings, &body["settings"]);
        strike(&mut settings, |key, value| match key {
            "executionTimeout" => *value == -1,
            "errorWorkflow" => v2 && *value == "DEFAULT",
            _ => *value == "DEFAULT",
        });
        body["settings"] = settings;
        let (mut state, mut new) = (self.state(), old.clone());
        let (now, version) = state.stamp();
        complete(&mut body, &version);
        new.extend(body);
        new["updatedAt"] = json!(now);
        if changed {
            new["versionId"] = json!(version);
        }
        if !v2 || changed || new["settings"] != old["settings"] {
            new["versionCounter"] = json!(old["versionCounter"].as_u64().unwrap_or(0) + 1);
        }
        // A version that cannot be published is saved anyway; 1.123 also deactivates the workflow.
        let mut answer = Ok(());
        if new["active"] == true && publish && rules::has_trigger(&new) {
            self.publish(&mut new, &now);
        } else if new["active"] == true && publish && v2 {
            answer = refuse(400, format!("Workflow cannot be activated because it has {}", rules::NO_TRIGGER));
        } else if new["active"] == true && publish {
            answer = refuse(400, format!("Workflow {} (ID: {}) {}", new["name"], text(&new, "id"), rules::NO_START));
            (new["active"], new["activeVersionId"], new["activeVersion"]) = (json!(false), Value::Null, Value::Null);
        }
        state.save(new.clone());
        answer.map(|()| without(new, if v2 { "shared" } else { "shared activeVersion" }))
    }

    /// Completes and stores a workflow.
    fn plant(&self, mut given: Object) -> Object {
        let mut state = self.state();
        let (now, version) = state.stamp();
        let id = given.get("id").and_then(Value::as_str).map_or(format!("W{:015}", state.writes), str::to_owned);
        complete(&mut given, &version);
        let share = json!({ "role": "workflow:owner", "workflowId": id, "projectId": "P000000000000001",
            "project": { "id": "P000000000000001", "name": "Test Owner", "type": "personal" } });
        let mut whole = Object::new();
        for key in if self.flavour == V2 { KEYS_V2 } else { KEYS_V1 }.split_whitespace() {
            let value = given.shift_remove(key).unwrap_or_else(|| match key {
                "id" => json!(id),
                "createdAt" | "updatedAt" => json!(now),
                "versionId" => json!(version),
                "versionCounter" => json!(1),
                "triggerCount" => json!(0),
                "active" | "isArchived" => json!(false),
                "nodes" | "nodeGroups" | "tags" => json!([]),
                "connections" | "settings" => json!({}),
                "shared" => json!([share]),
                _ => Value::Null,
            });
            whole.insert(key.to_owned(), value);
        }
        if whole["active"] == true && whole["activeVersion"].is_null() {
            self.publish(&mut whole, &now);
        }
        state.save(whole.clone());
        whole
    }

    /// Makes the saved version the active version.
    fn publish(&self, workflow: &mut Object, now: &str) {
        if workflow["activeVersionId"] == workflow["versionId"] && !workflow["activeVersion"].is_null() {
            return;
        }
        let mut version = json!({ "versionId": workflow["versionId"], "workflowId": workflow["id"],
            "nodes": workflow["nodes"], "connections": workflow["connections"], "authors": "Test Owner",
            "name": null, "description": null, "createdAt": now, "updatedAt": now });
        if self.flavour == V2 {
            let history = json!([{ "event": "activated", "versionId": workflow["versionId"], "createdAt": now }]);
            let more =
                json!({ "nodeGroups": workflow["nodeGroups"], "autosaved": false, "workflowPublishHistory": history });
            lay_over(&mut version, &more);
        }
        workflow["activeVersionId"] = workflow["versionId"].clone();
        workflow["activeVersion"] = version;
    }
}

fn refuse<T>(status: u16, message: impl Into<String>) -> Result<T, Refusal> {
    Err((status, message.into()))
}
