//! Every tool against a model of the contract: histories that a seed makes, under a clock that the test sets.
//! `COORDINATION_SEED=7` replays one.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use n8n_lens::coordination::tools::TOOLS;
use n8n_lens::coordination::{Tool, admin};
use serde_json::{Map, Value, json};

use crate::database::{Database, Kind};
use crate::office::{BEGIN, Office, run};

const STEPS: u64 = 40;

/// Histories that share a database: lists show those of all of them.
const SHARING: u64 = 10;

const WORKERS: usize = 4;

pub fn histories_agree_with_the_model(kind: Kind) {
    check(kind, if kind == Kind::Sqlite { 150 } else { 20 }, STEPS, 0);
}

pub fn ten_thousand_histories(kind: Kind) {
    let histories = if kind == Kind::Sqlite { 10_000 } else { 500 };
    let calls = check(kind, histories, STEPS, 1_000_000);
    println!("{histories} histories on {kind:?} agree with the model in {calls} calls");
}

/// How many calls were compared.
fn check(kind: Kind, histories: u64, steps: u64, first_seed: u64) -> u64 {
    let seeds = match std::env::var("COORDINATION_SEED") {
        Ok(seed) => seed.parse().map(|seed: u64| seed..seed + 1).expect("COORDINATION_SEED is a number"),
        Err(_) => first_seed..first_seed + histories,
    };
    let (next, calls) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let work = || {
        loop {
            let first = next.fetch_add(SHARING, Ordering::Relaxed);
            if first >= seeds.end {
                return;
            }
            calls.fetch_add(share(kind, first..seeds.end.min(first + SHARING), steps), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    calls.into_inner()
}

/// Some histories, one after the other, in one database.
fn share(kind: Kind, seeds: Range<u64>, steps: u64) -> u64 {
    let database = Database::new(kind);
    let histories = run(async {
        let office = Office::open(&database).await;
        let (mut now, mut done) = (BEGIN, Vec::new());
        for seed in seeds {
            let history = History::play(&office, seed, now, steps).await;
            now = history.model.now;
            done.push((history.model, history.calls));
        }
        done
    });
    for (model, _) in &histories {
        model.agree_on_rows(&database);
    }
    histories.iter().map(|(_, calls)| calls).sum()
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const STATUSES: [&str; 6] = ["in_progress", "todo", "backlog", "blocked", "done", "cancelled"];

const PRIORITIES: [&str; 4] = ["urgent", "high", "medium", "low"];

const FIELDS: [&str; 4] = ["progress", "findings", "blockers", "next_steps"];

const INVALID: &str = "Invalid or expired session_token";

const TTL: i64 = 3_600_000;

const MAX: i64 = 86_400_000;

struct Session {
    id: String,
    token: String,
    agent: String,
    project: String,
    instance: Option<String>,
    task: Option<String>,
    /// When its task was first asked for.
    began: Option<i64>,
    created: i64,
    seen: i64,
    expires: i64,
    end: Option<&'static str>,
    /// The report that ended it.
    report: Option<Value>,
}

/// What the contract says there is. Rows are as answers show them; members that they do not show begin with
/// `_`. What a server makes up begins with `?`, until its answer shows it.
struct Model {
    /// All ids of this history begin with it.
    prefix: String,
    now: i64,
    agents: Vec<Value>,
    projects: Vec<Value>,
    /// Projects and their agents.
    members: BTreeSet<(String, String)>,
    tasks: Vec<Value>,
    sessions: Vec<Session>,
    executions: Vec<Value>,
    contexts: Vec<Value>,
    handoffs: Vec<Value>,
}

type Answer = Result<Value, String>;

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

fn time(moment: i64) -> Value {
    json!(jiff::Timestamp::from_second(moment.div_euclid(1000)).unwrap().to_string())
}

fn find(rows: &[Value], what: &str, id: &str) -> Result<usize, String> {
    rows.iter().position(|row| row["id"] == id).ok_or_else(|| format!("{what} not found: {id}"))
}

fn show(row: &Value) -> Value {
    let mut shown = row.clone();
    shown.as_object_mut().unwrap().retain(|name, _| !name.starts_with('_'));
    shown
}

fn list<'a>(name: &str, rows: impl Iterator<Item = &'a Value>) -> Answer {
    Ok(json!({"success": true, name: rows.map(show).collect::<Vec<_>>()}))
}

/// Whether a row is what was asked for; `null` asks for any.
fn is_asked(row: &Value, given: &Value, names: &[(&str, &str)]) -> bool {
    names.iter().all(|(column, name)| given[*name].is_null() || row[*column] == given[*name])
}

fn is_for(task: &Value, agent: &str) -> bool {
    task["status"] == "in_progress" && task["assignee_id"] == agent
}

fn urgency(task: &Value) -> usize {
    PRIORITIES.iter().position(|priority| task["priority"] == *priority).unwrap()
}

fn end_execution(execution: &mut Value, exit: Option<i64>, now: i64) {
    let status = match exit {
        None => "error",
        Some(0) => "completed",
        Some(_) => "failed",
    };
    execution["status"] = json!(status);
    execution["exitCode"] = json!(exit);
    execution["durationSeconds"] = json!((now - execution["_started"].as_i64().unwrap()) as f64 / 1000.0);
    execution["completedAt"] = time(now);
}

/// What every history begins with, and what it ends with.
impl Model {
    fn new(seed: u64, now: i64, random: &mut Random) -> Self {
        let (prefix, at) = (format!("h{seed}_"), time(now));
        let id = |what: &str, n: usize| format!("{prefix}{what}_{n}");
        let agent = |n| {
            json!({"id": id("agt", n), "name": format!("Agent {n}"), "role": null, "capabilities": ["rust"],
                "type": "ai", "ai_type": (["claude", "gemini", "codex"][n]), "status": "active", "created_at": at,
                "_passkey": id("key", n), "_system_prompt": (n != 1).then_some("You are one of three.")})
        };
        let project = |n| {
            json!({"id": id("prj", n), "name": format!("Project {n}"), "description": null, "status": "active",
                "working_directory": format!("/work/{n}"), "created_at": at, "updated_at": at})
        };
        let task = |n| {
            let (project, status) = (random.below(2), random.pick(&STATUSES));
            let status = if random.one_in(3) { status } else { "in_progress" };
            let assignee = (!random.one_in(4)).then(|| id("agt", random.below(3 - project)));
            json!({"id": id("tsk", n), "project_id": id("prj", project), "title": format!("Task {n}"),
                "description": null, "status": status, "priority": random.pick(&PRIORITIES), "assignee_id": assignee,
                "created_at": at, "updated_at": at, "completed_at": (status == "done").then_some(&at), "_assigned": now})
        };
        let pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)];
        Self {
            agents: (0..3).map(agent).collect(),
            projects: (0..2).map(project).collect(),
            members: pairs.iter().map(|(project, agent)| (id("prj", *project), id("agt", *agent))).collect(),
            tasks: (0..4).map(task).collect(),
            sessions: Vec::new(),
            executions: Vec::new(),
            contexts: Vec::new(),
            handoffs: Vec::new(),
            now,
            prefix,
        }
    }

    fn import(&self) -> Value {
        let only = |rows: &[Value], names: &[&str]| -> Value {
            let row = |row: &Value| -> Value {
                let member = |name: &&str| (name.trim_start_matches('_').to_owned(), row[*name].clone());
                names.iter().map(member).collect::<Map<_, _>>().into()
            };
            rows.iter().map(row).collect()
        };
        let member = |(project, agent): &(String, String)| json!({"project_id": project, "agent_id": agent});
        json!({"data": {
            "projects": only(&self.projects, &["id", "name", "working_directory"]),
            "agents": only(&self.agents, &["id", "name", "capabilities", "ai_type", "_passkey", "_system_prompt"]),
            "assignments": self.members.iter().map(member).collect::<Vec<_>>(),
            "tasks": only(&self.tasks, &["id", "project_id", "title", "status", "priority", "assignee_id"]),
        }})
    }

    fn agree_on_rows(&self, database: &Database) {
        let (prefix, length) = (&self.prefix, self.prefix.len());
        for (table, column, count) in [
            ("sessions", "agent_id", self.sessions.len()),
            ("execution_logs", "task_id", self.executions.len()),
            ("contexts", "task_id", self.contexts.len()),
            ("handoffs", "task_id", self.handoffs.len()),
        ] {
            let own = format!("SELECT COUNT(*) FROM {table} WHERE substr({column}, 1, {length}) = '{prefix}'");
            assert_eq!(database.number(&own), count as i64, "rows of {table} of history {prefix}");
        }
    }

    fn keep_the_invariants(&self) {
        for (n, session) in self.sessions.iter().enumerate().filter(|(_, session)| session.end.is_none()) {
            assert_eq!(self.open(&session.agent, &session.project), Some(n), "two sessions of a pair are open");
        }
        for running in self.executions.iter().filter(|execution| execution["status"] == "running") {
            let session = running["_session"].as_u64().unwrap() as usize;
            assert_eq!(self.sessions[session].end, None, "{running} outside a session");
        }
    }
}

/// Parts of the tools.
impl Model {
    fn task(&self, given: &Value) -> Result<usize, String> {
        find(&self.tasks, "Task", text(given, "task_id"))
    }

    fn be_member(&self, project: &str, agent: &str) -> Result<(), String> {
        find(&self.agents, "Agent", agent)?;
        let is_member = self.members.contains(&(project.to_owned(), agent.to_owned()));
        if is_member { Ok(()) } else { Err("Agent not assigned to project".to_owned()) }
    }

    fn be_active(&self, agent: &str) -> Result<(), String> {
        let is_active = self.agents[find(&self.agents, "Agent", agent)?]["status"] == "active";
        if is_active { Ok(()) } else { Err(format!("Agent is not active: {agent}")) }
    }

    fn be_open(&self, task: usize) -> Result<(), String> {
        let (id, status) = (text(&self.tasks[task], "id"), text(&self.tasks[task], "status"));
        if ["done", "cancelled"].contains(&status) { Err(format!("Task is {status}: {id}")) } else { Ok(()) }
    }

    /// A task is handed over by its owner; one without an owner by anybody.
    fn be_ones_to_give(&self, task: usize, agent: &Value) -> Result<(), String> {
        let owner = &self.tasks[task]["assignee_id"];
        let is_ones = owner.is_null() || owner == agent;
        if is_ones { Ok(()) } else { Err(format!("Task is assigned to another agent: {}", owner.as_str().unwrap())) }
    }

    fn agents_of(&self, project: &Value) -> impl Iterator<Item = &str> {
        let its = self.members.iter().filter(move |(its, _)| project["id"] == its.as_str());
        its.map(|(_, agent)| agent.as_str())
    }

    fn open(&self, agent: &str, project: &str) -> Option<usize> {
        self.sessions.iter().position(|it| it.agent == agent && it.project == project && it.end.is_none())
    }

    fn is_alive(&self, session: &Session) -> bool {
        session.end.is_none() && session.expires > self.now
    }

    fn runs(&self, agent: &str, project: &str) -> bool {
        self.open(agent, project).is_some_and(|open| self.is_alive(&self.sessions[open]))
    }

    /// The session of a token before its time is up; one that ended is remembered for as long as it could have lived.
    fn in_time(&self, given: &Value) -> Result<usize, String> {
        let token = text(given, "session_token");
        let until = |it: &Session| if it.end.is_some() { it.created + MAX } else { it.expires };
        let found = self.sessions.iter().position(|it| it.token == token && until(it) > self.now);
        found.ok_or_else(|| INVALID.to_owned())
    }

    fn renew(&mut self, given: &Value) -> Option<usize> {
        let found = self.in_time(given).ok().filter(|found| self.sessions[*found].end.is_none())?;
        let session = &mut self.sessions[found];
        session.seen = self.now;
        session.expires = (self.now + TTL).min(session.created + MAX);
        Some(found)
    }

    fn end(&mut self, session: usize, reason: &'static str) {
        self.sessions[session].end = Some(reason);
        let running = self.executions.iter_mut().filter(|it| it["_session"] == session && it["status"] == "running");
        running.for_each(|running| end_execution(running, None, self.now));
    }

    /// Tasks in progress of a session's pair, by their turn.
    fn to_do(&self, agent: &str, project: &str) -> Vec<&Value> {
        let its = self.tasks.iter().filter(|task| is_for(task, agent) && task["project_id"] == project);
        let mut its: Vec<_> = its.collect();
        its.sort_by_key(|task| (urgency(task), task["_assigned"].as_i64(), text(task, "id")));
        its
    }

    fn begin(&mut self, session: usize, task: &str) -> &Value {
        let runs = |it: &Value| it["_session"] == session && it["taskId"] == task && it["status"] == "running";
        let found = self.executions.iter().position(runs).unwrap_or_else(|| {
            self.executions.push(json!({"executionId": format!("?exec_{}", self.executions.len()), "taskId": task,
                "agentId": self.sessions[session].agent, "status": "running", "exitCode": null,
                "durationSeconds": null, "startedAt": time(self.now), "completedAt": null, "_started": self.now,
                "_session": session, "_log": null}));
            self.executions.len() - 1
        });
        &self.executions[found]
    }

    /// Ends what runs for another task than the next one.
    fn leave(&mut self, session: usize, next: &str) {
        for running in &mut self.executions {
            if running["_session"] == session && running["status"] == "running" && running["taskId"] != next {
                let task = self.tasks.iter().find(|task| task["id"] == running["taskId"]).unwrap();
                let exit = match text(task, "status") {
                    "done" => Some(0),
                    "blocked" => Some(1),
                    _ => None,
                };
                end_execution(running, exit, self.now);
            }
        }
    }

    fn move_to(&mut self, task: usize, to: &str) {
        let (now, task) = (time(self.now), &mut self.tasks[task]);
        task["status"] = json!(to);
        task["completed_at"] = if to == "done" { now.clone() } else { Value::Null };
        task["updated_at"] = now;
    }

    fn assign(&mut self, task: usize, to: &Value) -> Result<(), String> {
        if self.tasks[task]["assignee_id"] == *to {
            return Ok(());
        }
        if let Some(agent) = to.as_str() {
            self.be_member(text(&self.tasks[task], "project_id"), agent)?;
        }
        let task = &mut self.tasks[task];
        (task["assignee_id"], task["updated_at"]) = (to.clone(), time(self.now));
        task["_assigned"] = json!(self.now);
        Ok(())
    }

    fn note(&mut self, task: &str, said: &Value) -> Value {
        let newest = self.contexts.iter().rfind(|context| context["task_id"] == task);
        if let Some(same) = newest.filter(|newest| FIELDS.iter().all(|name| newest[name] == said[name])) {
            return same.clone();
        }
        let id = format!("?ctx_{}", self.contexts.len());
        let mut row = json!({"id": id, "task_id": task, "created_at": time(self.now)});
        FIELDS.iter().for_each(|name| row[name] = said[name].clone());
        self.contexts.push(row.clone());
        row
    }

    fn latest_context(&self, task: &str) -> Value {
        let its: Vec<_> = self.contexts.iter().rev().filter(|context| context["task_id"] == task).collect();
        let latest = |name: &str| its.iter().find_map(|note| note[name].as_str()).filter(|said| !said.is_empty());
        let fields: Map<_, _> = FIELDS.iter().map(|name| (name.to_string(), json!(latest(name)))).collect();
        if its.is_empty() { Value::Null } else { fields.into() }
    }
}

/// The tools.
impl Model {
    fn call(&mut self, tool: &str, given: &Value) -> Value {
        let answer = match tool {
            "health_check" => {
                Ok(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "timestamp": time(self.now)}))
            }
            "list_active_projects_with_agents" => Ok(self.list_active()),
            "should_start" => Ok(self.should_start(text(given, "agent_id"), text(given, "project_id"))),
            "authenticate" => self.authenticate(given),
            "logout" => self.logout(given),
            "get_my_task" => self.get_my_task(given),
            "report_completed" => self.report_completed(given),
            "list_execution_logs" => self.list_execution_logs(given),
            "get_execution_log" => self.get_execution_log(given),
            "get_agent_profile" => find(&self.agents, "Agent", text(given, "agent_id"))
                .map(|agent| json!({"success": true, "agent": show(&self.agents[agent])})),
            "list_agents" => list("agents", self.agents.iter()),
            "list_projects" => list("projects", self.projects.iter()),
            "get_project" => self.get_project(given),
            "list_tasks" => self.list_tasks(given),
            "get_task" => self.get_task(given),
            "update_task_status" => self.update_task_status(given),
            "assign_task" => self.assign_task(given),
            "save_context" => self.save_context(given),
            "get_task_context" => self.get_task_context(given),
            "create_handoff" => self.create_handoff(given),
            "accept_handoff" => self.accept_handoff(given),
            "get_pending_handoffs" => self.get_pending_handoffs(given),
            "get_pending_tasks" => self.get_pending_tasks(given),
            "report_execution_start" => self.report_execution_start(given),
            "report_execution_complete" => self.report_execution_complete(given),
            _ => self.administer(tool, given),
        };
        answer.unwrap_or_else(|error| json!({"success": false, "error": error}))
    }

    fn list_active(&self) -> Value {
        let is_active = |id: &&str| self.agents.iter().any(|agent| agent["id"] == *id && agent["status"] == "active");
        let shown = self.projects.iter().filter(|project| project["status"] == "active").map(|project| {
            let agents: Vec<_> = self.agents_of(project).filter(is_active).collect();
            json!({"project_id": project["id"], "project_name": project["name"],
                "working_directory": project["working_directory"], "agents": agents})
        });
        json!({"success": true, "projects": shown.collect::<Vec<_>>()})
    }

    fn should_start(&self, agent: &str, project: &str) -> Value {
        let is_on = |rows: &[Value], id| rows.iter().any(|row| row["id"] == id && row["status"] == "active");
        let are_on = is_on(&self.agents, agent) && is_on(&self.projects, project);
        let is_idle = self.be_member(project, agent).is_ok() && !self.runs(agent, project);
        if !are_on || !is_idle || self.to_do(agent, project).is_empty() {
            return json!({"should_start": false});
        }
        let agent = find(&self.agents, "Agent", agent).unwrap();
        json!({"should_start": true, "ai_type": self.agents[agent]["ai_type"]})
    }

    fn authenticate(&mut self, given: &Value) -> Answer {
        let (id, place) = (text(given, "agent_id"), text(given, "project_id"));
        let is_right = |it: &&Value| it["id"] == id && it["status"] == "active" && it["_passkey"] == given["passkey"];
        let agent = self.agents.iter().find(is_right).ok_or("Invalid agent_id or passkey")?.clone();
        let project = self.projects[find(&self.projects, "Project", place)?].clone();
        if project["status"] != "active" {
            return Err(format!("Project is not active: {place}"));
        }
        self.be_member(place, id)?;
        let instance = given["instance_id"].as_str().map(str::to_owned);
        if let Some(open) = self.open(id, place) {
            let session = &self.sessions[open];
            let is_ours = instance.is_some() && session.instance == instance && session.began.is_none();
            match self.is_alive(session) {
                false => self.end(open, "expired"),
                true if is_ours => self.end(open, "superseded"),
                true => return Err("Agent instance already running for this project".to_owned()),
            }
        }
        let token = format!("?sess_{}", self.sessions.len());
        self.sessions.push(Session {
            id: format!("?ses_{}", self.sessions.len()),
            token: token.clone(),
            agent: id.to_owned(),
            project: place.to_owned(),
            instance,
            task: None,
            began: None,
            created: self.now,
            seen: self.now,
            expires: self.now + TTL,
            end: None,
            report: None,
        });
        Ok(json!({"success": true, "session_token": token, "expires_in": 3600, "agent_name": agent["name"],
            "project_name": project["name"], "system_prompt": agent["_system_prompt"],
            "instruction": "get_my_task を呼び出してタスク詳細を取得してください"}))
    }

    fn logout(&mut self, given: &Value) -> Answer {
        let session = self.in_time(given)?;
        match self.sessions[session].end {
            None => self.end(session, "logout"),
            Some("logout") => {}
            Some(_) => return Err(INVALID.to_owned()),
        }
        Ok(json!({"success": true}))
    }

    fn get_my_task(&mut self, given: &Value) -> Answer {
        let n = self.renew(given).ok_or(INVALID)?;
        self.sessions[n].began.get_or_insert(self.now);
        let session = &self.sessions[n];
        let bound = session.task.clone();
        let tasks = self.to_do(&session.agent, &session.project);
        let same = tasks.iter().find(|task| task["id"].as_str() == bound.as_deref());
        let Some(task) = same.or(tasks.first()).map(|task| (*task).clone()) else {
            return Ok(json!({"success": true, "has_task": false,
                "instruction": "現在割り当てられたタスクはありません"}));
        };
        let id = text(&task, "id");
        if bound.as_deref() != Some(id) {
            self.leave(n, id);
            self.sessions[n].task = Some(id.to_owned());
        }
        if !self.executions.iter().any(|it| it["_session"] == n && it["taskId"] == id) {
            self.begin(n, id);
        }
        let project = &self.projects[find(&self.projects, "Project", text(&task, "project_id"))?];
        let mut shown = json!({"task_id": id, "title": task["title"], "description": task["description"],
            "working_directory": project["working_directory"], "context": self.latest_context(id)});
        if shown["context"].is_null() {
            shown["context"] = json!({"progress": null, "findings": null, "blockers": null, "next_steps": null});
        }
        if let Some(handoff) = self.handoffs.iter().rfind(|handoff| handoff["task_id"] == id) {
            shown["handoff"] = show(handoff);
        }
        Ok(json!({"success": true, "has_task": true, "task": shown,
            "instruction": "タスクを完了したら report_completed を呼び出してください"}))
    }

    fn report_completed(&mut self, given: &Value) -> Answer {
        let (status, exit) = match text(given, "result") {
            "success" => ("done", 0),
            "failed" | "blocked" => ("blocked", 1),
            other => {
                return Err(format!("Argument 'result' is {other:?}; it must be one of success, failed, blocked."));
            }
        };
        let n = self.in_time(given)?;
        let answer = json!({"success": true, "instruction": "タスクが完了しました。セッションを終了します。"});
        let session = &self.sessions[n];
        if session.end.is_some() {
            return if session.report.as_ref() == Some(given) { Ok(answer) } else { Err(INVALID.to_owned()) };
        }
        let agent = session.agent.clone();
        let reported = self.reported(n);
        self.renew(given);
        let task = reported.ok_or("No in_progress task found for this agent")?;
        let id = text(&self.tasks[task], "id").to_owned();
        let is_mine = self.tasks[task]["assignee_id"] == agent.as_str();
        let exit = if is_mine { exit } else { 0 };
        if is_for(&self.tasks[task], &agent) {
            self.move_to(task, status);
        }
        let (summary, next_steps) = (&given["summary"], &given["next_steps"]);
        if !summary.is_null() || !next_steps.is_null() {
            let blockers = if given["result"] == "blocked" && is_mine { summary } else { &Value::Null };
            self.note(&id, &json!({"progress": summary, "blockers": blockers, "next_steps": next_steps}));
        }
        let runs = |it: &&mut Value| it["_session"] == n && it["taskId"] == id.as_str() && it["status"] == "running";
        self.executions.iter_mut().filter(runs).for_each(|running| end_execution(running, Some(exit), self.now));
        self.end(n, "completed");
        self.sessions[n].report = Some(given.clone());
        Ok(answer)
    }

    /// The task that was begun, unless somebody took it back; if none was, the next one.
    fn reported(&self, session: usize) -> Option<usize> {
        let session = &self.sessions[session];
        let begun = session.task.as_ref().and_then(|id| self.tasks.iter().position(|task| task["id"] == id.as_str()));
        let is_reported = |at: &usize| {
            let task = &self.tasks[*at];
            let stands = ["in_progress", "done", "blocked"].contains(&text(task, "status"));
            stands || task["assignee_id"] != session.agent.as_str()
        };
        if session.task.is_some() {
            return begun.filter(is_reported);
        }
        let next = self.to_do(&session.agent, &session.project).first().map(|task| text(task, "id").to_owned());
        self.tasks.iter().position(|task| next.as_deref() == task["id"].as_str())
    }

    fn list_execution_logs(&self, given: &Value) -> Answer {
        let limit = given["limit"].as_u64().unwrap_or(20);
        if !(1..=100).contains(&limit) {
            return Err(format!("Argument 'limit' is {limit}; it must be a whole number from 1 to 100."));
        }
        let names = [("taskId", "task_id"), ("agentId", "agent_id")];
        list("logs", self.executions.iter().rev().filter(|row| is_asked(row, given, &names)).take(limit as usize))
    }

    fn get_execution_log(&self, given: &Value) -> Answer {
        let found = self.executions.iter().find(|execution| execution["executionId"] == given["execution_id"]);
        let execution = found.ok_or_else(|| format!("Execution log not found: {}", text(given, "execution_id")))?;
        let mut log = show(execution);
        log["logFilePath"] = execution["_log"].clone();
        Ok(json!({"success": true, "log": log}))
    }

    fn get_project(&self, given: &Value) -> Answer {
        let mut shown = self.projects[find(&self.projects, "Project", text(given, "project_id"))?].clone();
        shown["agents"] = self.agents_of(&shown).collect();
        Ok(json!({"success": true, "project": shown}))
    }

    fn list_tasks(&self, given: &Value) -> Answer {
        if let Some(project) = given["project_id"].as_str() {
            find(&self.projects, "Project", project)?;
        }
        if let Some(unknown) = given["status"].as_str().filter(|word| !STATUSES.contains(word)) {
            return Err(format!("Invalid status: {unknown}"));
        }
        let names = ["project_id", "status", "assignee_id"].map(|name| (name, name));
        let mut tasks: Vec<_> = self.tasks.iter().filter(|row| is_asked(row, given, &names)).collect();
        tasks.sort_by_key(|task| (urgency(task), text(task, "id")));
        list("tasks", tasks.into_iter())
    }

    fn get_task(&self, given: &Value) -> Answer {
        let mut shown = show(&self.tasks[self.task(given)?]);
        shown["latest_context"] = self.latest_context(text(given, "task_id"));
        Ok(json!({"success": true, "task": shown}))
    }

    fn update_task_status(&mut self, given: &Value) -> Answer {
        let to = text(given, "status");
        if !STATUSES.contains(&to) {
            return Err(format!("Invalid status: {to}"));
        }
        let task = self.task(given)?;
        let (title, from) = (self.tasks[task]["title"].clone(), self.tasks[task]["status"].clone());
        let next: &[&str] = match from.as_str().unwrap() {
            "backlog" => &["todo", "cancelled"],
            "todo" => &["in_progress", "backlog", "cancelled"],
            "in_progress" => &["done", "blocked", "todo"],
            "blocked" => &["in_progress", "cancelled"],
            _ => &[],
        };
        if !next.contains(&to) {
            return Err(format!("Invalid status transition: {} -> {to}", from.as_str().unwrap()));
        }
        self.move_to(task, to);
        let shown = json!({"id": given["task_id"], "title": title, "previous_status": from, "new_status": to});
        Ok(json!({"success": true, "task": shown}))
    }

    fn assign_task(&mut self, given: &Value) -> Answer {
        let task = self.task(given)?;
        self.assign(task, &given["assignee_id"])?;
        Ok(json!({"success": true, "task": show(&self.tasks[task])}))
    }

    fn save_context(&mut self, given: &Value) -> Answer {
        if FIELDS.iter().all(|name| given[name].is_null()) {
            return Err("Nothing to save: give at least one of progress, findings, blockers, next_steps".to_owned());
        }
        self.task(given)?;
        Ok(json!({"success": true, "context": self.note(text(given, "task_id"), given)}))
    }

    fn get_task_context(&self, given: &Value) -> Answer {
        self.task(given)?;
        let task = text(given, "task_id");
        let mut shown = json!({"success": true, "task_id": task, "latest_context": self.latest_context(task)});
        if given["include_history"] == true {
            shown["contexts"] = self.contexts.iter().rev().filter(|row| row["task_id"] == task).cloned().collect();
        }
        Ok(shown)
    }

    fn create_handoff(&mut self, given: &Value) -> Answer {
        const SAID: [&str; 6] = ["task_id", "from_agent_id", "to_agent_id", "summary", "context", "recommendations"];
        let task = self.task(given)?;
        find(&self.agents, "Agent", text(given, "from_agent_id"))?;
        let owner = self.tasks[task]["assignee_id"].clone();
        let is_gone = owner != given["from_agent_id"];
        let same = self.handoffs.iter().rfind(|it| SAID.iter().all(|name| it[name] == given[name]));
        let waits = |it: &Value| it["to_agent_id"].is_null() && it["_by"].is_null();
        if let Some(same) = same.filter(|same| is_gone || waits(same)) {
            return Ok(json!({"success": true, "handoff": show(same)}));
        }
        self.be_open(task)?;
        self.be_ones_to_give(task, &given["from_agent_id"])?;
        if let Some(to) = given["to_agent_id"].as_str() {
            self.be_active(to)?;
            self.assign(task, &given["to_agent_id"])?;
        }
        let id = format!("?hnd_{}", self.handoffs.len());
        let mut row = json!({"id": id, "created_at": time(self.now), "accepted_at": null, "_by": null});
        SAID.iter().for_each(|name| row[name] = given[name].clone());
        self.handoffs.push(row.clone());
        Ok(json!({"success": true, "handoff": show(&row)}))
    }

    fn accept_handoff(&mut self, given: &Value) -> Answer {
        let n = find(&self.handoffs, "Handoff", text(given, "handoff_id"))?;
        find(&self.agents, "Agent", text(given, "agent_id"))?;
        let (handoff, agent) = (self.handoffs[n].clone(), &given["agent_id"]);
        if !handoff["to_agent_id"].is_null() && handoff["to_agent_id"] != *agent {
            return Err("Handoff is addressed to another agent".to_owned());
        }
        if handoff["_by"].is_null() {
            if handoff["to_agent_id"].is_null() {
                let task = self.task(&handoff)?;
                if self.tasks[task]["assignee_id"] != *agent {
                    self.be_ones_to_give(task, &handoff["from_agent_id"])?;
                }
                self.be_open(task)?;
                self.be_active(text(given, "agent_id"))?;
                self.assign(task, agent)?;
            }
            (self.handoffs[n]["_by"], self.handoffs[n]["accepted_at"]) = (agent.clone(), time(self.now));
        } else if handoff["_by"] != *agent {
            return Err("Handoff already accepted".to_owned());
        }
        Ok(json!({"success": true, "handoff": show(&self.handoffs[n])}))
    }

    fn get_pending_handoffs(&self, given: &Value) -> Answer {
        let asked = &given["agent_id"];
        if let Some(agent) = asked.as_str() {
            find(&self.agents, "Agent", agent)?;
        }
        let is_member = |it: &Value| {
            let task = self.tasks.iter().find(|task| task["id"] == it["task_id"]).unwrap();
            self.be_member(text(task, "project_id"), asked.as_str().unwrap_or_default()).is_ok()
        };
        let is_open_to = |it: &Value| it["to_agent_id"].is_null() && it["from_agent_id"] != *asked && is_member(it);
        let is_for = |it: &&Value| asked.is_null() || it["to_agent_id"] == *asked || is_open_to(it);
        let is_pending =
            |it: &&Value| it["_by"].is_null() && self.task(it).is_ok_and(|task| self.be_open(task).is_ok());
        list("handoffs", self.handoffs.iter().filter(is_pending).filter(is_for))
    }

    fn get_pending_tasks(&mut self, given: &Value) -> Answer {
        let n = self.renew(given).ok_or(INVALID)?;
        let session = &self.sessions[n];
        let project = &self.projects[find(&self.projects, "Project", &session.project)?];
        let shown = self.to_do(&session.agent, &session.project).into_iter().map(|task| {
            json!({"taskId": task["id"], "projectId": task["project_id"], "title": task["title"],
                "description": task["description"], "priority": task["priority"],
                "workingDirectory": project["working_directory"], "assignedAt": time(task["_assigned"].as_i64().unwrap())})
        });
        Ok(json!({"success": true, "tasks": shown.collect::<Vec<_>>()}))
    }

    fn report_execution_start(&mut self, given: &Value) -> Answer {
        let refused = "Invalid session_token or task_id";
        let n = self.renew(given).ok_or(refused)?;
        let (session, task) = (&self.sessions[n], text(given, "task_id"));
        self.to_do(&session.agent, &session.project).iter().find(|it| it["id"] == task).ok_or(refused)?;
        self.sessions[n].task.get_or_insert_with(|| task.to_owned());
        let execution = self.begin(n, task);
        Ok(json!({"success": true, "execution_id": execution["executionId"], "started_at": execution["startedAt"]}))
    }

    fn report_execution_complete(&mut self, given: &Value) -> Answer {
        let refused = "Invalid execution_id or session_token";
        let n = self.renew(given).ok_or(refused)?;
        let is_it = |it: &&mut Value| it["executionId"] == given["execution_id"] && it["_session"] == n;
        let execution = self.executions.iter_mut().find(is_it).ok_or(refused)?;
        if execution["status"] == "running" {
            end_execution(execution, given["exit_code"].as_i64(), self.now);
            execution["durationSeconds"] = given["duration_seconds"].clone();
            execution["_log"] = given["log_file_path"].clone();
        }
        Ok(json!({"success": true, "execution_id": execution["executionId"], "status": execution["status"],
            "completed_at": execution["completedAt"]}))
    }
}

/// What administrators do.
impl Model {
    fn administer(&mut self, tool: &str, given: &Value) -> Answer {
        let (agent, project) = (text(given, "agent"), text(given, "project"));
        let pair = (project.to_owned(), agent.to_owned());
        let open = self.open(agent, project);
        match tool {
            "admin_agent_set_status" => {
                let agent = self.agents.iter_mut().find(|agent| agent["id"] == given["id"]).unwrap();
                agent["status"] = given["status"].clone();
                Ok(json!({"success": true, "agent": show(agent)}))
            }
            "admin_project_set_status" => {
                let project = self.projects.iter_mut().find(|project| project["id"] == given["id"]).unwrap();
                (project["status"], project["updated_at"]) = (given["status"].clone(), time(self.now));
                Ok(json!({"success": true, "project": project}))
            }
            "admin_assign" => {
                let changed = self.members.insert(pair);
                Ok(json!({"success": true, "project_id": project, "agent_id": agent, "changed": changed}))
            }
            "admin_unassign" => self.unassign(pair),
            "admin_session_list" => Ok(self.alive()),
            "admin_session_revoke" => {
                open.into_iter().for_each(|open| self.end(open, "revoked"));
                Ok(json!({"success": true, "agent_id": agent, "project_id": project, "revoked": open.is_some()}))
            }
            unknown => panic!("the model does not know {unknown}"),
        }
    }

    fn alive(&self) -> Value {
        let shown = self.sessions.iter().filter(|session| self.is_alive(session)).map(|it| {
            json!({"id": it.id, "agent_id": it.agent, "project_id": it.project, "instance_id": it.instance,
                "task_id": it.task, "created_at": time(it.created), "last_seen_at": time(it.seen),
                "expires_at": time(it.expires), "max_expires_at": time(it.created + MAX), "began_at": it.began.map(time),
                "ended_at": null, "end_reason": null})
        });
        json!({"success": true, "sessions": shown.collect::<Vec<_>>()})
    }

    fn unassign(&mut self, pair: (String, String)) -> Answer {
        let (project, agent) = &pair;
        if self.runs(agent, project) {
            let what = "Wait for its report, or revoke its session first.";
            return Err(format!("Agent {agent} is running in project {project}. {what}"));
        }
        if let Some(open) = self.open(agent, project) {
            self.end(open, "expired");
        }
        let its = self.list_tasks(&json!({"project_id": project, "assignee_id": agent}))?;
        let is_open = |task: &&Value| task["status"] != "done" && task["status"] != "cancelled";
        let released: Vec<_> = its["tasks"].as_array().unwrap().iter().filter(is_open).map(|it| &it["id"]).collect();
        for task in &released {
            self.assign(find(&self.tasks, "Task", task.as_str().unwrap())?, &Value::Null)?;
        }
        let changed = self.members.remove(&pair);
        Ok(json!({"success": true, "project_id": pair.0, "agent_id": pair.1, "changed": changed,
            "released_tasks": released}))
    }
}

#[derive(Clone)]
enum Step {
    Pass(i64),
    Call(&'static str, Value),
}

/// Steps beside each tool; some tools more often.
const MORE: &str = "pass pass pass pass pass pass pass pass pass pass pass pass again again again stay
    authenticate authenticate authenticate authenticate authenticate authenticate authenticate logout
    get_my_task get_my_task get_my_task get_my_task get_my_task get_my_task report_completed report_completed
    update_task_status update_task_status assign_task save_context create_handoff create_handoff accept_handoff
    accept_handoff get_pending_tasks report_execution_start report_execution_start report_execution_complete
    admin_agent_set_status admin_project_set_status admin_assign admin_unassign admin_session_revoke";

struct History<'a> {
    office: &'a Office,
    seed: u64,
    random: Random,
    model: Model,
    /// What the server made up, by the model's names.
    known: HashMap<String, String>,
    planned: VecDeque<Step>,
    last: Option<Step>,
    told: Vec<String>,
    calls: u64,
}

impl<'a> History<'a> {
    async fn play(office: &'a Office, seed: u64, before: i64, steps: u64) -> Self {
        // A replay sees the same fractions of a second.
        let now = (before / 1000 + 2) * 1000;
        office.pass(Duration::from_millis((now - before) as u64));
        let mut random = Random(seed);
        let model = Model::new(seed, now, &mut random);
        let (known, planned, told) = Default::default();
        let mut history = Self { office, seed, random, model, known, planned, last: None, told, calls: 0 };
        let imported = office.call("admin_import", history.model.import()).await;
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
                self.office.pass(Duration::from_millis(time as u64));
                self.told.push(format!("{time} ms pass"));
            }
            Step::Call(tool, given) => {
                let answer = self.call(tool, given.clone()).await;
                self.told.push(format!("{tool} {given}\n    -> {answer}"));
                self.last = Some(step);
            }
        }
    }

    /// Compares all that can be seen from outside.
    async fn look(&mut self) {
        for pair in 0..6 {
            let (agent, project) = (&self.model.agents[pair % 3], &self.model.projects[pair / 3]);
            self.call("should_start", json!({"agent_id": agent["id"], "project_id": project["id"]})).await;
        }
        let task = &self.model.tasks[self.random.below(4)]["id"];
        self.call("get_task_context", json!({"task_id": task, "include_history": true})).await;
        self.call("list_execution_logs", json!({"limit": 100})).await;
        for tool in ["list_tasks", "get_pending_handoffs", "admin_session_list"] {
            self.call(tool, json!({})).await;
        }
        self.model.keep_the_invariants();
    }

    /// What the model says to a call, after the server said the same.
    async fn call(&mut self, tool: &str, given: Value) -> Value {
        self.calls += 1;
        let expected = self.model.call(tool, &given);
        let mut answer = self.office.call(tool, self.fill(&given)).await;
        keep_own(&mut answer, &self.model.prefix);
        self.learn(&expected, &answer);
        let filled = self.fill(&expected);
        assert!(
            filled == answer,
            "COORDINATION_SEED={} after step {}: {tool} {given}\nthe model: {filled}\nthe answer: {answer}\nlast calls:\n{}",
            self.seed,
            self.told.len(),
            self.told[self.told.len().saturating_sub(12)..].join("\n")
        );
        expected
    }

    /// Takes what the server made up.
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
        let chosen = self.random.below(TOOLS.len() + more.len());
        match TOOLS.get(chosen).map_or_else(|| more[chosen - TOOLS.len()], |tool| tool.name) {
            "pass" => {
                let time = match self.random.below(8) {
                    0..4 => self.random.below(60_000),
                    4 | 5 => self.random.below(3_000) * 1000,
                    6 => self.random.pick(&[3_599_000, 3_599_999, 3_600_000, 3_600_001]),
                    _ => self.random.below(25 * 3600) * 1000,
                };
                self.planned.push_back(Step::Pass(time as i64));
            }
            "again" => self.planned.extend(self.last.clone()),
            "stay" => {
                let token = self.value("session_token");
                let is_alive = self.model.in_time(&json!({ "session_token": token })).is_ok();
                for _ in 0..if is_alive { 30 } else { 0 } {
                    let tool = self.random.pick(&["get_my_task", "get_pending_tasks"]);
                    self.planned.push_back(Step::Pass(3_000_000));
                    self.planned.push_back(Step::Call(tool, json!({ "session_token": token })));
                }
            }
            name => {
                let tool = TOOLS.iter().chain(&admin::TOOLS).find(|tool| tool.name == name).unwrap();
                let given = self.arguments(tool);
                self.planned.push_back(Step::Call(tool.name, given));
            }
        }
    }

    /// Random ones, mostly such as there are; optional ones are left out as often as not.
    fn arguments(&mut self, tool: &Tool) -> Value {
        let mut given = json!({});
        for parameter in tool.parameters {
            // Histories share their lists, so that an offset would skip what is another's.
            let is_given = parameter.name != "offset" && (parameter.required || self.random.one_in(2));
            given[parameter.name] = if is_given { self.value(parameter.name) } else { Value::Null };
        }
        match tool.name {
            "authenticate" => self.log_in(&mut given),
            "admin_agent_set_status" => {
                given = json!({"id": self.model.agents[self.random.below(3)]["id"],
                    "status": self.random.pick(&["active", "active", "inactive", "suspended", "archived"])});
            }
            "admin_project_set_status" => {
                given = json!({"id": self.model.projects[self.random.below(2)]["id"],
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
            "agent" => return model.agents[random.below(3)]["id"].clone(),
            "project" => return model.projects[random.below(2)]["id"].clone(),
            "session_token" => return self.token(),
            "result" => return json!(random.pick(&["success", "success", "failed", "blocked", "maybe"])),
            "status" if random.one_in(24) => return json!("started"),
            "status" => return json!(random.pick(&STATUSES)),
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
            return json!(format!("{}nobody", model.prefix));
        }
        let row = &rows[random.below(rows.len())];
        row.get("id").unwrap_or(&row["executionId"]).clone()
    }

    /// Mostly of a session that is alive.
    fn token(&mut self) -> Value {
        let (model, any) = (&self.model, self.random.one_in(6));
        let tokens: Vec<_> = model.sessions.iter().filter(|it| any || model.is_alive(it)).map(|it| &it.token).collect();
        if tokens.is_empty() || self.random.one_in(24) {
            return json!(format!("{}nobody", model.prefix));
        }
        json!(self.random.pick(&tokens))
    }

    /// Mostly an agent that is to be started, with its own passkey.
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

/// Leaves out of a list what belongs to other histories.
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
