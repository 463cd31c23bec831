//! Lost answers and aborted calls.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::database::{Database, Kind};
use crate::harness::{Harness, run};
use crate::on_each_database;

#[test]
#[ignore = "long: minutes"]
fn a_thousand_lost_answers_are_repeated() {
    on_each_database(|kind| replays(kind, 1000));
}

/// Each write is repeated as if its answer had been lost: the same answer, and one effect.
fn replays(kind: Kind, rounds: usize) {
    let database = Database::new(kind);
    run(async {
        let harness = Harness::open(&database).await;
        harness.people(1, 2).await;
        for round in 0..rounds {
            let task = format!("tsk_round_{round}");
            let new = json!({"id": task, "project": "prj_0", "title": "Again", "status": "in_progress", "priority": "urgent", "assignee": "agt_0"});
            harness.call("admin_task_add", new).await;
            let who = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0", "instance_id": format!("run {round}")});
            let lost = harness.call("authenticate", who.clone()).await;
            let got = harness.call("authenticate", who.clone()).await;
            assert_ne!(lost["session_token"], got["session_token"]);
            let lost_token = json!({"session_token": lost["session_token"]});
            assert_eq!(harness.call("get_my_task", lost_token).await["error"], "Invalid or expired session_token");

            let token = got["session_token"].clone();
            let session = json!({ "session_token": token });
            let mine = twice(&harness, "get_my_task", session.clone()).await;
            assert_eq!(mine["task"]["task_id"], task.as_str());
            assert_eq!(
                harness.call("authenticate", who).await["error"],
                "Agent instance already running for this project",
                "the instance has begun"
            );
            let note = json!({"task_id": task, "findings": format!("round {round}")});
            twice(&harness, "save_context", note).await;
            harness.call("assign_task", json!({"task_id": task, "assignee_id": "agt_1"})).await;
            let handoff =
                json!({"task_id": task, "from_agent_id": "agt_1", "to_agent_id": "agt_0", "summary": "yours"});
            let handed = twice(&harness, "create_handoff", handoff).await;
            let accept = json!({"handoff_id": handed["handoff"]["id"], "agent_id": "agt_0"});
            twice(&harness, "accept_handoff", accept).await;
            twice(&harness, "assign_task", json!({"task_id": task, "assignee_id": "agt_0"})).await;
            let start = json!({"session_token": token, "task_id": task});
            let started = twice(&harness, "report_execution_start", start).await;
            let complete = json!({"session_token": token, "execution_id": started["execution_id"], "exit_code": 3, "duration_seconds": 1.5, "log_file_path": "/l"});
            twice(&harness, "report_execution_complete", complete).await;
            let report =
                json!({"session_token": token, "result": "failed", "summary": "it broke", "next_steps": "fix it"});
            twice(&harness, "report_completed", report).await;
            assert_eq!(counts(&database, &task), [1, 2, 1, 1], "executions, contexts, handoffs, completed sessions");

            let session = json!({"session_token": harness.session(1, 0).await});
            twice(&harness, "logout", session).await;
        }
    });
}

async fn twice(harness: &Harness, tool: &str, arguments: Value) -> Value {
    let first = harness.call(tool, arguments.clone()).await;
    assert_eq!(first["success"], true, "{tool}: {first}");
    harness.pass(Duration::from_secs(1));
    assert_eq!(harness.call(tool, arguments).await, first, "{tool}");
    first
}

fn counts(database: &Database, task: &str) -> [i64; 4] {
    [
        format!("SELECT COUNT(*) FROM execution_logs WHERE task_id = '{task}'"),
        format!("SELECT COUNT(*) FROM contexts WHERE task_id = '{task}'"),
        format!("SELECT COUNT(*) FROM handoffs WHERE task_id = '{task}'"),
        format!("SELECT COUNT(*) FROM sessions WHERE task_id = '{task}' AND end_reason = 'completed'"),
    ]
    .map(|query| database.number(&query))
}

#[test]
#[ignore = "long: minutes"]
fn ten_thousand_aborted_calls_leave_nothing_open() {
    on_each_database(|kind| cut_off(kind, 10_000));
}

fn cut_off(kind: Kind, calls: usize) {
    let database = Database::new(kind);
    run(async {
        let harness = Harness::open(&database).await;
        harness.people(1, 4).await;
        let token = harness.session(0, 0).await;
        let call = |at: usize| {
            let (harness, token) = (harness.clone(), token.clone());
            let call = tokio::spawn(async move {
                match at % 5 {
                    0 => harness.authenticate(1 + at % 3, 0).await,
                    1 => harness.call("get_my_task", json!({ "session_token": token })).await,
                    2 => harness.call("save_context", json!({"task_id": "tsk_0_0", "progress": at.to_string()})).await,
                    3 => {
                        harness
                            .call(
                                "admin_session_revoke",
                                json!({"agent": format!("agt_{}", 1 + at % 3), "project": "prj_0"}),
                            )
                            .await
                    }
                    _ => harness.call("list_tasks", json!({})).await,
                }
            });
            async move {
                tokio::time::sleep(Duration::from_micros((at as u64 * 7919) % 3000)).await;
                call.abort();
                let _ = call.await;
            }
        };
        for first in (0..calls).step_by(50) {
            join_all((first..first + 50).map(call)).await;
        }
        let after =
            join_all((0..64).map(|at| {
                harness.call("save_context", json!({"task_id": "tsk_0_1", "progress": format!("after {at}")}))
            }));
        assert!(after.await.iter().all(|answer| answer["success"] == true));
        assert_eq!(harness.call("admin_doctor", json!({})).await["problems"], json!([]));
        if kind == Kind::Postgres {
            let hanging = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
            assert_eq!(database.number(hanging), 0);
        }
    });
}

/// What takes longer, and runs in CI.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn lost_answers_are_repeated() {
        on_each_database(|kind| replays(kind, 10));
    }

    #[test]
    #[ignore = "slow: up to 30 s"]
    fn aborted_calls_leave_nothing_open() {
        on_each_database(|kind| cut_off(kind, 300));
    }
}
