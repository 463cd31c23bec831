//! How many items each node took: the sum of the outputs that its runs name as sources.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::source::InputSource;

/// Memory for nodes, the counts of their outputs, and open questions.
const BYTES: usize = 8 * 1024 * 1024;

/// The items that nodes took. A source can come before or after the run that names it.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    nodes: IndexMap<String, Node>,
    /// Sources that were named before they were read.
    pending: Vec<Pending>,
    /// How many nodes have begun.
    begun: u64,
    bytes: usize,
    /// Whether there were too many runs.
    is_full: bool,
}

/// A node that took the items of a source that was not read yet.
#[derive(Debug)]
struct Pending {
    source: InputSource,
    /// Where the node is, and its `begun`.
    taker: usize,
    begun: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// How many nodes began before it: another one with its name has another number.
    begun: u64,
    taken: u64,
    /// The items of each output of each run, one run after the other.
    counts: Vec<u32>,
    /// Where the counts of each run end.
    ends: Vec<u32>,
}

impl Node {
    /// What an output of a run held; `None` if the run is not known.
    fn items(&self, run: u64, output: u64) -> Option<u64> {
        let run = usize::try_from(run).ok()?;
        let end = *self.ends.get(run)? as usize;
        let begin = run.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let output = usize::try_from(output).ok().and_then(|output| begin.checked_add(output));
        Some(output.filter(|at| *at < end).map_or(0, |at| self.counts[at].into()))
    }
}

impl Inflow {
    /// The runs of this node follow; of several nodes with the same name the last one counts.
    pub(super) fn begin(&mut self, node: &str) {
        self.begun += 1;
        if self.hold(size_of::<Node>() + node.len()) {
            self.nodes.insert(node.to_owned(), Node { begun: self.begun, ..Node::default() });
        }
    }

    /// Whether there were too many runs: nothing more is noted.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The next run of a node.
    pub(super) fn add(&mut self, node: &str, outputs: &[u64], sources: &[Option<InputSource>]) {
        if !self.hold(size_of::<u32>() * (outputs.len() + 1)) {
            return;
        }
        let Some((taker, _, of_node)) = self.nodes.get_full_mut(node) else { return };
        of_node.counts.extend(outputs.iter().map(|items| u32::try_from(*items).unwrap_or(u32::MAX)));
        of_node.ends.push(u32::try_from(of_node.counts.len()).unwrap_or(u32::MAX));
        let begun = of_node.begun;
        for source in sources.iter().flatten() {
            if let Some(items) = self.items(source) {
                self.take(taker, items);
            } else if self.hold(size_of::<Pending>() + source.node.len()) {
                self.pending.push(Pending { source: source.clone(), taker, begun });
            }
        }
    }

    /// Whether there is room for this many more bytes; if not, everything is dropped, and nothing is held from then on.
    fn hold(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > BYTES && !self.is_full {
            *self = Self { is_full: true, ..Self::default() };
        }
        !self.is_full
    }

    fn items(&self, source: &InputSource) -> Option<u64> {
        self.nodes.get(&source.node).and_then(|from| from.items(source.run, source.output))
    }

    fn take(&mut self, taker: usize, items: u64) {
        if let Some((_, node)) = self.nodes.get_index_mut(taker) {
            node.taken = node.taken.saturating_add(items);
        }
    }

    /// The items that each node took; `None` if there were too many runs to count them.
    pub(super) fn finish(mut self) -> Option<HashMap<String, u64>> {
        if self.is_full {
            return None;
        }
        for Pending { source, taker, begun } in std::mem::take(&mut self.pending) {
            let is_current = self.nodes.get_index(taker).is_some_and(|(_, node)| node.begun == begun);
            if let Some(items) = self.items(&source).filter(|_| is_current) {
                self.take(taker, items);
            }
        }
        Some(self.nodes.into_iter().map(|(name, node)| (name, node.taken)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(node: &str, output: u64, run: u64) -> Option<InputSource> {
        Some(InputSource { node: node.to_owned(), output, run })
    }

    #[test]
    fn sources_before_and_after_a_run_count() {
        let mut inflow = Inflow::default();
        inflow.begin("Loop");
        inflow.add("Loop", &[0, 10], &[source("Read", 0, 0)]);
        inflow.add("Loop", &[20, 0], &[source("Work", 0, 0), None, source("Gone", 0, 0), source("Loop", 7, 0)]);
        inflow.begin("Work");
        inflow.add("Work", &[9], &[source("Loop", 1, 0)]);
        inflow.begin("Read");
        inflow.add("Read", &[20], &[]);
        let taken = inflow.finish().unwrap();
        assert_eq!((taken["Loop"], taken["Work"], taken["Read"]), (29, 10, 0));
    }

    #[test]
    fn too_many_runs_are_not_counted() {
        let mut inflow = Inflow::default();
        inflow.begin("Loop");
        (0..BYTES / 8 - 100).for_each(|_| inflow.add("Loop", &[1], &[]));
        assert!(!inflow.is_full && !inflow.nodes.is_empty());
        (0..100).for_each(|_| inflow.add("Loop", &[1], &[]));
        assert!(inflow.is_full && inflow.nodes.is_empty(), "nothing is held any longer");
        inflow.begin("Loop");
        assert!(inflow.nodes.is_empty());
        assert_eq!(inflow.finish(), None);
    }

    #[test]
    fn of_two_nodes_with_one_name_the_last_one_counts() {
        let mut inflow = Inflow::default();
        for _ in 0..2 {
            inflow.begin("Work");
            inflow.add("Work", &[9], &[source("Read", 0, 0)]);
        }
        inflow.begin("Read");
        inflow.add("Read", &[20], &[]);
        assert_eq!(inflow.finish().unwrap()["Work"], 20);
    }
}
