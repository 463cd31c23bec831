//! The flow in the contract, with the real binary: a Runner polls and starts an agent, which
//! authenticates, gets its task, saves context and hands over; another agent accepts and reports.

use serde_json::{Value, json};

use crate::database::Database;
use crate::instance::{Instance, administer, administer_with};
use crate::on_each_database;

/// Issues a passkey for an agent.
fn passkey(database: &Database, agent: &str) -> String {
    let issued = administer(database, &["passkey", "issue", "--agent", agent]);
    assert_eq!(issued["agent_id"], agent);
    issued["passkey"].as_str().unwrap().to_owned()
}

fn token(answer: &Value) -> String {
    let token = answer["session_token"].as_str().unwrap();
    assert!(token.starts_with("sess_") && token.len() >= 5 + 43, "256 bits: {token}");
    token.to_owned()
}

#[test]
fn the_flow_of_the_contract() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        for arguments in [
            &["project", "add", "--id", "prj_a", "--name", "Frontend App", "--working-directory", "/tmp/front"][..],
            &["agent", "add", "--id", "agt_a", "--name", "Anna", "--system-prompt", "You are Anna."],
            &["agent", "add", "--id", "agt_b", "--name", "Ben", "--ai-type", "gemini"],
            &["assign", "--project", "prj_a", "--agent", "agt_a"],
            &["assign", "--project", "prj_a", "--agent", "agt_b"],
            &[
                "task",
                "add",
                "--id",
                "tsk_1",
                "--project",
                "prj_a",
                "--title",
                "Build it",
                "--description",
                "All of it.",
                "--status",
                "in_progress",
                "--assignee",
                "agt_a",
            ],
        ] {
            administer(&database, arguments);
        }
        let anna_key = passkey(&database, "agt_a");
        administer_with(&database, &["passkey", "issue", "--agent", "agt_b", "--stdin"], "ben's own\n");

        let mut runner = Instance::start(&database);
        assert_eq!(runner.call("health_check", json!({}))["status"], "ok");
        assert_eq!(
            runner.call("list_active_projects_with_agents", json!({})),
            json!({"success": true, "projects": [{
                "project_id": "prj_a",
                "project_name": "Frontend App",
                "working_directory": "/tmp/front",
                "agents": ["agt_a", "agt_b"],
            }]})
        );
        let pair = |agent: &str| json!({"agent_id": agent, "project_id": "prj_a"});
        assert_eq!(runner.call("should_start", pair("agt_a")), json!({"should_start": true, "ai_type": "claude"}));
        assert_eq!(runner.call("should_start", pair("agt_b")), json!({"should_start": false}));

        let mut anna = Instance::start(&database);
        let begun = anna.call("authenticate", json!({"agent_id": "agt_a", "passkey": anna_key, "project_id": "prj_a"}));
        let anna_token = token(&begun);
        assert_eq!(
            begun,
            json!({
                "success": true,
                "session_token": anna_token,
                "expires_in": 3600,
                "agent_name": "Anna",
                "project_name": "Frontend App",
                "system_prompt": "You are Anna.",
                "instruction": "get_my_task を呼び出してタスク詳細を取得してください",
            })
        );
        assert_eq!(runner.call("should_start", pair("agt_a")), json!({"should_start": false}), "Anna runs");

        let nothing = json!({"progress": null, "findings": null, "blockers": null, "next_steps": null});
        assert_eq!(
            anna.call("get_my_task", json!({"session_token": anna_token})),
            json!({
                "success": true,
                "has_task": true,
                "task": {
                    "task_id": "tsk_1",
                    "title": "Build it",
                    "description": "All of it.",
                    "working_directory": "/tmp/front",
                    "context": nothing,
                },
                "instruction": "タスクを完了したら report_completed を呼び出してください",
            })
        );
        let saved =
            anna.call("save_context", json!({"task_id": "tsk_1", "progress": "half", "next_steps": "the rest"}));
        assert_eq!((&saved["success"], &saved["context"]["progress"]), (&json!(true), &json!("half")));
        let handed = anna.call(
            "create_handoff",
            json!({"task_id": "tsk_1", "from_agent_id": "agt_a", "to_agent_id": "agt_b", "summary": "half is done"}),
        );
        let handoff = handed["handoff"]["id"].as_str().unwrap().to_owned();
        let report = json!({"session_token": anna_token, "result": "success", "summary": "handed over"});
        assert_eq!(
            anna.call("report_completed", report),
            json!({"success": true, "instruction": "タスクが完了しました。セッションを終了します。"})
        );
        assert!(anna.mcp.close() == Some(0));

        assert_eq!(
            runner.call("should_start", pair("agt_a")),
            json!({"should_start": false}),
            "Anna's task is Ben's now"
        );
        assert_eq!(runner.call("should_start", pair("agt_b")), json!({"should_start": true, "ai_type": "gemini"}));
        let mut ben = Instance::start(&database);
        let begun =
            ben.call("authenticate", json!({"agent_id": "agt_b", "passkey": "ben's own", "project_id": "prj_a"}));
        let ben_token = token(&begun);
        let pending = ben.call("get_pending_handoffs", json!({"agent_id": "agt_b"}));
        assert_eq!(pending["handoffs"][0]["id"], handoff.as_str());
        let accepted = ben.call("accept_handoff", json!({"handoff_id": handoff, "agent_id": "agt_b"}));
        assert!(accepted["handoff"]["accepted_at"].is_string(), "{accepted}");
        let got = ben.call("get_my_task", json!({"session_token": ben_token}));
        assert_eq!(got["task"]["handoff"]["summary"], "half is done");
        assert_eq!(got["task"]["context"]["progress"], "handed over");
        assert_eq!(got["task"]["context"]["next_steps"], "the rest");
        let report = json!({"session_token": ben_token, "result": "success", "summary": "all of it"});
        assert_eq!(ben.call("report_completed", report)["success"], true);

        let task = runner.call("get_task", json!({"task_id": "tsk_1"}));
        assert_eq!((&task["task"]["status"], &task["task"]["assignee_id"]), (&json!("done"), &json!("agt_b")));
        assert!(task["task"]["completed_at"].is_string());
        assert_eq!(runner.call("should_start", pair("agt_b")), json!({"should_start": false}));
        let logs = runner.call("list_execution_logs", json!({"task_id": "tsk_1"}));
        let ends: Vec<_> =
            logs["logs"].as_array().unwrap().iter().map(|log| (&log["agentId"], &log["status"])).collect();
        assert_eq!(ends, [(&json!("agt_b"), &json!("completed")), (&json!("agt_a"), &json!("completed"))]);
        assert_eq!(administer(&database, &["doctor"]), json!({"ok": true, "problems": []}));
    });
}
