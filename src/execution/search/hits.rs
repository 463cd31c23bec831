//! The first hits in the order of execution, although a body has its nodes in any order.

use std::cmp::Ordering;

use super::Hit;
use crate::execution::summary::by_start;

/// When a run started: n8n's `executionIndex`, and its `startTime`.
pub(super) type Start = (Option<f64>, Option<f64>);

/// At most as many hits as are shown, the first ones.
#[derive(Debug)]
pub(super) struct FirstHits {
    limit: usize,
    hits: Vec<(Start, Hit)>,
}

impl FirstHits {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, hits: Vec::new() }
    }

    /// Adds the hits of a run, in their order.
    pub(super) fn add(&mut self, start: Start, hits: Vec<Hit>) {
        let at = self.hits.partition_point(|(other, _)| by_start(*other, start) != Ordering::Greater);
        let hits = hits.into_iter().take(self.limit.saturating_sub(at)).map(|hit| (start, hit));
        self.hits.splice(at..at, hits);
        self.hits.truncate(self.limit);
    }

    /// Removes the hits of a node.
    pub(super) fn remove(&mut self, node: &str) {
        self.hits.retain(|(_, hit)| *hit.node != *node);
    }

    pub(super) fn into_hits(self) -> Vec<Hit> {
        self.hits.into_iter().map(|(_, hit)| hit).collect()
    }
}
