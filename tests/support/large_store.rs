//! Run data of any size as n8n stores it: flatted text, breadth first, written straight to a file.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::flatten::Stored;
use super::random::Random;

/// A linear workflow whose nodes all pass on the same items.
#[derive(Clone, Copy, Debug)]
pub struct LargeStore {
    pub nodes: usize,
    /// Items of each node.
    pub items: usize,
    /// Characters of the one long text of each item.
    pub text: usize,
    /// Whether all nodes but the first one output the items in another order, as after a Sort node.
    pub shuffled: bool,
}

impl LargeStore {
    /// 105 MB of text, whose first 3 % a summary needs; a body of 325 MB.
    pub const LARGE: Self = Self { nodes: 4, items: 100_000, text: 715, shuffled: false };
    /// 507 MB of text: more than n8n could send.
    pub const HUGE: Self = Self { nodes: 3, items: 40_000, text: 12_320, shuffled: false };

    pub fn node_name(node: usize) -> String {
        format!("Node {node}")
    }

    /// The indexes of the first node's items, in the order in which the other nodes output them.
    pub fn order(self) -> Vec<usize> {
        let (mut order, mut random) = ((0..self.items).collect::<Vec<_>>(), Random(1));
        if self.shuffled {
            (1..self.items).for_each(|at| order.swap(at, random.index(at + 1)));
        }
        order
    }

    /// The header and the workflow; the data is in a file.
    pub fn stored() -> Stored {
        Stored {
            header: r#"{"id":"900","status":"success","mode":"webhook","workflowId":"w"}"#.to_owned(),
            workflow: r#"{"id":"w","name":"Large","nodes":[],"connections":{},"settings":{}}"#.to_owned(),
            data: String::new(),
        }
    }

    /// Writes the text to a file.
    pub fn write_to(self, file: &Path) {
        let mut to = BufWriter::with_capacity(1 << 20, std::fs::File::create(file).unwrap());
        self.write(&mut to).unwrap();
        to.flush().unwrap();
    }

    /// Writes one depth after another; each begins at the index where the previous one ends.
    fn write(self, to: &mut impl Write) -> io::Result<()> {
        let Self { nodes, items, text, .. } = self;
        let order = self.order();
        let runs = 6;
        let tasks = runs + nodes;
        let (sources, status) = (tasks + nodes, tasks + 2 * nodes);
        let data = status + 1;
        let source = data + nodes;
        let main = source + nodes;
        let previous = main + nodes;
        let output = previous + nodes;
        let item = output + nodes;
        let json = item + nodes * items;
        let paired = json + items;
        let field = paired + nodes * items;
        let nested = field + 3 * items;
        write!(
            to,
            r#"[{{"version":1,"resultData":"1","executionData":"2"}},{{"runData":"3","lastNodeExecuted":"4"}}"#
        )?;
        write!(to, r#",{{"runtimeData":"5"}},{{"#)?;
        each(to, nodes, |to, node| write!(to, r#""{}":"{}""#, Self::node_name(node), runs + node))?;
        write!(to, r#"}},"{}",{{"version":1}}"#, Self::node_name(nodes - 1))?;
        for node in 0..nodes {
            write!(to, r#",["{}"]"#, tasks + node)?;
        }
        for node in 0..nodes {
            let start = 1_795_226_384_715_u64 + node as u64;
            let (sources, data) = (sources + node, data + node);
            write!(to, r#",{{"startTime":{start},"executionIndex":{node},"source":"{sources}","#)?;
            write!(to, r#""executionTime":3,"executionStatus":"{status}","data":"{data}"}}"#)?;
        }
        for node in 0..nodes {
            if node == 0 { write!(to, ",[]")? } else { write!(to, r#",["{}"]"#, source + node)? }
        }
        write!(to, r#","success""#)?;
        for node in 0..nodes {
            write!(to, r#",{{"main":"{}"}}"#, main + node)?;
        }
        for node in 0..nodes {
            write!(to, r#",{{"previousNode":"{}","previousNodeOutput":0,"previousNodeRun":0}}"#, previous + node)?;
        }
        for node in 0..nodes {
            write!(to, r#",["{}"]"#, output + node)?;
        }
        for node in 0..nodes {
            write!(to, r#","{}""#, Self::node_name(node.saturating_sub(1)))?;
        }
        for node in 0..nodes {
            write!(to, ",[")?;
            each(to, items, |to, at| write!(to, r#""{}""#, item + node * items + at))?;
            write!(to, "]")?;
        }
        for at in 0..nodes * items {
            let origin = if at < items { at } else { order[at % items] };
            write!(to, r#",{{"json":"{}","pairedItem":"{}"}}"#, json + origin, paired + at)?;
        }
        for at in 0..items {
            let (first, nested) = (field + 3 * at, nested + at);
            write!(to, r#",{{"id":{at},"ref":"{first}","note":"{}","email":"{}","#, first + 1, first + 2)?;
            write!(to, r#""total":{}.5,"nested":"{nested}"}}"#, at % 1000)?;
        }
        for at in 0..nodes * items {
            // Only the second node shuffles; the others keep its order.
            let source = if at / items == 1 { order[at % items] } else { at % items };
            write!(to, r#",{{"item":{source}}}"#)?;
        }
        let pad = "He said: \\\"order\\\" \\\\ line\\n".repeat(text / 28 + 1);
        for at in 0..items {
            write!(to, r#","R-{at}","{at} {}","customer{at}@example.com""#, &pad[..text / 28 * 28])?;
        }
        for at in 0..items {
            write!(to, r#",{{"a":{at},"b":null,"c":true}}"#)?;
        }
        write!(to, "]")
    }
}

/// Writes parts with commas between them.
fn each<W: Write>(to: &mut W, parts: usize, part: impl Fn(&mut W, usize) -> io::Result<()>) -> io::Result<()> {
    for at in 0..parts {
        if at > 0 {
            write!(to, ",")?;
        }
        part(to, at)?;
    }
    Ok(())
}
