//! The view of MCP clients: tools, resources and prompts.

use n8n_lens::coordination::admin;
use n8n_lens::coordination::tools::TOOLS;
use serde_json::{Value, json};

use crate::contract::handoffs::{accept, hand_over};
use crate::contract::*;
use crate::database::Database;
use crate::harness::{Harness, people, run};
use crate::http_client::json_headers;
use crate::instance::{Instance, administer, administer_with};
use crate::on_each_database;
use crate::races::serve;

/// In the notation of the contract, with later additions.
const SIGNATURES: &str = "health_check(); list_active_projects_with_agents(); should_start(agent_id, project_id); \
    authenticate(agent_id, passkey, project_id, instance_id?); logout(session_token); get_my_task(session_token); \
    report_completed(session_token, result, summary?, next_steps?); \
    list_execution_logs(task_id?, agent_id?, limit?); get_execution_log(execution_id); \
    get_agent_profile(agent_id); list_agents(offset?); list_projects(); get_project(project_id); \
    list_tasks(project_id?, status?, assignee_id?, offset?); get_task(task_id); update_task_status(task_id, status); \
    assign_task(task_id, assignee_id); save_context(task_id, progress?, findings?, blockers?, next_steps?); \
    get_task_context(task_id, include_history?, offset?); \
    create_handoff(task_id, from_agent_id, to_agent_id?, summary, context?, recommendations?); \
    accept_handoff(handoff_id, agent_id); get_pending_handoffs(agent_id?, offset?); get_pending_tasks(session_token, offset?); \
    report_execution_start(session_token, task_id); \
    report_execution_complete(session_token, execution_id, exit_code, duration_seconds, log_file_path)";

fn listed(instance: &mut Instance, what: &str) -> Vec<Value> {
    let answer = instance.mcp.request(&format!("{what}/list"), json!({}));
    let member = if what == "resources/templates" { "resourceTemplates" } else { what };
    answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn signature(tool: &Value) -> String {
    let schema = &tool["inputSchema"];
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
    let properties = schema["properties"].as_object().unwrap().keys();
    let parameters: Vec<_> =
        properties.map(|name| if required(name) { name.clone() } else { format!("{name}?") }).collect();
    format!("{}({})", tool["name"].as_str().unwrap(), parameters.join(", "))
}

fn signatures(tools: &[Value]) -> String {
    tools.iter().map(signature).collect::<Vec<_>>().join("; ")
}

fn error_of(instance: &mut Instance, method: &str, params: Value) -> (i64, String) {
    let answer = instance.mcp.request(method, params);
    let error = &answer["error"];
    (error["code"].as_i64().unwrap_or_else(|| panic!("{answer}")), error["message"].as_str().unwrap().to_owned())
}

#[test]
fn tools_are_listed_as_in_the_contract() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        administer_with(&database, &["import", "-"], &people(1, 1).to_string());
        let mut instance = Instance::start(&database);
        let tools = listed(&mut instance, "tools");
        assert_eq!(signatures(&tools), SIGNATURES);
        assert_eq!(listed(&mut instance, "tools"), tools, "the order is stable");
        let deprecated = |tool: &Value| tool["description"].as_str().unwrap().starts_with("[DEPRECATED]");
        assert_eq!(tools.iter().map(deprecated).collect::<Vec<_>>(), [[false; 22].as_slice(), &[true; 3]].concat());
        assert_eq!(tools[6]["inputSchema"]["properties"]["result"]["enum"], json!(["success", "failed", "blocked"]));
        let limit = &tools[7]["inputSchema"]["properties"]["limit"];
        assert_eq!((&limit["minimum"], &limit["maximum"], &limit["default"]), (&json!(1), &json!(100), &json!(20)));
        let retired = "get_my_profile>get_agent_profile get_my_tasks>list_tasks start_session>authenticate end_session>logout \
                   get_my_sessions> list_managed_agents>list_active_projects_with_agents";
        for (retired, instead) in retired.split(' ').map(|pair| pair.split_once('>').unwrap()) {
            let (code, message) = error_of(&mut instance, "tools/call", json!({"name": retired, "arguments": {}}));
            assert!(code == -32602 && message.contains(instead), "{retired}: {code} {message}");
        }
        let one_argument = instance.call("should_start", json!({"agent_id": "agt_0"}));
        assert_eq!(one_argument["success"], false);
        assert_eq!(error_of(&mut instance, "tools/call", json!({"name": "admin_doctor", "arguments": {}})).0, -32602);

        let mut instance = Instance::start_with(&database, &["--hide-deprecated"]);
        assert_eq!(listed(&mut instance, "tools"), tools[..22]);
        let ask = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
        let token = id(&instance.call("authenticate", ask)["session_token"], "sess_");
        assert_eq!(instance.call("get_pending_tasks", by(&token))["tasks"][0]["taskId"], "tsk_0_0");
    });
}

#[test]
fn options_add_tools_and_change_the_language() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        administer_with(&database, &["import", "-"], &people(1, 1).to_string());
        let mut instance = Instance::start_with(&database, &["--lang", "en", "--admin-tools", "--session-ttl", "90"]);
        let tools = listed(&mut instance, "tools");
        let (agents, administrators) = tools.split_at(TOOLS.len());
        assert_eq!(signatures(agents), SIGNATURES);
        assert_eq!(administrators.len(), admin::TOOLS.len());
        assert!(administrators.iter().all(|tool| tool["name"].as_str().unwrap().starts_with("admin_")));
        assert_eq!(instance.call("admin_doctor", json!({})), json!({"success": true, "ok": true, "problems": []}));
        let begun =
            instance.call("authenticate", json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"}));
        assert_eq!(begun["instruction"], "Call get_my_task for the details of your task.");
        assert_eq!(begun["expires_in"], 90);
        let token = id(&begun["session_token"], "sess_");
        let got = instance.call("get_my_task", by(&token));
        assert_eq!(got["instruction"], "Call report_completed when you have completed the task.");
        let answer = instance.call("report_completed", report(&token, "success"));
        assert_eq!(answer, json!({"success": true, "instruction": "The task is completed. The session ends."}));
    });
}

/// Adds an execution, a context and a handoff to the first task.
fn worked_on(database: &Database) {
    run(async {
        let harness = staffed(database, 1, 2).await;
        let token = begin(&harness, 0).await;
        succeeds(&harness, "save_context", json!({"task_id": "tsk_0_0", "progress": "half of it"})).await;
        hand_over(&harness, "tsk_0_0", "agt_0", None).await;
        succeeds(&harness, "logout", by(&token)).await;
    });
}

#[test]
fn resources_match_the_answers_of_tools() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        worked_on(&database);
        let mut instance = Instance::start(&database);
        let templates = listed(&mut instance, "resources/templates");
        let shown: Vec<_> =
            templates.iter().map(|template| (&template["uriTemplate"], &template["mimeType"])).collect();
        let uris = "agent://{id} project://{id} task://{id} context://{taskId} handoff://{taskId} execution://{id} \
                executions://{taskId}";
        let uris: Vec<_> = uris.split(' ').map(Value::from).collect();
        let json_type = json!("application/json");
        assert_eq!(shown, uris.iter().map(|uri| (uri, &json_type)).collect::<Vec<_>>());
        let task = json!({"task_id": "tsk_0_0"});
        let logs = instance.call("list_execution_logs", task.clone())["logs"].take();
        let execution = id(&logs[0]["executionId"], "exec_");
        let history = json!({"task_id": "tsk_0_0", "include_history": true});
        let mut log = instance.call("get_execution_log", json!({ "execution_id": execution }));
        let mut pending = instance.call("get_pending_handoffs", json!({}));
        let handoff = pending["handoffs"][0].take();
        let uri_of_log = format!("execution://{execution}");
        for (uri, expected) in [
            ("agent://agt_0", instance.call("get_agent_profile", json!({"agent_id": "agt_0"}))["agent"].take()),
            ("project://prj_0", instance.call("get_project", json!({"project_id": "prj_0"}))["project"].take()),
            ("task://tsk_0_0", instance.call("get_task", task)["task"].take()),
            ("context://tsk_0_0", without_success(instance.call("get_task_context", history))),
            ("handoff://tsk_0_0", handoff.clone()),
            (uri_of_log.as_str(), log["log"].take()),
            ("executions://tsk_0_0", json!({"task_id": "tsk_0_0", "executions": logs})),
        ] {
            assert_eq!(read(&mut instance, uri), expected);
        }
        let missing =
            "agent://me session://current task://x handoff://x context://x executions://x execution://x project://x";
        for uri in missing.split(' ') {
            assert_eq!(error_of(&mut instance, "resources/read", json!({ "uri": uri })).0, -32002, "{uri}");
        }
        let accepted = instance.call("accept_handoff", accept(&handoff, "agt_1"));
        assert_eq!(read(&mut instance, "handoff://tsk_0_0"), accepted["handoff"], "accepted or not");
    });
}

fn read(instance: &mut Instance, uri: &str) -> Value {
    let answer = instance.mcp.request("resources/read", json!({ "uri": uri }));
    let content = &answer["result"]["contents"][0];
    assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("application/json")), "{answer}");
    serde_json::from_str(content["text"].as_str().unwrap()).unwrap()
}

#[test]
fn resources_are_listed_page_by_page() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        let ids: Vec<_> = (0..250).map(|number| format!("tsk_{number}")).collect();
        let tasks: Vec<_> = ids.iter().map(|id| json!({"id": id, "project_id": "prj_0", "title": id})).collect();
        let data = with(people(1, 1), json!({ "tasks": tasks }));
        run(async { succeeds(&Harness::open(&database).await, "admin_import", json!({ "data": data })).await });
        let mut instance = Instance::start(&database);
        let (mut found, mut params, mut pages) = (Vec::new(), json!({}), 0);
        loop {
            let mut result = instance.mcp.request("resources/list", params)["result"].take();
            let page = result["resources"].as_array().unwrap();
            assert!(page.iter().all(|resource| resource["mimeType"] == "application/json"));
            found.extend(page.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()));
            pages += 1;
            let Value::String(cursor) = result["nextCursor"].take() else { break };
            params = json!({ "cursor": cursor });
        }
        let mut expected: Vec<_> = ids.iter().map(|id| format!("task://{id}")).collect();
        expected.extend(["agent://agt_0".to_owned(), "project://prj_0".to_owned()]);
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert!(pages > 1, "{pages} pages");
        assert_eq!(error_of(&mut instance, "resources/list", json!({"cursor": "none of yours"})).0, -32602);
    });
}

#[test]
fn prompts_contain_the_task() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        worked_on(&database);
        let mut instance = Instance::start(&database);
        let shown: Vec<_> = listed(&mut instance, "prompts")
            .iter()
            .map(|prompt| {
                let arguments = prompt["arguments"].as_array().unwrap().iter();
                let arguments: Vec<_> =
                    arguments.map(|argument| json!([argument["name"], argument["required"]])).collect();
                json!([prompt["name"], arguments])
            })
            .collect();
        let expected = [
            json!(["task_start", [["task_id", true], ["agent_id", true]]]),
            json!(["handoff_template", [["task_id", true], ["from_agent_id", true]]]),
            json!(["context_summary", [["task_id", true]]]),
        ];
        assert_eq!(shown, expected);
        for (name, arguments, missing) in [
            ("task_start", json!({"task_id": "tsk_0_0", "agent_id": "agt_0"}), json!({"task_id": "tsk_0_0"})),
            (
                "handoff_template",
                json!({"task_id": "tsk_0_0", "from_agent_id": "agt_0"}),
                json!({"task_id": "tsk_0_0"}),
            ),
            ("context_summary", json!({"task_id": "tsk_0_0"}), json!({})),
        ] {
            let answer = instance.mcp.request("prompts/get", json!({"name": name, "arguments": arguments}));
            let message = &answer["result"]["messages"][0];
            let text = message["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(message["role"], "user");
            assert!(text.contains("Task of 0") && text.contains("half of it"), "{name}: {text}");
            assert!(text.is_ascii(), "prompts are in English in every locale: {text}");
            let refused = error_of(&mut instance, "prompts/get", json!({"name": name, "arguments": missing}));
            assert_eq!(refused.0, -32602, "{name}: {}", refused.1);
        }
        for retired in ["session_start", "session_end"] {
            assert_eq!(error_of(&mut instance, "prompts/get", json!({"name": retired, "arguments": {}})).0, -32602);
        }
    });
}

/// An execution that the server closed has the status `error`; the call that asks for it succeeded.
#[test]
fn an_execution_with_the_status_error_is_not_a_failed_call() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        administer_with(&database, &["import", "-"], &people(1, 1).to_string());
        let mut instance = Instance::start_with(&database, &["--admin-tools"]);
        let who = json!({"agent_id": "agt_0", "passkey": "key_0", "project_id": "prj_0"});
        let token = id(&instance.call("authenticate", who)["session_token"], "sess_");
        let task = json!({"session_token": token, "task_id": "tsk_0_0"});
        let execution = instance.call("report_execution_start", task)["execution_id"].clone();
        let other = json!({"project": "prj_0", "title": "Other", "status": "in_progress", "assignee": "agt_0"});
        instance.call("admin_task_add", other);
        instance.call("update_task_status", json!({"task_id": "tsk_0_0", "status": "todo"}));
        assert_eq!(instance.call("get_my_task", by(&token))["task"]["title"], "Other");
        let end = json!({
            "session_token": token, "execution_id": execution, "exit_code": 0, "duration_seconds": 1.5,
            "log_file_path": "",
        });
        let call = json!({"name": "report_execution_complete", "arguments": end});
        let answer = instance.mcp.request("tools/call", call)["result"].take();
        let shown = &answer["structuredContent"];
        assert_eq!((&shown["success"], &shown["status"]), (&json!(true), &json!("error")), "{answer}");
        assert_ne!(answer["isError"], true, "{answer}");
    });
}

/// A tool's answer in the form of a resource.
fn without_success(mut answer: Value) -> Value {
    answer.as_object_mut().unwrap().shift_remove("success");
    answer
}

#[test]
fn malformed_messages_get_errors_of_the_protocol() {
    on_each_database(|kind| {
        let database = Database::new(kind);
        let issued = administer(&database, &["token", "issue", "--scope", "admin"]);
        let bearer = format!("Bearer {}", issued["token"].as_str().unwrap());
        let server = serve(&database, &[]);
        let headers = [json_headers(), vec![("authorization", bearer.as_str())]].concat();
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let twice = ping.repeat(2);
        let parse_errors = [
            "",
            " ",
            "ping",
            &ping[1..],
            &ping[..ping.len() - 1],
            &twice,
            "\u{feff}{}",
            r#"{"jsonrpc":"2.0","id":NaN,"method":"ping"}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0\"}",
        ];
        let invalid_requests = [
            "null",
            "5",
            r#"{"jsonrpc":"2.0","id":1,"method":"a\ud800"}"#,
            "[]",
            "{}",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        ];
        let bodies =
            parse_errors.map(|body| (body, -32700)).into_iter().chain(invalid_requests.map(|body| (body, -32600)));
        for (body, code) in bodies {
            let answer = server.send("POST", "/mcp", &headers, body);
            assert_eq!(
                (answer.status, &answer.message()["error"]["code"]),
                (400, &json!(code)),
                "{body:?}: {answer:?}"
            );
        }
        let answer = server.send("POST", "/mcp", &headers, ping);
        assert_eq!((answer.status, &answer.message()["result"]), (200, &json!({})), "{answer:?}");
    });
}
