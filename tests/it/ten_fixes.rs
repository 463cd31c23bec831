//! The token cost of ten fixes to a workflow of 21 nodes: as operations, as whole nodes, and as n8n-mcp's operations. The table of
//! `docs/editing.md`: `cargo test --test it ten_fixes -- --nocapture`.

use n8n_lens::budget;
use serde_json::{Value, json};

use crate::builder::catalogue;
use crate::mcp_client::McpClient;
use crate::workflow_store::{Flavour, WorkflowStore};
use crate::workflows::{node, start_with};

/// The most tokens sent in all ten fixes.
const MAX_SENT: usize = 700;

/// The most tokens answered in all ten fixes.
const MAX_READ: usize = 1500;

const CODE: &str = "const orderKeys = (object) => {\n  const ordered = {};\n  Object.keys(object).sort().forEach((key) => {\n    ordered[key] = object[key];\n  });\n  return ordered;\n};\n\nconst [stored, current] = [$items('Merge')[0].json, $items('Merge')[1].json];\nif (stored.content === undefined) {\n  current.state = 'new';\n  return [{ json: current }];\n}\nconst before = JSON.stringify(orderKeys(JSON.parse(stored.content)), null, 2);\nconst after = JSON.stringify(orderKeys(current), null, 2);\nconst state = before.replace(/\\n/g, '') === after.replace(/\\n/g, '') ? 'same' : 'different';\nreturn [{ json: { ...current, state, content: after } }];";

/// A realistic workflow that backs posts up to a repository.
fn workflow() -> Value {
    let set = |pairs: &[(&str, &str)]| {
        let list = pairs.iter().enumerate().map(|(at, (name, value))| {
            json!({"id": format!("6cf546c5-5737-4dbd-851b-17d68e0a{at:04}"), "name": name, "type": "string", "value": value})
        });
        json!({"options": {}, "assignments": {"assignments": list.collect::<Vec<_>>()}})
    };
    let locator = |value: &str| json!({"__rl": true, "mode": "name", "value": value});
    let file = |operation: &str| {
        json!({"owner": locator("={{ $('Globals').item.json.repo.owner }}"), "repository": locator("={{ $('Globals').item.json.repo.name }}"),
            "resource": "file", "operation": operation, "filePath": "={{ $json.path }}{{ $('Started').first().json.id }}.json",
            "fileContent": "={{ $('Compare').item.json.content }}", "commitMessage": "={{ $('Started').first().json.title }} ({{ $json.state }})"})
    };
    let condition = |left: &str, operation: &str| {
        json!({"options": {}, "conditions": {"combinator": "and", "options": {"version": 2, "leftValue": "", "caseSensitive": true, "typeValidation": "strict"},
            "conditions": [{"id": "45ce825e-9fa6-430c-8931-9aaf22c42585", "leftValue": left, "rightValue": "", "operator": {"type": "string", "operation": operation, "singleValue": true}}]}})
    };
    let kinds: [(&str, &str, Value); 21] = [
        ("By hand", "manualTrigger", json!({})),
        ("Every day", "scheduleTrigger", json!({"rule": {"interval": [{"triggerAtHour": 17}]}})),
        ("Get posts", "wordpress", json!({"options": {}, "operation": "getAll", "returnAll": true})),
        (
            "Shorten",
            "code",
            json!({"jsCode": "for (const item of $input.all()) {\n  item.json.short = item.json.title.slice(0, 40);\n}\nreturn $input.all();"}),
        ),
        (
            "Run each",
            "executeWorkflow",
            json!({"mode": "each", "options": {}, "workflowId": locator("={{ $workflow.id }}")}),
        ),
        ("Started", "executeWorkflowTrigger", json!({"inputSource": "passthrough"})),
        ("Tagged?", "if", condition("={{ $json.tags[0].name }}", "exists")),
        ("Folder", "set", set(&[("path", "={{ $('Started').item.json.tags[0].name }}/")])),
        ("Globals", "set", set(&[("repo.owner", "octocat"), ("repo.name", "backup"), ("repo.path", "posts/")])),
        ("Get file data", "github", file("get")),
        ("Large file?", "if", condition("={{ $json.content }}", "empty")),
        ("Get file", "httpRequest", json!({"url": "={{ $json.download_url }}", "options": {}})),
        ("Merge", "merge", json!({})),
        ("Compare", "code", json!({"jsCode": CODE})),
        (
            "Status",
            "switch",
            json!({"dataType": "string", "value1": "={{ $json.state }}",
            "rules": {"rules": [{"value2": "same"}, {"output": 1, "value2": "different"}, {"output": 2, "value2": "new"}]}}),
        ),
        ("Same", "noOp", json!({})),
        ("Different", "noOp", json!({})),
        ("New", "noOp", json!({})),
        ("Create file", "github", file("create")),
        ("Edit file", "github", file("edit")),
        ("Return", "set", set(&[("done", "={{ true }}")])),
    ];
    let nodes = kinds.iter().enumerate().map(|(at, (name, kind, parameters))| {
        let mut node = node(name, &format!("n8n-nodes-base.{kind}"));
        node["id"] = json!(format!("cc5f77c7-ef9f-46bd-ae78-c9aa0c1e{at:04}"));
        node["position"] = json!([200 * at, 300]);
        node["parameters"] = parameters.clone();
        if *kind == "github" {
            node["credentials"] = json!({"githubApi": {"id": "iVm2oT1bsSyJAIqr", "name": "GitHub account"}});
        }
        node
    });
    let to = |names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| json!([{"node": name, "type": "main", "index": 0}])).collect()
    };
    json!({"id": "w", "name": "Back posts up", "active": false, "settings": {}, "nodes": nodes.collect::<Vec<_>>(), "connections": {
        "By hand": {"main": to(&["Get posts"])}, "Every day": {"main": to(&["Get posts"])}, "Get posts": {"main": to(&["Shorten"])},
        "Shorten": {"main": to(&["Run each"])}, "Started": {"main": to(&["Tagged?"])}, "Tagged?": {"main": to(&["Folder", "Globals"])},
        "Folder": {"main": to(&["Globals"])}, "Globals": {"main": to(&["Get file data"])}, "Get file data": {"main": to(&["Large file?"])},
        "Large file?": {"main": to(&["Get file", "Merge"])}, "Get file": {"main": to(&["Merge"])}, "Merge": {"main": to(&["Compare"])},
        "Compare": {"main": to(&["Status"])}, "Status": {"main": to(&["Same", "Different", "New"])}, "New": {"main": to(&["Create file"])},
        "Different": {"main": to(&["Edit file"])}, "Same": {"main": to(&["Return"])}, "Create file": {"main": to(&["Return"])}, "Edit file": {"main": to(&["Return"])}
    }})
}

/// A fix: our operations, and n8n-mcp's (`n8n_update_partial_workflow` of 2.87).
struct Fix {
    name: &'static str,
    ours: Value,
    theirs: Value,
}

fn fixes() -> [Fix; 10] {
    let code = "/jsCode";
    let update = |node: &str, path: &str, value: Value| json!([{"type": "updateNode", "nodeName": node, "updates": {format!("parameters.{path}"): value}}]);
    let set = |node: &str, path: &str, value: Value| json!([{"type": "setNodeParameter", "nodeName": node, "path": path, "value": value}]);
    let follow = |node: &str, path: &str, find: &str| json!({"type": "patchNodeField", "nodeName": node, "fieldPath": format!("parameters.{path}"), "patches": [{"find": find, "replace": find.replace("Globals", "Settings")}]});
    let [owner, name] = ["$('Globals').item.json.repo.owner", "$('Globals').item.json.repo.name"];
    let connect = |kind: &str, source: &str, target: &str| json!({"type": kind, "source": source, "target": target});
    let branch = |kind: &str, target: &str, branch: &str| json!({"type": kind, "source": "Tagged?", "target": target, "branch": branch});
    let ours_branch = |kind: &str, target: &str, output: &str| json!({"type": kind, "source": "Tagged?", "target": target, "sourceOutput": output});
    let mut renamed = vec![json!({"type": "updateNode", "nodeName": "Globals", "updates": {"name": "Settings"}})];
    for node in ["Get file data", "Create file", "Edit file"] {
        renamed.extend([follow(node, "owner.value", owner), follow(node, "repository.value", name)]);
    }
    let mailed =
        json!({"name": "Tell us", "type": "n8n-nodes-base.slack", "parameters": {"text": "={{ $json.error }}"}});
    let kept = json!({"name": "Only published", "type": "n8n-nodes-base.set", "parameters": {}});
    [
        Fix {
            name: "URL of a request",
            ours: set("Get file", "/url", json!("={{ $json.git_url }}")),
            theirs: update("Get file", "url", json!("={{ $json.git_url }}")),
        },
        Fix {
            name: "a nested value",
            ours: set("Globals", "/assignments/assignments/1/value", json!("archive")),
            theirs: update("Globals", "assignments.assignments[1].value", json!("archive")),
        },
        Fix {
            name: "retries",
            ours: json!([{"type": "setNodeSettings", "nodeName": "Get file", "settings": {"retryOnFail": true, "maxTries": 3, "waitBetweenTries": 2000}}]),
            theirs: json!([{"type": "updateNode", "nodeName": "Get file", "updates": {"retryOnFail": true, "maxTries": 3, "waitBetweenTries": 2000}}]),
        },
        Fix {
            name: "settings of the workflow",
            ours: json!([{"type": "setWorkflowSettings", "settings": {"timezone": "Europe/Berlin", "executionTimeout": 600}}]),
            theirs: json!([{"type": "updateSettings", "settings": {"timezone": "Europe/Berlin", "executionTimeout": 600}}]),
        },
        Fix {
            name: "one line of a Code node",
            ours: json!([{"type": "patchNodeParameter", "nodeName": "Compare", "path": code, "patches": [{"find": "Object.keys(object).sort()", "replace": "Object.keys(object ?? {}).sort()"}]}]),
            theirs: json!([{"type": "patchNodeField", "nodeName": "Compare", "fieldPath": "parameters.jsCode", "patches": [{"find": "Object.keys(object).sort()", "replace": "Object.keys(object ?? {}).sort()"}]}]),
        },
        Fix {
            name: "error output to a new node",
            ours: json!([{"type": "setNodeSettings", "nodeName": "Get file", "settings": {"onError": "continueErrorOutput"}}, {"type": "addNode", "node": mailed, "after": "Get file", "sourceOutput": "error"}]),
            theirs: json!([{"type": "updateNode", "nodeName": "Get file", "updates": {"onError": "continueErrorOutput"}}, {"type": "addNode", "node": mailed}, {"type": "addConnection", "source": "Get file", "target": "Tell us", "sourceIndex": 1}]),
        },
        Fix {
            name: "rename, 6 expressions",
            ours: json!([{"type": "renameNode", "oldName": "Globals", "newName": "Settings"}]),
            theirs: Value::Array(renamed),
        },
        Fix {
            name: "a node in between",
            ours: json!([{"type": "addNode", "node": kept, "after": "Get posts"}]),
            theirs: json!([{"type": "addNode", "node": kept}, connect("removeConnection", "Get posts", "Shorten"), connect("addConnection", "Get posts", "Only published"), connect("addConnection", "Only published", "Shorten")]),
        },
        Fix {
            name: "a node taken out",
            ours: json!([{"type": "removeNode", "nodeName": "Shorten", "reconnect": true}]),
            theirs: json!([{"type": "removeNode", "nodeName": "Shorten"}, connect("addConnection", "Get posts", "Run each")]),
        },
        Fix {
            name: "true and false swapped",
            ours: json!([
                ours_branch("removeConnection", "Folder", "true"),
                ours_branch("removeConnection", "Globals", "false"),
                ours_branch("addConnection", "Globals", "true"),
                ours_branch("addConnection", "Folder", "false")
            ]),
            theirs: json!([
                branch("removeConnection", "Folder", "true"),
                branch("removeConnection", "Globals", "false"),
                branch("addConnection", "Globals", "true"),
                branch("addConnection", "Folder", "false")
            ]),
        },
    ]
}

/// The arguments that `update_workflow` needs for the same: the members that differ, each whole.
fn whole(before: &Value, after: &Value) -> Value {
    let changed = ["nodes", "connections", "settings"].into_iter().filter(|member| before[*member] != after[*member]);
    let mut arguments: serde_json::Map<_, _> =
        changed.map(|member| (member.to_owned(), after[member].clone())).collect();
    arguments.insert("id".to_owned(), json!("w"));
    Value::Object(arguments)
}

fn edit(client: &mut McpClient, operations: &Value) -> (Value, String) {
    let arguments = json!({"workflowId": "w", "operations": operations});
    let answer =
        client.call("edit_workflow", arguments.clone()).unwrap_or_else(|refused| panic!("{operations}: {refused}"));
    (arguments, answer)
}

#[test]
fn ten_fixes_cost_what_they_are_worth() {
    let tokens = |value: &Value| budget::count(&value.to_string());
    let (mut sent, mut read) = (0, 0);
    println!("| fix | sent | answer | `update_workflow` sends | n8n-mcp sends |\n|---|---|---|---|---|");
    for Fix { name, ours, theirs } in fixes() {
        let store = WorkflowStore::new(Flavour::V2);
        store.put(workflow());
        let before = store.get("w").unwrap();
        let (_n8n, mut client) = start_with(
            &store,
            &["--toolsets", "workflows", "--locale", "en", "--catalogue", catalogue().to_str().unwrap()],
        );
        let (arguments, answer) = edit(&mut client, &ours);
        let after = store.get("w").unwrap();
        assert_ne!(before, after, "{name}");
        let made = [tokens(&arguments), budget::count(&answer)];
        let others = [tokens(&whole(&before, &after)), tokens(&json!({"id": "w", "operations": theirs}))];
        println!("| {name} | {} | {} | {} | {} |", made[0], made[1], others[0], others[1]);
        sent += made[0];
        read += made[1];
    }
    println!("| all | {sent} | {read} | | |");
    assert!(sent <= MAX_SENT && read <= MAX_READ, "{sent} sent, {read} read");
}
