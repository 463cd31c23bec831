//! `prove_fix` and its neighbours, through the real binary, against an n8n that plays copies. How a real n8n handles them is
//! shown by `cargo test --test real_n8n -- --ignored`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::proof_n8n::{Play, ProofN8n};
use crate::server::{Reply, Server};
use crate::support::n8n_store::N8nFolder;
use crate::workflows::call;

/// A trigger, a Code node that fails, and a request that was not reached.
pub fn execution() -> Value {
    let node = |name: &str, kind: &str, parameters: Value| json!({"id": format!("id {name}"), "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 2, "position": [0, 0], "parameters": parameters});
    let mut hook = node("Hook", "webhook", json!({"path": "orders"}));
    hook["webhookId"] = json!("secret-path");
    hook["credentials"] = json!({"httpHeaderAuth": {"id": "1", "name": "key"}});
    let nodes = json!([
        hook,
        node("Price", "code", json!({"jsCode": "throw new Error('no')"})),
        node("Store", "httpRequest", json!({"url": "https://a.example"}))
    ]);
    let to = |name: &str| json!({"main": [[{"node": name, "type": "main", "index": 0}]]});
    let source = |name: &str| json!([{"previousNode": name}]);
    json!({"id": "5", "workflowId": "w", "status": "error", "mode": "webhook", "startedAt": "2026-01-02T03:04:05.000Z",
        "data": {"resultData": {"error": {"message": "no"}, "lastNodeExecuted": "Price", "runData": {
            "Hook": [{"startTime": 1, "executionIndex": 0, "source": [], "executionStatus": "success", "data": {"main": [[{"json": {"a": 1.5}}, {"json": {"a": "\u{1f600}"}}]]}}],
            "Price": [{"startTime": 2, "executionIndex": 1, "source": source("Hook"), "executionStatus": "error", "error": {"message": "no [line 1]"}}]
        }}},
        "workflowData": {"name": "Orders", "nodes": nodes, "connections": {"Hook": to("Price"), "Price": to("Store")},
            "settings": {"timezone": "Asia/Tokyo", "errorWorkflow": "alarm", "callerPolicy": "any"}}})
}

/// The changed copy passes the node.
fn passes(_: &Value, execution: &mut Value) {
    let items = json!([{"json": {"a": 3}, "pairedItem": {"item": 0}}, {"json": {"a": 4}, "pairedItem": {"item": 1}}]);
    ends_with(execution, json!({"executionStatus": "success", "data": {"main": [items]}}));
    execution["data"]["resultData"]["error"] = Value::Null;
    execution["status"] = json!("success");
}

fn ends_with(execution: &mut Value, more: Value) {
    let run = &mut execution["data"]["resultData"]["runData"]["Price"][0];
    run.as_object_mut().unwrap().remove("error");
    run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
}

fn client(n8n: &Server, more: &[&str]) -> McpClient {
    McpClient::start_with(&n8n.url(), &[&["--toolsets", "executions,workflows,proof", "--locale", "en"], more].concat())
}

fn serve(proof: &ProofN8n) -> Server {
    let answering = proof.clone();
    Server::start(move |request| answering.answer(request))
}

/// An n8n where the changed workflow passes, and a client.
pub fn start(more: &[&str]) -> (Server, McpClient) {
    let n8n = serve(&ProofN8n::new(execution(), Arc::new(passes)));
    let client = McpClient::start_with(&n8n.url(), &[&["--toolsets", "executions,workflows,proof"], more].concat());
    (n8n, client)
}

fn edit(client: &mut McpClient, operation: Value) {
    call(client, "edit_workflow", json!({"workflowId": "w", "operations": [operation]}));
}

fn fix() -> Value {
    json!({"type": "setNodeParameter", "nodeName": "Price", "path": "/jsCode", "value": "return $input.all();"})
}

/// Proves an edit where the changed copy does this.
fn verdict(operation: Value, play: Play) -> Value {
    let proof = ProofN8n::new(execution(), play);
    let n8n = serve(&proof);
    let mut client = client(&n8n, &[]);
    edit(&mut client, operation);
    let answer = call(&mut client, "prove_fix", json!({"id": "5"}));
    assert_eq!(proof.copies(), Vec::<String>::new(), "{answer}");
    answer["data"].clone()
}

#[test]
fn the_claim_follows_from_what_the_copies_did() {
    let error = |message: &str| json!({"executionStatus": "error", "error": {"message": message}, "data": Value::Null});
    let fails = |message: &'static str| -> Play { Arc::new(move |_, execution| ends_with(execution, error(message))) };
    let returns = |items: Value| -> Play {
        Arc::new(move |copy, execution| {
            passes(copy, execution);
            ends_with(execution, json!({"data": {"main": [items]}}));
        })
    };
    let skips: Play = Arc::new(|copy, execution| {
        passes(copy, execution);
        execution["data"]["resultData"]["runData"].as_object_mut().unwrap().remove("Price");
    });
    let asks: Play = Arc::new(|copy, execution| {
        passes(copy, execution);
        let message = "n8n-lens: no recorded answer of Store to item 0 of run 0";
        let result = &mut execution["data"]["resultData"];
        result["runData"]["Store"] = json!([{"startTime": 3, "executionIndex": 2, "source": [{"previousNode": "Price"}], "executionStatus": "error", "error": {"message": message}}]);
        (result["error"], result["lastNodeExecuted"]) = (json!({"message": message}), json!("Store"));
    });
    let fails_after: Play = Arc::new(|copy, execution| {
        passes(copy, execution);
        let result = &mut execution["data"]["resultData"];
        result["runData"]["Store"] = json!([{"startTime": 3, "executionIndex": 2, "source": [{"previousNode": "Price"}], "executionStatus": "error", "error": {"message": "full"}}]);
        (result["error"], result["lastNodeExecuted"]) = (json!({"message": "full"}), json!("Store"));
    });
    let in_an_error_output: Play = Arc::new(|copy, execution| {
        passes(copy, execution);
        ends_with(
            execution,
            json!({"executionStatus": "error", "data": {"main": [[{"json": {"a": 1}}], [{"json": {}}]]}}),
        );
    });
    let cases: [(&str, Value, Play); 11] = [
        ("failsElsewhere", fix(), fails_after),
        ("errorNowInItems", fix(), in_an_error_output),
        ("fixed", fix(), Arc::new(passes)),
        ("stillFails", fix(), fails("no [line 7]")),
        ("failsDifferently", fix(), fails("yes")),
        ("emptied", fix(), returns(json!([]))),
        ("errorNowInItems", fix(), returns(json!([{"json": {"error": "no"}}]))),
        ("notReached", fix(), skips),
        ("needsOutside", fix(), asks),
        (
            "bypassed",
            json!({"type": "setNodeSettings", "nodeName": "Price", "settings": {"disabled": true}}),
            Arc::new(passes),
        ),
        (
            "notTested",
            json!({"type": "setNodeParameter", "nodeName": "Store", "path": "/url", "value": "b"}),
            Arc::new(passes),
        ),
    ];
    for (expected, operation, play) in cases {
        let data = verdict(operation, play);
        assert_eq!(data["verdict"], expected, "{data}");
        let claim = data["claim"].as_str().unwrap();
        let is_nothing = ["needsOutside", "notTested"].contains(&expected);
        assert_eq!(claim.starts_with("Nothing is proven:"), is_nothing, "{claim}");
        assert_eq!(claim.contains("no longer fails"), expected == "fixed", "{claim}");
        let guidance = data["_guidance"].as_str().unwrap();
        assert_eq!(guidance.contains("publish_workflow_version"), expected == "fixed", "{guidance}");
    }
}

#[test]
fn a_claim_is_in_the_language_of_the_user() {
    for (play, verdict, begins) in [
        (Arc::new(passes) as Play, "fixed", "実行 5 の記録データによる再実行では、下書き"),
        (Arc::new(|_: &Value, _: &mut Value| {}) as Play, "stillFails", "実行 5 の記録データによる再実行では、下書き"),
    ] {
        let n8n = serve(&ProofN8n::new(execution(), play));
        let mut client = McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows,proof"]);
        edit(&mut client, fix());
        let data = call(&mut client, "prove_fix", json!({"id": "5"}))["data"].clone();
        assert_eq!(data["verdict"], verdict, "{data}");
        let claim = data["claim"].as_str().unwrap();
        assert!(claim.starts_with(begins) && claim.contains("Price"), "{claim}");
        assert_eq!(claim.contains("失敗しなくなりました"), verdict == "fixed", "{claim}");
    }
}

#[test]
fn without_the_failure_in_the_control_nothing_is_proven() {
    let mut recorded = execution();
    // The copies fail differently.
    recorded["data"]["resultData"]["runData"]["Price"][0]["error"]["message"] = json!("something else");
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let answering = proof.clone();
    let n8n = Server::start(move |request| match request.path.as_str() {
        "/api/v1/executions/5" => Reply::json(200, recorded.to_string()),
        _ => answering.answer(request),
    });
    let mut client = client(&n8n, &[]);
    edit(&mut client, fix());
    let data = call(&mut client, "prove_fix", json!({"id": "5"}))["data"].clone();
    assert_eq!((&data["verdict"], &data["control"]), (&json!("notReproduced"), &json!("notReproduced")), "{data}");
    let unchanged =
        verdict(json!({"type": "setNodeSettings", "nodeName": "Price", "settings": {"notes": "x"}}), Arc::new(passes));
    assert_eq!(unchanged["verdict"], "unchanged");
}

#[test]
fn a_copy_reaches_nothing_outside() {
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let n8n = serve(&proof);
    let mut client = client(&n8n, &[]);
    edit(&mut client, fix());
    call(&mut client, "prove_fix", json!({"id": "5"}));
    let created =
        n8n.requests().into_iter().filter(|request| request.method == "POST" && request.path == "/api/v1/workflows");
    let copies: Vec<Value> = created.map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    assert_eq!(copies.len(), 2);
    for copy in copies {
        assert!(!copy.to_string().contains("credentials") && !copy.to_string().contains("webhookId"), "{copy}");
        let mut settings: Vec<_> = copy["settings"].as_object().unwrap().keys().map(String::as_str).collect();
        settings.sort_unstable();
        assert_eq!(settings, ["executionTimeout", "saveDataErrorExecution", "saveDataSuccessExecution", "timezone"]);
        let types: Vec<_> =
            copy["nodes"].as_array().unwrap().iter().map(|node| node["type"].as_str().unwrap()).collect();
        assert_eq!(
            types,
            ["n8n-nodes-base.n8nTrigger", "n8n-nodes-base.code", "n8n-nodes-base.code", "n8n-nodes-base.code"]
        );
        let code = copy["nodes"][1]["parameters"]["jsCode"].as_str().unwrap();
        assert!(code.contains(r#""out":[{"json":{"a":1.5}},{"json":{"a":"😀"}}]"#), "{code}");
        assert_eq!(copy["connections"]["Hook"]["main"][0][0]["node"], "Price");
        assert_eq!(copy["connections"]["n8n-lens replay start"]["main"][0][0]["node"], "Hook");
    }
}

#[test]
fn nothing_is_left_whatever_fails() {
    type Fault = fn(&str, &str) -> Option<Reply>;
    let faults: [(&str, Fault); 5] = [
        ("activate", |method, path| {
            (method == "POST" && path.ends_with("/activate")).then(|| Reply::json(403, r#"{"message":"Forbidden"}"#))
        }),
        ("list", |method, path| {
            (method == "GET" && path == "/api/v1/executions").then(|| Reply::json(403, r#"{"message":"Forbidden"}"#))
        }),
        ("read", |_, path| {
            path.starts_with("/api/v1/executions/9").then(|| Reply::json(404, r#"{"message":"Not Found"}"#))
        }),
        ("broken", |_, path| {
            path.starts_with("/api/v1/executions/9").then(|| Reply::json(200, r#"{"id":"9000","data":{"#))
        }),
        ("activated with an error", |method, path| {
            (method == "POST" && path.ends_with("/activate")).then(|| Reply::json(400, r#"{"message":"no trigger"}"#))
        }),
    ];
    for (name, fault) in faults {
        let proof = ProofN8n::new(execution(), Arc::new(passes));
        let answering = proof.clone();
        let n8n = Server::start(move |request| {
            fault(&request.method, &request.path).unwrap_or_else(|| answering.answer(request))
        });
        let mut client = client(&n8n, &[]);
        edit(&mut client, fix());
        let refused = client.call("prove_fix", json!({"id": "5"}));
        assert!(refused.is_err(), "{name}: {refused:?}");
        assert_eq!(proof.copies(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_lost_answer_is_found_by_its_name_and_old_copies_are_swept() {
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let old = |name: &str, node: &str, created: &str| {
        let node = json!({"name": node, "type": "n8n-nodes-base.n8nTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}});
        json!({"name": name, "active": false, "nodes": [node], "connections": {}, "createdAt": created})
    };
    let start = "n8n-lens replay start";
    proof.store.put(old("n8n-lens replay 1 control", start, "2020-01-01T00:00:00.000Z"));
    let young = proof.store.put(old("n8n-lens replay 2 control", start, "2036-01-01T00:00:00.000Z"));
    let foreign = proof.store.put(old("n8n-lens replay of mine", "Mine", "2020-01-01T00:00:00.000Z"));
    // Also if nothing is run.
    assert_eq!(call(&mut client(&serve(&proof), &[]), "prove_fix", json!({"id": "5"}))["data"]["verdict"], "unchanged");
    assert_eq!(proof.copies(), ["n8n-lens replay 2 control", "n8n-lens replay of mine"]);
    proof.store.put(old("n8n-lens replay 1 control", start, "2020-01-01T00:00:00.000Z"));
    let answering = proof.clone();
    let n8n = Server::start(move |request| {
        let reply = answering.answer(request);
        let is_created = request.method == "POST" && request.path == "/api/v1/workflows";
        if is_created { reply.reset_after(0) } else { reply }
    });
    let mut client = client(&n8n, &[]);
    edit(&mut client, fix());
    let answer = call(&mut client, "prove_fix", json!({"id": "5"}));
    assert_eq!(answer["data"]["verdict"], "fixed", "{answer}");
    let created =
        n8n.requests().iter().filter(|request| request.method == "POST" && request.path == "/api/v1/workflows").count();
    assert_eq!(created, 2, "a write is never sent again");
    assert_eq!(proof.copies(), ["n8n-lens replay 2 control", "n8n-lens replay of mine"]);
    assert!(proof.store.get(&young).is_some() && proof.store.get(&foreign).is_some());
}

/// A copy that stays active could be run again: what n8n does not confirm is repeated.
#[test]
fn a_copy_is_removed_although_n8n_is_unavailable_for_a_moment() {
    type Fault = fn(&str, &str) -> bool;
    let faults: [Fault; 3] = [
        |method, path| method == "POST" && path.ends_with("/deactivate"),
        |method, path| method == "DELETE" && path.starts_with("/api/v1/workflows/"),
        // The list of workflows in which a copy is looked for: at first it is not there.
        |method, path| method == "GET" && path == "/api/v1/workflows",
    ];
    for (at, fault) in faults.into_iter().enumerate() {
        let proof = ProofN8n::new(execution(), Arc::new(passes));
        let (answering, refused) = (proof.clone(), std::sync::atomic::AtomicUsize::new(0));
        let n8n = Server::start(move |request| {
            let is_created = request.method == "POST" && request.path == "/api/v1/workflows";
            // The first look is for old copies.
            let is_refused = |count: usize| if at == 2 { (1..3).contains(&count) } else { count < 2 };
            if fault(&request.method, &request.path)
                && is_refused(refused.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
            {
                return match at {
                    2 => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
                    _ => Reply::json(503, r#"{"message":"Service Unavailable"}"#),
                };
            }
            let reply = answering.answer(request);
            if at == 2 && is_created { reply.reset_after(0) } else { reply }
        });
        let mut client = client(&n8n, &[]);
        edit(&mut client, fix());
        let data = call(&mut client, "prove_fix", json!({"id": "5"}))["data"].clone();
        assert_eq!(
            (&data["verdict"], data["notProven"].to_string().contains("left")),
            (&json!("fixed"), false),
            "{at}: {data}"
        );
        assert_eq!(proof.copies(), Vec::<String>::new(), "{at}");
    }
}

#[test]
fn a_copy_that_cannot_be_removed_is_named() {
    for is_read in [true, false] {
        let proof = ProofN8n::new(execution(), Arc::new(passes));
        let answering = proof.clone();
        let n8n = Server::start(move |request| match (request.method.as_str(), request.path.as_str()) {
            ("DELETE", _) => Reply::json(403, r#"{"message":"Forbidden"}"#),
            ("GET", path) if !is_read && path.starts_with("/api/v1/executions/9") => {
                Reply::json(404, r#"{"message":"Not Found"}"#)
            }
            _ => answering.answer(request),
        });
        let mut client = client(&n8n, &[]);
        edit(&mut client, fix());
        let said = match client.call("prove_fix", json!({"id": "5"})) {
            Ok(answer) => serde_json::from_str::<Value>(&answer).unwrap()["data"]["notProven"].to_string(),
            Err(refused) => refused,
        };
        let is_copy = |id: &String| proof.store.get(id).unwrap()["name"].as_str().unwrap().contains("control");
        let left = proof.store.ids().into_iter().find(is_copy).unwrap();
        assert!(said.contains("was left in n8n") && said.contains(&left), "{said}");
    }
}

/// Two processes, which share a folder of locks.
#[cfg(unix)]
#[test]
fn one_proof_runs_at_a_time() {
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let (answering, most) = (proof.clone(), Arc::new(std::sync::atomic::AtomicUsize::new(0)));
    let seen = most.clone();
    let n8n = Server::start(move |request| {
        let reply = answering.answer(request);
        seen.fetch_max(answering.copies().len(), std::sync::atomic::Ordering::Relaxed);
        reply
    });
    edit(&mut client(&n8n, &[]), fix());
    let folder = tempfile::tempdir().unwrap();
    let prove = || {
        let mut command = std::process::Command::new(crate::support::binary());
        command
            .args(["prove", "5", "--json", "--good", "0"])
            .env("N8N_URL", n8n.url())
            .env("N8N_API_KEY", crate::mcp_client::KEY);
        command
            .env("HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    for mut proof in [prove(), prove(), prove()] {
        assert!(proof.wait().unwrap().success());
    }
    assert_eq!(most.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn what_cannot_be_proven_is_refused_before_anything_is_created() {
    let with = |member: &str, value: Value| {
        let mut execution = execution();
        *execution.pointer_mut(member).unwrap() = value;
        execution
    };
    let mut redacted = execution();
    redacted["data"]["redactionInfo"] = json!({"isRedacted": true});
    let mut two = execution();
    two["data"]["resultData"]["runData"]["Clock"] = json!([{"source": [], "data": {"main": [[]]}}]);
    let cases = [
        (redacted, "redacted"),
        (with("/status", json!("running")), "it is running"),
        (with("/data/resultData/runData", json!({})), "no node ran"),
        (two, "several nodes"),
    ];
    for (recorded, expected) in cases {
        let proof = ProofN8n::new(recorded, Arc::new(passes));
        let n8n = serve(&proof);
        let mut client = client(&n8n, &[]);
        edit(&mut client, fix());
        let refused = client.call("prove_fix", json!({"id": "5"})).unwrap_err();
        assert!(refused.contains(expected) && refused.contains("Nothing was created."), "{refused}");
        let posts = n8n.requests().into_iter().filter(|request| request.method == "POST");
        assert_eq!(posts.count(), 0);
    }
    // A key that could not remove what it creates; a server that masks values.
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let answering = proof.clone();
    let n8n = Server::start(move |request| match request.path.as_str() {
        "/api/v1/discover" => Reply::json(200, json!({"data": {"scopes": ["workflow:create"]}}).to_string()),
        _ => answering.answer(request),
    });
    let mut poor = client(&n8n, &[]);
    edit(&mut poor, fix());
    let refused = poor.call("prove_fix", json!({"id": "5"})).unwrap_err();
    assert!(
        refused.contains("workflow:deactivate, workflow:delete") && refused.contains("Nothing was created."),
        "{refused}"
    );
    let refused = client(&n8n, &["--redact"]).call("prove_fix", json!({"id": "5"})).unwrap_err();
    assert!(refused.contains("--redact"), "{refused}");
    let mut reading = client(&n8n, &["--read-only"]);
    for tool in ["prove_fix", "retry_execution", "stop_execution", "publish_workflow_version"] {
        assert!(reading.call(tool, json!({"id": "5"})).unwrap_err().contains("--read-only"), "{tool}");
    }
}

/// A large item is refused only if it has half of a surrogate pair, not for the character that would replace it.
#[test]
fn a_large_item_with_half_of_a_surrogate_pair_is_refused() {
    for (text, is_refused) in [("\u{fffd}", false), ("\\ud83d", true)] {
        let mut recorded = execution();
        recorded["data"]["resultData"]["runData"]["Hook"][0]["data"]["main"][0][0]["json"]["a"] =
            json!(format!("HERE{}", "x".repeat(1 << 20)));
        let proof = ProofN8n::new(recorded.clone(), Arc::new(passes));
        let (answering, recorded) = (proof.clone(), recorded.to_string().replace("HERE", text));
        let n8n = Server::start(move |request| match request.path.as_str() {
            "/api/v1/executions/5" => Reply::json(200, recorded.clone()),
            _ => answering.answer(request),
        });
        let mut client = client(&n8n, &[]);
        edit(&mut client, fix());
        let answer = client.call("prove_fix", json!({"id": "5"}));
        match is_refused {
            true => assert!(answer.unwrap_err().contains("half of a surrogate pair")),
            // The mock's control has other items.
            false => assert!(answer.unwrap().contains(r#""verdict":"fixed""#)),
        }
    }
}

#[test]
fn exactly_the_version_is_published_and_a_newer_draft_stays() {
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let n8n = serve(&proof);
    let mut client = client(&n8n, &[]);
    edit(&mut client, fix());
    let proven = call(&mut client, "prove_fix", json!({"id": "5"}))["data"]["tested"]["versionId"].clone();
    edit(&mut client, json!({"type": "setNodeSettings", "nodeName": "Price", "settings": {"notes": "later"}}));
    let newer = proof.store.get("w").unwrap()["versionId"].clone();
    let published = call(&mut client, "publish_workflow_version", json!({"workflowId": "w", "versionId": proven}));
    assert_eq!(published["data"], json!({"workflowId": "w", "versionId": proven, "active": true, "draft": newer}));
    let now = proof.store.get("w").unwrap();
    assert_eq!((&now["activeVersionId"], &now["versionId"]), (&proven, &newer));
    let unknown = client.call("publish_workflow_version", json!({"workflowId": "w", "versionId": "nope"})).unwrap_err();
    assert!(unknown.contains("24 hours"), "{unknown}");
}

#[test]
fn a_retry_says_what_it_did_not_exercise() {
    let (_n8n, mut client) = start(&["--locale", "en"]);
    edit(&mut client, json!({"type": "setNodeSettings", "nodeName": "Hook", "settings": {"executeOnce": true}}));
    let retried = call(&mut client, "retry_execution", json!({"id": "5"}))["data"].clone();
    assert_eq!((&retried["id"], &retried["verdict"]), (&json!("77"), &json!("succeeded")), "{retried}");
    assert_eq!(retried["fixNotExercised"], json!(["Hook"]));
    assert_eq!(retried["canReachOutside"], json!(["Store"]));
    let claim = retried["claim"].as_str().unwrap();
    assert!(claim.contains("ran for real from Price on, with draft") && !claim.contains("meanwhile"), "{claim}");
    let differs = json!([{"nodeName": "Price", "status": ["error", "success"]}]);
    assert_eq!(retried["compare"], json!({"differs": differs, "same": 1}), "{retried}");
    assert!(claim.contains(&retried["versionId"].as_str().unwrap()[..8]), "{claim}");
    edit(&mut client, json!({"type": "renameNode", "oldName": "Price", "newName": "Cost"}));
    let refused = client.call("retry_execution", json!({"id": "5"})).unwrap_err();
    assert!(refused.contains("renamed or removed in the draft"), "{refused}");
}

/// n8n ended it, crashed, or lost the answer, or (1.x) refused what it had started: it is then found in its list. It did not fail, and
/// does not run any more.
#[test]
fn a_retry_that_does_not_come_to_its_end_is_not_called_running() {
    let cases = [
        ("crashed", false, false),
        ("canceled", false, false),
        ("error", false, false),
        ("canceled", true, false),
        ("canceled", true, true),
    ];
    for (status, is_lost, is_refused) in cases {
        let play: Play = Arc::new(move |copy, execution| {
            passes(copy, execution);
            execution["status"] = json!(status);
        });
        let proof = ProofN8n::new(execution(), play);
        // n8n lists it as running for a moment after the response.
        let looks = Mutex::new(0);
        let n8n = Server::start(move |request| match (request.path.as_str(), request.query("status")) {
            ("/api/v1/executions/5/retry", _) if is_refused => {
                drop(proof.answer(request));
                Reply::json(400, json!({"message": "The execution was cancelled manually"}).to_string())
            }
            ("/api/v1/executions/5/retry", _) if is_lost => proof.answer(request).reset_after(0),
            ("/api/v1/executions", running) if is_lost && request.query("limit") == Some("50") => {
                let mut looks = looks.lock().unwrap();
                *looks += usize::from(running == Some("running"));
                let status = if *looks < 3 { "running" } else { status };
                let is_listed = running.unwrap_or(status) == status;
                let rows = is_listed.then(|| json!({"id": "77", "retryOf": "5", "status": status}));
                Reply::json(200, json!({"data": rows.into_iter().collect::<Vec<_>>(), "nextCursor": null}).to_string())
            }
            _ => proof.answer(request),
        });
        let retried = call(&mut client(&n8n, &[]), "retry_execution", json!({"id": "5"}))["data"].clone();
        assert_eq!((&retried["verdict"], &retried["status"]), (&json!("aborted"), &json!(status)), "{retried}");
        let claim = retried["claim"].as_str().unwrap();
        assert!(claim.contains("did not come to its end") && claim.contains(status), "{claim}");
        assert!(retried["_guidance"].as_str().unwrap().contains("compare_executions"), "{retried}");
    }
}

/// A colleague saves a draft between the look at the draft and the retry.
#[test]
fn a_retry_names_the_draft_that_ran() {
    let proof = ProofN8n::new(execution(), Arc::new(passes));
    let answering = proof.clone();
    let n8n = Server::start(move |request| {
        if request.path.ends_with("/retry") {
            answering.store.save_draft("w", answering.store.get("w").unwrap()["nodes"].clone());
        }
        answering.answer(request)
    });
    let mut client = client(&n8n, &[]);
    let before = proof.store.get("w").unwrap()["versionId"].as_str().unwrap().to_owned();
    let retried = call(&mut client, "retry_execution", json!({"id": "5"}))["data"].clone();
    let ran = proof.store.get("w").unwrap()["versionId"].clone();
    assert_eq!(retried["versionId"], ran, "{retried}");
    let claim = retried["claim"].as_str().unwrap();
    assert!(claim.contains("saved meanwhile") && claim.contains(&before[..8]), "{claim}");
}

/// What is in a file of a multipart body, unpacked.
fn unpacked(body: &[u8], name: &str) -> Value {
    let begin = format!("name=\"{name}\"; filename=\"{name}\"");
    let at = memchr::memmem::find(body, begin.as_bytes()).unwrap();
    let file = at + memchr::memmem::find(&body[at..], b"\r\n\r\n").unwrap() + 4;
    // It ends by itself.
    serde_json::from_reader(flate2::read::DeflateDecoder::new(&body[file..])).unwrap()
}

#[test]
fn many_recorded_items_come_as_files() {
    let mut recorded = execution();
    // Each item is larger than what is kept of one, and its text than what an excerpt keeps of a string.
    let text = "x'\\\n\u{1f600}\u{1b}".repeat(150_000);
    let items: Vec<_> = (0..4).map(|id| json!({"json": {"id": id, "text": text}})).collect();
    recorded["data"]["resultData"]["runData"]["Hook"][0]["data"]["main"][0] = json!(items);
    let proof = ProofN8n::new(recorded, Arc::new(passes));
    let n8n = serve(&proof);
    let mut client = client(&n8n, &[]);
    edit(&mut client, fix());
    let data = call(&mut client, "prove_fix", json!({"id": "5"}))["data"].clone();
    assert_eq!((&data["verdict"], &data["control"]), (&json!("fixed"), &json!("reproduced")), "{data}");
    assert_eq!(proof.copies(), Vec::<String>::new());
    let calls = proof.calls.lock().unwrap();
    assert_eq!(calls.len(), 2, "the control and the changed copy");
    for body in calls.values() {
        let run = unpacked(body, "s0r0");
        assert_eq!((&run["out"], &run["in"], &run["outputs"]), (&json!(items), &Value::Null, &json!(1)));
    }
    let copy = n8n.requests().into_iter().find(|one| one.method == "POST" && one.path.ends_with("/workflows")).unwrap();
    assert!(copy.body.len() < 20_000, "the items are not in the copy: {} bytes", copy.body.len());
    let reads = n8n.requests().into_iter().filter(|one| one.path == "/api/v1/executions/5");
    assert_eq!(reads.count(), 1, "n8n builds a large execution in its memory for each read");
}

/// n8n builds a large execution in its memory for each answer: copies are read in its store, if it is the store of this n8n.
#[test]
fn copies_are_read_in_the_store_of_the_same_n8n() {
    for (workflow, reads) in [(None, 2), (Some(None), 0), (Some(Some("another")), 2)] {
        let (proof, store, saved) = (ProofN8n::new(execution(), Arc::new(passes)), N8nFolder::wal(), Mutex::new(0));
        let (answering, folder) = (proof.clone(), store.path().to_owned());
        let mut recorded = execution();
        recorded["finished"] = json!(false);
        store.save(&recorded);
        // A running n8n has its database open: without it, one copy could be saved and another one read while the log is removed.
        let _open = store.open();
        let n8n = Server::start(move |request| {
            let reply = answering.answer(request);
            // Saved before it is listed as ended, as n8n does.
            if let Some(workflow) = workflow {
                let mut saved = saved.lock().unwrap();
                for mut played in answering.played().into_iter().skip(*saved) {
                    played["finished"] = json!(true);
                    if let Some(another) = workflow {
                        played["workflowId"] = json!(another);
                    }
                    store.save(&played);
                    *saved += 1;
                }
            }
            reply
        });
        let mut client = client(&n8n, &["--store", folder.to_str().unwrap()]);
        edit(&mut client, fix());
        let data = call(&mut client, "prove_fix", json!({"id": "5"}))["data"].clone();
        assert_eq!((&data["verdict"], &data["control"]), (&json!("fixed"), &json!("reproduced")), "{data}");
        let of_copies = n8n.requests().into_iter().filter(|one| one.path.starts_with("/api/v1/executions/9"));
        assert_eq!(of_copies.count(), reads, "{workflow:?}");
        assert_eq!(proof.copies(), Vec::<String>::new());
    }
}

#[test]
fn a_replay_can_be_checked_by_itself() {
    let proof = ProofN8n::new(execution(), Arc::new(|_, _| {}));
    let n8n = serve(&proof);
    let mut client = client(&n8n, &[]);
    let check = json!({"id": "5", "workflow": "original"});
    assert_eq!(call(&mut client, "prove_fix", check.clone())["data"]["verdict"], "reproduced");
    let other: Play = Arc::new(|_, execution| {
        execution["data"]["resultData"]["runData"]["Hook"][0]["data"]["main"][0][1]["json"]["a"] =
            json!("oth\u{fffd}er");
    });
    let mut proof = proof.playing(other);
    proof.plays = " control ";
    let n8n = serve(&proof);
    let mut client = self::client(&n8n, &[]);
    let data = call(&mut client, "prove_fix", check)["data"].clone();
    let created = n8n.requests().into_iter().filter(|one| one.method == "POST" && one.path == "/api/v1/workflows");
    assert_eq!(created.count(), 1, "the unchanged workflow is its own control");
    assert_eq!(data["verdict"], "notReproduced", "{data}");
    let value = json!({"item": 1, "path": "a", "values": ["oth\u{fffd}er", "\u{1f600}"]});
    assert_eq!(data["differs"], json!([{"nodeName": "Hook", "value": value}]));
    // n8n's API replaces half of a surrogate pair at which it cuts a large response.
    let said = data["notProven"][0].as_str().unwrap();
    assert!(said.contains("U+FFFD") && said.contains("Hook") && said.contains("--store"), "{said}");
}

/// An execution that succeeded, with a file and paired items.
fn succeeded() -> Value {
    let mut execution = execution();
    passes(&Value::Null, &mut execution);
    let item = json!({"json": {"a": 1}, "pairedItem": {"item": 0}, "binary": {"data": {"fileName": "a.csv", "fileSize": "3 kB", "id": "x"}}});
    execution["data"]["resultData"]["runData"]["Price"][0]["data"]["main"][0] = json!([item]);
    execution["workflowData"]["nodes"][1]["parameters"]["jsCode"] = json!("return $input.all();");
    execution
}

#[test]
fn a_replay_also_compares_files_and_where_items_came_from() {
    type Change = fn(&mut Value);
    let cases: [(Change, Value); 4] = [
        (|_| {}, Value::Null),
        (|item| item["binary"]["data"]["id"] = json!("y"), Value::Null),
        (|item| item["binary"]["data"]["fileName"] = json!("b.csv"), json!([{"nodeName": "Price", "only": "files"}])),
        (|item| item["pairedItem"] = json!({"item": 1}), json!([{"nodeName": "Price", "only": "pairedItem"}])),
    ];
    for (change, differs) in cases {
        let play: Play = Arc::new(move |_, execution| {
            change(&mut execution["data"]["resultData"]["runData"]["Price"][0]["data"]["main"][0][0]);
        });
        let mut proof = ProofN8n::new(succeeded(), play);
        proof.plays = " control ";
        let n8n = serve(&proof);
        let mut client = client(&n8n, &[]);
        let data = call(&mut client, "prove_fix", json!({"id": "5", "workflow": "original"}))["data"].clone();
        let verdict = if differs.is_null() { "reproduced" } else { "notReproduced" };
        assert_eq!((&data["verdict"], &data["differs"]), (&json!(verdict), &differs), "{data}");
    }
}

#[cfg(unix)]
#[test]
fn a_terminated_command_leaves_no_copy() {
    for signal in ["-TERM", "-INT"] {
        let proof = ProofN8n::new(execution(), Arc::new(passes));
        let answering = proof.clone();
        // The copies never end.
        let n8n = Server::start(move |request| match request.path.as_str() {
            "/api/v1/executions" => Reply::json(200, r#"{"data":[],"nextCursor":null}"#),
            _ => answering.answer(request),
        });
        edit(&mut client(&n8n, &[]), fix());
        let mut command = std::process::Command::new(crate::support::binary());
        command.args(["prove", "5"]).env("N8N_URL", n8n.url()).env("N8N_API_KEY", crate::mcp_client::KEY);
        let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        crate::wait::eventually("both copies exist", || proof.copies().len() == 2);
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains("Interrupted."), "{said}");
        assert_eq!(proof.copies(), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn the_command_line_checks_a_replay() {
    let proof = ProofN8n::new(execution(), Arc::new(|_, _| {}));
    let n8n = serve(&proof);
    let prove = |more: &[&str]| {
        let mut command = std::process::Command::new(crate::support::binary());
        command.args(["prove", "5", "--json", "--locale", "en"]).args(more);
        let output = command.env("N8N_URL", n8n.url()).env("N8N_API_KEY", crate::mcp_client::KEY).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, answer, said) = prove(&["--check"]);
    assert!(code == Some(0) && answer.contains(r#""verdict":"reproduced""#), "{code:?} {answer} {said}");
    let (code, answer, _) = prove(&[]);
    assert!(code == Some(1) && answer.contains(r#""verdict":"unchanged""#), "{code:?} {answer}");
    assert!(prove(&["--check", "--workflow", "x"]).2.contains("cannot be used with"));
    // One expectation fits on the command line.
    for (expect, hits) in
        [("Hook = 1.5", "some 1.5 in Hook"), ("Hook != \"b\"", "no \"b\" in Hook"), ("Hook=1.5", "some 1.5 in Hook")]
    {
        let (_, answer, said) = prove(&["--check", "--expect", expect]);
        let expected =
            serde_json::from_str::<Value>(&answer).unwrap_or_default()["data"]["expected"][0]["what"].clone();
        assert_eq!(expected, hits, "{answer} {said}");
    }
    for unusable in ["= 1", "Hook = {}", "Hook = B"] {
        assert!(prove(&["--expect", unusable]).2.contains("NODE = VALUE"), "{unusable}");
    }
}

#[test]
fn a_node_whose_name_every_object_has_is_refused() {
    let mut recorded = execution();
    recorded["workflowData"]["nodes"][2]["name"] = json!("constructor");
    recorded["workflowData"]["connections"]["Price"]["main"][0][0]["node"] = json!("constructor");
    let n8n = serve(&ProofN8n::new(recorded, Arc::new(passes)));
    let mut client = client(&n8n, &[]);
    let refused = client.call("prove_fix", json!({"id": "5", "workflow": "original"})).unwrap_err();
    assert!(refused.contains("'constructor'") && refused.contains("Nothing was created."), "{refused}");
}
