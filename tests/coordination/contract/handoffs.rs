//! Context, handoffs, and the deprecated tools.

use serde_json::{Value, json};

use super::*;
use crate::harness::Harness;

#[test]
fn context_is_carried_over() {
    with_people(1, 1, async |harness: Harness| {
        let nothing = "Nothing to save: give at least one of progress, findings, blockers, next_steps";
        refuses(&harness, "save_context", json!({"task_id": "tsk_0_0"}), nothing).await;
        let missing = json!({"task_id": "tsk_x", "progress": "p"});
        refuses(&harness, "save_context", missing, "Task not found: tsk_x").await;
        let save = async |given: Value, at: &str| {
            let answer = harness.call("save_context", with(json!({"task_id": "tsk_0_0"}), given.clone())).await;
            let context = json!({"id": id(&answer["context"]["id"], "ctx_"), "task_id": "tsk_0_0", "created_at": at});
            let blank = json!({"progress": null, "findings": null, "blockers": null, "next_steps": null});
            let context = with(context, with(blank, given));
            assert_eq!(answer, json!({"success": true, "context": context}));
            context
        };
        let first = save(json!({"progress": "p", "findings": "f", "blockers": "b"}), NOW).await;
        harness.pass(seconds(1));
        let second = save(json!({"findings": "", "next_steps": "n"}), A_SECOND_LATER).await;
        let latest = json!({"progress": "p", "findings": null, "blockers": "b", "next_steps": "n"});
        let expected = json!({"success": true, "task_id": "tsk_0_0", "latest_context": latest});
        returns(&harness, "get_task_context", json!({"task_id": "tsk_0_0"}), expected.clone()).await;
        returns(
            &harness,
            "get_task_context",
            json!({"task_id": "tsk_0_0", "include_history": true}),
            with(expected, json!({"contexts": [second, first]})),
        )
        .await;
        let found = harness.call("get_task", json!({"task_id": "tsk_0_0"})).await;
        assert_eq!(found["task"], with(task(0, 0), json!({"latest_context": latest})));
        let token = harness.session(0, 0).await;
        assert_eq!(harness.call("get_my_task", by(&token)).await["task"]["context"], latest);
        refuses(&harness, "get_task_context", json!({"task_id": "tsk_x"}), "Task not found: tsk_x").await;
    });
}

/// Hands over a task of the first project, and checks the answer; returns the handoff.
pub async fn hand_over(harness: &Harness, task: &str, from: &str, to: Option<&str>) -> Value {
    let given = json!({
        "task_id": task, "from_agent_id": from, "to_agent_id": to, "summary": "half", "context": "c",
        "recommendations": "r",
    });
    let answer = harness.call("create_handoff", given.clone()).await;
    let more = json!({"id": id(&answer["handoff"]["id"], "hnd_"), "accepted_at": null, "created_at": NOW});
    let handoff = with(given, more);
    assert_eq!(answer, json!({"success": true, "handoff": handoff}));
    handoff
}

pub fn accept(handoff: &Value, agent: &str) -> Value {
    json!({"handoff_id": handoff["id"], "agent_id": agent})
}

#[test]
fn a_handoff_to_an_agent_moves_the_task() {
    with_people(1, 3, async |harness: Harness| {
        succeeds(&harness, "admin_agent_add", json!({"id": "agt_out", "name": "Outsider"})).await;
        set_status(&harness, "task", "tsk_0_1", "todo").await;
        set_status(&harness, "task", "tsk_0_2", "done").await;
        set_status(&harness, "agent", "agt_2", "suspended").await;
        let token = begin(&harness, 0).await;
        for (task, from, to, error) in [
            ("tsk_x", "agt_0", "agt_1", "Task not found: tsk_x"),
            ("tsk_0_0", "agt_x", "agt_1", "Agent not found: agt_x"),
            ("tsk_0_0", "agt_0", "agt_y", "Agent not found: agt_y"),
            ("tsk_0_0", "agt_0", "agt_out", STRANGER),
            ("tsk_0_0", "agt_1", "agt_2", "Task is assigned to another agent: agt_0"),
            ("tsk_0_2", "agt_2", "agt_0", "Task is done: tsk_0_2"),
            ("tsk_0_0", "agt_0", "agt_2", "Agent is not active: agt_2"),
        ] {
            let given = json!({"task_id": task, "from_agent_id": from, "to_agent_id": to, "summary": "half"});
            refuses(&harness, "create_handoff", given, error).await;
        }
        set_status(&harness, "agent", "agt_2", "active").await;
        assert_eq!(startable(&harness, "agt_1", "prj_0").await, json!({"should_start": false}));
        let handoff = hand_over(&harness, "tsk_0_0", "agt_0", Some("agt_1")).await;
        let moved = with(task(0, 0), json!({"assignee_id": "agt_1"}));
        assert_eq!(task_now(&harness, "tsk_0_0").await, moved);
        let yes = json!({"should_start": true, "ai_type": "claude"});
        assert_eq!(startable(&harness, "agt_1", "prj_0").await, yes);
        harness.pass(seconds(1));
        refuses(&harness, "accept_handoff", accept(&handoff, "agt_2"), "Handoff is addressed to another agent").await;
        refuses(&harness, "accept_handoff", accept(&handoff, "agt_x"), "Agent not found: agt_x").await;
        refuses(&harness, "accept_handoff", accept(&json!({"id": "hnd_x"}), "agt_1"), "Handoff not found: hnd_x").await;
        let accepted = with(handoff.clone(), json!({"accepted_at": A_SECOND_LATER}));
        for _ in 0..2 {
            returns(&harness, "accept_handoff", accept(&handoff, "agt_1"), json!({"handoff": accepted})).await;
            harness.pass(seconds(59));
        }
        let other = harness.session(1, 0).await;
        assert_eq!(harness.call("get_my_task", by(&other)).await["task"]["handoff"], accepted);
        returns(&harness, "report_completed", report(&token, "success"), reported()).await;
        assert_eq!(task_now(&harness, "tsk_0_0").await, moved, "the task belongs to another agent now");
        let logs = harness.call("list_execution_logs", json!({"agent_id": "agt_0"})).await;
        assert_eq!((&logs["logs"][0]["status"], &logs["logs"][0]["exitCode"]), (&json!("completed"), &json!(0)));
        refuses(&harness, "get_my_task", by(&token), NO_TOKEN).await;
    });
}

#[test]
fn a_late_report_does_not_hide_the_progress_of_the_new_assignee() {
    with_people(1, 2, async |harness: Harness| {
        let token = begin(&harness, 0).await;
        hand_over(&harness, "tsk_0_0", "agt_0", Some("agt_1")).await;
        harness.pass(seconds(1));
        let save = json!({"task_id": "tsk_0_0", "progress": "most of it", "blockers": ""});
        succeeds(&harness, "save_context", save).await;
        harness.pass(seconds(1));
        let said = json!({"summary": "half of it", "next_steps": "test it"});
        returns(&harness, "report_completed", with(report(&token, "blocked"), said), reported()).await;
        let answer = harness.call("get_task_context", json!({"task_id": "tsk_0_0", "include_history": true})).await;
        let latest = json!({"progress": "most of it", "findings": null, "blockers": null, "next_steps": "test it"});
        assert_eq!(answer["latest_context"], latest, "it sets only what no other note does");
        assert_eq!(answer["contexts"][0]["progress"], "half of it", "it is part of the history");
        let other = begin(&harness, 1).await;
        assert_eq!(harness.call("get_my_task", by(&other)).await["task"]["context"], latest);
        let said = json!({"summary": "all of it"});
        returns(&harness, "report_completed", with(report(&other, "success"), said), reported()).await;
        let found = harness.call("get_task", json!({"task_id": "tsk_0_0"})).await;
        assert_eq!(found["task"]["latest_context"], with(latest, json!({"progress": "all of it"})));
    });
}

/// The clock does not advance: the order in which things were saved decides.
#[test]
fn a_report_is_late_only_after_notes_since_the_task_moved() {
    with_people(1, 2, async |harness: Harness| {
        let token = begin(&harness, 0).await;
        let handoff = hand_over(&harness, "tsk_0_0", "agt_0", None).await;
        harness.pass(seconds(1));
        let note = |text: &str| json!({"task_id": "tsk_0_0", "progress": text});
        succeeds(&harness, "save_context", note("its own, before the task moved")).await;
        succeeds(&harness, "accept_handoff", accept(&handoff, "agt_1")).await;
        let reports = async |token: &str, summary: &str| {
            let said = json!({ "summary": summary });
            returns(&harness, "report_completed", with(report(token, "success"), said), reported()).await;
            let found = harness.call("get_task_context", json!({"task_id": "tsk_0_0"})).await;
            found["latest_context"]["progress"].clone()
        };
        assert_eq!(reports(&token, "all of it").await, "all of it", "the new assignee has saved nothing");

        let token = begin(&harness, 1).await;
        succeeds(&harness, "assign_task", json!({"task_id": "tsk_0_0", "assignee_id": "agt_0"})).await;
        harness.set_back(seconds(3600));
        succeeds(&harness, "save_context", note("by the new assignee")).await;
        assert_eq!(reports(&token, "late").await, "by the new assignee", "even if the clock was set back");
    });
}

#[test]
fn an_open_handoff_moves_the_task_when_accepted() {
    with_people(1, 3, async |harness: Harness| {
        succeeds(&harness, "admin_agent_add", json!({"id": "agt_out", "name": "Outsider"})).await;
        let others = json!({"task_id": "tsk_0_0", "from_agent_id": "agt_1", "summary": "half"});
        refuses(&harness, "create_handoff", others, "Task is assigned to another agent: agt_0").await;
        let handoff = hand_over(&harness, "tsk_0_0", "agt_0", None).await;
        assert_eq!(task_now(&harness, "tsk_0_0").await, task(0, 0));
        harness.pass(seconds(1));
        refuses(&harness, "accept_handoff", accept(&handoff, "agt_out"), STRANGER).await;
        set_status(&harness, "agent", "agt_1", "inactive").await;
        refuses(&harness, "accept_handoff", accept(&handoff, "agt_1"), "Agent is not active: agt_1").await;
        set_status(&harness, "agent", "agt_1", "active").await;
        let pending = harness.call("get_pending_handoffs", json!({})).await;
        assert_eq!(pending, json!({"success": true, "handoffs": [handoff]}), "still pending");
        let accepted = with(handoff.clone(), json!({"accepted_at": A_SECOND_LATER}));
        for _ in 0..2 {
            returns(&harness, "accept_handoff", accept(&handoff, "agt_1"), json!({"handoff": accepted})).await;
            harness.pass(seconds(1));
        }
        let moved = with(task(0, 0), json!({"assignee_id": "agt_1", "updated_at": A_SECOND_LATER}));
        assert_eq!(task_now(&harness, "tsk_0_0").await, moved);
        refuses(&harness, "accept_handoff", accept(&handoff, "agt_2"), "Handoff already accepted").await;
        let none = json!({"success": true, "handoffs": []});
        returns(&harness, "get_pending_handoffs", json!({}), none.clone()).await;

        let given = json!({"task_id": "tsk_0_2", "from_agent_id": "agt_2", "summary": "late"});
        let late = harness.call("create_handoff", given).await["handoff"].clone();
        let given = json!({"task_id": "tsk_0_2", "assignee_id": "agt_0"});
        succeeds(&harness, "assign_task", given).await;
        let taken = "Task is assigned to another agent: agt_0";
        refuses(&harness, "accept_handoff", accept(&late, "agt_1"), taken).await;
        succeeds(&harness, "accept_handoff", accept(&late, "agt_0")).await;
        succeeds(&harness, "assign_task", json!({"task_id": "tsk_0_2", "assignee_id": "agt_2"})).await;
        let given = json!({"task_id": "tsk_0_2", "from_agent_id": "agt_2", "summary": "later"});
        let late = harness.call("create_handoff", given).await["handoff"].clone();
        succeeds(&harness, "assign_task", json!({"task_id": "tsk_0_2", "assignee_id": "agt_2"})).await;
        set_status(&harness, "task", "tsk_0_2", "done").await;
        refuses(&harness, "accept_handoff", accept(&late, "agt_1"), "Task is done: tsk_0_2").await;
        returns(&harness, "get_pending_handoffs", json!({}), none).await;
    });
}

#[test]
fn a_handoff_of_a_task_that_another_agent_has_is_not_accepted() {
    with_people(1, 3, async |harness: Harness| {
        let to_one = hand_over(&harness, "tsk_0_0", "agt_0", Some("agt_1")).await;
        let open = hand_over(&harness, "tsk_0_1", "agt_1", None).await;
        let assign = |task: &str, agent: Value| json!({"task_id": task, "assignee_id": agent});
        succeeds(&harness, "assign_task", assign("tsk_0_0", json!("agt_2"))).await;
        succeeds(&harness, "assign_task", assign("tsk_0_1", json!("agt_2"))).await;
        for (handoff, agent) in [(&to_one, "agt_1"), (&open, "agt_0")] {
            let pending = harness.call("get_pending_handoffs", json!({"agent_id": agent})).await;
            assert_eq!(pending["handoffs"], json!([]), "{agent} cannot accept it");
            let taken = "Task is assigned to another agent: agt_2";
            refuses(&harness, "accept_handoff", accept(handoff, agent), taken).await;
        }
        let all = harness.call("get_pending_handoffs", json!({})).await;
        assert_eq!(all["handoffs"], json!([to_one, open]));
        // Without an agent, it moves to the one to whom it was handed over.
        succeeds(&harness, "assign_task", assign("tsk_0_0", Value::Null)).await;
        succeeds(&harness, "accept_handoff", accept(&to_one, "agt_1")).await;
        let task = harness.call("get_task", json!({"task_id": "tsk_0_0"})).await;
        assert_eq!(task["task"]["assignee_id"], "agt_1");
    });
}

#[test]
fn a_failure_is_recorded_as_one_unless_the_task_was_handed_over() {
    with_people(1, 2, async |harness: Harness| {
        for (assignee, handed_over, expected) in
            [(Value::Null, false, "failed"), (json!("agt_1"), false, "failed"), (Value::Null, true, "completed")]
        {
            let token = begin(&harness, 0).await;
            if handed_over {
                hand_over(&harness, "tsk_0_0", "agt_0", Some("agt_1")).await;
            } else {
                let taken = json!({"task_id": "tsk_0_0", "assignee_id": assignee});
                succeeds(&harness, "assign_task", taken).await;
            }
            returns(&harness, "report_completed", report(&token, "failed"), reported()).await;
            let logs = harness.call("list_execution_logs", json!({"task_id": "tsk_0_0"})).await;
            let last = logs["logs"].as_array().and_then(|logs| logs.first()).cloned().unwrap_or_default();
            assert_eq!(last["status"], expected, "{assignee} {handed_over}: {logs}");
            succeeds(&harness, "assign_task", json!({"task_id": "tsk_0_0", "assignee_id": "agt_0"})).await;
        }
    });
}

#[test]
fn pending_handoffs_are_filtered_by_agent() {
    with_people(1, 3, async |harness: Harness| {
        let to_one = hand_over(&harness, "tsk_0_0", "agt_0", Some("agt_1")).await;
        let of_one = hand_over(&harness, "tsk_0_1", "agt_1", None).await;
        let of_two = hand_over(&harness, "tsk_0_2", "agt_2", None).await;
        for (filter, found) in [
            (json!({"agent_id": "agt_0"}), json!([of_one, of_two])),
            (json!({"agent_id": "agt_1"}), json!([to_one, of_two])),
            (json!({"agent_id": "agt_2"}), json!([of_one])),
            (json!({}), json!([to_one, of_one, of_two])),
        ] {
            returns(&harness, "get_pending_handoffs", filter, json!({"handoffs": found})).await;
        }
        succeeds(&harness, "accept_handoff", accept(&to_one, "agt_1")).await;
        returns(&harness, "get_pending_handoffs", json!({"agent_id": "agt_1"}), json!({"handoffs": [of_two]})).await;
    });
}

#[test]
fn deprecated_tools_still_work() {
    with_people(1, 2, async |harness: Harness| {
        let token = harness.session(0, 0).await;
        let pending = json!({
            "taskId": "tsk_0_0", "projectId": "prj_0", "title": "Task of 0", "description": "Do it.",
            "priority": "medium", "workingDirectory": "/projects/0", "assignedAt": NOW,
        });
        returns(&harness, "get_pending_tasks", by(&token), json!({"tasks": [pending]})).await;
        succeeds(&harness, "get_my_task", by(&token)).await;
        harness.pass(seconds(1));
        let start = |task: &str| with(by(&token), json!({ "task_id": task }));
        for task in ["tsk_0_1", "tsk_x"] {
            refuses(&harness, "report_execution_start", start(task), "Invalid session_token or task_id").await;
        }
        let logs = harness.call("list_execution_logs", json!({})).await;
        let execution = id(&logs["logs"][0]["executionId"], "exec_");
        returns(
            &harness,
            "report_execution_start",
            start("tsk_0_0"),
            json!({"execution_id": execution, "started_at": NOW}),
        )
        .await;
        let end = json!({
            "session_token": token, "execution_id": execution, "exit_code": 3, "duration_seconds": 12.5,
            "log_file_path": "$HOME/x.log",
        });
        let other = harness.session(1, 0).await;
        for stranger in [by(&other), json!({"execution_id": "exec_x"})] {
            let arguments = with(end.clone(), stranger);
            refuses(&harness, "report_execution_complete", arguments, "Invalid execution_id or session_token").await;
        }
        let ended =
            json!({"success": true, "execution_id": execution, "completed_at": A_SECOND_LATER, "status": "failed"});
        returns(&harness, "report_execution_complete", end.clone(), ended.clone()).await;
        let again = with(end, json!({"exit_code": 0}));
        assert_eq!(harness.call("report_execution_complete", again).await, ended, "the first report counts");
        only_log(&harness, 0, "failed", Some(3), Some((12.5, A_SECOND_LATER))).await;
        let log = harness.call("get_execution_log", json!({ "execution_id": execution })).await;
        assert_eq!(log["log"]["logFilePath"], "$HOME/x.log");
        assert_eq!(
            harness.call("report_completed", report(&token, "success")).await,
            reported(),
            "the session went on"
        );
        let begun =
            succeeds(&harness, "report_execution_start", json!({"session_token": other, "task_id": "tsk_0_1"})).await;
        let end = json!({
            "session_token": other, "execution_id": begun["execution_id"], "exit_code": 0, "duration_seconds": 1,
            "log_file_path": "",
        });
        assert_eq!(harness.call("report_execution_complete", end).await["status"], "completed");
    });
}
