//! Processes and databases are killed at random moments: acknowledged writes survive, and no unit of work is half done.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{Database, Kind, restart_postgres_immediately, while_postgres_is_away};
use crate::harness::{Harness, run};
use crate::instance::{Instance, administer};
use crate::on_each_database;
use crate::races::{import, is_refused_everywhere};
use crate::wait::TEST_TIMEOUT;

/// The ids of acknowledged rows, by table.
type Acknowledged = Mutex<BTreeMap<&'static str, Vec<String>>>;

/// A process with an agent and a project that no other process uses.
struct Worker<'a> {
    database: &'a Database,
    number: usize,
    acknowledged: &'a Acknowledged,
    pid: &'a AtomicU32,
    slowest_start: Duration,
}

impl Worker<'_> {
    /// Works until `stop` is set, and restarts the process whenever it is gone.
    fn work(mut self, stop: &AtomicBool) -> Duration {
        while !stop.load(Ordering::SeqCst) {
            let begun = Instant::now();
            let Some(mut instance) = Instance::try_start(self.database, &["--admin-tools"]) else {
                assert_eq!(self.database.kind, Kind::Postgres, "a file is always available");
                continue;
            };
            self.pid.store(instance.mcp.pid(), Ordering::SeqCst);
            let first = instance.try_call("health_check", json!({}));
            if first.is_some() {
                self.slowest_start = self.slowest_start.max(begun.elapsed());
            }
            while !stop.load(Ordering::SeqCst) && self.cycle(&mut instance).is_some() {}
            self.pid.store(0, Ordering::SeqCst);
            instance.mcp.kill();
        }
        self.slowest_start
    }

    fn acknowledge(&self, table: &'static str, id: &Value) {
        let id = id.as_str().unwrap_or_else(|| panic!("{table} without an id")).to_owned();
        self.acknowledged.lock().unwrap().entry(table).or_default().push(id);
    }

    /// Works on a task from start to end; `None` if the process is gone.
    fn cycle(&self, instance: &mut Instance) -> Option<()> {
        let (agent, project) = (format!("agt_{}", self.number), format!("prj_{}", self.number));
        let pair = json!({"agent": agent, "project": project});
        self.done(instance, "admin_session_revoke", pair)?;
        let task = json!({"project": project, "title": "More", "status": "in_progress", "assignee": agent});
        let added = self.done(instance, "admin_task_add", task)?;
        let task = &added["task"]["id"];
        self.acknowledge("tasks", task);
        let passkey = format!("key_{}", self.number);
        let who = json!({"agent_id": agent, "passkey": passkey, "project_id": project});
        let begun = self.done(instance, "authenticate", who)?;
        let token = &begun["session_token"];
        let got = self.done(instance, "get_my_task", json!({ "session_token": token }))?;
        let mine = got["task"]["task_id"].clone();
        for note in ["one", "two", "three"] {
            let saved = self.done(instance, "save_context", json!({"task_id": mine, "progress": note}))?;
            self.acknowledge("contexts", &saved["context"]["id"]);
        }
        let handoff = json!({"task_id": task, "from_agent_id": agent, "summary": "look"});
        let handed = self.done(instance, "create_handoff", handoff)?;
        self.acknowledge("handoffs", &handed["handoff"]["id"]);
        self.done(instance, "report_completed", json!({"session_token": token, "result": "success"}))?;
        self.acknowledge("done tasks", &mine);
        Some(())
    }

    /// Makes a call; returns its answer if it succeeds, and `None` if the process or the database is gone.
    fn done(&self, instance: &mut Instance, tool: &str, arguments: Value) -> Option<Value> {
        let answer = instance.try_call(tool, arguments)?;
        if answer["success"] == true {
            return Some(answer);
        }
        let error = answer["error"].as_str().unwrap();
        let away = error.starts_with("The database") || error.contains("session_token");
        assert!(away && self.database.kind == Kind::Postgres, "{tool}: {answer}");
        // The cycle starts again: an unacknowledged write may or may not be stored.
        None
    }
}

/// Three processes work while `disturb` runs, which receives their pids.
fn disturbed(kind: Kind, disturb: impl FnOnce(&[AtomicU32; 3], &Acknowledged)) {
    let database = Database::new(kind);
    import(&database, 3, 3);
    let (acknowledged, stop) = (Acknowledged::default(), AtomicBool::new(false));
    let pids: [AtomicU32; 3] = Default::default();
    let slowest = std::thread::scope(|scope| {
        let work = |number: usize| {
            let pid = &pids[number];
            let worker =
                Worker { database: &database, number, acknowledged: &acknowledged, pid, slowest_start: Duration::ZERO };
            let stop = &stop;
            scope.spawn(move || worker.work(stop))
        };
        let workers = [0, 1, 2].map(work);
        disturb(&pids, &acknowledged);
        stop.store(true, Ordering::SeqCst);
        workers.map(|worker| worker.join().unwrap()).into_iter().max().unwrap()
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    for (table, ids) in &acknowledged {
        let query = match *table {
            "done tasks" => "SELECT id FROM tasks WHERE status = 'done'".to_owned(),
            table => format!("SELECT id FROM {table}"),
        };
        let there: std::collections::BTreeSet<_> = database.texts(&query).into_iter().collect();
        let lost: Vec<_> = ids.iter().filter(|id| !there.contains(*id)).collect();
        assert!(lost.is_empty() && !ids.is_empty(), "{table}: {lost:?} of {} were lost", ids.len());
    }
    no_unit_is_half_done(&database);
    let rows: usize = acknowledged.values().map(Vec::len).sum();
    print_figure!("{kind:?}: {rows} rows were acknowledged, 0 lost; the slowest start took {} ms", slowest.as_millis());
}

fn no_unit_is_half_done(database: &Database) {
    for half in [
        "SELECT COUNT(*) FROM sessions s JOIN tasks t ON t.id = s.task_id AND t.assignee_id = s.agent_id
            WHERE s.end_reason = 'completed' AND t.status = 'in_progress'",
        "SELECT COUNT(*) FROM contexts c WHERE NOT EXISTS
            (SELECT 1 FROM events e WHERE e.entity_id = c.id AND e.event_type = 'saved')",
        "SELECT COUNT(*) FROM handoffs h WHERE NOT EXISTS
            (SELECT 1 FROM events e WHERE e.entity_id = h.id AND e.event_type = 'created')",
        "SELECT COUNT(*) FROM execution_logs x WHERE NOT EXISTS
            (SELECT 1 FROM events e WHERE e.entity_id = x.id AND e.event_type = 'started')",
        "SELECT COUNT(*) FROM sessions s WHERE s.ended_at IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM events e WHERE e.entity_id = s.id AND e.event_type = 'ended')",
    ] {
        assert_eq!(database.number(half), 0, "{half}");
    }
    assert_eq!(administer(database, &["doctor"]), json!({"ok": true, "problems": []}));
}

#[test]
#[ignore = "long: minutes"]
fn a_thousand_kills_lose_nothing() {
    on_each_database(|kind| kills(kind, 1000));
}

fn kills(kind: Kind, kills: usize) {
    let killed = AtomicUsize::new(0);
    disturbed(kind, |pids, _| {
        for round in 0_usize.. {
            // Pauses that are not in step with the work.
            std::thread::sleep(Duration::from_millis(20 + (round as u64 * 7919) % 131));
            let pid = pids[round % 3].load(Ordering::SeqCst);
            if pid == 0 {
                continue;
            }
            let gone = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
            rustix::process::kill_process(gone, rustix::process::Signal::KILL).unwrap();
            if killed.fetch_add(1, Ordering::SeqCst) + 1 == kills {
                break;
            }
        }
    });
    print_figure!("{kind:?}: {kills} kills");
}

#[test]
fn health_reports_an_unreachable_database() {
    on_each_database(|kind| {
        if kind == Kind::Sqlite {
            return;
        }
        let database = Database::new(kind);
        let mut instance = Instance::start(&database);
        assert_eq!(instance.call("health_check", json!({}))["status"], "ok");
        while_postgres_is_away(|| {
            let id = instance.mcp.send("tools/call", json!({"name": "health_check", "arguments": {}}));
            let answer = instance.mcp.answer(id);
            assert_eq!(answer["result"]["structuredContent"]["status"], "error");
            assert_eq!(answer["result"]["isError"], true);
            let refused = instance.call("list_agents", json!({}));
            assert!(refused["error"].as_str().unwrap().contains("cannot be reached"), "{refused}");
        });
        assert_eq!(instance.call("health_check", json!({}))["status"], "ok", "it recovers without a restart");
    });
}

/// The session expires, or an administrator revokes it.
#[test]
fn a_dead_instance_can_be_replaced() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(1, 1).await;
            let pair = json!({"agent_id": "agt_0", "project_id": "prj_0"});
            let old = harness.session(0, 0).await;
            harness.call("get_my_task", json!({ "session_token": old })).await;
            harness.pass(Duration::from_secs(3599));
            assert_eq!(harness.call("should_start", pair.clone()).await["should_start"], false);
            harness.pass(Duration::from_secs(2));
            assert_eq!(harness.call("should_start", pair.clone()).await["should_start"], true);
            let new = harness.session(0, 0).await;
            is_refused_everywhere(&harness, &old).await;
            let logs = harness.call("list_execution_logs", json!({})).await;
            assert_eq!((&logs["logs"][0]["status"], &logs["logs"][0]["exitCode"]), (&json!("error"), &Value::Null));

            harness.call("admin_session_revoke", json!({"agent": "agt_0", "project": "prj_0"})).await;
            assert_eq!(harness.call("should_start", pair).await["should_start"], true);
            is_refused_everywhere(&harness, &new).await;
        });
    });
}

/// A Runner reports that a process has exited, which ends the session of that process only.
#[test]
fn a_process_that_exited_can_be_replaced_at_once() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(2, 1).await;
            let begin = async |instance: &str, project: &str| {
                let who =
                    json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": project, "instance_id": instance});
                let begun = harness.call("authenticate", who).await;
                let token = begun["session_token"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
                harness.call("get_my_task", json!({ "session_token": token })).await;
                token
            };
            let exited = async |instance: &str| {
                let exit = json!({"agent_id": "agt_0", "project_id": "prj_0", "instance_id": instance});
                harness.call("report_process_exit", exit).await
            };
            let (none, another) =
                (json!({"success": true, "running": false}), json!({"success": true, "running": true}));
            assert_eq!(exited("first").await, none);
            let (first, elsewhere) = (begin("first", "prj_0").await, begin("first", "prj_1").await);
            assert_eq!(exited("second").await, another, "another instance runs");
            assert_eq!((exited("first").await, exited("first").await), (none.clone(), none.clone()));
            is_refused_everywhere(&harness, &first).await;
            let log = harness.call("list_execution_logs", json!({"task_id": "tsk_0_0"})).await["logs"][0].clone();
            assert_eq!((&log["status"], &log["exitCode"]), (&json!("error"), &Value::Null));
            let pair = json!({"agent_id": "agt_0", "project_id": "prj_0"});
            assert_eq!(harness.call("should_start", pair).await["should_start"], true);
            let second = begin("second", "prj_0").await;
            assert_eq!(exited("first").await, another, "a late report does not end the next instance");
            for token in [second, elsewhere] {
                let done = json!({"session_token": token, "result": "success"});
                assert_eq!(harness.call("report_completed", done).await["success"], true);
            }
            assert_eq!(exited("second").await, none);
            for (agent, project, error) in
                [("agt_x", "prj_0", "Agent not found: agt_x"), ("agt_0", "prj_x", "Project not found: prj_x")]
            {
                let exit = json!({"agent_id": agent, "project_id": project, "instance_id": "first"});
                let answer = harness.call("report_process_exit", exit).await;
                assert_eq!(answer, json!({"success": false, "error": error}));
            }
        });
    });
}

/// The real binary is killed, and replaced within a second.
#[test]
fn a_killed_process_can_be_replaced_at_once() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        import(&database, 1, 1);
        let who = |instance: &str| json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0", "instance_id": instance});
        let mut runner = Instance::start_with(&database, &["--runner-tools"]);
        let mut first = Instance::start(&database);
        assert_eq!(first.call("authenticate", who("first"))["success"], true);
        first.mcp.kill();
        let exit = json!({"agent_id": "agt_0", "project_id": "prj_0", "instance_id": "first"});
        assert_eq!(runner.call("report_process_exit", exit), json!({"success": true, "running": false}));
        let pair = json!({"agent_id": "agt_0", "project_id": "prj_0"});
        assert_eq!(runner.call("should_start", pair)["should_start"], true);
        let mut second = Instance::start(&database);
        assert_eq!(second.call("authenticate", who("second"))["success"], true);
    });
}

/// An instance is suspended until its session has expired, and then sends its report.
#[test]
fn an_instance_that_wakes_up_late_changes_nothing() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        import(&database, 1, 1);
        let who = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
        let mut sleeper = Instance::start_with(&database, &["--session-ttl", "2"]);
        let token = sleeper.call("authenticate", who.clone())["session_token"].clone();
        sleeper.call("get_my_task", json!({ "session_token": token }));
        let pid = rustix::process::Pid::from_raw(sleeper.mcp.pid().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let report = json!({"session_token": token, "result": "success", "summary": "too late"});
        let sent = sleeper.mcp.send("tools/call", json!({"name": "report_completed", "arguments": report}));
        std::thread::sleep(Duration::from_millis(2500));

        let mut other = Instance::start(&database);
        let own = other.call("authenticate", who)["session_token"].clone();
        assert!(own.is_string());
        other.call("get_my_task", json!({ "session_token": own }));
        let before = state(&database);
        rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
        let answer = sleeper.mcp.answer(sent);
        let refused = json!({"success": false, "error": "Invalid or expired session_token"});
        assert_eq!(answer["result"]["structuredContent"], refused);
        assert_eq!(state(&database), before);
        let done = other.call("report_completed", json!({"session_token": own, "result": "success"}));
        assert_eq!(done["success"], true, "the other instance continues");
    });
}

/// Everything that a late write could change.
fn state(database: &Database) -> Vec<i64> {
    let sums = [
        "SELECT CAST(SUM(version) AS BIGINT) FROM tasks",
        "SELECT COUNT(*) FROM events",
        "SELECT COUNT(*) FROM contexts",
        "SELECT COUNT(*) FROM execution_logs WHERE status = 'running'",
        "SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL",
        "SELECT CAST(SUM(last_seen_at) AS BIGINT) FROM sessions",
    ];
    sums.map(|sum| database.number(sum)).to_vec()
}

/// What takes longer, and runs in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn kills_lose_nothing() {
        on_each_database(|kind| kills(kind, if kind == Kind::Sqlite { 30 } else { 20 }));
    }

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn a_killed_database_loses_nothing() {
        on_each_database(|kind| {
            if kind == Kind::Sqlite {
                return;
            }
            disturbed(kind, |_, acknowledged| {
                for _ in 0..2 {
                    std::thread::sleep(Duration::from_millis(500));
                    restart_postgres_immediately();
                    let before: usize = acknowledged.lock().unwrap().values().map(Vec::len).sum();
                    let begun = Instant::now();
                    while acknowledged.lock().unwrap().values().map(Vec::len).sum::<usize>() <= before {
                        assert!(begun.elapsed() < TEST_TIMEOUT, "no process recovered");
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            });
        });
    }
}
