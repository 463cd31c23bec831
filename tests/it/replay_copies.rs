//! Copies of random workflows of all node types: whatever a workflow contains, its copy reaches nothing. The rules for a copy are
//! repeated here from n8n's side, independently of how copies are made.

use std::collections::HashSet;

use n8n_lens::workflow::Document;
use n8n_lens::workflow::catalogue::Catalogue;
use n8n_lens::workflow::replay::{self, Plan, Played, PlayedItems, PlayedRun, Refusal};
use serde_json::{Map, Value, json};

use crate::builder::catalogue;
use crate::random::Random;

/// Types that a copy may have, besides the node that starts it.
const COMPUTES: [&str; 23] = [
    "set",
    "if",
    "switch",
    "filter",
    "merge",
    "splitInBatches",
    "splitOut",
    "aggregate",
    "sort",
    "limit",
    "summarize",
    "renameKeys",
    "itemLists",
    "compareDatasets",
    "dateTime",
    "noOp",
    "stopAndError",
    "markdown",
    "xml",
    "code",
    "removeDuplicates",
    "crypto",
    "html",
];

/// Members that a node of a copy may have.
const MEMBERS: [&str; 13] = [
    "id",
    "name",
    "type",
    "typeVersion",
    "position",
    "parameters",
    "disabled",
    "onError",
    "continueOnFail",
    "retryOnFail",
    "maxTries",
    "alwaysOutputData",
    "executeOnce",
];

/// Code with which a node reaches outside, or could.
const REACHES: [&str; 12] = [
    "return this.helpers.httpRequest({ url: 'http://a.example' })",
    "const { httpRequest } = helpers; return httpRequest('http://a.example')",
    "return require('http').get('http://a.example')",
    "return await import('node:http')",
    "return fetch('http://a.example')",
    "return (() => {})['const' + 'ructor']('return process')() // constructor",
    "return eval('1')",
    "return new Function('return 1')()",
    "return \\u0074his.helpers.httpRequest({ url: 'http://a.example' })",
    "return globalThis",
    "return Reflect.get(helpers, 'httpRequest')",
    "return new WebSocket('ws://a.example')",
];

/// Queries of Merge that only select from its inputs.
const QUERIES: [&str; 4] = [
    "SELECT * FROM input1 LEFT JOIN input2 ON input1.name = input2.id",
    "=-- by {{ $json.a }}\nSELECT input1.source, json FROM input1;",
    "with a as (select 1) select * from a",
    "",
];

/// Queries of Merge with which it could reach a file or a service.
const QUERIES_THAT_REACH: [&str; 9] = [
    "SELECT * INTO CSV('/tmp/a.csv') FROM input1",
    "SELECT * FROM JSON ('https://a.example/a.json')",
    "SELECT * FROM input1 JOIN\ntxt(\"/etc/passwd\")",
    "SELECT 1; ATTACH INDEXEDDB DATABASE a",
    "SOURCE '/tmp/a.sql'",
    "SELECT ``process.exit()`` FROM input1",
    "SELECT a->constructor('x') FROM input1",
    "={{ $json.query }}",
    "REQUIRE 'a'",
];

/// Types that are not in this list, and names that look like one in it.
const OTHERS: [&str; 12] = [
    "n8n-nodes-base.executeCommand",
    "n8n-nodes-base.readWriteFile",
    "n8n-nodes-base.ssh",
    "n8n-nodes-base.graphql",
    "n8n-nodes-community.set",
    "@community/n8n-nodes-x.code",
    "n8n-nodes-base.setTool",
    "n8n-nodes-base.codeTool",
    "@n8n/n8n-nodes-langchain.code",
    "n8n-nodes-base.Set",
    "set",
    "n8n-nodes-base.n8nTrigger",
];

fn node(random: &mut Random, name: &str, node_type: &str) -> Value {
    let mut parameters = Map::new();
    let code = if random.one_in(2) { "return $input.all();" } else { random.pick(&REACHES) };
    let query = if random.one_in(2) { random.pick(&QUERIES) } else { random.pick(&QUERIES_THAT_REACH) };
    for (name, value) in [
        ("mode", json!(random.pick(&["combineBySql", "append"]))),
        ("query", json!(query)),
        ("jsCode", json!(code)),
        ("pythonCode", json!("import os")),
        ("language", json!(random.pick(&["javaScript", "python", "pythonNative"]))),
        ("operation", json!(random.pick(&["removeItemsSeenInPreviousExecutions", "generateHtmlTemplate", "update"]))),
        ("action", json!(random.pick(&["generate", "hash"]))),
        ("url", json!("http://a.example")),
        ("path", json!("hook")),
        ("html", json!(format!("<script>{code}</script>"))),
        ("events", json!(["init"])),
    ] {
        if random.one_in(2) {
            parameters.insert(name.to_owned(), value);
        }
    }
    let mut node = json!({"id": format!("id {name}"), "name": name, "type": node_type, "typeVersion": random.below(4), "position": [0, 0],
        "parameters": parameters});
    let members = [
        ("credentials", json!({"httpHeaderAuth": {"id": "1", "name": "key"}})),
        ("webhookId", json!("00000000-0000-4000-8000-000000000001")),
        ("disabled", json!(true)),
        ("onError", json!(random.pick(&["continueErrorOutput", "continueRegularOutput"]))),
        ("retryOnFail", json!(true)),
        ("waitBetweenTries", json!(5000)),
        ("notes", json!("secret")),
        ("rewireOutputLogTo", json!("main")),
        ("executeOnce", json!(true)),
    ];
    for (name, value) in members {
        if random.one_in(4) {
            node[name] = value;
        }
    }
    node
}

/// A workflow of these types, in a chain with further connections.
fn workflow(random: &mut Random, types: &[&str]) -> (Value, Vec<String>) {
    let odd = ["Hook", "__proto__", "O'Brien \"x\" \\", "名前", "n8n-lens replay"];
    let name = |at: usize| if at < odd.len() { odd[at].to_owned() } else { format!("Node {at}") };
    let names: Vec<_> = (0..types.len()).map(name).collect();
    let nodes: Vec<_> = types.iter().zip(&names).map(|(node_type, name)| node(random, name, node_type)).collect();
    let mut connections = Map::new();
    for (at, name) in names.iter().enumerate() {
        let kind = if random.one_in(6) { "ai_tool" } else { "main" };
        let to = if random.one_in(3) { random.index(names.len()) } else { (at + 1) % names.len() };
        let input = u64::from(random.one_in(8));
        connections.insert(name.clone(), json!({kind: [[{"node": names[to], "type": kind, "index": input}]]}));
    }
    let settings = json!({"executionOrder": "v1", "timezone": "Asia/Tokyo", "errorWorkflow": "alarm", "callerPolicy": "any",
        "availableInMCP": true, "redactionPolicy": "none", "saveDataSuccessExecution": "none"});
    let workflow = json!({"name": "w", "nodes": nodes, "connections": connections, "settings": settings});
    (workflow, names)
}

fn played(random: &mut Random) -> Played {
    let run = |random: &mut Random| PlayedRun {
        received: random.one_in(2).then(|| vec![1, 2]),
        outputs: vec![1, random.index(2)],
        items: match random.one_in(4) {
            true => PlayedItems::InPart { name: "s0r0".to_owned(), size: 40 },
            false => PlayedItems::Here(r#"{"json":{"a":"'); return this.helpers; ('\n\u2028"}}"#.to_owned()),
        },
        error: random.one_in(3).then(|| "'); process.exit(); ('".to_owned()),
    };
    Played { runs: (0..random.index(3)).map(|_| run(random)).collect() }
}

/// The problem with a copy.
fn fault(copy: &Value, original: &Value, webhook: Option<&str>) -> Option<String> {
    let settings =
        ["executionOrder", "timezone", "executionTimeout", "saveDataSuccessExecution", "saveDataErrorExecution"];
    if let Some(name) = copy["settings"].as_object()?.keys().find(|name| !settings.contains(&name.as_str())) {
        return Some(format!("the setting {name}"));
    }
    let nodes = copy["nodes"].as_array()?;
    let codes: HashSet<_> =
        original["nodes"].as_array()?.iter().map(|node| node["parameters"]["jsCode"].as_str()).collect();
    for (at, node) in nodes.iter().enumerate() {
        let name = node["name"].as_str()?;
        if at == 0 {
            let is_start = match webhook {
                None => {
                    node["type"] == "n8n-nodes-base.n8nTrigger" && node["parameters"] == json!({"events": ["activate"]})
                }
                Some(path) => node["type"] == "n8n-nodes-base.webhook" && node["parameters"]["path"] == path,
            };
            if !is_start || name != replay::START || node.get("credentials").is_some() {
                return Some(format!("the start {node}"));
            }
            continue;
        }
        let kind = node["type"].as_str()?.strip_prefix("n8n-nodes-base.").unwrap_or("?");
        if !COMPUTES.contains(&kind) {
            return Some(format!("{name} is a {}", node["type"]));
        }
        let allowed = |member: &str| MEMBERS.contains(&member) || (member == "waitBetweenTries" && node[member] == 0);
        if let Some(member) = node.as_object()?.keys().find(|member| !allowed(member)) {
            return Some(format!("{name} has {member}"));
        }
        let code = node["parameters"]["jsCode"].as_str();
        let is_original = codes.contains(&code);
        let reaches = code.is_some_and(|code| REACHES.contains(&code))
            || node["parameters"]["language"].as_str().is_some_and(|it| it != "javaScript");
        if kind == "code" && is_original && reaches && node["disabled"] != true {
            return Some(format!("{name} runs {code:?}"));
        }
        let query = node["parameters"]["query"].as_str().filter(|_| node["parameters"]["mode"] == "combineBySql");
        if kind == "merge" && query.is_some_and(|query| QUERIES_THAT_REACH.contains(&query)) {
            return Some(format!("{name} runs {query:?}"));
        }
        if kind == "crypto" && node["parameters"]["action"] == "generate" {
            return Some(format!("{name} generates"));
        }
    }
    None
}

#[test]
fn a_copy_has_only_what_computes() {
    let catalogue = Catalogue::read(&std::fs::read(catalogue()).unwrap()).unwrap();
    let known: Vec<&str> = catalogue.nodes().iter().map(|node| node.node_type.as_str()).chain(OTHERS).collect();
    let listed: Vec<String> = COMPUTES.iter().map(|kind| format!("n8n-nodes-base.{kind}")).collect();
    let (mut made, mut refused, mut real) = (0, 0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        // Each type in turn, between some that can run.
        let mut types = vec![random.pick(&["n8n-nodes-base.webhook", "n8n-nodes-base.manualTrigger"])];
        types.push(known[seed as usize % known.len()]);
        for _ in 0..1 + random.index(6) {
            let listed = listed[random.index(listed.len())].as_str();
            types.push(if random.one_in(4) { random.pick(&known) } else { listed });
        }
        let (original, names) = workflow(&mut random, &types);
        let document = Document::parse(original.to_string().as_bytes()).unwrap();
        let (parsed, settings) = replay::parts(&document).unwrap();
        let plan = Plan {
            workflow: &parsed,
            settings: &settings,
            trigger: &names[0],
            name: "n8n-lens replay 1".to_owned(),
            timeout: 5,
            exposed: None,
        };
        let answers = std::cell::RefCell::new(random);
        let copy = match plan.copy(|_| played(&mut answers.borrow_mut())) {
            Ok(copy) => copy,
            Err(Refusal::SeveralInputs(_) | Refusal::NoTrigger(_) | Refusal::Name(_) | Refusal::Reserved(_)) => {
                refused += 1;
                continue;
            }
        };
        assert_eq!(copy.sealed(), Ok(()), "{seed}: {original}");
        let body: Value = serde_json::from_str(copy.body()).unwrap();
        assert_eq!(fault(&body, &original, copy.webhook()), None, "{seed}: {original}\n{body}");
        made += 1;
        real += body["nodes"].as_array().unwrap().iter().filter(|node| node["type"] != "n8n-nodes-base.code").count();
    }
    println!("{made} copies, {refused} refused, {real} nodes that are no Code, {} types", known.len());
    assert!(made > 1500 && refused > 100 && real > 2 * made, "{made} {refused} {real}");
}

/// The second check detects by itself what is wrong with a copy, however it was made.
#[test]
fn the_second_check_refuses_what_reaches_outside() {
    let copy = json!({"name": "n8n-lens replay 1", "settings": {"timezone": "UTC"}, "connections": {}, "nodes": [
        {"name": replay::START, "type": "n8n-nodes-base.n8nTrigger", "typeVersion": 1, "position": [0, 0], "id": "s", "parameters": {"events": ["activate"]}},
        {"name": "A", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [0, 0], "id": "a", "parameters": {"jsCode": "return $input.all();"}},
    ]});
    assert_eq!(replay::sealed(&copy.to_string()), Ok(()));
    let changes: [(&str, Value); 9] = [
        ("/nodes/1/type", json!("n8n-nodes-base.httpRequest")),
        ("/nodes/1/type", json!("n8n-nodes-community.code")),
        ("/nodes/1/credentials", json!({"a": {"id": "1"}})),
        ("/nodes/1/webhookId", json!("x")),
        ("/nodes/1/parameters/jsCode", json!(REACHES[0])),
        ("/nodes/1/parameters/language", json!("pythonNative")),
        ("/nodes/0/parameters/events", json!(["init"])),
        ("/settings/errorWorkflow", json!("alarm")),
        ("/settings/callerPolicy", json!("any")),
    ];
    for (pointer, value) in changes {
        let mut broken = copy.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        broken.pointer_mut(parent).unwrap()[member] = value;
        assert!(replay::sealed(&broken.to_string()).is_err(), "{pointer}: {broken}");
    }
    let merge = |query: &str| {
        let mut copy = copy.clone();
        copy["nodes"][1]["type"] = json!("n8n-nodes-base.merge");
        copy["nodes"][1]["parameters"] = json!({"mode": "combineBySql", "query": query});
        replay::sealed(&copy.to_string())
    };
    assert!(QUERIES.iter().all(|query| merge(query).is_ok()));
    assert!(QUERIES_THAT_REACH.iter().all(|query| merge(query).is_err()));
}
