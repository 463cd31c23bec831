//! The ways of items: which outputs of the nodes before a node lead to it.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::workflow::connections::Connection;

/// The `main` connections of a workflow, by the nodes that they lead to: each with its source and the output there.
pub(super) struct Connected<'a> {
    into: HashMap<&'a str, Vec<(&'a str, u64)>>,
    /// The nodes that did not run.
    idle: HashSet<&'a str>,
}

/// The ways to one node.
pub(super) struct Ways<'a> {
    /// The nodes before it, by name.
    sources: HashMap<&'a str, Source>,
    /// The nodes before it that ran, the nearest first, until there are several.
    chain: Vec<&'a str>,
}

/// A node before another one.
struct Source {
    /// How many connections the shortest way has.
    length: usize,
    /// The outputs that begin the shortest ways.
    nearest: BTreeSet<u64>,
    /// The outputs that begin any way.
    all: BTreeSet<u64>,
}

impl<'a> Connected<'a> {
    pub(super) fn new(connections: &'a [Connection], idle: HashSet<&'a str>) -> Self {
        let mut into: HashMap<_, Vec<_>> = HashMap::new();
        for connection in connections.iter().filter(|connection| connection.output.kind == "main") {
            let source = (connection.source.as_str(), connection.output.index as u64);
            into.entry(connection.target.as_str()).or_default().push(source);
        }
        Self { into, idle }
    }

    fn into(&self, node: &str) -> impl Iterator<Item = (&'a str, u64)> {
        self.into.get(node).into_iter().flatten().copied()
    }

    /// The ways to a node.
    pub(super) fn ways(&self, node: &'a str) -> Ways<'a> {
        let mut sources: HashMap<_, Source> = HashMap::new();
        let mut open = VecDeque::from([(node, 0)]);
        while let Some((node, length)) = open.pop_front() {
            for (source, output) in self.into(node) {
                let known = sources.entry(source).or_insert_with(|| {
                    open.push_back((source, length + 1));
                    Source { length: length + 1, nearest: BTreeSet::new(), all: BTreeSet::new() }
                });
                known.all.insert(output);
                if known.length == length + 1 {
                    known.nearest.insert(output);
                }
            }
        }
        Ways { sources, chain: self.chain(node) }
    }

    fn chain(&self, node: &'a str) -> Vec<&'a str> {
        let (mut chain, mut last) = (Vec::new(), node);
        loop {
            let sources = self.into(last).map(|(source, _)| source);
            let before: BTreeSet<_> = sources.filter(|source| !self.idle.contains(source)).collect();
            let Some(source) = before.first().copied().filter(|source| before.len() == 1 && !chain.contains(source))
            else {
                return chain;
            };
            chain.push(source);
            last = source;
        }
    }
}

impl Ways<'_> {
    /// The outputs of a node that `first()`, `last()` and `all()` read: those that begin the shortest way (n8n's
    /// `getNodeConnectionIndexes`). None if no way begins there.
    pub(super) fn nearest_outputs(&self, source: &str) -> Vec<u64> {
        self.sources.get(source).map_or_else(Vec::new, |source| source.nearest.iter().copied().collect())
    }

    /// The outputs of a node from which items can come. None if no way begins there.
    pub(super) fn outputs(&self, source: &str) -> Vec<u64> {
        self.sources.get(source).map_or_else(Vec::new, |source| source.all.iter().copied().collect())
    }

    /// Whether a way begins at a node.
    pub(super) fn has(&self, source: &str) -> bool {
        self.sources.contains_key(source)
    }

    /// The nodes that all items of this node pass on their only way from it, the last one first; `None` if there are several ways.
    pub(super) fn after(&self, source: &str) -> Option<&[&str]> {
        let end = self.chain.iter().position(|node| *node == source)?;
        Some(&self.chain[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::connections::PortRef;

    fn connections(of: &[(&str, usize, &str)]) -> Vec<Connection> {
        let port = |index| PortRef { kind: "main".to_owned(), index };
        let one = |(source, output, target): &(&str, usize, &str)| Connection {
            source: (*source).to_owned(),
            output: port(*output),
            target: (*target).to_owned(),
            input: port(0),
        };
        of.iter().map(one).collect()
    }

    #[test]
    fn the_outputs_that_lead_to_a_node() {
        let all = connections(&[
            ("Read", 0, "If"),
            ("If", 0, "Yes"),
            ("If", 1, "No"),
            ("Yes", 0, "Both"),
            ("No", 0, "Late"),
            ("Late", 0, "Both"),
        ]);
        let connected = Connected::new(&all, HashSet::new());
        let ways = |node| connected.ways(node);
        assert_eq!((ways("Late").outputs("If"), ways("Late").nearest_outputs("If")), (vec![1], vec![1]));
        assert_eq!((ways("Both").outputs("If"), ways("Both").nearest_outputs("If")), (vec![0, 1], vec![0]));
        assert!(ways("Yes").outputs("No").is_empty() && ways("If").outputs("Yes").is_empty());
        assert_eq!(ways("Late").after("Read"), Some(&["No", "If"][..]));
        assert_eq!(ways("Both").after("Read"), None, "Both is fed by two nodes");
        let idle = Connected::new(&all, HashSet::from(["Yes"]));
        assert_eq!(idle.ways("Both").after("If"), Some(&["Late", "No"][..]));
    }

    #[test]
    fn a_loop_has_an_end() {
        let all = connections(&[("Loop", 0, "Done"), ("Loop", 1, "Step"), ("Step", 0, "Loop"), ("Read", 0, "Loop")]);
        let connected = Connected::new(&all, HashSet::new());
        assert_eq!(connected.ways("Done").outputs("Loop"), [0, 1]);
        assert_eq!(connected.ways("Done").nearest_outputs("Loop"), [0]);
        assert_eq!(connected.ways("Step").outputs("Step"), [0]);
        let circle = connections(&[("A", 0, "B"), ("B", 0, "A")]);
        assert_eq!(Connected::new(&circle, HashSet::new()).ways("A").after("B"), Some(&[][..]));
        assert_eq!(Connected::new(&circle, HashSet::new()).ways("A").after("none"), None);
    }
}
