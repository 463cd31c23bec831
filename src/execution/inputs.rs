//! The inputs of a run: outputs of other runs, which may stand before or behind it in the body.

use std::collections::VecDeque;

use super::items::{Port, Ports, Room};
use super::run::Source;

/// The memory of the outputs that may turn out to be an input. The oldest ones are pushed out; one
/// that is needed then is read in a second pass. In most workflows a node stands right behind those
/// that feed it, so this is plenty.
const CANDIDATE_BYTES: usize = 768 * 1024;

/// Outputs that may turn out to be an input.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The sources of the run that is shown, once they are known: nothing else is kept then.
    wanted: Option<Vec<Source>>,
    held: VecDeque<Candidate>,
    bytes: usize,
}

#[derive(Debug)]
struct Candidate {
    node: String,
    run: u64,
    outputs: Ports,
}

impl Candidate {
    fn is_wanted(&self, wanted: &[Source]) -> bool {
        wanted.iter().any(|source| source.run == self.run && source.node == self.node)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.node.len() + self.outputs.bytes()
    }
}

impl Candidates {
    /// Keeps nothing but these sources from now on.
    pub(super) fn want(&mut self, sources: Vec<Source>) {
        self.held.retain(|candidate| candidate.is_wanted(&sources));
        self.bytes = self.held.iter().map(Candidate::bytes).sum();
        self.wanted = Some(sources);
    }

    /// The room for the outputs of a run, if they are worth keeping.
    pub(super) fn room(&self, node: &str, run: u64, room: &Room) -> Option<Room> {
        let Some(wanted) = &self.wanted else {
            return Some(Room { bytes: room.bytes.min(CANDIDATE_BYTES), ..room.clone() });
        };
        wanted
            .iter()
            .any(|source| source.run == run && source.node == node)
            .then(|| Room { bytes: room.bytes.min(CANDIDATE_BYTES / wanted.len()), ..room.clone() })
    }

    /// Keeps the outputs of a run; of two under one name the later one counts.
    pub(super) fn keep(&mut self, node: &str, run: u64, outputs: Ports) {
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

    /// Whether the outputs of the run that a source names are here.
    pub(super) fn has(&self, source: &Source) -> bool {
        self.find(source).is_some()
    }

    /// The output that a source names, if it exists.
    pub(super) fn output(&self, source: &Source) -> Option<&Port> {
        self.find(source)?.outputs.main(source.output)
    }

    fn find(&self, source: &Source) -> Option<&Candidate> {
        self.held.iter().rev().find(|candidate| candidate.run == source.run && candidate.node == source.node)
    }
}
