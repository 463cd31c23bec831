//! The administrator's commands, as in the contract.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::contract::*;
use crate::database::{Database, Kind};
use crate::harness::{Harness, people, run};
use crate::instance::{admin, administer, administer_with};
use crate::on_each_database;

/// The size of SQLite's pages, in bytes.
const PAGE_SIZE: usize = 4096;

#[test]
fn passkeys_rotate() {
    with_people(1, 0, async |harness: Harness| {
        succeeds(&harness, "admin_agent_add", json!({"id": "agt_0", "name": "Agent 0"})).await;
        let pair = json!({"project": "prj_0", "agent": "agt_0"});
        let joined = json!({"success": true, "project_id": "prj_0", "agent_id": "agt_0", "changed": true});
        returns(&harness, "admin_assign", pair, joined).await;
        let works = async |passkey: &str| {
            let ask = json!({"agent_id": "agt_0", "passkey": passkey, "project_id": "prj_0"});
            let answer = harness.call("authenticate", ask).await;
            if answer["success"] == true {
                succeeds(&harness, "logout", json!({"session_token": answer["session_token"]})).await;
            }
            answer["success"] == true
        };
        for (verb, passkey) in [("issue", "first"), ("rotate", "second"), ("rotate", "third")] {
            let answer =
                harness.call(&format!("admin_passkey_{verb}"), json!({"agent": "agt_0", "passkey": passkey})).await;
            assert_eq!(answer, json!({"success": true, "agent_id": "agt_0", "passkey": passkey}));
            harness.pass(seconds(1));
        }
        assert_eq!((works("first").await, works("second").await, works("third").await), (false, true, true));
        let has_one = "Agent agt_0 already has a passkey. Rotate it, or revoke it first.";
        refuses(&harness, "admin_passkey_issue", json!({"agent": "agt_0"}), has_one).await;
        let revoked = json!({"success": true, "agent_id": "agt_0", "revoked": 2});
        returns(&harness, "admin_passkey_revoke", json!({"agent": "agt_0"}), revoked).await;
        assert_eq!((works("second").await, works("third").await), (false, false));
    });
}

#[test]
fn a_running_agent_cannot_be_unassigned() {
    on_each_database(|kind| {
        let database = with_people_on(kind, 1, 1, async |harness: Harness| {
            let token = begin(&harness, 0).await;
            let sessions = harness.call("admin_session_list", json!({})).await;
            let session = json!({
                "id": id(&sessions["sessions"][0]["id"], "ses"), "agent_id": "agt_0", "project_id": "prj_0",
                "instance_id": null, "task_id": "tsk_0_0", "created_at": NOW, "last_seen_at": NOW,
                "expires_at": AN_HOUR_LATER, "max_expires_at": "2025-01-07T10:00:00Z", "began_at": NOW, "ended_at": null,
                "end_reason": null,
            });
            assert_eq!(sessions, json!({"success": true, "sessions": [session]}));
            let pair = json!({"project": "prj_0", "agent": "agt_0"});
            let runs = "Agent agt_0 is running in project prj_0. Wait for its report, or revoke its session first.";
            refuses(&harness, "admin_unassign", pair.clone(), runs).await;
            succeeds(&harness, "report_completed", report(&token, "success")).await;
            add_task(&harness, "tsk_open", "low", Some("agt_0")).await;
            let gone = json!({
                "success": true, "project_id": "prj_0", "agent_id": "agt_0", "changed": true,
                "released_tasks": ["tsk_open"],
            });
            returns(&harness, "admin_unassign", pair, gone).await;
            assert_eq!(task_now(&harness, "tsk_open").await["assignee_id"], Value::Null);
            assert_eq!(task_now(&harness, "tsk_0_0").await["assignee_id"], "agt_0", "history");
            only_log(&harness, 0, "completed", Some(0), Some((0.0, NOW))).await;
            assert_eq!(harness.authenticate(0, 0).await, json!({"success": false, "error": STRANGER}));
        });
        assert_eq!(database.number("SELECT COUNT(*) FROM sessions WHERE ended_at IS NOT NULL"), 1);
        assert_eq!(database.number("SELECT COUNT(*) FROM project_agents WHERE unassigned_at IS NOT NULL"), 1);
    });
}

#[test]
fn import_is_all_or_nothing() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        let count = |projects, agents, passkeys, assignments, tasks| {
            json!({
                "projects": projects, "agents": agents, "passkeys": passkeys, "assignments": assignments, "tasks": tasks,
            })
        };
        run(async {
            let harness = Harness::open(&database).await;
            let mut bad = people(1, 1);
            bad["tasks"][0]["assignee_id"] = json!("agt_x");
            refuses(&harness, "admin_import", json!({ "data": bad }), "Agent not found: agt_x").await;
            let none = json!({"success": true, "projects": []});
            returns(&harness, "list_projects", json!({}), none).await;
            for changed in [count(2, 2, 2, 4, 4), count(0, 0, 0, 0, 0)] {
                returns(&harness, "admin_import", json!({"data": people(2, 2)}), json!({"changed": changed})).await;
                harness.pass(seconds(60));
            }
            assert_eq!(task_now(&harness, "tsk_0_0").await, task(0, 0));
        });
        let file = database.folder.path().join("people.json");
        std::fs::write(&file, people(2, 3).to_string()).unwrap();
        let answer = administer(&database, &["import", file.to_str().unwrap()]);
        assert_eq!(answer, json!({"changed": count(0, 1, 1, 2, 2)}));
        assert_eq!(database.number("SELECT COUNT(*) FROM agent_credentials"), 3);
    });
}

fn command(database: &Database, words: &str) -> Value {
    administer(database, &words.split(' ').collect::<Vec<_>>())
}

#[test]
fn commands_print_json() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        let added = command(&database, "project add --id prj_a --name A --working-directory /a --description d");
        let at = &added["project"]["created_at"];
        let project = json!({
            "id": "prj_a", "name": "A", "description": "d", "status": "active", "working_directory": "/a",
            "created_at": at, "updated_at": at,
        });
        assert_eq!(added, json!({ "project": project }));
        assert_eq!(command(&database, "project list"), json!({"projects": [project]}));
        let added = command(&database, "agent add --name B --capability x --capability y");
        let agent = id(&added["agent"]["id"], "agt_");
        assert_eq!(added["agent"]["capabilities"], json!(["x", "y"]));
        assert_eq!(command(&database, "agent list"), json!({"agents": [added["agent"]]}));
        command(&database, &format!("assign --project prj_a --agent {agent}"));
        let added = command(&database, &format!("task add --project prj_a --title T --assignee {agent}"));
        let task = id(&added["task"]["id"], "tsk_");
        assert_eq!((&added["task"]["status"], &added["task"]["priority"]), (&json!("backlog"), &json!("medium")));
        assert_eq!(command(&database, "task list --project prj_a"), json!({"tasks": [added["task"]]}));
        assert_eq!(command(&database, "session list"), json!({"sessions": []}));
        let issued = command(&database, &format!("passkey issue --agent {agent}"));
        assert_eq!(issued["passkey"].as_str().unwrap().len(), 43, "256 bits");
        assert_eq!(issued, json!({"agent_id": agent, "passkey": issued["passkey"]}));
        let rotated = administer_with(&database, &["passkey", "rotate", "--agent", &agent, "--stdin"], "mine\n");
        assert_eq!(rotated, json!({"agent_id": agent, "passkey": "mine"}));
        let done = format!("task set-status {task} done");
        for (words, error) in [
            ("task list --project prj_x", "Project not found: prj_x"),
            ("passkey issue --agent agt_x", "Agent not found: agt_x"),
            ("project add --id prj_a --name A --working-directory /a", "Project already exists: prj_a"),
            (done.as_str(), "Invalid status transition: backlog -> done"),
        ] {
            let said = admin(&database, &words.split(' ').collect::<Vec<_>>(), "");
            assert_eq!(said, (1, String::new(), format!("n8n-lens: {error}\n")), "{words}");
        }
    });
}

#[test]
fn a_backup_is_private_and_whole() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        command(&database, "project add --id prj_a --name A --working-directory /a");
        let file = database.folder.path().join("copy.db").to_str().unwrap().to_owned();
        let (code, output, _) = admin(&database, &["backup", &file], "");
        if kind == Kind::Postgres {
            assert_eq!((code, output.as_str()), (1, ""), "pg_dump backs up PostgreSQL");
            return;
        }
        assert_eq!((code, serde_json::from_str::<Value>(&output).unwrap()), (0, json!({ "file": file })));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let (code, output, _) = admin(&database, &["backup", &file], "");
        assert_eq!((code, output.as_str()), (1, ""), "the file exists");
        let copy = Database { kind, argument: file, folder: tempfile::tempdir().unwrap() };
        assert_eq!(command(&copy, "project list"), command(&database, "project list"));
    });
}

#[test]
fn the_doctor_finds_problems() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async { staffed(&database, 1, 1).await.session(0, 0).await });
        let (code, output, errors) = admin(&database, &["doctor"], "");
        let said: Value = serde_json::from_str(&output).unwrap();
        let session = database.texts("SELECT id FROM sessions").remove(0);
        let problem = said["problems"][0].as_str().unwrap();
        assert!(problem.starts_with(&session), "the expired session of 2025 is open: {problem}");
        assert_eq!((code, &said), (1, &json!({"ok": false, "problems": [problem]})));
        assert_ne!(errors, "");
        let revoked = json!({"agent_id": "agt_0", "project_id": "prj_0", "revoked": true});
        assert_eq!(command(&database, "session revoke --agent agt_0 --project prj_0"), revoked);
        assert_eq!(command(&database, "doctor"), json!({"ok": true, "problems": []}));
    });
}

#[test]
fn the_doctor_reports_damage() {
    on_each_database(|kind| {
        if kind == Kind::Postgres {
            return;
        }
        let database = Database::new(kind);
        administer_with(&database, &["import", "-"], &people(8, 8).to_string());
        let backup = database.folder.path().join("backup.db").to_str().unwrap().to_owned();
        command(&database, &format!("backup {backup}"));
        let whole = std::fs::read(&backup).unwrap();
        let mut listed = 0;
        for page in (0..whole.len() / PAGE_SIZE).step_by(3) {
            let file = database.folder.path().join(format!("{page}.db"));
            let mut damaged = whole.clone();
            // The first page starts with the header of the file; a file that is damaged there is not a database.
            let from = page * PAGE_SIZE + if page == 0 { 100 } else { 0 };
            damaged[from..from + 200].fill(0x13);
            std::fs::write(&file, damaged).unwrap();
            let copy =
                Database { kind, argument: file.to_str().unwrap().to_owned(), folder: tempfile::tempdir().unwrap() };
            let (code, output, errors) = admin(&copy, &["doctor"], "");
            assert_eq!(code, 1, "page {page}: {output}{errors}");
            let all = format!("{output}{errors}");
            assert!(all.contains("is damaged") && all.contains("Restore a backup."), "page {page}: {all}");
            assert!(!all.contains("admin doctor"), "it advises itself: {all}");
            listed += usize::from(output.contains("\"ok\":false"));
        }
        assert!(listed > 4, "only {listed} were listed as problems");
    });
}
