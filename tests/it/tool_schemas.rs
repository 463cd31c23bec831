//! Snapshots of the tools as clients see them. `UPDATE_GOLDEN=1` writes them.

use std::path::PathBuf;

use n8n_lens::budget;
use n8n_lens::toolkit::Effect;
use n8n_lens::tools::TOOLSETS;
use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::server::{Reply, Server};
use crate::support::n8n_store::N8nFolder;
use crate::tools;

fn list(arguments: &[&str]) -> Value {
    let n8n = Server::start(|_| Reply::json(500, "{}"));
    let mut client = McpClient::start_with(&n8n.url(), arguments);
    let listed = client.request("tools/list", json!({}))["result"].clone();
    assert!(n8n.requests().is_empty(), "listing tools makes no request to n8n");
    listed
}

fn names(listed: &Value) -> Vec<String> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn schemas_match_the_snapshots() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    assert_eq!(names(&list(&[])), tools::names(&tools::tools(&[])));
    let listed = list(&["--toolsets", &tools::all_toolsets()]);
    assert_eq!(names(&listed), tools::names(&tools::all()));
    for tool in listed["tools"].as_array().unwrap() {
        let file = folder.join(format!("{}.json", tool["name"].as_str().unwrap()));
        let text = serde_json::to_string_pretty(tool).unwrap() + "\n";
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text, golden, "{} changed; if it should, run the tests with UPDATE_GOLDEN=1", file.display());
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_used = tools::all().iter().any(|tool| tool.name == name) || ["messages", "instructions"].contains(&name);
        assert!(is_used, "{} belongs to no tool: delete it", path.display());
    }
}

#[test]
fn strict_clients_accept_the_schemas() {
    let all = tools::all();
    for tool in list(&["--toolsets", &tools::all_toolsets()])["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        assert!(tool["title"].is_string() && tool.get("outputSchema").is_none());
        let effect = all.iter().find(|known| known.name == name).unwrap().effect;
        let annotations = &tool["annotations"];
        assert_eq!(annotations["readOnlyHint"], effect == Effect::Read, "{name}");
        // These are only meaningful for a tool that writes.
        let of_writing = |hint: bool| if effect == Effect::Read { Value::Null } else { hint.into() };
        assert_eq!(annotations["destructiveHint"], of_writing(effect.is_destructive()), "{name}");
        assert_eq!(annotations["idempotentHint"], of_writing(effect.is_idempotent()), "{name}");
        assert_eq!(annotations["openWorldHint"], name != "prove_fix", "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        for (argument, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["type"].is_string(), "{name}.{argument} has one type");
            assert!(schema["description"].is_string(), "{name}.{argument} says what it is");
        }
        // The kind of value that a search looks for is not a type in the schema.
        let text = schema.to_string().replace("[\"null\",\"missing\"", "");
        assert!(!text.contains("uint") && !text.contains("null") && !text.contains("$ref"), "{text}");
    }
}

#[test]
fn the_default_list_is_small_and_the_instructions_are_short() {
    let listed = list(&[]);
    let tokens = budget::count(&listed.to_string());
    println!("tools/list: {tokens} tokens");
    assert!(tokens <= 5100, "{tokens} tokens");
    let of_edits = listed["tools"].as_array().unwrap().iter().filter(|tool| {
        let name = tool["name"].as_str().unwrap();
        ["edit_workflow", "check_workflow"].contains(&name)
    });
    let tokens: usize = of_edits.map(|tool| budget::count(&tool.to_string())).sum();
    println!("edit_workflow and check_workflow: {tokens} tokens");
    assert!(tokens <= 480, "{tokens} tokens");
    let n8n = Server::start(|_| Reply::json(500, "{}"));
    let mut client = McpClient::start(&n8n.url());
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let answer = client.request("initialize", hello);
    let instructions = answer["result"]["instructions"].as_str().unwrap();
    println!("instructions: {} characters", instructions.chars().count());
    assert!(instructions.chars().count() < 2000);
    for word in ["list_executions", "get_execution_by_node", "update_workflow", "untrusted", "nextCursor"] {
        assert!(instructions.contains(word), "{word}");
    }
}

#[test]
fn the_tools_for_all_executions_take_few_tokens() {
    let store = N8nFolder::wal();
    let listed = list(&["--store", store.path().to_str().unwrap()]);
    let of_all = ["find_executions", "group_failures", "workflow_trend"];
    let tools =
        listed["tools"].as_array().unwrap().iter().filter(|tool| of_all.contains(&tool["name"].as_str().unwrap()));
    let tokens: Vec<_> = tools.map(|tool| budget::count(&tool.to_string())).collect();
    println!("for all executions: {tokens:?} tokens");
    assert!(tokens.len() == 3 && tokens.iter().sum::<usize>() <= 700, "{tokens:?}");
}

#[test]
fn toolsets_tools_and_read_only_select_tools() {
    for toolset in TOOLSETS.map(|toolset| toolset.name) {
        assert_eq!(names(&list(&["--toolsets", toolset])), tools::names(&tools::tools(&[toolset])));
    }
    assert_eq!(names(&list(&["--tools", "get_workflow,list_executions"])), ["list_executions", "get_workflow"]);
    let (reading, writing): (Vec<_>, Vec<_>) = tools::tools(&[]).into_iter().partition(|tool| tool.reads_only());
    assert_eq!(names(&list(&["--read-only"])), tools::names(&reading));

    let n8n = Server::start(|_| Reply::json(200, "{}"));
    let mut client = McpClient::start_with(&n8n.url(), &["--read-only"]);
    for tool in tools::names(&writing) {
        let refused = client.call(tool, json!({"id": "x", "name": "x", "filePath": "x"})).unwrap_err();
        assert!(refused.contains(tool) && refused.contains("--read-only"), "{refused}");
    }
    let mut client = McpClient::start_with(&n8n.url(), &["--tools", "get_workflow"]);
    let unknown = client.request("tools/call", json!({"name": "list_workflows", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(n8n.requests().is_empty());
}

#[test]
fn instructions_and_prompts_mention_only_selected_tools() {
    let said = |arguments: &[&str]| {
        let n8n = Server::start(|_| Reply::json(500, "{}"));
        let mut client = McpClient::start_with(&n8n.url(), arguments);
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let instructions = client.request("initialize", hello)["result"]["instructions"].as_str().unwrap().to_owned();
        let prompts = client.request("prompts/list", json!({}))["result"]["prompts"].as_array().unwrap().len();
        (instructions, prompts)
    };
    let (instructions, prompts) = said(&["--read-only"]);
    assert!(!instructions.contains("update_workflow") && instructions.contains("get_workflow"), "{instructions}");
    assert_eq!(prompts, 1);
    let (instructions, prompts) = said(&["--toolsets", "workflows"]);
    assert!(!instructions.contains("get_execution") && instructions.contains("untrusted"), "{instructions}");
    assert_eq!(prompts, 0);
    let mut command = std::process::Command::new(crate::support::binary());
    let output = command.args(["tools", "--read-only", "--tools", "delete_workflow"]).env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No tool is left"));
}

#[test]
fn unknown_toolsets_and_tools_are_refused_with_the_known_ones() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(crate::support::binary());
        let output = command.args(arguments).env_clear().output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--toolsets", "executions,builders"]);
    assert_eq!(code, Some(2));
    let there_are = tools::all_toolsets().replace(',', ", ");
    assert_eq!(said, format!("n8n-lens: Unknown toolset 'builders'. Available: {there_are}.\n"));
    let (code, said) = run(&["--toolsets", "executions", "--tools", "get_workflow"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("Unknown tool 'get_workflow'. Available: list_executions, "), "{said}");
}
