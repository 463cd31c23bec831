//! Loop Over Items (`splitInBatches`).

use super::view::View;
use super::{Problem, Rule};

/// Its loop output is the first one before version 3, and the second one since.
pub(super) fn problems(view: &View) -> Vec<Problem> {
    let loops = view.active().filter(|(_, node)| node.is("n8n-nodes-base.splitInBatches"));
    let never_return = loops.filter(|(index, node)| {
        let output = usize::from(node.version >= 3.0);
        let of_output = view.connections.iter().filter(|connection| {
            connection.source == node.name && connection.output.kind == "main" && connection.output.index == output
        });
        let next: Vec<_> = of_output.filter_map(|connection| view.find(&connection.target)).collect();
        !next.is_empty() && !view.graph.from(next)[*index]
    });
    never_return.map(|(_, node)| Problem::new(Rule::LoopNeverReturns, &node.name)).collect()
}
