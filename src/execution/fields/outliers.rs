//! The outliers of all nodes, each at the first node that has it.

use super::PlacedOutlier;
use crate::execution::order::{Order, Start};

/// The most outliers that are held: those of the nodes that ran first.
const MOST: usize = 400;

/// The outliers of the nodes read so far. Which order the nodes have is known only at the end of the run data, so the first
/// values in either order are held.
#[derive(Default)]
pub(super) struct Outliers {
    by_counter: Vec<(Start, PlacedOutlier)>,
    by_time: Vec<(Start, PlacedOutlier)>,
}

impl Outliers {
    /// Removes those of a node.
    pub(super) fn remove(&mut self, node: &str) {
        for held in [&mut self.by_counter, &mut self.by_time] {
            held.retain(|(_, one)| one.node != node);
        }
    }

    /// Adds one of a node with this start.
    pub(super) fn add(&mut self, start: Start, one: &PlacedOutlier) {
        add(&mut self.by_counter, Order::Counter, start, one);
        add(&mut self.by_time, Order::Time, start, one);
    }

    pub(super) fn into_ones(self, order: Order) -> Vec<PlacedOutlier> {
        let held = match order {
            Order::Counter => self.by_counter,
            Order::Time => self.by_time,
        };
        held.into_iter().map(|(_, one)| one).collect()
    }
}

/// Adds a value unless an earlier node has it; later nodes lose it.
fn add(held: &mut Vec<(Start, PlacedOutlier)>, order: Order, start: Start, one: &PlacedOutlier) {
    let at = held.partition_point(|(other, _)| order.compare(*other, start).is_le());
    let is_same =
        |(_, other): &(Start, PlacedOutlier)| other.path == one.path && other.outlier.value == one.outlier.value;
    if held[..at].iter().any(is_same) {
        return;
    }
    let after = held.split_off(at);
    held.push((start, one.clone()));
    held.extend(after.into_iter().filter(|other| !is_same(other)));
    held.truncate(MOST);
}
