//! What is asked of an execution, and which answers belong to which reference.

use indexmap::IndexSet;

use super::compared::CheckedNode;
use super::questions::{Questions, ReferenceQuestion};
use crate::execution::lookup::{Found, Of, Question, RunsView, Which};

/// The data for looking references up in an execution.
pub(super) struct Grounds {
    pub nodes: Vec<CheckedNode>,
    pub asked: Questions,
    pub runs: RunsView,
}

/// What was found of a reference.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub found: &'a Found,
    /// How many items its node received, if that matters.
    pub received: Option<u64>,
    /// All items of the list that it reads one of.
    pub list: Option<&'a Found>,
    /// A field named `length` at its path.
    pub length: Option<&'a Found>,
}

impl Grounds {
    /// Whether the execution ran any of the nodes, or nodes with their names.
    pub(super) fn is_of_these_nodes(&self) -> bool {
        let ran = |name: &str| self.runs.runs_of(name) > 0;
        self.checked().any(|node| node.is_known() || ran(&node.node.name))
    }

    /// The nodes whose expressions are looked up.
    pub(super) fn checked(&self) -> impl Iterator<Item = &CheckedNode> {
        self.nodes.iter().filter(|node| node.is_checked())
    }

    /// The nodes whose received items are counted: the counts decide which items some references read.
    fn receivers(&self) -> IndexSet<&str> {
        self.asked.references.iter().filter_map(|asked| asked.receiver.as_deref()).collect()
    }

    /// The questions of all references, those for the numbers of received items, and those that few references have in addition.
    pub(super) fn questions(&self) -> Vec<Question> {
        let of_references = self.asked.references.iter().map(|asked| asked.question.clone());
        let received = |node: &str| Question { node: node.to_owned(), of: Of::Input(Which::Any), path: Vec::new() };
        let received = self.receivers().into_iter().map(received);
        let more = self.asked.references.iter().flat_map(more_of).flatten();
        of_references.chain(received).chain(more.cloned()).collect()
    }

    /// The answers to these questions, for each reference; none if there are too few.
    pub(super) fn evidence<'a>(&self, found: &'a [Found]) -> Vec<Evidence<'a>> {
        let receivers = self.receivers();
        let (of_references, rest) = found.split_at(self.asked.references.len().min(found.len()));
        let (received, more) = rest.split_at(receivers.len().min(rest.len()));
        let mut more = more.iter();
        let evidence = |(asked, found): (&ReferenceQuestion, &'a Found)| {
            let received = asked.receiver.as_deref().and_then(|node| received.get(receivers.get_index_of(node)?));
            let [list, length] = more_of(asked).map(|question| question.and_then(|_| more.next()));
            Evidence { found, received: received.map(|found| found.items), list, length }
        };
        self.asked.references.iter().zip(of_references).map(evidence).collect()
    }
}

/// The questions that a reference has in addition.
fn more_of(asked: &ReferenceQuestion) -> [Option<&Question>; 2] {
    [asked.list.as_ref(), asked.length.as_ref()]
}
