//! The state that the contract describes, and what each tool does with it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::database::Database;
use crate::random::Random;

pub const STATUSES: [&str; 6] = ["in_progress", "todo", "backlog", "blocked", "done", "cancelled"];

const PRIORITIES: [&str; 4] = ["urgent", "high", "medium", "low"];

const FIELDS: [&str; 4] = ["progress", "findings", "blockers", "next_steps"];

const INVALID: &str = "Invalid or expired session_token";

const TTL: i64 = 3_600_000;

pub const MAX: i64 = 86_400_000;

pub struct Session {
    pub id: String,
    pub token: String,
    pub agent: String,
    pub project: String,
    pub instance: Option<String>,
    pub task: Option<String>,
    /// When its task was first requested.
    pub began: Option<i64>,
    pub created: i64,
    pub seen: i64,
    pub expires: i64,
    pub end: Option<&'static str>,
    /// The report that ended it.
    pub report: Option<Value>,
}

/// The state of the coordinator. Rows are as in answers; members that answers do not contain start with `_`.
/// Values that the server generates start with `?` until an answer contains them.
pub struct Model {
    /// The prefix of all ids of this history.
    pub prefix: String,
    pub now: i64,
    pub agents: Vec<Value>,
    pub projects: Vec<Value>,
    /// Pairs of project and agent.
    pub members: BTreeSet<(String, String)>,
    pub tasks: Vec<Value>,
    pub sessions: Vec<Session>,
    pub executions: Vec<Value>,
    pub contexts: Vec<Value>,
    pub handoffs: Vec<Value>,
}

pub type Answer = Result<Value, String>;

pub fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

pub fn time(moment: i64) -> Value {
    json!(jiff::Timestamp::from_second(moment.div_euclid(1000)).unwrap().to_string())
}

pub fn find(rows: &[Value], what: &str, id: &str) -> Result<usize, String> {
    rows.iter().position(|row| row["id"] == id).ok_or_else(|| format!("{what} not found: {id}"))
}

pub fn show(row: &Value) -> Value {
    let mut shown = row.clone();
    shown.as_object_mut().unwrap().retain(|name, _| !name.starts_with('_'));
    shown
}

fn list<'a>(name: &str, rows: impl Iterator<Item = &'a Value>) -> Answer {
    Ok(json!({"success": true, name: rows.map(show).collect::<Vec<_>>()}))
}

/// Whether a row matches the filters; `null` matches any value.
fn matches_filters(row: &Value, given: &Value, names: &[(&str, &str)]) -> bool {
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

/// The initial state and the final checks of a history.
impl Model {
    pub fn new(seed: u64, now: i64, random: &mut Random) -> Self {
        let (prefix, at) = (format!("h{seed}_"), time(now));
        let id = |what: &str, n: usize| format!("{prefix}{what}_{n}");
        let agent = |n| {
            json!({"id": id("agt", n), "name": format!("Agent {n}"), "role": null, "capabilities": ["rust"],
                "type": "ai", "ai_type": (["claude", "gemini", "codex"][n]), "status": "active", "created_at": at,
                "_passkey": id("key", n), "_system_prompt": (n != 1).then_some("You are one of three.")})
        };
        let project = |n| {
            json!({"id": id("prj", n), "name": format!("Project {n}"), "description": null, "status": "active",
                "working_directory": format!("/projects/{n}"), "created_at": at, "updated_at": at})
        };
        let task = |n| {
            let (project, status) = (random.index(2), random.pick(&STATUSES));
            let status = if random.one_in(3) { status } else { "in_progress" };
            let assignee = (!random.one_in(4)).then(|| id("agt", random.index(3 - project)));
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

    pub fn import(&self) -> Value {
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

    pub fn check_rows(&self, database: &Database) {
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

    pub fn check_invariants(&self) {
        for (n, session) in self.sessions.iter().enumerate().filter(|(_, session)| session.end.is_none()) {
            assert_eq!(self.open(&session.agent, &session.project), Some(n), "two sessions of a pair are open");
        }
        for running in self.executions.iter().filter(|execution| execution["status"] == "running") {
            let session = running["_session"].as_u64().unwrap() as usize;
            assert_eq!(self.sessions[session].end, None, "{running} outside a session");
        }
    }
}

/// Shared parts of the tools.
impl Model {
    fn task(&self, given: &Value) -> Result<usize, String> {
        find(&self.tasks, "Task", text(given, "task_id"))
    }

    fn require_member(&self, project: &str, agent: &str) -> Result<(), String> {
        find(&self.agents, "Agent", agent)?;
        let is_member = self.members.contains(&(project.to_owned(), agent.to_owned()));
        if is_member { Ok(()) } else { Err("Agent not assigned to project".to_owned()) }
    }

    fn require_active(&self, agent: &str) -> Result<(), String> {
        let is_active = self.agents[find(&self.agents, "Agent", agent)?]["status"] == "active";
        if is_active { Ok(()) } else { Err(format!("Agent is not active: {agent}")) }
    }

    fn require_open(&self, task: usize) -> Result<(), String> {
        let (id, status) = (text(&self.tasks[task], "id"), text(&self.tasks[task], "status"));
        if ["done", "cancelled"].contains(&status) { Err(format!("Task is {status}: {id}")) } else { Ok(()) }
    }

    /// Only the assignee can hand over a task; any agent can if there is none.
    fn require_owner(&self, task: usize, agent: &Value) -> Result<(), String> {
        let owner = &self.tasks[task]["assignee_id"];
        let is_owner = owner.is_null() || owner == agent;
        if is_owner { Ok(()) } else { Err(format!("Task is assigned to another agent: {}", owner.as_str().unwrap())) }
    }

    fn agents_of(&self, project: &Value) -> impl Iterator<Item = &str> {
        let its = self.members.iter().filter(move |(its, _)| project["id"] == its.as_str());
        its.map(|(_, agent)| agent.as_str())
    }

    pub fn open(&self, agent: &str, project: &str) -> Option<usize> {
        self.sessions.iter().position(|it| it.agent == agent && it.project == project && it.end.is_none())
    }

    pub fn is_alive(&self, session: &Session) -> bool {
        session.end.is_none() && session.expires > self.now
    }

    pub fn runs(&self, agent: &str, project: &str) -> bool {
        self.open(agent, project).is_some_and(|open| self.is_alive(&self.sessions[open]))
    }

    /// The session of a token before it expires; an ended session is remembered for its maximum lifetime.
    pub fn unexpired_session(&self, given: &Value) -> Result<usize, String> {
        let token = text(given, "session_token");
        let until = |it: &Session| if it.end.is_some() { it.created + MAX } else { it.expires };
        let found = self.sessions.iter().position(|it| it.token == token && until(it) > self.now);
        found.ok_or_else(|| INVALID.to_owned())
    }

    fn renew(&mut self, given: &Value) -> Option<usize> {
        let found = self.unexpired_session(given).ok().filter(|found| self.sessions[*found].end.is_none())?;
        let session = &mut self.sessions[found];
        session.seen = self.now;
        session.expires = (self.now + TTL).min(session.created + MAX);
        Some(found)
    }

    pub fn end(&mut self, session: usize, reason: &'static str) {
        self.sessions[session].end = Some(reason);
        // Nothing runs in a session that has expired.
        let now = self.now.min(self.sessions[session].expires);
        let running = self.executions.iter_mut().filter(|it| it["_session"] == session && it["status"] == "running");
        running.for_each(|running| end_execution(running, None, now));
    }

    /// Tasks in progress of an agent in a project, most urgent first.
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

    /// Ends executions of tasks other than the next one.
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

    pub fn assign(&mut self, task: usize, to: &Value) -> Result<(), String> {
        if self.tasks[task]["assignee_id"] == *to {
            return Ok(());
        }
        if let Some(agent) = to.as_str() {
            self.require_member(text(&self.tasks[task], "project_id"), agent)?;
        }
        let (task, notes) = (&mut self.tasks[task], self.contexts.len());
        if let Some(agent) = task["assignee_id"].as_str().map(str::to_owned) {
            task["_left"][agent] = json!(notes);
        }
        (task["assignee_id"], task["updated_at"]) = (to.clone(), time(self.now));
        task["_assigned"] = json!(self.now);
        Ok(())
    }

    /// Whether there are notes about a task from after it was last taken from the agent.
    fn has_notes_since_it_left(&self, task: &Value, agent: &str) -> bool {
        let notes_before = task["_left"][agent].as_u64().unwrap_or(u64::MAX) as usize;
        self.contexts.iter().skip(notes_before).any(|note| note["task_id"] == task["id"])
    }

    /// Saves a note.
    fn note(&mut self, task: &str, said: &Value, is_late: bool) -> Value {
        let newest = self.contexts.iter().rfind(|context| context["task_id"] == task);
        if let Some(same) = newest.filter(|newest| FIELDS.iter().all(|name| newest[name] == said[name])) {
            return show(same);
        }
        let id = format!("?ctx_{}", self.contexts.len());
        let mut row = json!({"id": id, "task_id": task, "created_at": time(self.now), "_late": is_late});
        FIELDS.iter().for_each(|name| row[name] = said[name].clone());
        self.contexts.push(row.clone());
        show(&row)
    }

    fn latest_context(&self, task: &str) -> Value {
        let mut its: Vec<_> = self.contexts.iter().rev().filter(|context| context["task_id"] == task).collect();
        its.sort_by_key(|context| context["_late"] == true);
        let latest = |name: &str| its.iter().find_map(|note| note[name].as_str()).filter(|said| !said.is_empty());
        let fields: Map<_, _> = FIELDS.iter().map(|name| (name.to_string(), json!(latest(name)))).collect();
        if its.is_empty() { Value::Null } else { fields.into() }
    }
}

/// The tools.
impl Model {
    pub fn call(&mut self, tool: &str, given: &Value) -> Value {
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
            "report_process_exit" => self.report_process_exit(given),
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

    pub fn should_start(&self, agent: &str, project: &str) -> Value {
        let is_active = |rows: &[Value], id| rows.iter().any(|row| row["id"] == id && row["status"] == "active");
        let are_active = is_active(&self.agents, agent) && is_active(&self.projects, project);
        let is_idle = self.require_member(project, agent).is_ok() && !self.runs(agent, project);
        if !are_active || !is_idle || self.to_do(agent, project).is_empty() {
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
        self.require_member(place, id)?;
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
        let session = self.unexpired_session(given)?;
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
        let n = self.unexpired_session(given)?;
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
        let last = self.handoffs.iter().rfind(|handoff| handoff["task_id"] == id.as_str());
        let handed_over = !is_mine && last.is_some_and(|handoff| handoff["from_agent_id"] == agent.as_str());
        let exit = if handed_over { 0 } else { exit };
        if is_for(&self.tasks[task], &agent) {
            self.move_to(task, status);
        }
        let (summary, next_steps) = (&given["summary"], &given["next_steps"]);
        if !summary.is_null() || !next_steps.is_null() {
            let has_another = !is_mine && !self.tasks[task]["assignee_id"].is_null();
            let is_late = has_another && self.has_notes_since_it_left(&self.tasks[task], &agent);
            let blockers = if given["result"] == "blocked" && is_mine { summary } else { &Value::Null };
            self.note(&id, &json!({"progress": summary, "blockers": blockers, "next_steps": next_steps}), is_late);
        }
        let runs = |it: &&mut Value| it["_session"] == n && it["taskId"] == id.as_str() && it["status"] == "running";
        self.executions.iter_mut().filter(runs).for_each(|running| end_execution(running, Some(exit), self.now));
        self.end(n, "completed");
        self.sessions[n].report = Some(given.clone());
        Ok(answer)
    }

    /// The session's task, unless it was taken back; the next task if there is none.
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

    fn report_process_exit(&mut self, given: &Value) -> Answer {
        let (agent, project) = (text(given, "agent_id"), text(given, "project_id"));
        find(&self.projects, "Project", project)?;
        find(&self.agents, "Agent", agent)?;
        let open = self.open(agent, project).filter(|open| self.is_alive(&self.sessions[*open]));
        if let Some(open) =
            open.filter(|open| self.sessions[*open].instance.as_deref() == given["instance_id"].as_str())
        {
            self.end(open, "revoked");
        }
        Ok(json!({"success": true, "running": self.runs(agent, project)}))
    }

    fn list_execution_logs(&self, given: &Value) -> Answer {
        let limit = given["limit"].as_u64().unwrap_or(20);
        if !(1..=100).contains(&limit) {
            return Err(format!("Argument 'limit' is {limit}; it must be a whole number from 1 to 100."));
        }
        let names = [("taskId", "task_id"), ("agentId", "agent_id")];
        list(
            "logs",
            self.executions.iter().rev().filter(|row| matches_filters(row, given, &names)).take(limit as usize),
        )
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

    pub fn list_tasks(&self, given: &Value) -> Answer {
        if let Some(project) = given["project_id"].as_str() {
            find(&self.projects, "Project", project)?;
        }
        if let Some(unknown) = given["status"].as_str().filter(|word| !STATUSES.contains(word)) {
            return Err(format!("Invalid status: {unknown}"));
        }
        let names = ["project_id", "status", "assignee_id"].map(|name| (name, name));
        let mut tasks: Vec<_> = self.tasks.iter().filter(|row| matches_filters(row, given, &names)).collect();
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
        Ok(json!({"success": true, "context": self.note(text(given, "task_id"), given, false)}))
    }

    fn get_task_context(&self, given: &Value) -> Answer {
        self.task(given)?;
        let task = text(given, "task_id");
        let mut shown = json!({"success": true, "task_id": task, "latest_context": self.latest_context(task)});
        if given["include_history"] == true {
            shown["contexts"] = self.contexts.iter().rev().filter(|row| row["task_id"] == task).map(show).collect();
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
        self.require_open(task)?;
        self.require_owner(task, &given["from_agent_id"])?;
        if let Some(to) = given["to_agent_id"].as_str() {
            self.require_active(to)?;
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
            let task = self.task(&handoff)?;
            let is_addressed = !handoff["to_agent_id"].is_null();
            if self.tasks[task]["assignee_id"] != *agent {
                self.require_owner(task, if is_addressed { agent } else { &handoff["from_agent_id"] })?;
            }
            let is_free = self.tasks[task]["assignee_id"].is_null() && self.require_open(task).is_ok();
            if !is_addressed || is_free {
                self.require_open(task)?;
                self.require_active(text(given, "agent_id"))?;
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
            self.require_member(text(task, "project_id"), asked.as_str().unwrap_or_default()).is_ok()
        };
        let is_open_to = |it: &Value| it["to_agent_id"].is_null() && it["from_agent_id"] != *asked && is_member(it);
        let is_for = |it: &&Value| asked.is_null() || it["to_agent_id"] == *asked || is_open_to(it);
        let can_move = |it: &&Value| {
            let task = &self.tasks[self.task(it).unwrap()]["assignee_id"];
            let from = if it["to_agent_id"].is_null() { &it["from_agent_id"] } else { asked };
            asked.is_null() || [&Value::Null, asked, from].contains(&task)
        };
        let is_pending =
            |it: &&Value| it["_by"].is_null() && self.task(it).is_ok_and(|task| self.require_open(task).is_ok());
        list("handoffs", self.handoffs.iter().filter(is_pending).filter(is_for).filter(can_move))
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
