//! Random histories from a seed.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use n8n_lens::coordination::tools::{RUNNER_TOOLS, TOOLS};
use n8n_lens::coordination::{Tool, admin};
use serde_json::{Map, Value, json};

use super::rules::{Model, STATUSES, text};
use crate::harness::Harness;
use crate::random::Random;

#[derive(Clone)]
enum Step {
    Pass(i64),
    Call(&'static str, Value),
}

/// Steps in addition to one of each tool; some tools are called more often.
const MORE: &str = "pass pass pass pass pass pass pass pass pass pass pass pass again again again stay
    authenticate authenticate authenticate authenticate authenticate authenticate authenticate logout
    get_my_task get_my_task get_my_task get_my_task get_my_task get_my_task report_completed report_completed
    update_task_status update_task_status assign_task save_context create_handoff create_handoff accept_handoff
    accept_handoff get_pending_tasks report_execution_start report_execution_start report_execution_complete
    admin_agent_set_status admin_project_set_status admin_assign admin_unassign admin_session_revoke
    report_process_exit report_process_exit";

pub struct History<'a> {
    harness: &'a Harness,
    seed: u64,
    random: Random,
    pub model: Model,
    /// Ids and tokens that the server generated, by the model's names.
    known: HashMap<String, String>,
    planned: VecDeque<Step>,
    last: Option<Step>,
    log: Vec<String>,
    pub calls: u64,
}

impl<'a> History<'a> {
    pub async fn play(harness: &'a Harness, seed: u64, before: i64, steps: u64) -> Self {
        // Whole seconds, so that a replay sees the same times.
        let now = (before / 1000 + 2) * 1000;
        harness.pass(Duration::from_millis((now - before) as u64));
        let mut random = Random(seed);
        let model = Model::new(seed, now, &mut random);
        let (known, planned, log) = Default::default();
        let mut history = Self { harness, seed, random, model, known, planned, last: None, log, calls: 0 };
        let imported = harness.call("admin_import", history.model.import()).await;
        assert_eq!(imported["success"], true, "{imported}");
        for _ in 0..steps {
            history.plan();
            while let Some(step) = history.planned.pop_front() {
                history.take(step).await;
                history.look().await;
            }
        }
        history
    }

    async fn take(&mut self, step: Step) {
        match step.clone() {
            Step::Pass(time) => {
                self.model.now += time;
                self.harness.pass(Duration::from_millis(time as u64));
                self.log.push(format!("{time} ms pass"));
            }
            Step::Call(tool, given) => {
                let answer = self.call(tool, given.clone()).await;
                self.log.push(format!("{tool} {given}\n    -> {answer}"));
                self.last = Some(step);
            }
        }
    }

    /// Compares the visible state.
    async fn look(&mut self) {
        for pair in 0..6 {
            let (agent, project) = (&self.model.agents[pair % 3], &self.model.projects[pair / 3]);
            self.call("should_start", json!({"agent_id": agent["id"], "project_id": project["id"]})).await;
        }
        let task = &self.model.tasks[self.random.index(4)]["id"];
        self.call("get_task_context", json!({"task_id": task, "include_history": true})).await;
        self.call("list_execution_logs", json!({"limit": 100})).await;
        for tool in ["list_tasks", "get_pending_handoffs", "admin_session_list"] {
            self.call(tool, json!({})).await;
        }
        self.model.check_invariants();
    }

    /// The model's answer to a call, after checking that the server's is the same.
    async fn call(&mut self, tool: &str, given: Value) -> Value {
        self.calls += 1;
        let expected = self.model.call(tool, &given);
        let mut answer = self.harness.call(tool, self.fill(&given)).await;
        keep_own(&mut answer, &self.model.prefix);
        self.learn(&expected, &answer);
        let filled = self.fill(&expected);
        assert!(
            filled == answer,
            "COORDINATION_SEED={} after step {}: {tool} {given}\nthe model: {filled}\nthe answer: {answer}\nlast calls:\n{}",
            self.seed,
            self.log.len(),
            self.log[self.log.len().saturating_sub(12)..].join("\n")
        );
        expected
    }

    /// Learns the ids and tokens that the server generated.
    fn learn(&mut self, expected: &Value, answer: &Value) {
        match (expected, answer) {
            (Value::String(name), Value::String(made)) if name.starts_with('?') => {
                let prefix = &name[1..=name.find('_').unwrap()];
                let is_new = !self.known.contains_key(name) && self.known.values().all(|known| known != made);
                if is_new && made.starts_with(prefix) {
                    self.known.insert(name.clone(), made.clone());
                }
            }
            (Value::Object(expected), Value::Object(answer)) => {
                for (name, value) in expected {
                    self.learn(value, answer.get(name).unwrap_or(&Value::Null));
                }
            }
            (Value::Array(expected), Value::Array(answer)) => {
                for (expected, answer) in expected.iter().zip(answer) {
                    self.learn(expected, answer);
                }
            }
            _ => {}
        }
    }

    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(name) => json!(self.known.get(name).unwrap_or(name)),
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    fn plan(&mut self) {
        let more: Vec<_> = MORE.split_whitespace().collect();
        let chosen = self.random.index(TOOLS.len() + more.len());
        match TOOLS.get(chosen).map_or_else(|| more[chosen - TOOLS.len()], |tool| tool.name) {
            "pass" => {
                let time = match self.random.index(8) {
                    0..4 => self.random.index(60_000),
                    4 | 5 => self.random.index(3_000) * 1000,
                    6 => self.random.pick(&[3_599_000, 3_599_999, 3_600_000, 3_600_001]),
                    _ => self.random.index(25 * 3600) * 1000,
                };
                self.planned.push_back(Step::Pass(time as i64));
            }
            "again" => self.planned.extend(self.last.clone()),
            "stay" => {
                let token = self.value("session_token");
                let is_alive = self.model.unexpired_session(&json!({ "session_token": token })).is_ok();
                for _ in 0..if is_alive { 30 } else { 0 } {
                    let tool = self.random.pick(&["get_my_task", "get_pending_tasks"]);
                    self.planned.push_back(Step::Pass(3_000_000));
                    self.planned.push_back(Step::Call(tool, json!({ "session_token": token })));
                }
            }
            name => {
                let tool =
                    TOOLS.iter().chain(&RUNNER_TOOLS).chain(&admin::TOOLS).find(|tool| tool.name == name).unwrap();
                let given = self.arguments(tool);
                self.planned.push_back(Step::Call(tool.name, given));
            }
        }
    }

    /// Random arguments, mostly of existing objects; optional ones are left out half of the time.
    fn arguments(&mut self, tool: &Tool) -> Value {
        let mut given = json!({});
        for parameter in tool.parameters {
            // Histories share their lists, so an offset would skip rows of another history.
            let is_given = parameter.name != "offset" && (parameter.required || self.random.one_in(2));
            given[parameter.name] = if is_given { self.value(parameter.name) } else { Value::Null };
        }
        match tool.name {
            "authenticate" => self.log_in(&mut given),
            "admin_agent_set_status" => {
                given = json!({"id": self.model.agents[self.random.index(3)]["id"],
                    "status": self.random.pick(&["active", "active", "inactive", "suspended", "archived"])});
            }
            "admin_project_set_status" => {
                given = json!({"id": self.model.projects[self.random.index(2)]["id"],
                    "status": self.random.pick(&["active", "active", "archived"])});
            }
            _ => {}
        }
        given
    }

    fn value(&mut self, name: &str) -> Value {
        let Self { random, model, .. } = self;
        let rows = match name {
            "agent_id" | "from_agent_id" | "to_agent_id" | "assignee_id" => &model.agents,
            "project_id" => &model.projects,
            "task_id" => &model.tasks,
            "handoff_id" => &model.handoffs,
            "execution_id" => &model.executions,
            "agent" => return model.agents[random.index(3)]["id"].clone(),
            "project" => return model.projects[random.index(2)]["id"].clone(),
            "session_token" => return self.token(),
            "result" => return json!(random.pick(&["success", "success", "failed", "blocked", "maybe"])),
            "status" if random.one_in(24) => return json!("started"),
            "status" => return json!(random.pick(&STATUSES)),
            "instance_id" => return json!(random.pick(&["one", "two"])),
            "limit" => return json!(random.pick(&[0, 1, 3, 100, 101])),
            "include_history" => return json!(random.one_in(2)),
            "exit_code" => return json!(random.pick(&[0, 0, 1, -9])),
            "duration_seconds" => return json!(1.5),
            "summary" => return json!(random.pick(&["Half.", "All."])),
            _ => return json!(random.pick(&["", "Half.", "All."])),
        };
        if name == "assignee_id" && random.one_in(4) {
            return Value::Null;
        }
        if rows.is_empty() || random.one_in(24) {
            return json!(format!("{}unknown", model.prefix));
        }
        let row = &rows[random.index(rows.len())];
        row.get("id").unwrap_or(&row["executionId"]).clone()
    }

    /// A token, mostly of a live session.
    fn token(&mut self) -> Value {
        let (model, any) = (&self.model, self.random.one_in(6));
        let tokens: Vec<_> = model.sessions.iter().filter(|it| any || model.is_alive(it)).map(|it| &it.token).collect();
        if tokens.is_empty() || self.random.one_in(24) {
            return json!(format!("{}unknown", model.prefix));
        }
        json!(self.random.pick(&tokens))
    }

    /// Mostly an agent that should start, with its own passkey.
    fn log_in(&mut self, given: &mut Value) {
        for _ in 0..6 {
            if self.model.should_start(text(given, "agent_id"), text(given, "project_id"))["should_start"] == true {
                break;
            }
            (given["agent_id"], given["project_id"]) = (self.value("agent_id"), self.value("project_id"));
        }
        let agent = self.model.agents.iter().find(|agent| agent["id"] == given["agent_id"]);
        let passkey =
            agent.filter(|_| !self.random.one_in(12)).map_or(json!("wrong"), |agent| agent["_passkey"].clone());
        given["passkey"] = passkey;
        given["instance_id"] = json!(self.random.pick(&[None, Some("one"), Some("one"), Some("two")]));
    }
}

/// Removes the rows of other histories from a list.
fn keep_own(answer: &mut Value, prefix: &str) {
    let is_own = |row: &Value| {
        let id = ["project_id", "projectId", "task_id", "taskId", "id"].iter().find_map(|name| row[*name].as_str());
        id.is_none_or(|id| id.starts_with(prefix))
    };
    for list in ["projects", "agents", "tasks", "logs", "handoffs", "sessions"] {
        if let Some(rows) = answer.get_mut(list).and_then(Value::as_array_mut) {
            rows.retain(is_own);
        }
    }
}
