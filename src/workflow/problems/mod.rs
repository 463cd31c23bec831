//! Problems in a workflow, as far as its own text shows them: no execution is read.
//!
//! Each rule is here because its findings were true on published workflows; patterns that were often harmless or intended
//! (a stray `}}`, a Merge with one input, a missing trigger) are not reported. Facts about n8n are cited where they are used.
//!
//! ```
//! use n8n_lens::workflow::Document;
//! use n8n_lens::workflow::problems::{Rule, problems};
//!
//! let document = Document::parse(br#"{"nodes": [{"name": "A", "type": "n8n-nodes-base.set", "typeVersion": 3.4,
//!     "parameters": {"value": "={{ $('Old name').item.json.id }}"}}], "connections": {}}"#)?;
//! let found = problems(&document, |_| None, |_, _| false)?;
//! assert_eq!((found.list[0].rule, found.list[0].parameter.as_deref()), (Rule::UnknownNode, Some("/value")));
//! # Ok::<(), n8n_lens::workflow::Error>(())
//! ```

mod connections;
mod duplicates;
mod expressions;
mod graph;
mod loops;
mod renamed;
mod responses;
mod scans;
mod view;

use std::borrow::Borrow;
use std::fmt;

use indexmap::IndexMap;

use super::catalogue::NodeType;
use super::parsed::ParsedNode;
use super::{Document, Error};
use scans::Scans;
use view::View;

/// The problems of a workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problems {
    /// The problems, errors first, otherwise in the order of the nodes.
    pub list: Vec<Problem>,
    /// The nodes without an incoming connection that are not triggers: often intended.
    pub unreached: Vec<String>,
    /// The nodes whose parameters could not be read, and were not checked.
    pub unread: Vec<String>,
    /// The nodes with several outputs that always output data: before n8n 3.0, the first output gets an empty item although
    /// another one has items; often meant.
    pub always_output: Vec<String>,
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Which rule found it.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The name of the node.
    pub node: String,
    /// The place below its `parameters`, a JSON Pointer.
    pub parameter: Option<String>,
    /// The source text of the problem in that parameter.
    pub reference: Option<String>,
    /// The problem, if the rule does not say everything.
    pub detail: Option<String>,
    /// How often the same problem was found in this node.
    pub times: usize,
}

/// What a problem says: the rule, the node, the reference and the detail.
pub type Statement = (Rule, String, Option<String>, Option<String>);

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// n8n refuses it, or it fails when the node runs.
    Error,
    /// It behaves differently from what it looks like.
    Warning,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `{{ $… }}` in a text that does not begin with `=`, so that n8n does not evaluate it.
    MissingEquals,
    /// An expression or code refers to a node that does not exist.
    UnknownNode,
    /// Nothing leads from the loop output of a Loop Over Items back to it, so it processes only one batch.
    LoopNeverReturns,
    /// A Respond to Webhook node follows a trigger that does not wait for it; n8n refuses to run the workflow.
    RespondNotAwaited,
    /// A trigger waits for a Respond to Webhook node that does not follow it; n8n refuses to run the workflow.
    WebhookNeverResponds,
    /// n8n's parser refuses an expression or code.
    Syntax,
    /// A connection comes from or leads to a node that does not exist.
    NoSuchNode,
    /// An expression reads an item of a node that never runs before this one.
    NotUpstream,
    /// A connection begins at an output that its node does not have.
    NoSuchOutput,
    /// Two nodes have one name.
    DuplicateName,
    /// Two triggers have the same URL.
    DuplicateWebhook,
}

impl Rule {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingEquals => "missingEquals",
            Self::UnknownNode => "unknownNode",
            Self::LoopNeverReturns => "loopNeverReturns",
            Self::RespondNotAwaited => "respondNotAwaited",
            Self::WebhookNeverResponds => "webhookNeverResponds",
            Self::Syntax => "syntax",
            Self::NoSuchNode => "noSuchNode",
            Self::NotUpstream => "notUpstream",
            Self::NoSuchOutput => "noSuchOutput",
            Self::DuplicateName => "duplicateName",
            Self::DuplicateWebhook => "duplicateWebhook",
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::MissingEquals | Self::LoopNeverReturns | Self::NoSuchNode | Self::NoSuchOutput => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Error { "error" } else { "warning" })
    }
}

impl Problem {
    fn new(rule: Rule, node: &str) -> Self {
        let severity = rule.severity();
        Self { rule, severity, node: node.to_owned(), parameter: None, reference: None, detail: None, times: 1 }
    }

    fn with_detail(self, detail: String) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// What it says, whatever the number of times and the place.
    pub fn statement(&self) -> Statement {
        (self.rule, self.node.clone(), self.reference.clone(), self.detail.clone())
    }
}

/// Checks a workflow. `node_type` looks a type up in the catalogue; without it, only what n8n-lens itself knows of outputs
/// is checked. `is_hidden` says which parameters are known to be hidden in n8n's editor, by a JSON Pointer: n8n does not
/// evaluate them. The expressions and connections of disabled nodes are not checked.
///
/// # Errors
/// [`Error::NotWorkflow`] if the nodes are not a list of objects, or the connections are not an object.
pub fn problems<'a>(
    document: &Document,
    node_type: impl Fn(&str) -> Option<&'a NodeType>,
    is_hidden: impl Fn(&ParsedNode, &str) -> bool,
) -> Result<Problems, Error> {
    let view = View::of(document, &[], &node_type)?;
    let found = found(&view, &node_type, is_hidden, &mut Scans::default());
    Ok(Problems { list: counted(found.list), ..found })
}

/// Checks a workflow before and after an edit, as [`problems`] does, but lists each occurrence of a problem: [`counted`] adds
/// them up. `after` is called once the one before was checked, so that the edit can be made meanwhile.
///
/// # Errors
/// As [`problems`], and as `after`.
pub fn problems_of_both<'a, D: Borrow<Document>>(
    before: &Document,
    after: impl FnOnce() -> Result<D, Error>,
    node_type: impl Fn(&str) -> Option<&'a NodeType>,
) -> Result<[Problems; 2], Error> {
    let before = View::of(before, &[], &node_type)?;
    let mut scans_before = Scans::default();
    let found_before = found(&before, &node_type, |_, _| false, &mut scans_before);
    let after = View::of(after()?.borrow(), &before.nodes, &node_type)?;
    // It may also hold texts of the workflow after, which lives shorter.
    let mut scans = scans_before;
    Ok([found_before, found(&after, &node_type, |_, _| false, &mut scans)])
}

fn found<'a, 'v>(
    view: &'v View,
    node_type: &impl Fn(&str) -> Option<&'a NodeType>,
    is_hidden: impl Fn(&ParsedNode, &str) -> bool,
    scans: &mut Scans<'v>,
) -> Problems {
    let outputs: Vec<_> = view.nodes.iter().map(|node| connections::outputs(node, node_type)).collect();
    let mut list = expressions::problems(view, &is_hidden, scans);
    list.extend(loops::problems(view));
    list.extend(responses::problems(view));
    list.extend(connections::problems(view, &outputs));
    list.extend(duplicates::problems(view));
    list.sort_by_key(|problem| (problem.severity, view.place(&problem.node)));
    let unread = view.active().filter(|(_, node)| !node.is_read).map(|(_, node)| node.name.clone()).collect();
    let always_output = connections::always_output(view, &outputs);
    Problems { list, unreached: view.unreached(), unread, always_output }
}

/// Each problem once per node, with the number of times.
pub fn counted(list: Vec<Problem>) -> Vec<Problem> {
    let mut counted: IndexMap<_, Problem> = IndexMap::new();
    for problem in list {
        counted.entry(problem.statement()).and_modify(|known| known.times += 1).or_insert(problem);
    }
    counted.into_values().collect()
}

#[cfg(test)]
mod tests;
