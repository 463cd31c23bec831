//! A copy of a workflow that can be run again with recorded data and reaches nothing outside n8n.
//!
//! ```text
//! n8n Trigger -> Webhook (answers from the recording) -> Edit Fields (runs) -> HTTP Request (answers from the recording) -> …
//! ```
//!
//! A node runs for real if its type is on a list of types that only compute, and if its parameters allow it
//! ([`runs_for_real`]). Every other node becomes a Code node with the same name that returns what was recorded. The copy has no
//! credentials, no webhooks and no error workflow; [`Copy::sealed`] checks that again, from the finished copy alone.
//!
//! n8n's own trigger starts the copy when it is published (`n8n-nodes-base.n8nTrigger`, event `activate`): nobody can call it, and
//! a leftover copy does not run again. With many recorded items a webhook with a random path starts it instead, and the items
//! come with the call, as files: n8n does not run Code nodes of that size. Verified by running such copies on n8n 2.41.1 and 1.123.81.

mod rules;
mod sealed;
mod start;
mod stub;

use std::collections::HashSet;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

pub use self::rules::{DATE_TIME, depends_on_more_than_items, goes_on_after_errors, hides_errors, runs_for_real};
pub use self::stub::NOT_RECORDED;
use super::connections::{Connection, Connections, PortRef};
use super::document::Members;
use super::parsed::{NOTE, Parsed, ParsedNode};
use super::{Document, Error};

/// The node that starts a copy, by which copies are also recognised.
pub const START: &str = "n8n-lens replay start";

/// The prefix of a copy's name.
pub const NAME: &str = "n8n-lens replay";

/// The suffix for the name of a replayed node with several outputs: the node itself becomes a Switch after it.
const RECORDED: &str = " (recorded)";

/// Members that every JavaScript object inherits: a workflow with nodes of these names cannot run Code nodes (seen on n8n 2.41.1).
const MEMBERS_OF_OBJECTS: [&str; 7] =
    ["constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"];

/// Settings that a copy takes over: those that change what nodes output.
pub const KEPT_SETTINGS: [&str; 2] = ["executionOrder", "timezone"];

/// The recording of a node.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Its runs, in their order.
    pub runs: Vec<PlayedRun>,
}

/// The recording of a run.
#[derive(Clone, Debug, Default)]
pub struct PlayedRun {
    /// The hash of each item that it received; `None` for a trigger.
    pub received: Option<Vec<u64>>,
    /// How many items each output had.
    pub outputs: Vec<usize>,
    /// The items of all outputs.
    pub items: PlayedItems,
    /// The message that it failed with.
    pub error: Option<String>,
}

/// The items of a run: objects with `json`, and perhaps `binary` and `pairedItem`, as JSON with commas between them.
#[derive(Clone, Debug)]
pub enum PlayedItems {
    /// They are in the code.
    Here(String),
    /// They are in a [part](Played::part) of the call that starts the copy, as raw DEFLATE.
    InPart {
        /// Its name.
        name: String,
        /// Its bytes, unpacked.
        size: u64,
    },
}

impl Default for PlayedItems {
    fn default() -> Self {
        Self::Here(String::new())
    }
}

/// The body that is sent to n8n.
#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    nodes: Vec<Members>,
    connections: Connections,
    settings: Value,
}

/// How a workflow is to be copied.
pub struct Plan<'a> {
    /// The nodes and connections.
    pub workflow: &'a Parsed,
    /// The settings of the workflow.
    pub settings: &'a Members,
    /// The name of the trigger that ran.
    pub trigger: &'a str,
    /// The copy's own name.
    pub name: String,
    /// How long it may run, seconds.
    pub timeout: u64,
    /// The node whose errors must be seen: if it [hides](hides_errors) them, they end the copy instead.
    pub exposed: Option<&'a str>,
}

/// A node that cannot be part of a copy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has to be answered from the recording, but has several inputs.
    #[error("the node '{0}' has several inputs and would reach outside")]
    SeveralInputs(String),
    /// The trigger that ran is not in this workflow.
    #[error("the trigger '{0}' that started the execution is not in this workflow")]
    NoTrigger(String),
    /// n8n's Code nodes fail in a workflow with a node of this name, which every JavaScript object has as a member.
    #[error("a copy needs Code nodes, which n8n cannot run in a workflow with a node called '{0}': rename it")]
    Name(String),
    /// Only copies have nodes of this name.
    #[error("the node '{0}' has a name reserved for nodes of copies: rename it")]
    Reserved(String),
}

/// A copy, ready to be created.
#[derive(Clone, Debug)]
pub struct Copy {
    name: String,
    body: String,
    /// The path of the webhook that starts it with the recorded items; `None` if they are in the copy.
    webhook: Option<String>,
}

impl<'a> Plan<'a> {
    /// The nodes that are answered from the recording, by name.
    pub fn played(&self) -> HashSet<&'a str> {
        kept(self.workflow).filter(|node| self.is_played(node)).map(|node| node.name.as_str()).collect()
    }

    /// The copy; `played` returns the recording of a node, which is empty for one that did not run.
    ///
    /// # Errors
    /// [`Refusal`] if there is no such copy.
    pub fn copy(&self, played: impl Fn(&str) -> Played) -> Result<Copy, Refusal> {
        if !kept(self.workflow).any(|node| node.name == self.trigger) {
            return Err(Refusal::NoTrigger(self.trigger.to_owned()));
        }
        if let Some(node) = kept(self.workflow).find(|node| MEMBERS_OF_OBJECTS.contains(&node.name.as_str())) {
            return Err(Refusal::Name(node.name.clone()));
        }
        if let Some(node) = kept(self.workflow).find(|node| original_name(&node.name).is_none()) {
            return Err(Refusal::Reserved(node.name.clone()));
        }
        let names: HashSet<&str> = kept(self.workflow).map(|node| node.name.as_str()).collect();
        let is_inside = |one: &&Connection| {
            names.contains(one.source.as_str()) && names.contains(one.target.as_str()) && one.output.kind == "main"
        };
        let mut connections = Connections::default();
        let mut nodes = Vec::new();
        let mut webhook = None;
        let mut split = HashSet::new();
        for node in kept(self.workflow) {
            if !self.is_played(node) {
                nodes.push(rules::real(node, self.exposed == Some(&node.name)));
                continue;
            }
            let inputs = self.workflow.connections.iter().filter(|one| one.target == node.name && is_inside(one));
            if inputs.map(|one| one.input.index).collect::<HashSet<_>>().len() > 1 {
                return Err(Refusal::SeveralInputs(node.name.clone()));
            }
            let played = played(&node.name);
            if played.has_parts() && webhook.is_none() {
                webhook = Some(uuid::Uuid::new_v4().to_string());
            }
            let outputs = self.outputs(&node.name).max(played.outputs());
            if outputs > 1 {
                split.insert(node.name.as_str());
                nodes.push(members(&stub(node, &receiving_name(&node.name), &played)));
                nodes.push(members(&switch(node, outputs, &played)));
                connections.add(&connection(&receiving_name(&node.name), 0, &node.name, 0));
            } else {
                nodes.push(members(&stub(node, &node.name, &played)));
            }
        }
        let entry = |name: &str| if split.contains(name) { receiving_name(name) } else { name.to_owned() };
        for one in self.workflow.connections.iter().filter(is_inside) {
            connections.add(&connection(&one.source, one.output.index, &entry(&one.target), one.input.index));
        }
        connections.add(&connection(START, 0, &entry(self.trigger), 0));
        nodes.insert(0, members(&webhook.as_deref().map_or_else(start::by_publishing, start::by_call)));
        let body = Body { name: &self.name, nodes, connections, settings: self.settings() };
        // Keys are strings, and the values are JSON.
        Ok(Copy { name: self.name.clone(), body: serde_json::to_string(&body).unwrap_or_default(), webhook })
    }

    fn is_played(&self, node: &ParsedNode) -> bool {
        node.name == self.trigger || (!node.is_disabled && !runs_for_real(node))
    }

    /// How many outputs of a node lead somewhere.
    fn outputs(&self, name: &str) -> usize {
        let own = self.workflow.connections.iter().filter(|one| one.source == name && one.output.kind == "main");
        own.map(|one| one.output.index + 1).max().unwrap_or(0)
    }

    fn settings(&self) -> Value {
        let kept =
            KEPT_SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), parsed(self.settings.get(*name)?))));
        let mut settings: Map<_, _> = kept.collect();
        settings.insert("executionTimeout".to_owned(), self.timeout.into());
        settings.insert("saveDataSuccessExecution".to_owned(), "all".into());
        settings.insert("saveDataErrorExecution".to_owned(), "all".into());
        Value::Object(settings)
    }
}

impl Copy {
    /// Its name, which no other copy has.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The workflow, as n8n's API accepts it.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The path below `/webhook` of the call that starts it with the recorded items, if they are not in the copy.
    pub fn webhook(&self) -> Option<&str> {
        self.webhook.as_deref()
    }

    /// Checks the finished copy; see [`sealed`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn sealed(&self) -> Result<(), String> {
        sealed(&self.body)
    }
}

impl Played {
    /// How many outputs had items.
    fn outputs(&self) -> usize {
        let used = |run: &PlayedRun| run.outputs.iter().rposition(|items| *items > 0).map_or(0, |last| last + 1);
        self.runs.iter().map(used).max().unwrap_or(0)
    }

    fn has_parts(&self) -> bool {
        self.runs.iter().any(|run| matches!(run.items, PlayedItems::InPart { .. }))
    }

    /// The JSON that the code of the node reads; `once`: it reads only the first item that it receives.
    fn json(&self, name: &str, once: bool) -> String {
        let json_of = |(at, run): (usize, &PlayedRun)| match &run.items {
            PlayedItems::Here(items) => {
                let [before, after] = self.part(at);
                format!("{before}{items}{after}")
            }
            PlayedItems::InPart { name, size } => json!([name, size]).to_string(),
        };
        let runs: Vec<_> = self.runs.iter().enumerate().map(json_of).collect();
        format!(r#"{{"name":{},"once":{once},"runs":[{}]}}"#, json!(name), runs.join(","))
    }

    /// The text before and after the items of a run, in the JSON that describes the run: together they make a part.
    pub fn part(&self, run: usize) -> [String; 2] {
        let Some(run) = self.runs.get(run) else { return Default::default() };
        let (received, error, outputs) = (json!(run.received), json!(run.error), self.outputs().max(1));
        [format!(r#"{{"in":{received},"out":["#), format!(r#"],"outputs":{outputs},"error":{error}}}"#)]
    }
}

/// The nodes of a workflow that are in its copy: neither notes nor sub-nodes, whose roots answer from the recording.
pub fn kept(workflow: &Parsed) -> impl Iterator<Item = &ParsedNode> {
    let is_sub_node = |name: &str| {
        let mut outputs = workflow.connections.iter().filter(|one| one.source == name).peekable();
        outputs.peek().is_some() && outputs.all(|one| one.output.kind.starts_with("ai_"))
    };
    workflow.nodes.iter().filter(move |node| !node.is(NOTE) && !is_sub_node(&node.name))
}

/// Checks the body of a finished copy: only types that may run, no credentials, no webhooks, code only where it cannot reach outside.
///
/// # Errors
/// The problem, which is a bug in n8n-lens. Such a copy must not be created.
pub fn sealed(body: &str) -> Result<(), String> {
    sealed::check(body)
}

/// The original name of the node that a copy's node stands for; `None` for a node that only copies have.
pub fn original_name(name: &str) -> Option<&str> {
    (name != START && !name.ends_with(RECORDED)).then_some(name)
}

/// The name of the node of a copy that receives the items of a replayed node with several outputs.
pub fn receiving_name(name: &str) -> String {
    format!("{name}{RECORDED}")
}

/// The original name of the node that failed in a copy.
pub fn failed_name(name: &str) -> &str {
    name.strip_suffix(RECORDED).unwrap_or(name)
}

/// The settings and the nodes of a document.
///
/// # Errors
/// [`Error::NotWorkflow`] if it is not a workflow.
pub fn parts(document: &Document) -> Result<(Parsed, Members), Error> {
    Ok((Parsed::of(document)?, document.settings()?))
}

/// A node that answers from the recording.
fn stub(node: &ParsedNode, name: &str, played: &Played) -> Value {
    let code = stub::code(&played.json(&node.name, node.executes_once()), played.has_parts());
    let id = if name == node.name { parsed_member(node, "id") } else { json!(format!("recorded {}", node.name)) };
    json!({"id": id, "name": name, "type": "n8n-nodes-base.code", "typeVersion": 2, "position": position(node),
           "parameters": {"mode": "runOnceForAllItems", "language": "javaScript", "jsCode": code}})
}

/// Sends each item to the output where it went.
fn switch(node: &ParsedNode, outputs: usize, played: &Played) -> Value {
    let ways: Vec<Vec<usize>> = played
        .runs
        .iter()
        .map(|run| {
            run.outputs.iter().enumerate().flat_map(|(output, items)| std::iter::repeat_n(output, *items)).collect()
        })
        .collect();
    // Items are answered one by one only where all of them went to the first output.
    let output = format!("={{{{ ({}[$runIndex] || [])[$itemIndex] || 0 }}}}", json!(ways));
    json!({"id": parsed_member(node, "id"), "name": node.name, "type": "n8n-nodes-base.switch", "typeVersion": 3.2,
           "position": position(node), "parameters": {"mode": "expression", "numberOutputs": outputs, "output": output}})
}

fn position(node: &ParsedNode) -> Value {
    node.member("position").unwrap_or_else(|| json!([0, 0]))
}

fn parsed_member(node: &ParsedNode, name: &str) -> Value {
    node.member(name).unwrap_or(Value::Null)
}

fn connection(source: &str, output: usize, target: &str, input: usize) -> Connection {
    let output = PortRef { kind: "main".to_owned(), index: output };
    let input = PortRef { kind: "main".to_owned(), index: input };
    Connection { source: source.to_owned(), output, target: target.to_owned(), input }
}

fn parsed(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The members of an object.
fn members(object: &Value) -> Members {
    object.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), raw(value))).collect()
}

fn raw(value: &Value) -> Box<RawValue> {
    // A value is JSON.
    to_raw_value(value).unwrap_or_default()
}
