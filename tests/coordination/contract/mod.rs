//! The contract, answer by answer: every member, every text, and the order of lists.

pub mod handoffs;

use std::time::Duration;

use n8n_lens::coordination::SessionPolicy;
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{Harness, run};
use crate::on_each_database;

pub const NOW: &str = "2025-01-06T10:00:00Z";
pub const A_SECOND_LATER: &str = "2025-01-06T10:00:01Z";
pub const A_MINUTE_LATER: &str = "2025-01-06T10:01:00Z";
pub const AN_HOUR_LATER: &str = "2025-01-06T11:00:00Z";

pub const NO_TOKEN: &str = "Invalid or expired session_token";
pub const NO_AGENT: &str = "Invalid agent_id or passkey";
pub const RUNNING: &str = "Agent instance already running for this project";
pub const STRANGER: &str = "Agent not assigned to project";

pub const STATUSES: [&str; 6] = ["backlog", "todo", "in_progress", "blocked", "done", "cancelled"];
pub const MOVES: &str = "backlog>todo backlog>cancelled todo>in_progress todo>backlog todo>cancelled in_progress>done \
                     in_progress>blocked in_progress>todo blocked>in_progress blocked>cancelled";

/// Runs a test on each kind of database, with the people of [`Harness::people`].
pub fn with_people(projects: usize, agents: usize, test: impl AsyncFn(Harness)) {
    on_each_database(|kind| _ = with_people_on(kind, projects, agents, &test));
}

/// The same on one kind; returns the database.
pub fn with_people_on(kind: Kind, projects: usize, agents: usize, test: impl AsyncFnOnce(Harness)) -> Database {
    let database = Database::new(kind);
    run(async { test(staffed(&database, projects, agents).await).await });
    database
}

pub async fn staffed(database: &Database, projects: usize, agents: usize) -> Harness {
    let harness = Harness::open(database).await;
    harness.people(projects, agents).await;
    harness
}

pub fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

pub async fn refuses(harness: &Harness, tool: &str, arguments: Value, error: &str) {
    let answer = harness.call(tool, arguments.clone()).await;
    assert_eq!(answer, json!({"success": false, "error": error}), "{tool} {arguments}");
}

/// Checks the complete answer of a successful call.
pub async fn returns(harness: &Harness, tool: &str, arguments: Value, expected: Value) {
    let answer = harness.call(tool, arguments.clone()).await;
    assert_eq!(answer, with(expected, json!({"success": true})), "{tool} {arguments}");
}

pub async fn succeeds(harness: &Harness, tool: &str, arguments: Value) -> Value {
    let answer = harness.call(tool, arguments).await;
    assert_eq!(answer["success"], true, "{tool}: {answer}");
    answer
}

pub fn id(value: &Value, prefix: &str) -> String {
    let id = value.as_str().unwrap_or_else(|| panic!("{value} is not an id"));
    assert!(id.starts_with(prefix) && id.len() > prefix.len(), "{id} begins with {prefix}");
    id.to_owned()
}

pub fn by(token: &str) -> Value {
    json!({ "session_token": token })
}

pub fn report(token: &str, result: &str) -> Value {
    json!({"session_token": token, "result": result})
}

pub fn reported() -> Value {
    json!({"success": true, "instruction": "タスクが完了しました。セッションを終了します。"})
}

pub fn no_task() -> Value {
    json!({"success": true, "has_task": false, "instruction": "現在割り当てられたタスクはありません"})
}

/// A task of [`people`], as in the contract.
pub fn task(project: usize, agent: usize) -> Value {
    json!({
        "id": format!("tsk_{project}_{agent}"), "project_id": format!("prj_{project}"),
        "title": format!("Task of {agent}"), "description": "Do it.", "status": "in_progress", "priority": "medium",
        "assignee_id": format!("agt_{agent}"), "created_at": NOW, "updated_at": NOW, "completed_at": null,
    })
}

/// An object with some members replaced.
pub fn with(mut object: Value, members: Value) -> Value {
    let Value::Object(members) = members else { panic!("{members}") };
    object.as_object_mut().unwrap().extend(members);
    object
}

pub async fn task_now(harness: &Harness, id: &str) -> Value {
    let mut answer = succeeds(harness, "get_task", json!({ "task_id": id })).await;
    answer["task"].as_object_mut().unwrap().shift_remove("latest_context");
    answer["task"].take()
}

pub async fn add_task(harness: &Harness, id: &str, priority: &str, assignee: Option<&str>) {
    let task = json!({
        "id": id, "project": "prj_0", "title": id, "status": "in_progress", "priority": priority,
        "assignee": assignee,
    });
    succeeds(harness, "admin_task_add", task).await;
}

pub async fn set_status(harness: &Harness, what: &str, id: &str, status: &str) {
    succeeds(harness, &format!("admin_{what}_set_status"), json!({"id": id, "status": status})).await;
}

pub async fn startable(harness: &Harness, agent: &str, project: &str) -> Value {
    harness.call("should_start", json!({"agent_id": agent, "project_id": project})).await
}

/// Checks the only execution of a task in the first project, by its agent, started at the start of the clock.
pub async fn only_log(harness: &Harness, agent: usize, status: &str, exit_code: Option<i64>, end: Option<(f64, &str)>) {
    let answer = harness.call("list_execution_logs", json!({"task_id": format!("tsk_0_{agent}")})).await;
    let log = json!({
        "executionId": id(&answer["logs"][0]["executionId"], "exec_"), "taskId": format!("tsk_0_{agent}"),
        "agentId": format!("agt_{agent}"), "status": status, "exitCode": exit_code,
        "durationSeconds": end.map(|(seconds, _)| seconds), "startedAt": NOW, "completedAt": end.map(|(_, at)| at),
    });
    assert_eq!(answer, json!({"success": true, "logs": [log]}));
}

/// Starts a session and its task.
pub async fn begin(harness: &Harness, agent: usize) -> String {
    let token = harness.session(agent, 0).await;
    succeeds(harness, "get_my_task", by(&token)).await;
    token
}

/// Checks that every tool with a token argument rejects this token with its own error.
pub async fn is_rejected_everywhere(harness: &Harness, token: &str, execution: &str) {
    let complete = json!({
        "session_token": token, "execution_id": execution, "exit_code": 0, "duration_seconds": 1.0,
        "log_file_path": "x",
    });
    let start = json!({"session_token": token, "task_id": "tsk_0_0"});
    refuses(harness, "logout", by(token), NO_TOKEN).await;
    refuses(harness, "get_my_task", by(token), NO_TOKEN).await;
    refuses(harness, "report_completed", report(token, "success"), NO_TOKEN).await;
    refuses(harness, "get_pending_tasks", by(token), NO_TOKEN).await;
    refuses(harness, "report_execution_start", start, "Invalid session_token or task_id").await;
    refuses(harness, "report_execution_complete", complete, "Invalid execution_id or session_token").await;
}

#[test]
fn a_runner_sees_active_projects_and_agents() {
    with_people(0, 0, async |harness: Harness| {
        let health = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "timestamp": NOW});
        assert_eq!(harness.call("health_check", json!({})).await, health);
        let listed = async || harness.call("list_active_projects_with_agents", json!({})).await;
        assert_eq!(listed().await, json!({"success": true, "projects": []}));
        let project = |n: usize, agents: &[&str]| {
            json!({
                "project_id": format!("prj_{n}"), "project_name": format!("Project {n}"),
                "working_directory": format!("/projects/{n}"), "agents": agents,
            })
        };
        harness.people(2, 2).await;
        let both = [project(0, &["agt_0", "agt_1"]), project(1, &["agt_0", "agt_1"])];
        assert_eq!(listed().await, json!({"success": true, "projects": both}));
        set_status(&harness, "agent", "agt_1", "suspended").await;
        set_status(&harness, "project", "prj_1", "archived").await;
        assert_eq!(listed().await, json!({"success": true, "projects": [project(0, &["agt_0"])]}));
        set_status(&harness, "agent", "agt_0", "inactive").await;
        assert_eq!(listed().await, json!({"success": true, "projects": [project(0, &[])]}));
    });
}

#[test]
fn only_idle_agents_with_tasks_should_start() {
    with_people(2, 2, async |harness: Harness| {
        let (yes, no) = (json!({"should_start": true, "ai_type": "claude"}), json!({"should_start": false}));
        assert_eq!(startable(&harness, "agt_0", "prj_0").await, yes);
        assert_eq!(startable(&harness, "agt_x", "prj_0").await, no);
        assert_eq!(startable(&harness, "agt_0", "prj_x").await, no);
        let token = harness.session(0, 0).await;
        assert_eq!(startable(&harness, "agt_0", "prj_0").await, no, "it is running");
        assert_eq!(startable(&harness, "agt_0", "prj_1").await, yes, "it is not running there");
        assert_eq!(startable(&harness, "agt_1", "prj_0").await, yes, "another agent is running");
        succeeds(&harness, "logout", by(&token)).await;
        assert_eq!(startable(&harness, "agt_0", "prj_0").await, yes);
        set_status(&harness, "task", "tsk_0_0", "todo").await;
        assert_eq!(startable(&harness, "agt_0", "prj_0").await, no, "its task is in the other project");
        set_status(&harness, "project", "prj_1", "archived").await;
        assert_eq!(startable(&harness, "agt_0", "prj_1").await, no);
        set_status(&harness, "agent", "agt_1", "suspended").await;
        assert_eq!(startable(&harness, "agt_1", "prj_0").await, no);
        set_status(&harness, "agent", "agt_1", "active").await;
        succeeds(&harness, "admin_unassign", json!({"agent": "agt_1", "project": "prj_0"})).await;
        assert_eq!(startable(&harness, "agt_1", "prj_0").await, no);
    });
}

#[test]
fn nothing_is_revealed_without_a_passkey() {
    with_people(2, 2, async |harness: Harness| {
        succeeds(&harness, "admin_project_add", json!({"id": "prj_x", "name": "X", "working_directory": "/x"})).await;
        set_status(&harness, "agent", "agt_1", "suspended").await;
        let ask = |agent: &str, passkey: &str, project: &str| {
            json!({
                "agent_id": agent, "passkey": passkey, "project_id": project,
            })
        };
        let answer = harness.authenticate(0, 0).await;
        let begun = json!({
            "success": true, "session_token": id(&answer["session_token"], "sess_"), "expires_in": 3600,
            "agent_name": "Agent 0", "project_name": "Project 0", "system_prompt": "You are 0.",
            "instruction": "get_my_task を呼び出してタスク詳細を取得してください",
        });
        assert_eq!(answer, begun);
        for (agent, passkey, project, error) in [
            ("agt_x", "key_0", "prj_0", NO_AGENT),
            ("agt_0", "key_1", "prj_0", NO_AGENT),
            ("agt_0", "key_1", "prj_none", NO_AGENT),
            ("agt_0", "key_1", "prj_x", NO_AGENT),
            ("agt_1", "key_1", "prj_0", NO_AGENT),
            ("agt_0", "key_0", "prj_none", "Project not found: prj_none"),
            ("agt_0", "key_0", "prj_x", STRANGER),
            ("agt_0", "key_0", "prj_0", RUNNING),
        ] {
            refuses(&harness, "authenticate", ask(agent, passkey, project), error).await;
        }
        assert_eq!(harness.authenticate(0, 1).await["project_name"], "Project 1", "it is not running there");
        let without_project = json!({"agent_id": "agt_0", "passkey": "key_0"});
        let missing = "Argument 'project_id' is missing; it must be a non-empty string.";
        refuses(&harness, "authenticate", without_project, missing).await;
    });
}

#[test]
fn a_session_is_renewed_up_to_its_maximum() {
    with_people(1, 1, async |harness: Harness| {
        let token = harness.session(0, 0).await;
        let lives = async || {
            succeeds(&harness, "get_pending_tasks", by(&token)).await;
            assert_eq!(startable(&harness, "agt_0", "prj_0").await, json!({"should_start": false}));
        };
        harness.pass(seconds(3599));
        lives().await;
        harness.pass(seconds(1));
        for _ in 0..45 {
            harness.pass(seconds(1800));
            lives().await;
        }
        harness.pass(seconds(1799));
        lives().await;
        harness.pass(seconds(1));
        is_rejected_everywhere(&harness, &token, "exec_x").await;
        let yes = json!({"should_start": true, "ai_type": "claude"});
        assert_eq!(startable(&harness, "agt_0", "prj_0").await, yes, "24 hours are over");
    });
}

#[test]
fn session_lifetimes_are_configurable() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let fixed =
                SessionPolicy { session_ttl: seconds(60), session_max: seconds(60), ..SessionPolicy::default() };
            let harness = Harness::open_with(&database, fixed).await;
            harness.people(1, 2).await;
            let begun = harness.authenticate(0, 0).await;
            assert_eq!(begun["expires_in"], 60);
            let token = id(&begun["session_token"], "sess_");
            harness.pass(seconds(59));
            succeeds(&harness, "get_my_task", by(&token)).await;
            harness.pass(seconds(1));
            refuses(&harness, "get_my_task", by(&token), NO_TOKEN).await;
            let capped =
                SessionPolicy { session_ttl: seconds(100), session_max: seconds(40), ..SessionPolicy::default() };
            let harness = Harness::open_with(&database, capped).await;
            assert_eq!(harness.authenticate(1, 0).await["expires_in"], 40);
        });
    });
}

#[test]
fn an_expired_token_is_rejected_everywhere() {
    with_people(1, 1, async |harness: Harness| {
        is_rejected_everywhere(&harness, "sess_unknown", "exec_x").await;
        let old = begin(&harness, 0).await;
        let logs = harness.call("list_execution_logs", json!({})).await;
        let execution = id(&logs["logs"][0]["executionId"], "exec_");
        harness.pass(seconds(3600));
        is_rejected_everywhere(&harness, &old, &execution).await;
        let new = harness.session(0, 0).await;
        only_log(&harness, 0, "error", None, Some((3600.0, AN_HOUR_LATER))).await;
        is_rejected_everywhere(&harness, &old, &execution).await;
        assert_eq!(task_now(&harness, "tsk_0_0").await, task(0, 0));
        let pair = json!({"agent": "agt_0", "project": "prj_0"});
        let revoked = json!({"success": true, "agent_id": "agt_0", "project_id": "prj_0", "revoked": true});
        returns(&harness, "admin_session_revoke", pair, revoked).await;
        is_rejected_everywhere(&harness, &new, &execution).await;
    });
}

#[test]
fn a_session_has_one_task_and_one_execution() {
    with_people(1, 1, async |harness: Harness| {
        let token = harness.session(0, 0).await;
        let expected = json!({
            "success": true, "has_task": true,
            "task": {
                "task_id": "tsk_0_0", "title": "Task of 0", "description": "Do it.", "working_directory": "/projects/0",
                "context": {"progress": null, "findings": null, "blockers": null, "next_steps": null}
            },
            "instruction": "タスクを完了したら report_completed を呼び出してください",
        });
        returns(&harness, "get_my_task", by(&token), expected.clone()).await;
        harness.pass(seconds(5));
        returns(&harness, "get_my_task", by(&token), expected.clone()).await;
        only_log(&harness, 0, "running", None, None).await;
        add_task(&harness, "tsk_urgent", "urgent", Some("agt_0")).await;
        assert_eq!(harness.call("get_my_task", by(&token)).await, expected, "the binding persists");
        only_log(&harness, 0, "running", None, None).await;
        returns(&harness, "report_completed", report(&token, "success"), reported()).await;
        assert_eq!(task_now(&harness, "tsk_urgent").await["status"], "in_progress");
        let token = harness.session(0, 0).await;
        assert_eq!(harness.call("get_my_task", by(&token)).await["task"]["task_id"], "tsk_urgent");
        succeeds(&harness, "report_completed", report(&token, "success")).await;
        let token = harness.session(0, 0).await;
        returns(&harness, "get_my_task", by(&token), no_task()).await;
    });
}

#[test]
fn the_most_urgent_task_comes_first() {
    with_people(1, 1, async |harness: Harness| {
        add_task(&harness, "tsk_low", "low", Some("agt_0")).await;
        add_task(&harness, "tsk_0_late", "medium", None).await;
        add_task(&harness, "tsk_a", "medium", Some("agt_0")).await;
        harness.pass(seconds(1));
        succeeds(&harness, "assign_task", json!({"task_id": "tsk_0_late", "assignee_id": "agt_0"})).await;
        add_task(&harness, "tsk_1", "medium", Some("agt_0")).await;
        add_task(&harness, "tsk_high", "high", Some("agt_0")).await;
        add_task(&harness, "tsk_urgent", "urgent", Some("agt_0")).await;
        for expected in ["tsk_urgent", "tsk_high", "tsk_0_0", "tsk_a", "tsk_0_late", "tsk_1", "tsk_low"] {
            let token = harness.session(0, 0).await;
            assert_eq!(harness.call("get_my_task", by(&token)).await["task"]["task_id"], expected);
            returns(&harness, "report_completed", report(&token, "success"), reported()).await;
        }
    });
}

#[test]
fn a_report_ends_task_execution_and_session() {
    on_each_database(|kind| {
        let database = with_people_on(kind, 1, 4, async |harness: Harness| {
            let mut tokens = Vec::new();
            for agent in 0..4 {
                tokens.push(begin(&harness, agent).await);
            }
            harness.pass(seconds(60));
            for (agent, result, status, done_at, exit_code, ended, blockers) in [
                (0, "success", "done", json!(A_MINUTE_LATER), 0, "completed", Value::Null),
                (1, "failed", "blocked", Value::Null, 1, "failed", Value::Null),
                (2, "blocked", "blocked", Value::Null, 1, "failed", json!("how it was")),
            ] {
                let id_of_task = format!("tsk_0_{agent}");
                let said = json!({"summary": "how it was", "next_steps": "what is left"});
                returns(&harness, "report_completed", with(report(&tokens[agent], result), said), reported()).await;
                only_log(&harness, agent, ended, Some(exit_code), Some((60.0, A_MINUTE_LATER))).await;
                let changed = json!({"status": status, "updated_at": A_MINUTE_LATER, "completed_at": done_at});
                assert_eq!(task_now(&harness, &id_of_task).await, with(task(0, agent), changed));
                let fields = json!({"progress": "how it was", "findings": null, "blockers": blockers, "next_steps": "what is left"});
                let history = json!({"task_id": id_of_task, "include_history": true});
                let answer = harness.call("get_task_context", history).await;
                let note = json!({
                    "id": id(&answer["contexts"][0]["id"], "ctx_"), "task_id": id_of_task, "created_at": A_MINUTE_LATER,
                });
                let note = with(note, fields.clone());
                let expected =
                    json!({"success": true, "task_id": id_of_task, "latest_context": fields, "contexts": [note]});
                assert_eq!(answer, expected);
            }
            returns(&harness, "report_completed", report(&tokens[3], "failed"), reported()).await;
            let without = json!({"success": true, "task_id": "tsk_0_3", "latest_context": null});
            returns(&harness, "get_task_context", json!({"task_id": "tsk_0_3"}), without).await;
        });
        assert_eq!(database.number("SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL"), 0);
        let without_project = "SELECT COUNT(*) FROM events WHERE entity_type = 'execution' AND project_id IS NULL";
        assert_eq!(database.number(without_project), 0, "every event of an execution names its project");
    });
}

#[test]
fn no_duration_is_negative() {
    on_each_database(|kind| {
        let database = with_people_on(kind, 1, 3, async |harness: Harness| {
            let mut tokens = Vec::new();
            for agent in 0..3 {
                tokens.push(begin(&harness, agent).await);
            }
            harness.set_back(seconds(3600));
            returns(&harness, "report_completed", report(&tokens[0], "success"), reported()).await;
            succeeds(&harness, "logout", by(&tokens[1])).await;
            succeeds(&harness, "admin_session_revoke", json!({"agent": "agt_2", "project": "prj_0"})).await;
            only_log(&harness, 0, "completed", Some(0), Some((0.0, NOW))).await;
            only_log(&harness, 1, "error", None, Some((0.0, NOW))).await;
            only_log(&harness, 2, "error", None, Some((0.0, NOW))).await;
        });
        assert_eq!(database.number("SELECT COUNT(*) FROM sessions WHERE ended_at < created_at"), 0);
    });
}

#[test]
fn a_rejected_report_changes_nothing() {
    with_people(1, 2, async |harness: Harness| {
        set_status(&harness, "task", "tsk_0_0", "todo").await;
        let idle = harness.session(0, 0).await;
        let none = "No in_progress task found for this agent";
        refuses(&harness, "report_completed", report(&idle, "success"), none).await;
        assert_eq!(harness.call("get_my_task", by(&idle)).await, no_task(), "the session remains open");
        let busy = begin(&harness, 1).await;
        let unknown = "Argument 'result' is \"done\"; it must be one of success, failed, blocked.";
        refuses(&harness, "report_completed", report(&busy, "done"), unknown).await;
        only_log(&harness, 1, "running", None, None).await;
        assert_eq!(task_now(&harness, "tsk_0_1").await, task(0, 1));
        returns(&harness, "report_completed", report(&busy, "success"), reported()).await;
    });
}

#[test]
fn a_logout_does_not_change_the_task() {
    with_people(1, 1, async |harness: Harness| {
        let token = begin(&harness, 0).await;
        harness.pass(seconds(60));
        returns(&harness, "logout", by(&token), json!({})).await;
        only_log(&harness, 0, "error", None, Some((60.0, A_MINUTE_LATER))).await;
        assert_eq!(task_now(&harness, "tsk_0_0").await, task(0, 0));
        refuses(&harness, "get_my_task", by(&token), NO_TOKEN).await;
        assert_eq!(harness.call("logout", by(&token)).await, json!({"success": true}), "the same answer again");
        refuses(&harness, "report_completed", report(&token, "success"), NO_TOKEN).await;
        harness.session(0, 0).await;
        refuses(&harness, "get_my_task", by(&token), NO_TOKEN).await;
    });
}

#[test]
fn a_repeated_report_gets_the_same_answer() {
    on_each_database(|kind| {
        let database = with_people_on(kind, 1, 1, async |harness: Harness| {
            let token = begin(&harness, 0).await;
            let said = with(report(&token, "success"), json!({"summary": "all of it"}));
            returns(&harness, "report_completed", said.clone(), reported()).await;
            harness.pass(seconds(60));
            returns(&harness, "report_completed", said.clone(), reported()).await;
            let another = with(said.clone(), json!({"result": "failed"}));
            refuses(&harness, "report_completed", another, NO_TOKEN).await;
            refuses(&harness, "report_completed", with(said, json!({"summary": "some of it"})), NO_TOKEN).await;
            refuses(&harness, "report_completed", report(&token, "success"), NO_TOKEN).await;
            refuses(&harness, "logout", by(&token), NO_TOKEN).await;
            only_log(&harness, 0, "completed", Some(0), Some((0.0, NOW))).await;
            let done = with(task(0, 0), json!({"status": "done", "completed_at": NOW}));
            assert_eq!(task_now(&harness, "tsk_0_0").await, done);
        });
        assert_eq!(database.number("SELECT COUNT(*) FROM contexts"), 1);
    });
}

pub fn as_instance(instance: &str) -> Value {
    json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0", "instance_id": instance})
}

#[test]
fn an_instance_can_authenticate_again_after_a_lost_answer() {
    with_people(1, 1, async |harness: Harness| {
        let first = succeeds(&harness, "authenticate", as_instance("one")).await;
        refuses(&harness, "authenticate", as_instance("two"), RUNNING).await;
        assert_eq!(harness.authenticate(0, 0).await, json!({"success": false, "error": RUNNING}));
        let wrong = with(as_instance("one"), json!({"passkey": "key_1"}));
        refuses(&harness, "authenticate", wrong, NO_AGENT).await;
        let second = succeeds(&harness, "authenticate", as_instance("one")).await;
        let [old, new] = [&first, &second].map(|answer| id(&answer["session_token"], "sess_"));
        assert_ne!(old, new);
        assert_eq!(with(first, by("")), with(second, by("")), "everything else is the same");
        is_rejected_everywhere(&harness, &old, "exec_x").await;
        succeeds(&harness, "get_my_task", by(&new)).await;
        refuses(&harness, "authenticate", as_instance("one"), RUNNING).await;
        only_log(&harness, 0, "running", None, None).await;
    });
}

#[test]
fn an_instance_can_authenticate_again_until_its_first_task() {
    with_people(1, 1, async |harness: Harness| {
        let first = succeeds(&harness, "authenticate", as_instance("one")).await;
        let old = id(&first["session_token"], "sess_");
        succeeds(&harness, "get_pending_tasks", by(&old)).await;
        succeeds(&harness, "authenticate", as_instance("one")).await;
        is_rejected_everywhere(&harness, &old, "exec_x").await;
    });
}

#[test]
fn execution_logs_are_camel_case() {
    with_people(1, 2, async |harness: Harness| {
        let mut logs = Vec::new();
        for (agent, at) in [(0, NOW), (1, A_SECOND_LATER)] {
            let token = begin(&harness, agent).await;
            succeeds(&harness, "logout", by(&token)).await;
            let answer = harness.call("list_execution_logs", json!({"limit": 1})).await;
            logs.push(json!({
                "executionId": id(&answer["logs"][0]["executionId"], "exec_"), "taskId": format!("tsk_0_{agent}"),
                "agentId": format!("agt_{agent}"), "status": "error", "exitCode": null, "durationSeconds": 0.0,
                "startedAt": at, "completedAt": at,
            }));
            harness.pass(seconds(1));
        }
        let (newer, older) = (&logs[1], &logs[0]);
        for (filter, found) in [
            (json!({}), vec![newer, older]),
            (json!({"limit": 1}), vec![newer]),
            (json!({"task_id": "tsk_0_0"}), vec![older]),
            (json!({"agent_id": "agt_1"}), vec![newer]),
            (json!({"agent_id": "agt_1", "task_id": "tsk_0_0"}), vec![]),
            (json!({"agent_id": "agt_0", "task_id": "tsk_0_0"}), vec![older]),
        ] {
            returns(&harness, "list_execution_logs", filter, json!({"logs": found})).await;
        }
        returns(
            &harness,
            "get_execution_log",
            json!({"execution_id": older["executionId"]}),
            json!({"log": with(older.clone(), json!({"logFilePath": null}))}),
        )
        .await;
        refuses(&harness, "get_execution_log", json!({"execution_id": "exec_x"}), "Execution log not found: exec_x")
            .await;
        for limit in [0, 101] {
            let error = format!("Argument 'limit' is {limit}; it must be a whole number from 1 to 100.");
            refuses(&harness, "list_execution_logs", json!({ "limit": limit }), &error).await;
        }
    });
}

#[test]
fn agents_and_projects_are_listed_and_found() {
    with_people(1, 1, async |harness: Harness| {
        let new = json!({
            "id": "agt_h", "name": "Hana", "role": "reviewer", "capabilities": ["rust", "sql"], "type": "human",
            "ai_type": "gemini", "system_prompt": "secret",
        });
        let hana = json!({
            "id": "agt_h", "name": "Hana", "role": "reviewer", "capabilities": ["rust", "sql"], "type": "human",
            "ai_type": "gemini", "status": "active", "created_at": NOW,
        });
        let zero = json!({
            "id": "agt_0", "name": "Agent 0", "role": null, "capabilities": [], "type": "ai", "ai_type": "claude",
            "status": "active", "created_at": NOW,
        });
        returns(&harness, "admin_agent_add", new, json!({"agent": hana})).await;
        returns(&harness, "get_agent_profile", json!({"agent_id": "agt_h"}), json!({"agent": hana})).await;
        refuses(&harness, "get_agent_profile", json!({"agent_id": "agt_x"}), "Agent not found: agt_x").await;
        let all = json!({"success": true, "agents": [zero, hana]});
        returns(&harness, "list_agents", json!({}), all).await;
        let project = json!({
            "id": "prj_0", "name": "Project 0", "description": null, "status": "active",
            "working_directory": "/projects/0", "created_at": NOW, "updated_at": NOW,
        });
        let all = json!({"success": true, "projects": [project]});
        returns(&harness, "list_projects", json!({}), all).await;
        returns(
            &harness,
            "get_project",
            json!({"project_id": "prj_0"}),
            json!({"project": with(project, json!({"agents": ["agt_0"]}))}),
        )
        .await;
        refuses(&harness, "get_project", json!({"project_id": "prj_x"}), "Project not found: prj_x").await;
    });
}

#[test]
fn tasks_are_listed_and_found() {
    with_people(2, 2, async |harness: Harness| {
        set_status(&harness, "task", "tsk_1_1", "blocked").await;
        let blocked = with(task(1, 1), json!({"status": "blocked"}));
        for (filter, found) in [
            (json!({}), json!([task(0, 0), task(0, 1), task(1, 0), blocked])),
            (json!({"project_id": "prj_1"}), json!([task(1, 0), blocked])),
            (json!({"assignee_id": "agt_1"}), json!([task(0, 1), blocked])),
            (json!({"status": "blocked"}), json!([blocked])),
            (json!({"project_id": "prj_0", "status": "in_progress", "assignee_id": "agt_1"}), json!([task(0, 1)])),
            (json!({"project_id": "prj_0", "status": "done"}), json!([])),
        ] {
            returns(&harness, "list_tasks", filter, json!({"tasks": found})).await;
        }
        refuses(&harness, "list_tasks", json!({"status": "doing"}), "Invalid status: doing").await;
        refuses(&harness, "list_tasks", json!({"project_id": "prj_x"}), "Project not found: prj_x").await;
        returns(
            &harness,
            "get_task",
            json!({"task_id": "tsk_0_0"}),
            json!({"task": with(task(0, 0), json!({"latest_context": null}))}),
        )
        .await;
        refuses(&harness, "get_task", json!({"task_id": "tsk_x"}), "Task not found: tsk_x").await;
    });
}

#[test]
fn every_status_transition_is_checked() {
    with_people(1, 0, async |harness: Harness| {
        let pairs: Vec<_> = STATUSES.iter().flat_map(|from| STATUSES.iter().map(move |to| (*from, *to))).collect();
        let new = |(from, to): &(&str, &str)| json!({"id": format!("{from}-{to}"), "project_id": "prj_0", "title": "T", "status": from});
        let tasks: Vec<_> = pairs.iter().map(new).collect();
        succeeds(&harness, "admin_import", json!({"data": {"tasks": tasks}})).await;
        for (from, to) in pairs {
            let id = format!("{from}-{to}");
            let arguments = json!({"task_id": id, "status": to});
            if !MOVES.split(' ').any(|allowed| allowed == format!("{from}>{to}")) {
                let error = format!("Invalid status transition: {from} -> {to}");
                refuses(&harness, "update_task_status", arguments, &error).await;
                assert_eq!(task_now(&harness, &id).await["status"], from);
                continue;
            }
            let moved = json!({"id": id, "title": "T", "previous_status": from, "new_status": to});
            returns(&harness, "update_task_status", arguments, json!({"task": moved})).await;
            let task = task_now(&harness, &id).await;
            let completed_at = if to == "done" { json!(NOW) } else { Value::Null };
            assert_eq!((&task["status"], &task["completed_at"]), (&json!(to), &completed_at));
        }
        let unknown = json!({"task_id": "todo-done", "status": "doing"});
        refuses(&harness, "update_task_status", unknown, "Invalid status: doing").await;
        let missing = json!({"task_id": "tsk_x", "status": "done"});
        refuses(&harness, "update_task_status", missing, "Task not found: tsk_x").await;
    });
}

#[test]
fn a_task_can_only_be_assigned_to_a_member() {
    with_people(1, 2, async |harness: Harness| {
        succeeds(&harness, "admin_agent_add", json!({"id": "agt_out", "name": "Outsider"})).await;
        harness.pass(seconds(1));
        let give = |to: Value| json!({"task_id": "tsk_0_0", "assignee_id": to});
        for to in [json!("agt_1"), Value::Null] {
            let changed = with(task(0, 0), json!({"assignee_id": to, "updated_at": A_SECOND_LATER}));
            returns(&harness, "assign_task", give(to), json!({"task": changed})).await;
        }
        refuses(&harness, "assign_task", give(json!("agt_out")), STRANGER).await;
        refuses(&harness, "assign_task", give(json!("agt_x")), "Agent not found: agt_x").await;
        let missing = json!({"task_id": "tsk_x", "assignee_id": "agt_0"});
        refuses(&harness, "assign_task", missing, "Task not found: tsk_x").await;
        assert_eq!(task_now(&harness, "tsk_0_0").await["assignee_id"], Value::Null);
    });
}
