//! How many items each node took: the sum of the outputs that its runs name as sources.

use std::collections::HashMap;

use crate::execution::run::InputSource;

/// How many output counts and open questions are held: 4 MiB, and 1.5 MiB.
const COUNTS: usize = 1024 * 1024;
const PENDING: usize = 64 * 1024;

/// The items that nodes took. A source can come before or after the run that names it.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    nodes: HashMap<String, Node>,
    /// Sources that were not there yet when they were named, each with the node that took its items.
    pending: Vec<(InputSource, String)>,
    counts: usize,
    /// Whether there were too many runs.
    is_full: bool,
}

#[derive(Debug, Default)]
struct Node {
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
        if let Some(before) = self.nodes.insert(node.to_owned(), Node::default()) {
            self.counts -= before.counts.len() + before.ends.len();
        }
        self.pending.retain(|(_, taker)| taker != node);
    }

    /// The next run of a node.
    pub(super) fn add(&mut self, node: &str, outputs: &[u64], sources: &[Option<InputSource>]) {
        self.counts += outputs.len() + 1;
        self.is_full |= self.counts > COUNTS || self.pending.len() > PENDING;
        if self.is_full {
            return;
        }
        let of_node = self.nodes.entry(node.to_owned()).or_default();
        of_node.counts.extend(outputs.iter().map(|items| u32::try_from(*items).unwrap_or(u32::MAX)));
        of_node.ends.push(u32::try_from(of_node.counts.len()).unwrap_or(u32::MAX));
        for source in sources.iter().flatten() {
            match self.nodes.get(&source.node).and_then(|from| from.items(source.run, source.output)) {
                Some(items) => self.take(node, items),
                None => self.pending.push((source.clone(), node.to_owned())),
            }
        }
    }

    fn take(&mut self, node: &str, items: u64) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.taken = node.taken.saturating_add(items);
        }
    }

    /// The items that each node took; `None` if there were too many runs to tell.
    pub(super) fn finish(mut self) -> Option<HashMap<String, u64>> {
        if self.is_full {
            return None;
        }
        for (source, node) in std::mem::take(&mut self.pending) {
            let items = self.nodes.get(&source.node).and_then(|from| from.items(source.run, source.output));
            self.take(&node, items.unwrap_or(0));
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
        (0..COUNTS).for_each(|_| inflow.add("Loop", &[1], &[]));
        assert!(inflow.nodes["Loop"].counts.len() <= COUNTS);
        assert_eq!(inflow.finish(), None);
    }
}
