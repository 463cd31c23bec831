//! Access control over HTTP.

use n8n_lens::coordination::admin;
use n8n_lens::coordination::tools::{RUNNER_TOOLS, TOOLS};
use serde_json::{Value, json};

use crate::database::Database;
use crate::http_client::HttpServer;
use crate::instance::administer;
use crate::on_each_database;
use crate::races::{called, import, serve};

fn bearer(database: &Database, arguments: &[&str]) -> String {
    let issued = administer(database, &[&["token", "issue", "--scope"], arguments].concat());
    format!("Bearer {}", issued["token"].as_str().unwrap())
}

fn tools(server: &HttpServer, bearer: &str) -> Vec<String> {
    let answer = server.request("tools/list", json!({}), &[("authorization", bearer)]);
    let tools = answer.message()["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn error(server: &HttpServer, bearer: &str, tool: &str, arguments: Value) -> Value {
    let call = json!({"name": tool, "arguments": arguments});
    server.request("tools/call", call, &[("authorization", bearer)]).message()["error"]["code"].clone()
}

#[test]
fn each_scope_has_its_tools() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        import(&database, 1, 2);
        let server = serve(&database, &["--admin-tools", "--runner-tools"]);
        let health = server.send("GET", "/health", &[], "");
        assert_eq!((health.status, health.body.contains("\"ok\"")), (200, true), "{health:?}");
        for credentials in [&[][..], &[("authorization", "Bearer sesame")], &[("authorization", "Basic sesame")]] {
            let answer = server.request("tools/list", json!({}), credentials);
            assert_eq!(answer.status, 401, "{answer:?}");
            assert!(answer.body.contains("token issue"), "the error says what to do: {answer:?}");
        }
        let runner = bearer(&database, &["runner"]);
        assert_eq!(
            tools(&server, &runner),
            [
                "health_check",
                "list_active_projects_with_agents",
                "should_start",
                "list_execution_logs",
                "get_execution_log",
                "list_projects",
                "report_process_exit"
            ]
        );
        assert_eq!(error(&server, &runner, "list_tasks", json!({})), -32602, "a Runner cannot list tasks");
        assert_eq!(error(&server, &runner, "admin_agent_list", json!({})), -32602);
        let agent = bearer(&database, &["agent", "--agent", "agt_0"]);
        assert_eq!(tools(&server, &agent).len(), 20);
        assert_eq!(error(&server, &agent, "list_execution_logs", json!({})), -32602);
        let administrator = bearer(&database, &["admin"]);
        assert_eq!(tools(&server, &administrator).len(), TOOLS.len() + RUNNER_TOOLS.len() + admin::TOOLS.len());
        let id = administer(&database, &["token", "list"])["tokens"][0]["id"].as_str().unwrap().to_owned();
        administer(&database, &["token", "revoke", &id]);
        assert_eq!(server.request("tools/list", json!({}), &[("authorization", &runner)]).status, 401);
    });
}

#[test]
fn an_agent_token_acts_for_its_agent_only() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        import(&database, 2, 2);
        administer(&database, &["unassign", "--project", "prj_1", "--agent", "agt_0"]);
        let server = serve(&database, &[]);
        let (own, other) =
            (bearer(&database, &["agent", "--agent", "agt_0"]), bearer(&database, &["agent", "--agent", "agt_1"]));
        let who =
            |agent: &str| json!({"agent_id": agent, "passkey": format!("key_{}", &agent[4..]), "project_id": "prj_0"});
        let token = called(&server, &own, "authenticate", who("agt_0"))["session_token"].clone();
        assert!(token.is_string());
        let hand_over = |task: &str| {
            let given = json!({"task_id": task, "from_agent_id": "agt_1", "summary": "x"});
            called(&server, &other, "create_handoff", given)["handoff"]["id"].clone()
        };
        let (others, far) = (hand_over("tsk_0_1"), hand_over("tsk_1_1"));
        let completion = json!({"session_token": token, "execution_id": "exec_0", "exit_code": 0, "duration_seconds": 1.5, "log_file_path": ""});
        let refused = json!({"success": false, "error": "Your token is for a different agent or project"});
        for (bearer, tool, arguments) in [
            (&own, "authenticate", who("agt_1")),
            (&other, "get_my_task", json!({ "session_token": token })),
            (&other, "report_completed", json!({"session_token": token, "result": "success"})),
            (&own, "create_handoff", json!({"task_id": "tsk_0_0", "from_agent_id": "agt_1", "summary": "x"})),
            (&own, "get_pending_handoffs", json!({"agent_id": "agt_1"})),
            (&own, "get_task", json!({"task_id": "tsk_1_1"})),
            (&own, "save_context", json!({"task_id": "tsk_1_1", "progress": "x"})),
            (&own, "list_tasks", json!({"project_id": "prj_1"})),
            (&own, "list_tasks", json!({"assignee_id": "agt_1"})),
            (&own, "get_project", json!({"project_id": "prj_1"})),
            (&own, "update_task_status", json!({"task_id": "tsk_1_1", "status": "done"})),
            (&own, "update_task_status", json!({"task_id": "tsk_0_1", "status": "done"})),
            (&own, "assign_task", json!({"task_id": "tsk_0_1", "assignee_id": "agt_0"})),
            (&own, "save_context", json!({"task_id": "tsk_0_1", "progress": "x"})),
            (&own, "accept_handoff", json!({"handoff_id": others, "agent_id": "agt_1"})),
            (&own, "accept_handoff", json!({"handoff_id": far, "agent_id": "agt_0"})),
            (&other, "report_execution_start", json!({"session_token": token, "task_id": "tsk_0_0"})),
            (&other, "report_execution_complete", completion),
            (&other, "logout", json!({ "session_token": token })),
        ] {
            assert_eq!(called(&server, bearer, tool, arguments.clone()), refused, "{tool} {arguments}");
        }
        for tool in ["list_tasks", "get_pending_handoffs"] {
            let error = called(&server, &own, tool, json!({}))["error"].clone();
            assert!(error.as_str().unwrap().contains("ask only about it or its project"), "{tool} {error}");
        }
        let others_task = json!({"task_id": "tsk_0_1", "from_agent_id": "agt_0", "summary": "x"});
        let answer = called(&server, &own, "create_handoff", others_task);
        assert_eq!(answer["error"], "Task is assigned to another agent: agt_1");
        for (tool, arguments) in [
            ("get_my_task", json!({ "session_token": token })),
            ("list_tasks", json!({"project_id": "prj_0"})),
            ("list_tasks", json!({"assignee_id": "agt_0"})),
            ("list_agents", json!({})),
            ("get_agent_profile", json!({"agent_id": "agt_1"})),
            ("get_pending_handoffs", json!({"agent_id": "agt_0"})),
            ("report_completed", json!({"session_token": token, "result": "success"})),
        ] {
            assert_eq!(called(&server, &own, tool, arguments)["success"], true, "{tool}");
        }
        let read = |uri: &str| {
            server.request("resources/read", json!({"name": uri, "uri": uri}), &[("authorization", &own)]).message()
        };
        assert!(read("task://tsk_0_1")["result"]["contents"].is_array(), "{}", read("task://tsk_0_1"));
        for uri in ["task://tsk_1_1", "project://prj_1", "context://tsk_1_1", "executions://tsk_0_0"] {
            assert_eq!(read(uri)["error"]["code"], -32602, "{uri}");
        }
        let prompt = |arguments: Value| {
            let asked = json!({"name": "task_start", "arguments": arguments});
            server.request("prompts/get", asked, &[("authorization", &own)]).message()
        };
        let mine = prompt(json!({"agent_id": "agt_0", "task_id": "tsk_0_0"}));
        assert!(mine["result"]["messages"].is_array(), "{mine}");
        for (agent, task) in [("agt_1", "tsk_0_1"), ("agt_0", "tsk_1_1")] {
            assert_eq!(prompt(json!({"agent_id": agent, "task_id": task}))["error"]["code"], -32602, "{agent} {task}");
        }
    });
}
