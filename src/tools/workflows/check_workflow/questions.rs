//! The references in a workflow's expressions, as questions about the items of an execution.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::compared::CheckedNode;
use super::counts::outputs_at_most_once;
use super::ways::{Connected, Ways};
use crate::execution::lookup::{self, Of, Question};
use crate::workflow::connections::Connection;
use crate::workflow::expression::{
    Access, NodeName, Origin, ParameterText, Reference, Scanned, Step, Syntax, Which, scan,
};
use crate::workflow::parsed::ParsedNode;

/// What a workflow's expressions ask of an execution.
#[derive(Default)]
pub(super) struct Questions {
    pub references: Vec<ReferenceQuestion>,
    /// The nodes that must have run.
    pub nodes: Vec<RequiredNode>,
}

/// A reference, and the question that it is.
pub(super) struct ReferenceQuestion {
    /// The node whose expression it is.
    pub node: String,
    /// Where the expression is, a JSON Pointer below `parameters`.
    pub parameter: String,
    /// Its source text.
    pub reference: String,
    /// Whether its expression, or the condition that contains it, provides for a missing value.
    pub is_guarded: bool,
    /// Whether only running the code shows which item it reads.
    pub is_computed: bool,
    /// Whether only the beginning of its path is looked up: the code may have set the rest.
    pub is_set_below: bool,
    /// Whether the node whose items it reads can only run after this one.
    pub is_of_later: bool,
    /// The node whose number of received items says whether all items of the other one are read, by its name in the execution;
    /// `None` if it says nothing.
    pub receiver: Option<String>,
    /// Whether the text that it is in provides for values of several kinds.
    pub handles_kinds: bool,
    /// Whether n8n puts its value into a text.
    pub is_in_text: bool,
    /// What should stand before the path ([`Reference::meant`]): the reference itself reads nothing.
    pub meant: Option<&'static str>,
    pub question: Question,
    /// For an item by its number, the question for all items of its list.
    pub list: Option<Question>,
    /// For a length, the question for a field of that name.
    pub length: Option<Question>,
}

/// A node whose items an expression reads, without asking whether there are any.
pub(super) struct RequiredNode {
    /// The node whose expression it is.
    pub node: String,
    /// Where the expression is, a JSON Pointer below `parameters`.
    pub parameter: String,
    /// As written.
    pub reference: String,
    /// The name of the node whose expression it is, in the execution.
    pub asking: String,
    /// The name of the other one there.
    pub output: String,
    /// Whether it can only run after this one.
    pub is_later: bool,
}

/// Conditions that are about whether there is a value (`FilterOperatorType` in `packages/workflow/src/interfaces.ts`; the last
/// two of If before its version 2).
const ASKS_FOR_VALUE: [&str; 6] = ["exists", "notExists", "empty", "notEmpty", "isEmpty", "isNotEmpty"];

/// Nodes whose parameters n8n evaluates only for the first item (`getNodeParameter(…, 0)` in `n8n-nodes-base`).
const EVALUATED_ONCE: [&str; 14] = [
    "n8n-nodes-base.respondToWebhook",
    "n8n-nodes-base.wait",
    "n8n-nodes-base.stopAndError",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.sort",
    "n8n-nodes-base.splitInBatches",
    "n8n-nodes-base.aggregate",
    "n8n-nodes-base.summarize",
    "n8n-nodes-base.form",
    "n8n-nodes-base.merge",
    "n8n-nodes-base.compareDatasets",
    "n8n-nodes-base.readBinaryFiles",
    "n8n-nodes-base.simulate",
    "n8n-nodes-base.xml",
];

/// All references that can be looked up, and all nodes that must have run; `runs` tells how often a node of the execution did.
pub(super) fn questions(nodes: &[CheckedNode], connections: &[Connection], runs: impl Fn(&str) -> u64) -> Questions {
    let is_idle = |node: &&CheckedNode| node.output_as.as_deref().is_some_and(|name| runs(name) == 0);
    let idle = nodes.iter().filter(is_idle).map(|node| node.node.name.as_str()).collect();
    let connected = Connected::new(connections, idle);
    let by_name: HashMap<_, _> = nodes.iter().map(|node| (node.node.name.as_str(), node)).collect();
    let mut asked = Questions::default();
    for node in nodes.iter().filter(|node| node.is_checked()) {
        let ways = LazyCell::new(|| connected.ways(&node.node.name));
        for text in &node.node.texts {
            let Some(syntax) = text.syntax else { continue };
            let scanned = scan(&text.text, syntax);
            let of_text = OfText { node, text, scanned: &scanned, by_name: &by_name, ways: &|| &*ways };
            asked.references.extend(scanned.references.iter().filter_map(|reference| of_text.reference(reference)));
            asked.nodes.extend(scanned.names.iter().filter_map(|name| of_text.node(name)));
        }
    }
    asked
}

/// The text of a parameter that holds code.
struct OfText<'a> {
    node: &'a CheckedNode,
    text: &'a ParameterText,
    scanned: &'a Scanned,
    by_name: &'a HashMap<&'a str, &'a CheckedNode>,
    /// The ways to the node.
    ways: &'a dyn Fn() -> &'a Ways<'a>,
}

impl OfText<'_> {
    fn reference(&self, reference: &Reference) -> Option<ReferenceQuestion> {
        let parsed = &self.node.node;
        let reads_field = match reference.meant {
            Some(_) => reference.received == reference.path.len(),
            None => reference.received > 0,
        };
        if !reads_field || self.is_written(reference) || is_unused(parsed, &self.text.pointer) {
            return None;
        }
        let receiver = self.receiver();
        let (asking, of) = match &reference.origin {
            // Code that runs once has no current item.
            Origin::Input(Which::Item) if runs_once(parsed) && self.text.syntax == Some(Syntax::Code) => return None,
            Origin::Input(which) => {
                let receiver = receiver.filter(|receiver| !receiver.has_several_inputs)?;
                let which = match which {
                    Which::Item if is_evaluated_once(self.node, &self.text.pointer) => Which::First,
                    which => *which,
                };
                (receiver.ran_as.clone()?, Of::Input(of_which(which)))
            }
            Origin::Node { name, output, which } => {
                let node = self.by_name.get(name.as_str())?.output_as.clone()?;
                let outputs = output.map_or_else(|| self.outputs(name, *which), |output| vec![output]);
                (self.asking()?, Of::Output { node, outputs, which: of_which(*which) })
            }
        };
        let which = match &reference.origin {
            Origin::Node { which, .. } | Origin::Input(which) => *which,
        };
        let question =
            Question { node: asking, of, path: reference.path[..reference.received].iter().map(step).collect() };
        let takes_length = reference.takes_length && !question.path.is_empty() && reference.meant.is_none();
        Some(ReferenceQuestion {
            node: parsed.name.clone(),
            parameter: self.text.pointer.clone(),
            reference: self.written(reference),
            is_guarded: reference.is_guarded
                || is_test(parsed, &self.text.pointer)
                || is_tested_by_a_sibling(parsed, &self.text.pointer, reference),
            is_computed: which == Which::Any,
            is_set_below: reference.received < reference.path.len(),
            is_of_later: matches!(&reference.origin, Origin::Node { name, .. } if !self.may_follow(name)),
            receiver: self.counted_receiver(&reference.origin),
            handles_kinds: self.handles_kinds(reference),
            is_in_text: reference.is_in_text,
            meant: reference.meant,
            list: matches!(which, Which::At(_)).then(|| list_of(&question)),
            length: takes_length.then(|| length_of(&question)),
            question,
        })
    }

    /// A node whose items are read; n8n fails if it did not run.
    fn node(&self, name: &NodeName) -> Option<RequiredNode> {
        let reads_items = matches!(name.access, Access::PairedItem | Access::Items);
        let asks = |other: &NodeName| other.access == Access::IsExecuted && other.name == name.name;
        // Code with branches may not come here.
        let may_not_run = self.scanned.has_branches || self.scanned.names.iter().any(asks);
        if !reads_items || name.is_in_comment || name.is_guarded || may_not_run {
            return None;
        }
        let parsed = &self.node.node;
        let output = self.by_name.get(name.name.as_str())?.output_as.clone()?;
        if is_test(parsed, &self.text.pointer) {
            return None;
        }
        let field = self.scanned.references.iter().find(|reference| reference.range.start == name.source.start);
        let end = field.map_or(name.source.end, |field| field.range.end);
        Some(RequiredNode {
            node: parsed.name.clone(),
            parameter: self.text.pointer.clone(),
            reference: self.text.text.get(name.source.start..end).unwrap_or_default().to_owned(),
            asking: self.asking()?,
            output,
            is_later: !self.may_follow(&name.name),
        })
    }

    /// A reference as it is written, or for a field in a pattern, as it could be.
    fn written(&self, reference: &Reference) -> String {
        let text = |range: &Range<usize>| self.text.text.get(range.clone()).unwrap_or_default();
        let whole = reference.taken_from.as_ref().map(|whole| format!("{}.", text(whole))).unwrap_or_default();
        whole + text(&reference.range)
    }

    /// Whether the text provides for several kinds of the value, here or elsewhere.
    fn handles_kinds(&self, reference: &Reference) -> bool {
        let reads_it = |other: &Reference| other.origin == reference.origin && other.path == reference.path;
        self.scanned.references.iter().any(|other| other.handles_kinds && reads_it(other))
    }

    /// Whether items can come from this node, or it is not known that they cannot: what leads to a sub-node is not what leads
    /// to the node that uses it.
    fn may_follow(&self, name: &str) -> bool {
        self.node.root.is_some() || self.node.ran_as.is_none() || (self.ways)().has(name)
    }

    /// The outputs of a node that a reference can read; none if that is not known.
    fn outputs(&self, name: &str, which: Which) -> Vec<u64> {
        // What leads to a sub-node is not what leads to the node that uses it.
        if self.node.root.is_some() {
            return Vec::new();
        }
        match which {
            Which::First | Which::Last | Which::At(_) => (self.ways)().nearest_outputs(name),
            Which::Item | Which::Any => (self.ways)().outputs(name),
        }
    }

    /// This node, if it reads as many items of the other node as it receives: each of its items is evaluated, all came on one way,
    /// and no node on that way makes several items of one.
    fn counted_receiver(&self, origin: &Origin) -> Option<String> {
        let Origin::Node { name, which: Which::Item, .. } = origin else { return None };
        let parsed = &self.node.node;
        let is_code_for_all = runs_once(parsed) && self.text.syntax == Some(Syntax::Code);
        if self.node.root.is_some() || is_code_for_all || is_evaluated_once(self.node, &self.text.pointer) {
            return None;
        }
        let keeps = |name: &&str| self.by_name.get(name).is_some_and(|node| outputs_at_most_once(&node.node));
        (self.ways)().after(name)?.iter().all(keeps).then(|| self.node.ran_as.clone())?
    }

    /// The node whose input `$json` is an item of.
    fn receiver(&self) -> Option<&CheckedNode> {
        match &self.node.root {
            Some(root) => self.by_name.get(root.as_str()).copied(),
            None => Some(self.node),
        }
    }

    /// The name of the node in the execution.
    fn asking(&self) -> Option<String> {
        self.node.ran_as.clone().or_else(|| self.node.output_as.clone())
    }

    /// Whether nothing is read of an item: code assigns the field, or has done so in an earlier statement.
    fn is_written(&self, reference: &Reference) -> bool {
        let is_before = |other: &Reference| {
            let between = self.text.text.get(other.range.end..reference.range.start);
            between.is_some_and(|between| between.contains([';', '\n']))
        };
        let writes = |other: &Reference| other.is_written && is_within(reference, other) && is_before(other);
        reference.is_written || self.scanned.references.iter().any(writes)
    }
}

/// Whether a reference reads what another one reads, or something in it.
fn is_within(reference: &Reference, other: &Reference) -> bool {
    other.origin == reference.origin && reference.path.starts_with(&other.path)
}

/// Whether a Code node runs once for all items.
fn runs_once(node: &ParsedNode) -> bool {
    node.parameter("mode") != Some("runOnceForEachItem") && !node.node_type.ends_with(".functionItem")
}

/// Whether n8n evaluates a parameter for the first item only.
fn is_evaluated_once(CheckedNode { node, root, .. }: &CheckedNode, pointer: &str) -> bool {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let top = pointer.split('/').nth(1).unwrap_or_default();
    let (package, bare) = node.node_type.rsplit_once('.').unwrap_or_default();
    match (package, bare) {
        _ if node.member("executeOnce") == Some(Value::Bool(true)) => true,
        ("n8n-nodes-base", "removeDuplicates") => {
            !matches!(name, "dedupeField" | "incrementalDedupeField" | "dateDedupeField")
        }
        ("n8n-nodes-base", "convertToFile") => match node.parameter("operation").unwrap_or("csv") {
            "toJson" => node.parameter("mode") != Some("each"),
            operation => !matches!(operation, "iCal" | "toBinary" | "toText"),
        },
        // The inputs of the other workflow are made of each item.
        ("n8n-nodes-base", "executeWorkflow") => node.parameter("mode") != Some("each") && top != "workflowInputs",
        ("n8n-nodes-base", "executeCommand") => node.at("/executeOnce") != Some(&Value::Bool(false)),
        ("n8n-nodes-base", "itemLists") => node.parameter("operation").is_some_and(|one| one != "splitOutItems"),
        ("n8n-nodes-base", "spreadsheetFile") => node.parameter("operation") == Some("toFile"),
        // Which table it is is asked once, what is written for each item.
        ("n8n-nodes-base", "googleSheets") => {
            node.parameter("resource") != Some("spreadsheet") && matches!(top, "documentId" | "sheetName")
        }
        ("n8n-nodes-base", "airtable") => {
            node.parameter("resource") != Some("base") && matches!(top, "base" | "application" | "table")
        }
        ("n8n-nodes-base", "supabase") => top == "tableId",
        // Agents and chains ask for their model and their memory once (`getInputConnectionData(…, 0)`).
        ("@n8n/n8n-nodes-langchain", _) => root.is_some() && (bare.starts_with("lm") || bare.starts_with("memory")),
        _ => EVALUATED_ONCE.contains(&node.node_type.as_str()),
    }
}

/// Whether a parameter is a side of a condition that tests whether a value exists.
fn is_test(node: &ParsedNode, pointer: &str) -> bool {
    above(pointer).and_then(|condition| node.at(condition)).is_some_and(tests)
}

/// Whether a parameter is the right side of a condition that has none: n8n evaluates it, and does nothing with it.
fn is_unused(node: &ParsedNode, pointer: &str) -> bool {
    let condition = pointer.strip_suffix("/rightValue").and_then(|condition| node.at(condition));
    condition.is_some_and(|condition| condition["operator"]["singleValue"] == true)
}

/// Whether a sibling condition, or one of an earlier rule of a Switch, tests that the value, or an object containing it, exists.
fn is_tested_by_a_sibling(node: &ParsedNode, pointer: &str, reference: &Reference) -> bool {
    let sides =
        |condition: &Value| ["leftValue", "value1"].map(|side| condition[side].as_str().unwrap_or_default().to_owned());
    let is_about = |text: &String| {
        let tested = scan(text, Syntax::Expression).references;
        text.starts_with('=') && tested.iter().any(|tested| !tested.path.is_empty() && is_within(reference, tested))
    };
    conditions_before(node, pointer).any(|condition| tests(condition) && sides(condition).iter().any(is_about))
}

/// The conditions next to this one, and those of the earlier rules of a Switch, which takes the items that they are true for.
fn conditions_before<'n>(node: &'n ParsedNode, pointer: &str) -> impl Iterator<Item = &'n Value> {
    const RULES: &str = "/rules/values/";
    let rule = pointer.strip_prefix(RULES).and_then(|rest| rest.split_once('/')?.0.parse::<usize>().ok());
    let earlier = (0..rule.unwrap_or(0)).map(|rule| format!("{RULES}{rule}/conditions/conditions"));
    let own = above(pointer).and_then(above).map(str::to_owned);
    earlier.chain(own).filter_map(|list| node.at(&list)?.as_array()).flatten()
}

fn above(pointer: &str) -> Option<&str> {
    pointer.rsplit_once('/').map(|(above, _)| above)
}

/// Whether a condition tests whether there is a value.
fn tests(condition: &Value) -> bool {
    let operation = condition["operator"]["operation"].as_str().or(condition["operation"].as_str());
    operation.is_some_and(|operation| ASKS_FOR_VALUE.contains(&operation))
}

/// The question for all items of the list that a question reads one of.
fn list_of(question: &Question) -> Question {
    let mut list = Question { path: Vec::new(), ..question.clone() };
    match &mut list.of {
        Of::Input(which) | Of::Output { which, .. } => *which = lookup::Which::Any,
    }
    list
}

/// The question for a field named `length`, which is there if not the length of a value is meant.
fn length_of(question: &Question) -> Question {
    let length = lookup::Step::Name("length".to_owned());
    Question { path: [&question.path[..], &[length]].concat(), ..question.clone() }
}

fn of_which(which: Which) -> lookup::Which {
    match which {
        Which::Item | Which::Any => lookup::Which::Any,
        Which::First => lookup::Which::First,
        Which::Last => lookup::Which::Last,
        Which::At(index) => lookup::Which::Index(index),
    }
}

fn step(step: &Step) -> lookup::Step {
    match step {
        Step::Name(name) => lookup::Step::Name(name.clone()),
        Step::Index(index) => lookup::Step::Index(*index),
    }
}
