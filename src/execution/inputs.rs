//! The inputs of a run: outputs of other runs, which can come before or after it in the body.

use std::collections::VecDeque;

use super::items::{ItemLimits, ItemList, ItemLists};
use super::source::InputSource;

/// Memory for outputs that may turn out to be an input. When it is full, the oldest are dropped; if one of
/// those is needed after all, a second pass reads it. In most workflows a node directly follows the nodes
/// that feed it, so this is plenty.
const CANDIDATE_BYTES: usize = 768 * 1024;

/// Outputs that may turn out to be an input.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The sources of the shown run, once they are known; from then on nothing else is kept.
    wanted: Option<Vec<InputSource>>,
    held: VecDeque<Candidate>,
    bytes: usize,
}

#[derive(Debug)]
struct Candidate {
    node: String,
    run: u64,
    outputs: ItemLists,
}

impl Candidate {
    fn is_wanted(&self, wanted: &[InputSource]) -> bool {
        wanted.iter().any(|source| source.run == self.run && source.node == self.node)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.node.len() + self.outputs.bytes()
    }
}

impl Candidates {
    /// From now on keeps only these sources.
    pub(super) fn want(&mut self, sources: Vec<InputSource>) {
        self.held.retain(|candidate| candidate.is_wanted(&sources));
        self.bytes = self.held.iter().map(Candidate::bytes).sum();
        self.wanted = Some(sources);
    }

    /// The limits for the outputs of a run; `None` if they are not worth keeping.
    pub(super) fn limits(&self, node: &str, run: u64, limits: &ItemLimits) -> Option<ItemLimits> {
        let Some(wanted) = &self.wanted else {
            return Some(ItemLimits { bytes: limits.bytes.min(CANDIDATE_BYTES), ..limits.clone() });
        };
        wanted
            .iter()
            .any(|source| source.run == run && source.node == node)
            .then(|| ItemLimits { bytes: limits.bytes.min(CANDIDATE_BYTES / wanted.len()), ..limits.clone() })
    }

    /// Keeps the outputs of a run; if two have the same name and index, the later one counts.
    pub(super) fn keep(&mut self, node: &str, run: u64, outputs: ItemLists) {
        let candidate = Candidate { node: node.to_owned(), run, outputs };
        self.bytes += candidate.bytes();
        self.held.push_back(candidate);
        while self.bytes > CANDIDATE_BYTES && self.wanted.is_none() && self.held.len() > 1 {
            match self.held.pop_front() {
                Some(oldest) => self.bytes -= oldest.bytes(),
                None => break,
            }
        }
    }

    /// Whether the outputs of the source's run are held.
    pub(super) fn has(&self, source: &InputSource) -> bool {
        self.find(source).is_some()
    }

    /// The output that a source names, if it exists and is held.
    pub(super) fn output(&self, source: &InputSource) -> Option<&ItemList> {
        self.find(source)?.outputs.main(source.output)
    }

    fn find(&self, source: &InputSource) -> Option<&Candidate> {
        self.held.iter().rev().find(|candidate| candidate.run == source.run && candidate.node == source.node)
    }
}
