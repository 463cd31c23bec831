//! The first hits in the order of execution, although a body has its nodes in any order.

use std::cmp::Ordering;

use super::Hit;
use crate::execution::order::{Order, Start};

/// The first hits, at most as many as are shown. Their order is known only at the end of the run data, so the first
/// ones in either order are held.
#[derive(Debug)]
pub(super) struct FirstHits {
    limit: usize,
    by_counter: Vec<(Start, Hit)>,
    by_time: Vec<(Start, Hit)>,
}

impl FirstHits {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, by_counter: Vec::new(), by_time: Vec::new() }
    }

    /// Adds the hits of a run, in their order.
    pub(super) fn add(&mut self, start: Start, hits: &[Hit]) {
        for (held, order) in [(&mut self.by_counter, Order::Counter), (&mut self.by_time, Order::Time)] {
            let at = held.partition_point(|(other, _)| order.compare(*other, start) != Ordering::Greater);
            let hits = hits.iter().take(self.limit.saturating_sub(at)).map(|hit| (start, hit.clone()));
            held.splice(at..at, hits);
            held.truncate(self.limit);
        }
    }

    /// Removes the hits of a node.
    pub(super) fn remove(&mut self, node: &str) {
        for held in [&mut self.by_counter, &mut self.by_time] {
            held.retain(|(_, hit)| *hit.node != *node);
        }
    }

    pub(super) fn into_hits(self, order: Order) -> Vec<Hit> {
        let held = match order {
            Order::Counter => self.by_counter,
            Order::Time => self.by_time,
        };
        held.into_iter().map(|(_, hit)| hit).collect()
    }
}
