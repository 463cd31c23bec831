//! Facts about nodes, each at the first node that has it.

use crate::execution::order::{Order, Start};

/// A fact about a node.
pub(super) trait NodeFact: Clone {
    /// The maximum number held: the facts of the nodes that ran first.
    const MOST: usize;

    /// The node's name.
    fn node(&self) -> &str;

    /// Whether a later node only repeats it.
    fn is_same(&self, other: &Self) -> bool;
}

/// The facts of the nodes read so far. The order of the nodes is known only at the end of the run data, so the first
/// facts in either order are held.
pub(super) struct AtFirstNode<T> {
    by_counter: Vec<(Start, T)>,
    by_time: Vec<(Start, T)>,
}

impl<T> Default for AtFirstNode<T> {
    fn default() -> Self {
        Self { by_counter: Vec::new(), by_time: Vec::new() }
    }
}

impl<T: NodeFact> AtFirstNode<T> {
    /// Removes the facts of a node.
    pub(super) fn remove(&mut self, node: &str) {
        for held in [&mut self.by_counter, &mut self.by_time] {
            held.retain(|(_, one)| one.node() != node);
        }
    }

    /// Adds a fact about a node with this start.
    pub(super) fn add(&mut self, start: Start, one: &T) {
        add(&mut self.by_counter, Order::Counter, start, one);
        add(&mut self.by_time, Order::Time, start, one);
    }

    /// The facts of the nodes that ran first, in this order.
    pub(super) fn into_ones(self, order: Order) -> Vec<T> {
        let held = match order {
            Order::Counter => self.by_counter,
            Order::Time => self.by_time,
        };
        held.into_iter().map(|(_, one)| one).collect()
    }
}

/// Adds a fact unless an earlier node has it; later nodes lose it.
fn add<T: NodeFact>(held: &mut Vec<(Start, T)>, order: Order, start: Start, one: &T) {
    let at = held.partition_point(|(other, _)| order.compare(*other, start).is_le());
    let is_same = |(_, other): &(Start, T)| other.is_same(one);
    if held[..at].iter().any(is_same) {
        return;
    }
    let after = held.split_off(at);
    held.push((start, one.clone()));
    held.extend(after.into_iter().filter(|other| !is_same(other)));
    held.truncate(T::MOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Fact(&'static str, u8);

    impl NodeFact for Fact {
        const MOST: usize = 2;

        fn node(&self) -> &str {
            self.0
        }

        fn is_same(&self, other: &Self) -> bool {
            self.1 == other.1
        }
    }

    /// The order is known only at the end: what is held must be right for both, beyond the limit too.
    #[test]
    fn the_first_in_either_order_are_held() {
        let start = |index: u32, time: u32| Start { index: Some(index.into()), time: Some(f64::from(time) + 1e12) };
        let ran = [("a", 1, start(1, 4)), ("b", 2, start(2, 3)), ("c", 1, start(3, 2)), ("d", 3, start(4, 1))];
        for order in [Order::Counter, Order::Time] {
            for turned in 0..ran.len() {
                let mut facts = AtFirstNode::default();
                ran.iter().cycle().skip(turned).take(ran.len()).for_each(|(node, fact, start)| {
                    facts.add(*start, &Fact(node, *fact));
                });
                let expected = match order {
                    Order::Counter => [Fact("a", 1), Fact("b", 2)],
                    Order::Time => [Fact("d", 3), Fact("c", 1)],
                };
                assert_eq!(facts.into_ones(order), expected, "{order:?}, {turned}");
            }
        }
    }
}
