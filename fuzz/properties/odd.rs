//! Executions that n8n can write but that no real body resembles: several nodes and runs in any order, sub-nodes of AI
//! agents, retries, items with errors and files, and lone surrogates and deep nesting anywhere.

use super::entropy::Entropy;
use super::tree::{self, Tree};

/// Names of nodes, as raw JSON.
const NODES: [&str; 8] = ["A", "B", "C", "Agent", "Model", "half \\ud83d", "\\udc00", "\\u0041"];

const STATUS: [&str; 4] = ["success", "error", "canceled", "crashed"];

/// Depths around those at which something is cut or refused.
const DEPTHS: [usize; 5] = [12, 33, 54, 65, 1100];

/// An execution.
pub fn execution(entropy: &mut Entropy<'_>) -> Tree {
    let nodes = several(entropy, 6, |entropy| (text(entropy, &NODES), runs(entropy)));
    let mut result = vec![("runData", Tree::Record(nodes)), ("lastNodeExecuted", node(entropy))];
    if entropy.one_in(4) {
        result.push(("error", error(entropy)));
    }
    if entropy.one_in(3) {
        let pinned = several(entropy, 3, |entropy| (text(entropy, &NODES), list(entropy, 2, item)));
        result.push(("pinData", Tree::Record(pinned)));
    }
    let data = vec![("resultData", record(entropy, result)), ("startData", Tree::Record(Vec::new()))];
    let body = vec![
        ("id", raw("\"7\"")),
        ("retryOf", raw(if entropy.one_in(3) { "\"6\"" } else { "null" })),
        ("status", raw(&format!("\"{}\"", text(entropy, &STATUS)))),
        ("data", record(entropy, data)),
        ("workflowData", workflow(entropy)),
    ];
    record(entropy, body)
}

fn workflow(entropy: &mut Entropy<'_>) -> Tree {
    let nodes = list(entropy, 6, |entropy| {
        let on_error = *entropy.pick(&["\"continueRegularOutput\"", "\"stopWorkflow\"", "null"]);
        let node_type = *entropy.pick(&["\"n8n-nodes-base.code\"", "\"n8n-nodes-base.executeWorkflow\"", "\"x\""]);
        let mut members = vec![("name", node(entropy)), ("type", raw(node_type)), ("onError", raw(on_error))];
        if entropy.one_in(4) {
            members.push(("disabled", raw("true")));
        }
        record(entropy, members)
    });
    Tree::Record(vec![("nodes".to_owned(), nodes)])
}

/// The runs of a node; the last one may be reserved.
fn runs(entropy: &mut Entropy<'_>) -> Tree {
    let mut runs = several(entropy, 3, run);
    if entropy.one_in(6) {
        runs.push(reserved(entropy));
    }
    Tree::List(runs)
}

/// A run that n8n reserved for a call of a tool that did not happen.
fn reserved(entropy: &mut Entropy<'_>) -> Tree {
    let members = ["executionIndex", "executionTime", "startTime"].map(|name| (name, raw("0")));
    let called = [("inputOverride", connections(entropy)), ("source", list(entropy, 2, source))];
    record(entropy, called.into_iter().chain(members).collect())
}

/// A run; in a retry `executionIndex` starts again.
fn run(entropy: &mut Entropy<'_>) -> Tree {
    let mut members = vec![
        ("executionIndex", number(entropy, 6)),
        ("startTime", raw(&format!("17636906266{}", 10 + entropy.below(80)))),
        ("executionStatus", raw(&format!("\"{}\"", text(entropy, &STATUS)))),
        ("source", list(entropy, 3, source)),
    ];
    if !entropy.one_in(6) {
        members.push(("data", connections(entropy)));
    }
    if entropy.one_in(6) {
        members.push(("inputOverride", connections(entropy)));
    }
    if entropy.one_in(6) {
        members.push(("error", error(entropy)));
    }
    if entropy.one_in(4) {
        members.push(("metadata", child(entropy)));
    }
    record(entropy, members)
}

/// `{connection: [[item, …], …]}`
fn connections(entropy: &mut Entropy<'_>) -> Tree {
    let connections = several(entropy, 2, |entropy| {
        let connection = *entropy.pick(&["main", "main", "ai_tool", "ai_languageModel"]);
        (connection.to_owned(), list(entropy, 3, |entropy| list(entropy, 9, item)))
    });
    Tree::Record(connections)
}

fn item(entropy: &mut Entropy<'_>) -> Tree {
    let mut members = vec![("json", json(entropy))];
    if entropy.one_in(3) {
        members.push(("error", error(entropy)));
    }
    if entropy.one_in(4) {
        members.push(("binary", files(entropy)));
    }
    if entropy.one_in(2) {
        members.push(("pairedItem", paired(entropy)));
    }
    if entropy.one_in(5) {
        members.push(("metadata", child(entropy)));
    }
    record(entropy, members)
}

fn json(entropy: &mut Entropy<'_>) -> Tree {
    let mut members = several(entropy, 4, |entropy| (tree::name(entropy), value(entropy)));
    if entropy.one_in(4) {
        members.push(("error".to_owned(), error(entropy)));
    }
    Tree::Record(members)
}

/// The value of an `error` member; some values are not errors.
fn error(entropy: &mut Entropy<'_>) -> Tree {
    match entropy.below(4) {
        0 => raw("null"),
        1 => value(entropy),
        _ => {
            let members = vec![("message", value(entropy)), ("name", value(entropy)), ("cause", value(entropy))];
            record(entropy, members)
        }
    }
}

fn files(entropy: &mut Entropy<'_>) -> Tree {
    Tree::Record(several(entropy, 3, |entropy| {
        let members = vec![("fileName", value(entropy)), ("mimeType", value(entropy)), ("data", value(entropy))];
        (tree::name(entropy), record(entropy, members))
    }))
}

fn paired(entropy: &mut Entropy<'_>) -> Tree {
    match entropy.below(4) {
        0 => number(entropy, 9),
        1 => list(entropy, 4, entry),
        _ => entry(entropy),
    }
}

fn entry(entropy: &mut Entropy<'_>) -> Tree {
    let mut members = vec![("item", number(entropy, 9))];
    if entropy.one_in(4) {
        members.push(("sourceOverwrite", source(entropy)));
    }
    record(entropy, members)
}

fn source(entropy: &mut Entropy<'_>) -> Tree {
    let members = vec![("previousNode", node(entropy)), ("previousNodeRun", number(entropy, 3))];
    record(entropy, members)
}

/// The metadata of an item that went through a sub-workflow.
fn child(entropy: &mut Entropy<'_>) -> Tree {
    let child = vec![("executionId", raw("\"91\"")), ("workflowId", value(entropy))];
    Tree::Record(vec![("subExecution".to_owned(), record(entropy, child))])
}

/// A string, a number or a literal; a short list; or something nested deeply.
fn value(entropy: &mut Entropy<'_>) -> Tree {
    match entropy.below(8) {
        0 => list(entropy, 4, tree::scalar),
        1 if entropy.one_in(3) => {
            let depth = *entropy.pick(&DEPTHS);
            raw(&format!("{}{}{}", "[".repeat(depth), tree::scalar(entropy).text(), "]".repeat(depth)))
        }
        2 | 3 => raw(&format!("\"{}\"", tree::string(entropy))),
        _ => tree::scalar(entropy),
    }
}

fn node(entropy: &mut Entropy<'_>) -> Tree {
    raw(&format!("\"{}\"", text(entropy, &NODES)))
}

fn number(entropy: &mut Entropy<'_>, below: usize) -> Tree {
    raw(&entropy.below(below).to_string())
}

fn raw(json: &str) -> Tree {
    Tree::Raw(json.to_owned())
}

fn text(entropy: &mut Entropy<'_>, of: &[&str]) -> String {
    (*entropy.pick(of)).to_owned()
}

fn list(entropy: &mut Entropy<'_>, most: usize, element: impl FnMut(&mut Entropy<'_>) -> Tree) -> Tree {
    Tree::List(several(entropy, most, element))
}

fn several<T>(entropy: &mut Entropy<'_>, most: usize, mut one: impl FnMut(&mut Entropy<'_>) -> T) -> Vec<T> {
    (0..entropy.below(most + 1)).map(|_| one(entropy)).collect()
}

/// An object with these members in any order.
fn record(entropy: &mut Entropy<'_>, mut members: Vec<(&str, Tree)>) -> Tree {
    for last in (1..members.len()).rev() {
        members.swap(last, entropy.below(last + 1));
    }
    Tree::Record(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
