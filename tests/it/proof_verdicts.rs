//! What `prove_fix` says for changes that could be taken for a fix, against an n8n that plays copies: each row says what n8n would do
//! with the copy.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::proof_n8n::{Play, ProofN8n};
use crate::server::{Reply, Server};
use crate::workflows::call;

pub(crate) const HTTP: &str = "n8n-nodes-base.httpRequest";
const CODE: &str = "n8n-nodes-base.code";
const IF: &str = "n8n-nodes-base.if";
const AGENT: &str = "@n8n/n8n-nodes-langchain.agent";
const MODEL: &str = "@n8n/n8n-nodes-langchain.lmChatOpenAi";
/// The version of the workflow that ran: the first write of the store.
const RAN: &str = "00000000-0000-4000-8000-000000000001";

pub(crate) fn node(name: &str, node_type: &str) -> Value {
    json!({"id": format!("id {name}"), "name": name, "type": node_type, "typeVersion": 2, "position": [0, 0], "parameters": {}})
}

pub(crate) fn code(name: &str) -> Value {
    let mut code = node(name, CODE);
    code["parameters"] = json!({"jsCode": "return $input.all();"});
    code
}

fn to(name: &str, kind: &str) -> Value {
    json!({kind: [[{"node": name, "type": kind, "index": 0}]]})
}

/// What a node did: it returned items, by output, or failed.
pub(crate) enum Did {
    Returned(Value),
    Failed(&'static str),
    Nothing,
}
pub(crate) use Did::{Failed, Nothing, Returned};

/// Lets a node do this in an execution, after the node before it in the chain.
pub(crate) fn set(execution: &mut Value, name: &str, did: &Did) {
    let nodes = execution["workflowData"]["nodes"].as_array().unwrap().clone();
    let result = &mut execution["data"]["resultData"];
    let order = result["order"].as_array().unwrap().clone();
    let at = order.iter().position(|one| one == name);
    let before = at.and_then(|at| order.get(at.checked_sub(1)?)).map(|before| json!([{"previousNode": before}]));
    assert!(at.is_some() || nodes.iter().any(|node| node["name"] == name), "{name}");
    let (status, more) = match did {
        Returned(outputs) => ("success", json!({"data": {"main": outputs}})),
        Failed(message) => ("error", json!({"error": {"message": message}})),
        Nothing => {
            result["runData"].as_object_mut().unwrap().remove(name);
            return;
        }
    };
    let mut run = json!({"startTime": 1, "executionIndex": 0, "source": before.unwrap_or_else(|| json!([])), "executionStatus": status});
    run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    result["runData"][name] = json!([run]);
}

/// Ends an execution at the node that failed, or well.
pub(crate) fn end(execution: &mut Value) {
    let runs = execution["data"]["resultData"]["runData"].as_object().unwrap().clone();
    let failed = runs.iter().find(|(_, runs)| runs[0]["executionStatus"] == "error" && runs[0]["data"].is_null());
    let result = &mut execution["data"]["resultData"];
    (result["error"], result["lastNodeExecuted"]) = (Value::Null, Value::Null);
    if let Some((name, runs)) = failed {
        (result["error"], result["lastNodeExecuted"]) = (runs[0]["error"].clone(), json!(name));
    }
    execution["status"] = json!(if failed.is_some() { "error" } else { "success" });
}

/// An execution of nodes in a chain, and what each did.
pub(crate) fn execution(nodes: Vec<(Value, Did)>) -> Value {
    let names: Vec<_> = nodes.iter().map(|(node, _)| node["name"].as_str().unwrap().to_owned()).collect();
    let connections: serde_json::Map<_, _> =
        names.windows(2).map(|pair| (pair[0].clone(), to(&pair[1], "main"))).collect();
    let list: Vec<_> = nodes.iter().map(|(node, _)| node.clone()).collect();
    let mut execution = json!({"id": "5", "workflowId": "w", "mode": "webhook", "startedAt": "2026-01-02T03:04:05.000Z",
        "workflowVersionId": RAN, "data": {"resultData": {"runData": {}, "order": names}},
        "workflowData": {"name": "Orders", "nodes": list, "connections": connections, "settings": {"timezone": "Asia/Tokyo"}}});
    for (node, did) in &nodes {
        set(&mut execution, node["name"].as_str().unwrap(), did);
    }
    end(&mut execution);
    execution
}

pub(crate) fn items(values: &[i32]) -> Value {
    let items = values.iter().enumerate().map(|(at, a)| json!({"json": {"a": a}, "pairedItem": {"item": at}}));
    json!([items.collect::<Vec<_>>()])
}

pub(crate) fn hook() -> (Value, Did) {
    (node("Hook", "n8n-nodes-base.webhook"), Returned(items(&[1, 2])))
}

/// A request, whose answer a Code node cannot use.
fn asking() -> Value {
    execution(vec![hook(), (node("Ask", HTTP), Returned(items(&[3, 4]))), (code("Use"), Failed("no [line 1]"))])
}

/// The changed copy does this.
pub(crate) fn plays(nodes: Vec<(&'static str, Did)>) -> Play {
    Arc::new(move |_, execution| {
        for (name, did) in &nodes {
            set(execution, name, did);
        }
        end(execution);
    })
}

pub(crate) fn passes(name: &'static str) -> Play {
    plays(vec![(name, Returned(items(&[3, 4])))])
}

/// The workflow with this change, as a draft.
pub(crate) fn change(proof: &ProofN8n, change: &dyn Fn(&mut Value)) {
    let mut workflow = proof.store.get("w").unwrap();
    workflow.as_object_mut().unwrap().remove("versionId");
    change(&mut workflow);
    proof.store.put(workflow);
}

pub(crate) fn at<'a>(workflow: &'a mut Value, name: &str) -> &'a mut Value {
    workflow["nodes"].as_array_mut().unwrap().iter_mut().find(|node| node["name"] == name).unwrap()
}

pub(crate) fn fix(workflow: &mut Value, name: &str) {
    at(workflow, name)["parameters"]["jsCode"] = json!("return $input.all().slice();");
}

pub(crate) fn client(n8n: &Server) -> McpClient {
    McpClient::start_with(&n8n.url(), &["--toolsets", "executions,workflows,proof", "--locale", "en"])
}

pub(crate) fn serve(proof: &ProofN8n) -> Server {
    let answering = proof.clone();
    Server::start(move |request| answering.answer(request))
}

/// What a proof of a changed workflow says; no copy is left.
pub(crate) fn prove_with(proof: &ProofN8n, changes: &dyn Fn(&mut Value), more: Value) -> Result<Value, String> {
    change(proof, changes);
    let n8n = serve(proof);
    let mut arguments = json!({"id": "5"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client(&n8n).call("prove_fix", arguments)?;
    assert_eq!(proof.copies(), Vec::<String>::new(), "{answer}");
    Ok(serde_json::from_str::<Value>(&answer).unwrap()["data"].clone())
}

pub(crate) fn prove(recorded: Value, play: Play, changes: &dyn Fn(&mut Value)) -> Value {
    prove_with(&ProofN8n::new(recorded, play), changes, json!({})).unwrap()
}

/// A node of the execution that would be played has another one's recording, or none of its own.
#[test]
fn a_node_that_is_new_under_an_old_name_does_not_answer_with_the_old_recording() {
    let again = |workflow: &mut Value| {
        fix(workflow, "Use");
        let mut ask = node("Ask", HTTP);
        (ask["id"], ask["parameters"]) = (json!("another"), json!({"url": "https://b.example"}));
        *at(workflow, "Ask") = ask;
    };
    let data = prove(asking(), passes("Use"), &again);
    assert_eq!((&data["verdict"], &data["changed"]), (&json!("notTested"), &json!(["Ask", "Use"])), "{data}");
    // The old one has another name, and nothing leads to it.
    let keeping_old = |workflow: &mut Value| {
        let mut old = at(workflow, "Ask").clone();
        old["name"] = json!("Ask v1");
        again(workflow);
        workflow["nodes"].as_array_mut().unwrap().push(old);
    };
    let play: Play = Arc::new(|copy, execution| {
        let ask = at(&mut copy.clone(), "Ask")["parameters"]["jsCode"].clone();
        match ask.as_str().unwrap().contains(r#""runs":[]"#) {
            true => {
                set(execution, "Use", &Nothing);
                set(execution, "Ask", &Failed("n8n-lens: no recorded answer of Ask to item 0 of run 0"));
            }
            false => set(execution, "Use", &Returned(items(&[3, 4]))),
        }
        end(execution);
    });
    let data = prove(asking(), play, &keeping_old);
    assert_eq!(data["verdict"], "needsOutside", "{data}");
}

#[test]
fn a_failing_node_that_is_added_again_is_the_node_that_failed() {
    let again = |workflow: &mut Value| {
        at(workflow, "Use")["id"] = json!("another");
        fix(workflow, "Use");
    };
    let data = prove(asking(), passes("Use"), &again);
    assert_eq!((&data["verdict"], &data["changed"]), (&json!("fixed"), &json!(["Use"])), "{data}");
    let same = |workflow: &mut Value| at(workflow, "Use")["id"] = json!("another");
    assert_eq!(prove(asking(), passes("Use"), &same)["verdict"], "unchanged");
}

#[test]
fn a_change_in_a_sub_node_is_not_tested() {
    let mut recorded =
        execution(vec![hook(), (node("Agent", AGENT), Returned(items(&[3]))), (code("Parse"), Failed("no"))]);
    let mut model = node("Model", MODEL);
    model["parameters"] = json!({"prompt": "Answer in words"});
    let workflow = &mut recorded["workflowData"];
    workflow["nodes"].as_array_mut().unwrap().extend([model.clone(), node("Spare", MODEL)]);
    workflow["connections"]["Model"] = to("Agent", "ai_languageModel");
    type Change<'a> = &'a dyn Fn(&mut Value);
    let cases: [(&str, Change<'_>); 6] = [
        ("fixed", &|_| {}),
        ("notTested", &|workflow| at(workflow, "Model")["parameters"]["prompt"] = json!("Answer in JSON")),
        // The same node with another id is the same.
        ("fixed", &|workflow| at(workflow, "Model")["id"] = json!("another")),
        ("notTested", &|workflow| workflow["connections"]["Model"] = json!({})),
        ("notTested", &|workflow| {
            workflow["nodes"].as_array_mut().unwrap().push(node("Tool", HTTP));
            workflow["connections"]["Tool"] = to("Agent", "ai_tool");
        }),
        // A sub-node of a sub-node.
        ("notTested", &|workflow| workflow["connections"]["Spare"] = to("Model", "ai_memory")),
    ];
    for (at, (expected, change)) in cases.into_iter().enumerate() {
        let changes = |workflow: &mut Value| {
            fix(workflow, "Parse");
            change(workflow);
        };
        let data = prove(recorded.clone(), passes("Parse"), &changes);
        assert_eq!(data["verdict"], expected, "{at}: {data}");
    }
}

/// An If or a Filter that goes on after an error sends the item on as one that does not match.
#[test]
fn an_error_that_an_if_would_hide_is_seen() {
    let recorded = || execution(vec![hook(), (node("Large", IF), Failed("not a number")), (code("Store"), Nothing)]);
    let set_on_error =
        |value: &'static str| move |workflow: &mut Value| at(workflow, "Large")["onError"] = json!(value);
    // As n8n does it: an error ends the execution unless the node is to go on.
    let as_set = |still_fails: bool| -> Play {
        Arc::new(move |copy, execution| {
            let goes_on = !at(&mut copy.clone(), "Large")["onError"].is_null();
            if goes_on || !still_fails {
                set(execution, "Large", &Returned(json!([[], items(&[1, 2])[0]])));
            }
            end(execution);
        })
    };
    for on_error in ["continueRegularOutput", "continueErrorOutput"] {
        let data = prove(recorded(), as_set(true), &set_on_error(on_error));
        assert_eq!(data["verdict"], "errorNowInItems", "{data}");
        assert!(data["claim"].as_str().unwrap().contains("hidden, not fixed"), "{data}");
        // With a true fix it is one.
        let with_fix = |workflow: &mut Value| {
            set_on_error(on_error)(workflow);
            at(workflow, "Large")["parameters"] = json!({"looseTypeValidation": true});
        };
        assert_eq!(prove(recorded(), as_set(true), &with_fix)["verdict"], "errorNowInItems");
        assert_eq!(prove(recorded(), as_set(false), &with_fix)["verdict"], "fixed");
    }
}

#[test]
fn empty_items_are_nothing() {
    let always = |workflow: &mut Value| at(workflow, "Use")["alwaysOutputData"] = json!(true);
    let file = json!({"data": {"fileName": "a.csv", "mimeType": "text/csv", "id": "x"}});
    for (expected, item) in [
        ("emptied", json!({"json": {}})),
        ("fixed", json!({"json": {}, "binary": file})),
        ("fixed", json!({"json": {"a": 1}})),
    ] {
        let data = prove(asking(), plays(vec![("Use", Returned(json!([[item]])))]), &always);
        assert_eq!(data["verdict"], expected, "{data}");
    }
    // Nothing for nothing.
    let mut recorded = asking();
    set(&mut recorded, "Ask", &Returned(json!([[{"json": {}}]])));
    let data = prove(recorded.clone(), plays(vec![("Use", Returned(json!([[{"json": {}}]])))]), &always);
    assert_eq!(data["verdict"], "fixed", "{data}");
    let data = prove(recorded, plays(vec![("Use", Returned(json!([[]])))]), &always);
    assert_eq!(data["verdict"], "emptied", "{data}");
}

#[test]
fn an_execution_without_an_end_is_no_recording_and_a_copy_without_one_proves_nothing() {
    for status in ["canceled", "crashed", "error"] {
        let mut recorded = execution(vec![hook(), (code("Use"), Returned(items(&[1])))]);
        recorded["status"] = json!(status);
        let proof = ProofN8n::new(recorded, passes("Use"));
        let refused = prove_with(&proof, &|workflow| fix(workflow, "Use"), json!({})).unwrap_err();
        let expected = format!("it ended as {status} without an error of a node");
        assert!(refused.contains(&expected) && refused.contains("Nothing was created."), "{refused}");
        let play: Play = Arc::new(move |_, execution| {
            set(execution, "Use", &Returned(items(&[3, 4])));
            end(execution);
            execution["status"] = json!(status);
        });
        let proof = ProofN8n::new(asking(), play);
        let refused = prove_with(&proof, &|workflow| fix(workflow, "Use"), json!({})).unwrap_err();
        assert!(refused.contains(&format!("ended as {status}, and not at a node")), "{refused}");
        assert_eq!(proof.copies(), Vec::<String>::new());
    }
}

/// Each of these is a green copy, and only one rule says that it shows nothing.
#[test]
fn a_copy_that_ends_well_shows_nothing_of_a_node_that_is_gone_new_or_played() {
    let failing = || execution(vec![hook(), (code("Mark"), Returned(items(&[1]))), (node("Ask", HTTP), Failed("no"))]);
    let is_gone = |workflow: &mut Value| {
        workflow["nodes"].as_array_mut().unwrap().retain(|node| node["name"] != "Use");
        workflow["connections"]["Ask"] = json!({});
    };
    let adds = |workflow: &mut Value| {
        fix(workflow, "Use");
        workflow["nodes"].as_array_mut().unwrap().push(node("Alarm", HTTP));
        workflow["connections"]["Use"] = to("Alarm", "main");
    };
    let ran_new = plays(vec![("Use", Returned(items(&[3]))), ("Alarm", Returned(json!([[]])))]);
    // What has no message of an error in it stands for one at an error output, and is dropped at the second output of a Filter.
    let [one, two] = [plays(vec![("Use", Returned(json!([[], [{"json": {"a": 1}}]])))]), passes("Use")];
    let has_error_output = |workflow: &mut Value| at(workflow, "Use")["onError"] = json!("continueErrorOutput");
    let is_filter = |workflow: &mut Value| at(workflow, "Use")["type"] = json!("n8n-nodes-base.filter");
    // A word with which code could reach outside makes a node answer from the recording in both copies.
    let word = "return $input.all(); // this";
    let mut reaches = asking();
    at(&mut reaches["workflowData"], "Use")["parameters"]["jsCode"] = json!(word);
    type Row<'a> = (&'a str, Value, Play, &'a dyn Fn(&mut Value));
    let rows: [Row<'_>; 8] = [
        ("notTested", reaches, passes("Use"), &|workflow| fix(workflow, "Use")),
        ("notTested", asking(), passes("Use"), &|workflow| {
            at(workflow, "Use")["parameters"]["jsCode"] = json!(word);
        }),
        ("notTested", failing(), passes("Ask"), &|workflow| fix(workflow, "Mark")),
        ("notReached", asking(), plays(vec![("Use", Nothing)]), &is_gone),
        ("needsOutside", asking(), ran_new, &adds),
        ("errorNowInItems", asking(), one.clone(), &has_error_output),
        ("emptied", asking(), one, &is_filter),
        ("fixed", asking(), two, &is_filter),
    ];
    for (expected, recorded, play, changes) in rows {
        let data = prove(recorded, play, changes);
        assert_eq!(data["verdict"], expected, "{data}");
    }
}

/// An item that stood for an error before the node failed, in an earlier run, is no new one.
#[test]
fn an_error_that_was_in_an_item_before_does_not_count() {
    let mut recorded = asking();
    let runs = recorded["data"]["resultData"]["runData"]["Use"].as_array_mut().unwrap();
    let mut earlier = runs[0].clone();
    earlier.as_object_mut().unwrap().remove("error");
    (earlier["executionStatus"], earlier["data"]) = (json!("success"), json!({"main": [[{"json": {"error": "no"}}]]}));
    runs.insert(0, earlier);
    let play: Play = Arc::new(|_, execution| {
        let run = execution["data"]["resultData"]["runData"]["Use"][0].clone();
        execution["data"]["resultData"]["runData"]["Use"][1] = run;
        execution["data"]["resultData"]["runData"]["Use"][1]["data"] = json!({"main": items(&[3])});
        end(execution);
    });
    let data = prove(recorded, play, &|workflow| fix(workflow, "Use"));
    assert_eq!(data["verdict"], "fixed", "{data}");
}

/// The control does something else than the recording, each time what one rule asks for.
#[test]
fn a_control_that_is_not_as_recorded_proves_nothing() {
    let with = |mark: Did, used: Did| execution(vec![hook(), (code("Mark"), mark), (code("Use"), used)]);
    let marks = |a: i32| Returned(items(&[a]));
    let expect = json!({"expect": [{"nodeName": "Mark", "path": "a", "equals": 1, "hits": "some"}]});
    let rows = [
        ("fixed", with(marks(1), Failed("no")), with(marks(1), Failed("no")), json!({})),
        ("fixed", with(marks(2), Failed("no")), with(marks(1), Failed("no")), json!({})),
        ("notReproduced", with(Failed("no"), Nothing), with(marks(1), Failed("no")), json!({})),
        ("notReproduced", with(marks(1), marks(1)), with(marks(1), Failed("no")), json!({})),
        ("notReproduced", with(marks(2), marks(1)), with(marks(1), marks(1)), json!({})),
        ("notReproduced", with(marks(2), Failed("no")), with(marks(1), Failed("no")), expect),
    ];
    for (row, (expected, recorded, again, more)) in rows.into_iter().enumerate() {
        let (proof, recorded) = (ProofN8n::new(again, passes("Use")), recorded.to_string());
        change(&proof, &|workflow| fix(workflow, "Use"));
        let n8n = Server::start(move |request| match request.path.as_str() {
            "/api/v1/executions/5" => Reply::json(200, recorded.clone()),
            _ => proof.answer(request),
        });
        let mut arguments = json!({"id": "5"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let data = call(&mut client(&n8n), "prove_fix", arguments)["data"].clone();
        assert_eq!(data["verdict"], expected, "{row}: {data}");
    }
}

/// The rows about executions that had not failed, and about earlier good ones.
#[test]
fn what_was_expected_decides_where_nothing_had_failed() {
    let recorded = || execution(vec![hook(), (code("Use"), Returned(items(&[1, 2])))]);
    let expect =
        |equals: i32, hits: &str| json!({"expect": [{"nodeName": "Use", "path": "a", "equals": equals, "hits": hits}]});
    let fixes = |workflow: &mut Value| fix(workflow, "Use");
    let adds = |workflow: &mut Value| {
        fixes(workflow);
        workflow["nodes"].as_array_mut().unwrap().push(node("Alarm", HTTP));
    };
    type Row<'a> = (&'a str, Did, Value, &'a dyn Fn(&mut Value));
    let rows: [Row<'_>; 9] = [
        ("sameOutputs", Returned(items(&[1, 2])), json!({}), &fixes),
        ("outputsChanged", Returned(items(&[1, 3])), json!({}), &fixes),
        ("fixed", Returned(items(&[1, 3])), expect(3, "some"), &fixes),
        ("fixed", Returned(items(&[1, 3])), expect(2, "none"), &fixes),
        ("notMet", Returned(items(&[1, 4])), expect(3, "some"), &fixes),
        ("notMet", Returned(items(&[1, 2])), expect(2, "none"), &fixes),
        ("outputsChanged", Returned(items(&[1, 3])), expect(1, "some"), &fixes),
        ("failsElsewhere", Failed("no"), json!({}), &fixes),
        // A new node that was not run.
        ("notTested", Returned(items(&[1, 3])), expect(3, "some"), &adds),
    ];
    for (at, (expected, did, arguments, changes)) in rows.into_iter().enumerate() {
        let data = prove_with(&ProofN8n::new(recorded(), plays(vec![("Use", did)])), changes, arguments).unwrap();
        assert_eq!(data["verdict"], expected, "{at}: {data}");
    }
    // Of one that had failed.
    let data = prove_with(&ProofN8n::new(asking(), passes("Use")), &fixes, expect(7, "some")).unwrap();
    assert_eq!(data["verdict"], "notMet", "{data}");
}

#[test]
fn earlier_good_executions_are_run_once_if_they_do_the_same() {
    let mut good =
        execution(vec![hook(), (node("Ask", HTTP), Returned(items(&[3]))), (code("Use"), Returned(items(&[3, 4])))]);
    good["id"] = json!("4");
    for (expected, ask, copies) in [("fixed", items(&[3]), 3), ("fixedButChanges", items(&[8]), 4)] {
        // Differs from what was recorded.
        let play: Play = Arc::new(move |_, execution| {
            set(execution, "Use", &Returned(items(&[3, 4])));
            if execution["workflowData"]["name"].as_str().unwrap().contains(" 4 changed ") {
                set(execution, "Use", &Returned(ask.clone()));
            }
            end(execution);
        });
        let mut good = good.clone();
        set(&mut good, "Use", &Returned(items(&[3])));
        let mut proof = ProofN8n::new(asking(), play);
        proof.good = vec![good];
        change(&proof, &|workflow| fix(workflow, "Use"));
        let n8n = serve(&proof);
        let data = call(&mut client(&n8n), "prove_fix", json!({"id": "5"}))["data"].clone();
        assert_eq!(data["verdict"], expected, "{data}");
        assert_eq!(data["good"][0]["id"], "4", "{data}");
        assert_eq!(data["good"][0]["same"], expected == "fixed", "{data}");
        let created = |n8n: &Server| {
            n8n.requests().iter().filter(|one| one.method == "POST" && one.path == "/api/v1/workflows").count()
        };
        assert_eq!(created(&n8n), copies);
    }
}

#[test]
fn another_node_that_fails_does_not_mean_that_the_failed_one_passed() {
    let fails_before = plays(vec![("Use", Nothing), ("Mark", Failed("full"))]);
    let recorded = || {
        execution(vec![
            hook(),
            (code("Mark"), Returned(items(&[1]))),
            (code("Use"), Failed("no")),
            (code("Store"), Nothing),
        ])
    };
    let data = prove(recorded(), fails_before, &|workflow| fix(workflow, "Mark"));
    let claim = data["claim"].as_str().unwrap();
    assert_eq!((&data["verdict"], &data["passed"]), (&json!("failsElsewhere"), &json!(false)), "{data}");
    assert!(claim.contains("does not reach Use") && !claim.contains("passes"), "{claim}");
    let fails_after = plays(vec![("Use", Returned(items(&[1]))), ("Store", Failed("full"))]);
    let data = prove(recorded(), fails_after, &|workflow| fix(workflow, "Use"));
    assert_eq!((&data["verdict"], &data["passed"]), (&json!("failsElsewhere"), &json!(true)), "{data}");
    assert!(data["claim"].as_str().unwrap().contains("passes Use"), "{data}");
    let skips = plays(vec![("Use", Nothing), ("Store", Returned(items(&[1])))]);
    let data = prove(recorded(), skips, &|workflow| fix(workflow, "Mark"));
    assert_eq!((&data["verdict"], &data["ranInstead"]), (&json!("notReached"), &json!(["Store"])), "{data}");
}

#[test]
fn settings_that_change_what_nodes_output_are_a_change() {
    let settings = |timezone: &'static str| {
        move |workflow: &mut Value| workflow["settings"] = json!({"timezone": timezone, "errorWorkflow": "other"})
    };
    let data = prove(asking(), passes("Use"), &settings("UTC"));
    assert_eq!((&data["verdict"], &data["changedSettings"]), (&json!("fixed"), &json!(["timezone"])), "{data}");
    let data = prove(asking(), passes("Use"), &settings("Asia/Tokyo"));
    assert_eq!((&data["verdict"], &data["changedSettings"]), (&json!("unchanged"), &Value::Null), "{data}");
}

/// A version has no settings of its own: its copies run with those of the workflow.
#[test]
fn a_version_is_proven_with_the_settings_of_its_workflow() {
    let proof = ProofN8n::new(asking(), passes("Use"));
    change(&proof, &|workflow| fix(workflow, "Use"));
    let version = proof.store.get("w").unwrap()["versionId"].clone();
    change(&proof, &|workflow| at(workflow, "Use")["parameters"]["jsCode"] = json!("later"));
    let n8n = serve(&proof);
    let data = call(&mut client(&n8n), "prove_fix", json!({"id": "5", "workflow": version}))["data"].clone();
    assert_eq!((&data["verdict"], &data["tested"]["versionId"]), (&json!("fixed"), &version), "{data}");
    let created = n8n.requests().into_iter().filter(|one| one.method == "POST" && one.path == "/api/v1/workflows");
    for copy in created {
        let copy: Value = serde_json::from_slice(&copy.body).unwrap();
        assert_eq!(copy["settings"]["timezone"], "Asia/Tokyo", "{copy}");
    }
}

#[test]
fn what_is_not_proven_is_said() {
    let not_proven = |data: &Value| data["notProven"].as_array().cloned().unwrap_or_default();
    let data = prove(asking(), passes("Use"), &|workflow| fix(workflow, "Use"));
    assert_eq!(not_proven(&data), Vec::<Value>::new(), "{data}");
    // n8n does not have the version that ran.
    let mut recorded = asking();
    recorded["workflowVersionId"] = json!("00000000-0000-4000-8000-00000000dead");
    let data = prove(recorded.clone(), passes("Use"), &|workflow| fix(workflow, "Use"));
    let said = not_proven(&data);
    assert!(said.len() == 1 && said[0].as_str().unwrap().contains("does not have the version that ran"), "{data}");
    assert!(prove(recorded, passes("Use"), &|_| {})["notProven"][0].as_str().unwrap().contains("version that ran"));
    // The control fails again, but another node does something else in it.
    let with = |a: i32| execution(vec![hook(), (code("Mark"), Returned(items(&[a]))), (code("Use"), Failed("no"))]);
    let (proof, recorded) = (ProofN8n::new(with(1), passes("Use")), with(2).to_string());
    change(&proof, &|workflow| fix(workflow, "Use"));
    let n8n = Server::start(move |request| match request.path.as_str() {
        "/api/v1/executions/5" => Reply::json(200, recorded.clone()),
        _ => proof.answer(request),
    });
    let data = call(&mut client(&n8n), "prove_fix", json!({"id": "5"}))["data"].clone();
    assert_eq!(data["verdict"], "fixed", "{data}");
    assert_eq!(not_proven(&data), ["The unchanged workflow did not do the same again at: Mark."], "{data}");
}

/// A filter may have dropped what the node failed at, and a loop that ends earlier never comes to it.
#[test]
fn a_failed_node_that_now_receives_fewer_items_is_named() {
    let recorded =
        || execution(vec![hook(), (code("Price"), Returned(items(&[1, 2, 3]))), (code("Use"), Failed("no [line 1]"))]);
    let proven = |now: &[i32]| {
        let play = plays(vec![("Price", Returned(items(now))), ("Use", Returned(items(&[4])))]);
        prove(recorded(), play, &|workflow| fix(workflow, "Price"))
    };
    for (now, said) in [
        (&[1][..], json!(["Use received 1 item instead of 3: what it failed at may not have reached it."])),
        (&[1, 2][..], json!(["Use received 2 items instead of 3: what it failed at may not have reached it."])),
        (&[1, 2, 9][..], Value::Null),
        (&[1, 2, 3, 4][..], Value::Null),
    ] {
        let data = proven(now);
        assert_eq!(data["verdict"], "fixed", "{data}");
        assert_eq!(data["notProven"], said, "{data}");
    }
}

/// A name that only nodes of copies have, and a query that could reach outside, are refused before anything is created.
#[test]
fn what_a_copy_cannot_have_is_refused() {
    for name in ["Use (recorded)", "n8n-lens replay start"] {
        let mut recorded = asking();
        recorded["workflowData"]["nodes"].as_array_mut().unwrap().push(code(name));
        let proof = ProofN8n::new(recorded, passes("Use"));
        let refused = prove_with(&proof, &|workflow| fix(workflow, "Use"), json!({})).unwrap_err();
        assert!(refused.contains(name) && refused.contains("rename it"), "{refused}");
    }
}
