//! Real bodies, mutated in a few places: what n8n might send one day.

use std::sync::LazyLock;

use super::entropy::Entropy;
use super::tree::{self, Tree};

/// Small bodies, as sent by n8n.
const BODIES: [&[u8]; 13] = [
    include_bytes!("../../fixtures/executions/a_small_success.json"),
    include_bytes!("../../fixtures/executions/a_small_success.redacted.json"),
    include_bytes!("../../fixtures/executions/b_http_500.json"),
    include_bytes!("../../fixtures/executions/c_stop_and_error.json"),
    include_bytes!("../../fixtures/executions/c_continue_regular_output.json"),
    include_bytes!("../../fixtures/executions/f_subworkflow.child.json"),
    include_bytes!("../../fixtures/executions/g_waiting.json"),
    include_bytes!("../../fixtures/executions/l_ai_agent.json"),
    include_bytes!("../../fixtures/executions/l_crashed.json"),
    include_bytes!("../../fixtures/executions/m_canceled_progress.json"),
    include_bytes!("../../fixtures/executions/m_resumed.json"),
    include_bytes!("../../fixtures/executions/m_retry.json"),
    include_bytes!("../../fixtures/executions/v1/b_http_refused.json"),
];

static TREES: LazyLock<Vec<Tree>> = LazyLock::new(|| {
    let parse = |body: &&[u8]| Tree::of(&serde_json::from_slice(body).expect("a body is JSON"));
    BODIES.iter().map(parse).collect()
});

/// The places of an execution that are read; `*` is any part.
const EXECUTION: [&[&str]; 30] = [
    &["data"],
    &["data", "resultData"],
    &["data", "resultData", "error"],
    &["data", "resultData", "lastNodeExecuted"],
    &["data", "resultData", "runData"],
    &["data", "resultData", "runData", "*"],
    &["data", "resultData", "runData", "*", "*"],
    &["data", "resultData", "runData", "*", "*", "source"],
    &["data", "resultData", "runData", "*", "*", "source", "*"],
    &["data", "resultData", "runData", "*", "*", "source", "*", "*"],
    &["data", "resultData", "runData", "*", "*", "error"],
    &["data", "resultData", "runData", "*", "*", "inputOverride"],
    &["data", "resultData", "runData", "*", "*", "executionTime"],
    &["data", "resultData", "runData", "*", "*", "executionStatus"],
    &["data", "resultData", "runData", "*", "*", "executionIndex"],
    &["data", "resultData", "runData", "*", "*", "startTime"],
    &["data", "executionData", "nodeExecutionStack", "*", "node", "name"],
    &["startedAt"],
    &["data", "resultData", "runData", "*", "*", "data"],
    &["data", "resultData", "runData", "*", "*", "data", "*"],
    &["data", "resultData", "runData", "*", "*", "data", "*", "*"],
    &["data", "resultData", "runData", "*", "*", "data", "*", "*", "*"],
    &["data", "resultData", "runData", "*", "*", "data", "*", "*", "*", "json"],
    &["data", "resultData", "runData", "*", "*", "data", "*", "*", "*", "*", "*"],
    &["workflowData"],
    &["workflowData", "nodes"],
    &["workflowData", "nodes", "*"],
    &["workflowData", "nodes", "*", "*"],
    &["workflowData", "connections", "*", "*", "*", "*"],
    &["*"],
];

/// The places of a workflow that are read.
const WORKFLOW: [&[&str]; 11] = [
    &["name"],
    &["nodes"],
    &["nodes", "*"],
    &["nodes", "*", "*"],
    &["nodes", "*", "name"],
    &["connections"],
    &["connections", "*"],
    &["connections", "*", "*", "*"],
    &["connections", "*", "*", "*", "*", "*"],
    &["settings"],
    &["settings", "*"],
];

/// Members of a workflow file that no version of n8n has: other programs may write them.
pub const UNKNOWN_MEMBERS: [&str; 2] = ["zeta", "x-own"];

/// The most changes to one text.
const MAX_CHANGES: usize = 24;

/// A mutated execution.
pub fn execution(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    let mut tree = entropy.pick(&TREES[..]).clone();
    change(&mut tree, &EXECUTION, &mut entropy);
    tree.text().into_bytes()
}

/// The workflow of a real execution.
pub fn real_workflow(entropy: &mut Entropy<'_>) -> Tree {
    let mut execution = entropy.pick(&TREES[..]).clone();
    let at = execution.position("workflowData").expect("an execution has a workflow");
    execution.part(at).clone()
}

/// A mutated workflow.
pub fn workflow(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    let mut tree = real_workflow(&mut entropy);
    if let Tree::Record(members) = &mut tree {
        for name in UNKNOWN_MEMBERS {
            if entropy.one_in(2) {
                members.insert(entropy.below(members.len()), (name.to_owned(), tree::any(&mut entropy, 3)));
            }
        }
    }
    change(&mut tree, &WORKFLOW, &mut entropy);
    tree.text().into_bytes()
}

/// Changes a tree in a few places, until the choices are used up.
pub fn change(tree: &mut Tree, places: &[&[&str]], entropy: &mut Entropy<'_>) {
    for _ in 0..MAX_CHANGES {
        if entropy.is_over() {
            return;
        }
        // Half of the changes are at known places, the others anywhere.
        let place = if entropy.one_in(2) {
            let path = *entropy.pick(places);
            follow(tree, path, entropy)
        } else {
            anywhere(tree, entropy)
        };
        change_here(place, entropy);
    }
}

/// Follows a path as far as it exists.
fn follow<'t>(tree: &'t mut Tree, path: &[&str], entropy: &mut Entropy<'_>) -> &'t mut Tree {
    let Some((step, deeper)) = path.split_first() else {
        return tree;
    };
    let at = match tree.parts() {
        0 => None,
        parts if *step == "*" => Some(entropy.below(parts)),
        _ => tree.position(step),
    };
    match at {
        Some(at) => follow(tree.part(at), deeper, entropy),
        None => tree,
    }
}

/// Descends at random.
fn anywhere<'t>(tree: &'t mut Tree, entropy: &mut Entropy<'_>) -> &'t mut Tree {
    let parts = tree.parts();
    if parts == 0 || entropy.is_over() || entropy.one_in(6) {
        return tree;
    }
    anywhere(tree.part(entropy.below(parts)), entropy)
}

fn change_here(tree: &mut Tree, entropy: &mut Entropy<'_>) {
    match entropy.byte() % 14 {
        0 => *tree = tree::scalar(entropy),
        1 => *tree = tree::any(entropy, 4),
        2 => wrap(tree, entropy),
        3 => bury(tree, entropy),
        4 => *tree = Tree::List(Vec::new()),
        5 => *tree = Tree::Record(Vec::new()),
        6 => *tree = Tree::Raw(format!("\"{}\"", tree::string(entropy))),
        kind => change_parts(tree, kind, entropy),
    }
}

/// Wraps a part in one more container.
fn wrap(tree: &mut Tree, entropy: &mut Entropy<'_>) {
    let inner = std::mem::replace(tree, Tree::Raw(String::new()));
    *tree = if entropy.one_in(2) { Tree::List(vec![inner]) } else { Tree::Record(vec![(tree::name(entropy), inner)]) };
}

/// Wraps a part in many containers; some of the depths are limits of the code.
fn bury(tree: &mut Tree, entropy: &mut Entropy<'_>) {
    let depth = *entropy.pick(&[2, 11, 12, 13, 14, 60, 63, 64, 65, 127, 128, 130, 1100]);
    let (open, close) = *entropy.pick(&[("[", "]"), ("{\"a\":", "}"), ("[{\"json\":", "}]")]);
    *tree = Tree::Raw(format!("{}{}{}", open.repeat(depth), tree.text(), close.repeat(depth)));
}

/// Changes the content of a container; a scalar becomes another one.
fn change_parts(tree: &mut Tree, kind: u8, entropy: &mut Entropy<'_>) {
    /// The most copies of a part, and the most bytes of all copies.
    const COPIES: usize = 300;
    const COPIED: usize = 64 * 1024;
    let parts = tree.parts();
    if kind == 7 {
        let (name, value) = (tree::name(entropy), tree::any(entropy, 3));
        match tree {
            Tree::Raw(_) => *tree = value,
            Tree::List(elements) => elements.insert(entropy.below(parts + 1), value),
            Tree::Record(members) => members.insert(entropy.below(parts + 1), (name, value)),
        }
        return;
    }
    if parts == 0 {
        *tree = tree::scalar(entropy);
        return;
    }
    let (one, other) = (entropy.below(parts), entropy.below(parts));
    let copies = COPIES.min(COPIED / (1 + tree.part(one).text().len())).min(1 + entropy.below(COPIES));
    match (tree, kind) {
        (Tree::Raw(_), _) => {}
        (Tree::List(elements), 8) => drop(elements.remove(one)),
        (Tree::Record(members), 8) => drop(members.remove(one)),
        (Tree::List(elements), 9) => elements.swap(one, other),
        (Tree::Record(members), 9) => members.swap(one, other),
        // This can also repeat a name.
        (Tree::List(elements), 10) => elements.insert(other, elements[one].clone()),
        (Tree::Record(members), 10) => members.insert(other, members[one].clone()),
        (Tree::List(elements), 11) => elements[one] = elements[other].clone(),
        (Tree::Record(members), 11) => members[one].1 = members[other].1.clone(),
        (Tree::List(elements), _) => elements.extend(vec![elements[one].clone(); copies]),
        (Tree::Record(members), 12) => members[one].0 = tree::name(entropy),
        (Tree::Record(members), _) => {
            let (name, value) = members[one].clone();
            members.extend((0..copies).map(|copy| (format!("{name} {copy}"), value.clone())));
        }
    }
}
