//! The first pass: which nodes ran, and which outputs they received.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::run_set::RunSet;
use crate::execution::Error;
use crate::execution::header::Header;
use crate::execution::order::{Order, Starts};
use crate::execution::runs::{self, Item, ItemPlace, Parts, RunHead, RunObserver};
use crate::execution::workflow;
use crate::json::{Cursor, Keep, Projection, ReadError};

/// Memory for what the nodes received.
const BYTES: usize = 3 * 1024 * 1024;

/// The memory of an output that a node received, in addition to its runs and the name of its node: an estimate.
const OUTPUT_BYTES: usize = 120;

/// Reads a [`RunsView`]: the first pass of a look-up. No item is read.
///
/// A loop names one run after the other, which takes a few bytes, even for 300,000 runs. Only where a node received
/// single runs here and there, as after an If in a loop, does each of them take 8 bytes. If those of all nodes take
/// more than 3 MiB, the input of the node being read is forgotten: its questions have the answer
/// [`Outcome::TooOften`](super::Outcome::TooOften), and those of other nodes are not affected.
#[derive(Clone, Copy, Debug)]
pub struct RunsProjection;

/// The runs of an execution.
#[derive(Debug)]
pub struct RunsView {
    /// The execution's metadata.
    pub header: Header,
    /// Whether n8n redacted the items: nothing can be looked up in them.
    pub redacted: bool,
    /// The member `workflowData` as JSON, with U+FFFD in place of lone surrogates; `None` if there is none, or if it has
    /// more than 16 MiB.
    pub workflow: Option<Vec<u8>>,
    pub(super) nodes: IndexMap<String, RanNode>,
    pub(super) order: Order,
    /// The nodes whose output was pinned.
    pinned: BTreeSet<String>,
}

impl RunsView {
    /// The names of all executed nodes, in the order of the body; a name of more than 1,000 characters is shortened.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// How often a node ran; 0 if it did not.
    pub fn runs_of(&self, node: &str) -> u64 {
        self.node(node).map_or(0, |node| node.starts.runs)
    }

    /// Whether a node ran once, and is known to have started before the first run of another one.
    pub fn ran_before(&self, node: &str, other: &str) -> bool {
        let starts = |name| self.node(name).map(|node| node.starts).filter(|starts| starts.runs > 0);
        let Some((one, other)) = starts(node).zip(starts(other)) else { return false };
        one.runs == 1 && self.order.is_before(one.first, other.first)
    }

    /// Whether the output of a node was pinned: expressions read that, even if the node did not run
    /// (`getNodeExecutionOrPinnedData` in `workflow-data-proxy.ts`).
    pub fn is_pinned(&self, node: &str) -> bool {
        self.pinned.contains(&crate::json::hold_name(node))
    }

    fn node(&self, name: &str) -> Option<&RanNode> {
        self.nodes.get(&crate::json::hold_name(name))
    }
}

/// An executed node.
#[derive(Debug, Default)]
pub(super) struct RanNode {
    /// Its number among the members of `runData`, from 1: of several with the same name the last one counts.
    pub(super) number: u64,
    pub(super) starts: Starts,
    /// Its runs whose input n8n stores itself.
    pub(super) own_input: RunSet,
    /// The `main` outputs that its other runs received, each with its runs.
    pub(super) received: IndexMap<Output, RunSet>,
    /// Whether there was no room for them.
    pub(super) is_too_often: bool,
    /// Whether n8n recovered one of its runs after a crash: its items are placeholders.
    pub(super) has_placeholders: bool,
    /// The memory that they take.
    bytes: usize,
}

/// A `main` output of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Output {
    pub(super) node: String,
    pub(super) output: u64,
}

impl RanNode {
    fn add(&mut self, run: &RunHead) {
        self.starts.add(run.start);
        self.has_placeholders |= run.start.has_placeholders();
        // As in the view of a node: if n8n stores the input, the sources are the nodes that use it.
        if run.has_input_lists {
            self.own_input.add(run.index);
        } else if !self.is_too_often {
            run.sources.iter().flatten().for_each(|source| self.receive(&source.node, source.output, source.run));
        }
    }

    fn receive(&mut self, node: &str, output: u64, run: u64) {
        let of_last = self.received.last_mut().filter(|(last, _)| last.output == output && last.node == node);
        let runs = match of_last {
            Some((_, runs)) => runs,
            None => {
                let runs = self.received.entry(Output { node: node.to_owned(), output }).or_default();
                let is_new = runs.bytes() == 0;
                self.bytes += usize::from(is_new) * (OUTPUT_BYTES + node.len());
                runs
            }
        };
        let before = runs.bytes();
        runs.add(run);
        self.bytes = (self.bytes + runs.bytes()).saturating_sub(before);
    }

    fn forget(&mut self) {
        (self.received, self.own_input, self.bytes) = Default::default();
        self.is_too_often = true;
    }
}

impl Projection for RunsProjection {
    type View = Result<RunsView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(Keep::Whole));

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |_| Reader::default(), workflow::read_json)?;
        let mut nodes = execution.runs.nodes;
        for node in nodes.values_mut() {
            node.own_input.sort();
            node.received.values_mut().for_each(RunSet::sort);
        }
        let order = Order::new(nodes.values().map(|node| node.starts.counters).sum());
        Ok(RunsView {
            header: execution.header,
            redacted: execution.data.redacted,
            workflow: execution.workflow,
            nodes,
            order,
            pinned: execution.data.result.pinned,
        })
    }
}

/// Reads the runs.
#[derive(Default)]
struct Reader {
    nodes: IndexMap<String, RanNode>,
    /// How many nodes have begun.
    begun: u64,
    /// The node that is being read.
    node: RanNode,
    /// The memory that all others take.
    bytes: usize,
}

impl RunObserver for Reader {
    const PARTS: Parts = Parts::REDACTED.and(Parts::START).and(Parts::SOURCES).and(Parts::OWN_INPUT).and(Parts::PINNED);

    fn begin_node(&mut self, _: &str) {
        self.begun += 1;
        self.node = RanNode { number: self.begun, ..RanNode::default() };
    }

    fn item(&mut self, _: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        item.skip()
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.node.add(&run);
        if self.bytes + self.node.bytes + self.node.own_input.bytes() > BYTES {
            self.node.forget();
        }
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        let node = std::mem::take(&mut self.node);
        self.bytes += node.bytes + node.own_input.bytes();
        if let Some(before) = self.nodes.insert(name, node) {
            self.bytes -= before.bytes + before.own_input.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::workflow::JSON_BYTES;

    fn read(body: &str) -> RunsView {
        RunsProjection.read_from(body.as_bytes()).unwrap()
    }

    fn received(view: &RunsView, node: &str) -> Vec<(String, u64, Vec<u64>)> {
        let node = &view.nodes[node];
        let runs = |runs: &RunSet| (0..20).filter(|run| runs.contains(*run)).collect();
        node.received.iter().map(|(of, set)| (of.node.clone(), of.output, runs(set))).collect()
    }

    #[test]
    fn what_a_node_received_is_held_once() {
        let view = read(
            r#"{"id":"7","workflowData":{"name":"\ud83d","nodes":[1.50]},"data":{"redactionInfo":{"isRedacted":true},"resultData":{"runData":{
            "A":[{"source":[{"previousNode":"gone"}]}],
            "B":[{"source":[{"previousNode":"A","previousNodeOutput":1},null,{"previousNode":"A"}]},
                 {"source":[{"previousNode":"A","previousNodeRun":3},{"previousNode":"A"}]}],
            "Tool":[{"inputOverride":{"ai_tool":[[]]},"source":[{"previousNode":"Agent"}]},{"source":[{"previousNode":"B"}]}],
            "A":[{"source":[]},{}]}}}}"#,
        );
        assert!(view.redacted);
        assert_eq!(view.workflow.as_deref(), Some("{\"name\":\"\u{fffd}\",\"nodes\":[1.50]}".as_bytes()));
        assert_eq!(view.names().collect::<Vec<_>>(), ["A", "B", "Tool"]);
        assert_eq!((view.runs_of("A"), view.runs_of("B"), view.runs_of("C")), (2, 2, 0));
        assert_eq!((view.nodes["A"].number, view.nodes["A"].received.len()), (4, 0));
        let of_b = [("A".to_owned(), 1, vec![0]), ("A".to_owned(), 0, vec![0, 3])];
        assert_eq!(received(&view, "B"), of_b);
        assert_eq!(received(&view, "Tool"), [("B".to_owned(), 0, vec![0])]);
        assert!(view.nodes["Tool"].own_input.contains(0) && !view.nodes["Tool"].own_input.contains(1));
    }

    #[test]
    fn what_is_received_too_irregularly_is_forgotten() {
        let runs = |step: usize| {
            let run =
                |at: usize| format!(r#"{{"source":[{{"previousNode":"Loop","previousNodeRun":{}}}]}}"#, at * step);
            (0..BYTES / 8 + 10).map(run).collect::<Vec<_>>().join(",")
        };
        let body = format!(
            r#"{{"id":"7","data":{{"resultData":{{"runData":{{"Odd":[{}],"Loop":[{}]}}}}}}}}"#,
            runs(2),
            runs(1)
        );
        let view = read(&body);
        assert!(view.nodes["Odd"].is_too_often && view.nodes["Odd"].received.is_empty());
        assert!(!view.nodes["Loop"].is_too_often && view.nodes["Loop"].bytes < 200);
        assert_eq!(view.runs_of("Odd"), BYTES as u64 / 8 + 10);
    }

    #[test]
    fn a_workflow_is_bounded() {
        let body = |bytes: usize| format!(r#"{{"id":"7","workflowData":{{"name":"{}"}}}}"#, "x".repeat(bytes));
        let whole = |bytes: usize| read(&body(bytes)).workflow.map(|workflow| workflow.len());
        let most = JSON_BYTES - r#"{"name":""}"#.len();
        assert_eq!((whole(most), whole(most + 1)), (Some(JSON_BYTES), None));
        assert!(read(r#"{"id":"7","workflowData":[1]}"#).workflow.is_none());
    }
}
