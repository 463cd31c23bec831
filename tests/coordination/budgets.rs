//! Answers fit the token budget.

use std::collections::BTreeSet;

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::database::Database;
use crate::harness::{Harness, run};
use crate::on_each_database;

/// The largest answer that clients accept, in tokens.
const MAX_TOKENS: usize = 25_000;

#[test]
fn lists_fit_the_token_budget() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(1, 1).await;
            let task = |n: usize| json!({"id": format!("t{n:04}"), "project_id": "prj_0", "title": format!("説明 {n}"), "description": "仕事 ".repeat(n % 50)});
            let tasks: Vec<_> = (0..1500).map(task).collect();
            let imported = harness.call("admin_import", json!({"data": { "tasks": tasks }})).await;
            assert_eq!(imported["changed"]["tasks"], 1500);
            let (mut seen, mut offset, mut pages) = (BTreeSet::new(), 0, 0);
            loop {
                let page = harness.call("list_tasks", json!({"project_id": "prj_0", "offset": offset})).await;
                let tokens = budget::count(&page.to_string());
                assert!(tokens <= MAX_TOKENS, "{tokens} tokens");
                let shown = page["tasks"].as_array().unwrap();
                seen.extend(shown.iter().map(|task| task["id"].as_str().unwrap().to_owned()));
                pages += 1;
                let Value::Number(next) = &page["truncated"]["next_offset"] else { break };
                assert_eq!(page["truncated"]["total"], 1501);
                assert!(tokens > MAX_TOKENS / 2, "only {tokens} tokens on a page that is not the last");
                offset = next.as_u64().unwrap();
            }
            assert_eq!((seen.len(), pages > 3), (1501, true));

            let whole = harness.call("admin_task_list", json!({"project": "prj_0"})).await;
            assert_eq!(whole["tasks"].as_array().unwrap().len(), 1501, "administrators' lists are complete");
        });
    });
}

#[test]
fn texts_have_limits() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        run(async {
            let harness = Harness::open(&database).await;
            harness.people(1, 1).await;
            let note = |bytes: usize| json!({"task_id": "tsk_0_0", "progress": "x".repeat(bytes)});
            assert_eq!(harness.call("save_context", note(8192)).await["success"], true);
            let refused = harness.call("save_context", note(8193)).await;
            assert!(refused["error"].as_str().unwrap().starts_with("Argument 'progress' has 8193 bytes; at most 8192"));
            let nul = harness.call("save_context", json!({"task_id": "tsk_0_0", "progress": "a\u{0}b"})).await;
            assert!(nul["error"].as_str().unwrap().contains("U+0000"));
            // The largest possible context of a task, in plain words.
            let words = |bytes: usize| "The quick brown fox jumps. ".repeat(bytes / 27);
            let fields = json!({"task_id": "tsk_0_0", "progress": words(8192), "findings": words(8192), "blockers": words(8192), "next_steps": words(8192)});
            assert_eq!(harness.call("save_context", fields).await["success"], true);
            let handoff = json!({"task_id": "tsk_0_0", "from_agent_id": "agt_0", "summary": words(8192), "context": words(8192), "recommendations": words(8192)});
            assert_eq!(harness.call("create_handoff", handoff).await["success"], true);
            let session = json!({"session_token": harness.session(0, 0).await});
            let tokens = budget::count(&harness.call("get_my_task", session).await.to_string());
            assert!(tokens <= MAX_TOKENS, "{tokens} tokens");
        });
    });
}
