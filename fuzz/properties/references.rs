//! Executions and flatted texts whose references lead far away, or multiply.

use super::entropy::Entropy;

/// An execution of a few nodes that pass on the same items, each in its own order, as Sort nodes do: up to half a
/// megabyte, which is more than a [`Flatted`](n8n_lens::json::flatted::Flatted) with little room holds.
pub fn sorted(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    let (nodes, items, text) = (1 + entropy.below(4), 1 + entropy.below(200), entropy.below(500));
    let node = |node: usize| {
        let mut order: Vec<_> = (0..items).collect();
        let seed = 1 + usize::from(entropy.byte());
        order.sort_by_key(|item| (item + node) * seed * 7919 % 1009);
        let items: Vec<_> = order.iter().enumerate().map(|(at, origin)| item(at, *origin, text)).collect();
        let run = format!(r#""startTime":{node},"executionTime":1,"executionStatus":"success","source":[]"#);
        format!(r#""Sort {node}":[{{{run},"data":{{"main":[[{}]]}}}}]"#, items.join(","))
    };
    let nodes: Vec<_> = (0..nodes).map(node).collect();
    let data = format!(r#"{{"version":1,"resultData":{{"runData":{{{}}}}}}}"#, nodes.join(","));
    let workflow = r#"{"name":"w","nodes":[],"connections":{}}"#;
    format!(r#"{{"id":"1","status":"success","data":{data},"workflowData":{workflow}}}"#).into_bytes()
}

fn item(at: usize, origin: usize, text: usize) -> String {
    let json = format!(r#"{{"n":{origin},"text":"{origin} {}","deep":{{"tags":["t{origin}"]}}}}"#, "x".repeat(text));
    format!(r#"{{"json":{json},"pairedItem":{{"item":{at}}}}}"#)
}

/// A text of elements that refer to later ones many times.
pub fn multiplying(choices: &[u8]) -> Vec<u8> {
    let mut entropy = Entropy::new(choices);
    let levels = 1 + entropy.below(40);
    let mut elements: Vec<_> = (0..levels).map(|level| element(level, levels, &mut entropy)).collect();
    let bytes = entropy.below(5000);
    elements.push(match entropy.below(3) {
        0 => format!("\"{}\"", "x".repeat(bytes)),
        1 => format!("{{\"{}\":1}}", "n".repeat(bytes)),
        _ => format!("[{}]", vec!["7"; 1 + bytes].join(",")),
    });
    format!("[{}]", elements.join(",")).into_bytes()
}

fn element(level: usize, levels: usize, entropy: &mut Entropy<'_>) -> String {
    let times = 1 + entropy.below(60);
    let is_list = entropy.one_in(2);
    let parts = (0..times).map(|at| {
        let reference = (level + 1 + entropy.below(3)).min(levels);
        if is_list { format!("\"{reference}\"") } else { format!("\"{at}\":\"{reference}\"") }
    });
    let parts = parts.collect::<Vec<_>>().join(",");
    if is_list { format!("[{parts}]") } else { format!("{{{parts}}}") }
}
