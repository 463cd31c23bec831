//! What `prove_fix` says where a recorded answer may be that to another request, although the service received the same items.

use serde_json::{Value, json};

use crate::proof_n8n::{Play, ProofN8n};
use crate::proof_verdicts::{
    Failed, HTTP, Nothing, Returned, at, code, end, execution, fix, hook, items, node, plays, prove, prove_with, set,
};
use crate::workflows::call;

/// `Hook -> Config -> Mid -> Ask -> Use`, which fails; `Ask` is of this type and has these parameters.
fn asking(node_type: &str, parameters: Value) -> Value {
    let mut ask = node("Ask", node_type);
    ask["parameters"] = parameters;
    execution(vec![
        hook(),
        (code("Config"), Returned(items(&[1, 2]))),
        (code("Mid"), Returned(items(&[5, 6]))),
        (ask, Returned(items(&[3, 4]))),
        (code("Use"), Failed("no [line 1]")),
    ])
}

/// What a copy does in which `Use` passes, and these nodes return something else.
fn passing(nodes: &[(&'static str, Value)]) -> Play {
    let passed = [("Use", items(&[3, 4]))];
    plays(nodes.iter().chain(&passed).map(|(name, items)| (*name, Returned(items.clone()))).collect())
}

fn url(text: &str) -> Value {
    json!({ "url": text })
}

#[test]
fn a_request_that_rests_on_more_than_its_items_may_be_another_one() {
    let other = || passing(&[("Config", items(&[1, 9]))]);
    let turned = || passing(&[("Mid", items(&[6, 5]))]);
    let fewer = || passing(&[("Mid", items(&[6]))]);
    let plain = json!({"url": "https://a.example/{{ $('Config').item.json.a }}"});
    let parent = "n8n-nodes-base.executeWorkflow";
    let cases: [(&str, &str, Value, Play); 12] = [
        ("fixed", HTTP, url("={{ $('Config').item.json.a }}"), passing(&[])),
        ("needsOutside", HTTP, url("={{ $('Config').item.json.a }}"), other()),
        ("needsOutside", HTTP, url("={{ $('Con' + 'fig').item.json.a }}"), other()),
        ("fixed", HTTP, url("={{ $json.a }}"), other()),
        // Not an expression, and a comment.
        ("fixed", HTTP, plain, other()),
        ("fixed", HTTP, url("={{ /* $('Config') */ $json.a }}"), other()),
        ("fixed", HTTP, url("={{ $json.a }}"), turned()),
        ("needsOutside", HTTP, url("={{ $json.a + $itemIndex }}"), turned()),
        ("needsOutside", HTTP, url("={{ $input.first().json.a }}"), fewer()),
        ("fixed", HTTP, url("={{ $json.a }}"), fewer()),
        ("needsOutside", parent, json!({}), fewer()),
        ("fixed", parent, json!({"mode": "each"}), fewer()),
    ];
    for (expected, node_type, parameters, play) in cases {
        let said = format!("{node_type}, {parameters}");
        let data = prove(asking(node_type, parameters), play, &|workflow| fix(workflow, "Use"));
        assert_eq!(data["verdict"], expected, "{said}: {data}");
        let names_ask =
            data["claim"].as_str().unwrap().contains("Use passes (2 items in, 2 out), but Ask would need an answer");
        assert_eq!(names_ask, expected == "needsOutside", "{data}");
    }
}

#[test]
fn a_request_that_names_a_node_under_its_old_name_is_another_one() {
    let names_config = || asking(HTTP, url("={{ $('Config').item.json.a }}"));
    let rename = |workflow: &mut Value, follows: bool| {
        fix(workflow, "Use");
        at(workflow, "Config")["name"] = json!("Rates");
        let connections = workflow["connections"].as_object_mut().unwrap();
        let from = connections.remove("Config").unwrap();
        connections.insert("Rates".to_owned(), from);
        connections["Hook"]["main"][0][0]["node"] = json!("Rates");
        if follows {
            at(workflow, "Ask")["parameters"]["url"] = json!("={{ $('Rates').item.json.a }}");
        }
    };
    let renamed: Play = std::sync::Arc::new(|_, execution| {
        let run = execution["data"]["resultData"]["runData"].as_object_mut().unwrap().remove("Config").unwrap();
        execution["data"]["resultData"]["runData"]["Rates"] = run;
        execution["data"]["resultData"]["runData"]["Mid"][0]["source"] = json!([{"previousNode": "Rates"}]);
        set(execution, "Use", &Returned(items(&[3, 4])));
        end(execution);
    });
    let control_too = |workflow: &mut Value| rename(workflow, false);
    let play: Play = {
        let renamed = renamed.clone();
        std::sync::Arc::new(move |copy, execution| {
            let is_renamed = copy["nodes"].as_array().unwrap().iter().any(|node| node["name"] == "Rates");
            if is_renamed {
                renamed(copy, execution);
            }
        })
    };
    let data = prove(names_config(), play, &control_too);
    assert_eq!(data["verdict"], "needsOutside", "{data}");
}

#[test]
fn another_time_zone_and_other_files_are_other_requests() {
    let zone = |workflow: &mut Value| {
        fix(workflow, "Use");
        workflow["settings"]["timezone"] = json!("Europe/Berlin");
    };
    for (expected, text) in [("needsOutside", "={{ $now.toISODate() }}"), ("fixed", "={{ $json.a }}")] {
        let data = prove(asking(HTTP, url(text)), passing(&[]), &zone);
        assert_eq!(data["verdict"], expected, "{data}");
    }
    let with_file = |size: &str| {
        let file = json!({"data": {"fileName": "a.pdf", "mimeType": "application/pdf", "fileSize": size}});
        json!([[{"json": {"a": 5}, "binary": file, "pairedItem": {"item": 0}}]])
    };
    let mut recorded = asking(HTTP, url("={{ $json.a }}"));
    set(&mut recorded, "Mid", &Returned(with_file("3 kB")));
    end(&mut recorded);
    for (expected, size) in [("fixed", "3 kB"), ("needsOutside", "4 kB")] {
        let play = passing(&[("Mid", with_file(size))]);
        let data = prove(recorded.clone(), play, &|workflow| fix(workflow, "Use"));
        assert_eq!(data["verdict"], expected, "{size}: {data}");
    }
}

/// A node that reads only its first item asks for that one: the others have no answer.
#[test]
fn a_node_that_executes_once_knows_only_its_first_item() {
    let mut recorded = asking(HTTP, url("={{ $json.a }}"));
    at(&mut recorded["workflowData"], "Ask")["executeOnce"] = json!(true);
    let play: Play = std::sync::Arc::new(|copy, execution| {
        let ask = at(&mut copy.clone(), "Ask").clone();
        let code = ask["parameters"]["jsCode"].as_str().unwrap();
        let (_, received) = code.split_once(r#""in":["#).unwrap();
        assert!(!received.split_once(']').unwrap().0.contains(','), "{code:.300}");
        assert!(code.contains(r#""once":true"#), "{code:.300}");
        if execution["workflowData"]["name"].as_str().unwrap().contains(" changed ") {
            set(execution, "Use", &Returned(items(&[3, 4])));
        }
        end(execution);
    });
    let data = prove(recorded, play, &|workflow| fix(workflow, "Use"));
    assert_eq!(data["verdict"], "fixed", "{data}");
}

#[test]
fn items_of_a_service_that_have_an_error_are_no_hidden_error() {
    let answered = |error: Value| {
        let item = json!({"json": {"error": error, "a": 3}, "pairedItem": {"item": 0}});
        json!([[item.clone(), item]])
    };
    for (expected, received, returned) in [
        ("fixed", json!("none"), json!("none")),
        ("fixed", json!(null), json!(null)),
        ("fixed", json!(1), json!(false)),
        ("errorNowInItems", json!(null), json!("no")),
    ] {
        let mut recorded = asking(HTTP, url("={{ $json.a }}"));
        set(&mut recorded, "Ask", &Returned(answered(received)));
        end(&mut recorded);
        let play = plays(vec![("Use", Returned(answered(returned.clone())))]);
        let data = prove(recorded, play, &|workflow| fix(workflow, "Use"));
        assert_eq!(data["verdict"], expected, "{returned}: {data}");
    }
}

#[test]
fn an_expectation_of_a_node_that_is_not_there_is_refused() {
    let proof = ProofN8n::new(asking(HTTP, json!({})), passing(&[]));
    let expect = json!({"expect": [{"nodeName": "Us", "path": "a", "equals": 3, "hits": "none"}]});
    let refused = prove_with(&proof, &|workflow| fix(workflow, "Use"), expect).unwrap_err();
    assert!(refused.contains("'Us'") && refused.contains("'Use'"), "{refused}");
}

#[test]
fn an_expectation_that_nothing_could_break_is_named() {
    let expect = json!({"expect": [{"nodeName": "Use", "path": "a", "equals": 7, "hits": "none"}, {"nodeName": "Mid", "path": "a", "equals": 7, "hits": "none"}]});
    for (returned, is_named) in [(items(&[3, 4]), false), (json!([[]]), true)] {
        let play = plays(vec![("Use", Returned(returned))]);
        let proof = ProofN8n::new(asking(HTTP, json!({})), play);
        let data = prove_with(&proof, &|workflow| fix(workflow, "Use"), expect.clone()).unwrap();
        let sentence = "Met only because no item was returned there: no 7 at a in Use.";
        assert_eq!(data["notProven"].to_string().contains(sentence), is_named, "{data}");
    }
}

/// n8n runs the nodes after one output from the top.
#[test]
fn the_order_of_branches_is_a_change() {
    let mut recorded = asking(HTTP, json!({}));
    let workflow = &mut recorded["workflowData"];
    workflow["nodes"].as_array_mut().unwrap().push(code("Side"));
    workflow["connections"]["Mid"]["main"][0]
        .as_array_mut()
        .unwrap()
        .push(json!({"node": "Side", "type": "main", "index": 0}));
    at(workflow, "Side")["position"] = json!([0, 100]);
    type Change<'a> = &'a dyn Fn(&mut Value);
    let cases: [(&str, bool, Change<'_>); 4] = [
        ("unchanged", true, &|workflow| at(workflow, "Side")["position"] = json!([50, 200])),
        ("stillFails", true, &|workflow| at(workflow, "Side")["position"] = json!([0, -100])),
        ("unchanged", false, &|workflow| at(workflow, "Side")["position"] = json!([0, -100])),
        ("stillFails", false, &|workflow| {
            workflow["connections"]["Mid"]["main"][0].as_array_mut().unwrap().reverse();
        }),
    ];
    for (expected, is_by_position, change) in cases {
        let mut recorded = recorded.clone();
        if is_by_position {
            recorded["workflowData"]["settings"]["executionOrder"] = json!("v1");
        }
        let data = prove(recorded, plays(Vec::new()), change);
        assert_eq!(data["verdict"], expected, "{is_by_position}: {data}");
    }
}

#[test]
fn a_good_execution_that_cannot_be_compared_is_named() {
    let unknown = "n8n-lens: no recorded answer of Ask to item 0 of run 0";
    for (uses, did, sentence) in [
        ("return $input.all();", Failed(unknown), "execution 4 could not be compared: Ask would need an answer"),
        (
            "return [{ json: { at: Date.now() } }];",
            Returned(items(&[8])),
            "on the time or chance were not compared: Mid, Use",
        ),
    ] {
        let mut recorded = asking(HTTP, url("={{ $json.a }}"));
        at(&mut recorded["workflowData"], "Mid")["parameters"]["jsCode"] = json!(uses);
        let mut good = recorded.clone();
        good["id"] = json!("4");
        set(&mut good, "Use", &Returned(items(&[3, 4])));
        end(&mut good);
        let is_unknown = matches!(did, Failed(_));
        let (did, after) = (std::sync::Arc::new(did), std::sync::Arc::new(Returned(items(&[7]))));
        let play: Play = std::sync::Arc::new(move |_, execution| {
            let name = execution["workflowData"]["name"].as_str().unwrap().to_owned();
            if name.contains(" changed ") {
                set(execution, "Use", &Returned(items(&[3, 4])));
            }
            if name.contains(" 4 changed ") {
                set(execution, if is_unknown { "Ask" } else { "Mid" }, &did);
                set(execution, "Use", if is_unknown { &Nothing } else { &after });
            }
            end(execution);
        });
        let mut proof = ProofN8n::new(recorded, play);
        proof.good = vec![good];
        crate::proof_verdicts::change(&proof, &|workflow| fix(workflow, "Use"));
        let n8n = crate::proof_verdicts::serve(&proof);
        let data = call(&mut crate::proof_verdicts::client(&n8n), "prove_fix", json!({"id": "5"}))["data"].clone();
        assert_eq!(data["verdict"], "fixed", "{data}");
        assert!(data["notProven"].to_string().contains(sentence), "{data}");
    }
}
