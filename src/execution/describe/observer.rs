//! Reads the runs of an execution for its description.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use indexmap::IndexMap;

use super::DescribeProjection;
use super::node::DescribedNode;
use crate::execution::executed::Executed;
use crate::execution::fields::NodeFields;
use crate::execution::header::Header;
use crate::execution::items::read_item;
use crate::execution::runs::{ITEM_BYTES, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use crate::json::{Cursor, Excerpt, ReadError, member};

/// Memory for what is held of the items of all nodes.
const NODES_BYTES: usize = 2 * 1024 * 1024;

/// Memory for the first item of a node.
const SAMPLE_BYTES: usize = 4096;

/// The most characters of the message of a node's first error.
const ERROR_CHARS: usize = 120;

/// The maximum number of outputs named as sources of a node.
const SOURCES: usize = 8;

/// What is read of the nodes.
pub(super) struct Nodes<'p> {
    projection: &'p DescribeProjection,
    executed: Executed,
    nodes: IndexMap<String, DescribedNode>,
    /// The bytes that they take.
    bytes: usize,
    end: End,
    /// The node that is being read, and which items of its run.
    node: DescribedNode,
    fields: NodeFields,
    side: Side,
}

/// What was left out.
#[derive(Default)]
pub(super) struct End {
    /// Whether the descriptions of some nodes' items did not fit.
    pub is_partial: bool,
    /// Items that were too large to read.
    pub too_large: u64,
    /// Whether a node has more than 400 paths.
    pub has_more_paths: bool,
}

impl RunObserver for Nodes<'_> {
    const PARTS: Parts = Executed::PARTS.and(Parts::INPUTS).and(Parts::ERROR).and(Parts::PINNED);

    fn begin_node(&mut self, name: &str) {
        self.executed.begin_node(name);
        self.node = DescribedNode::default();
        self.fields = NodeFields::to_be_told();
    }

    fn begin_lists(&mut self, run: u64, side: Side) {
        self.side = side;
        if matches!(side, Side::Outputs) {
            self.executed.begin_lists(run, side);
        }
    }

    fn begin_connection(&mut self, connection: &str) {
        if matches!(self.side, Side::Outputs) {
            self.executed.begin_connection(connection);
        }
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        if matches!(self.side, Side::Inputs) {
            return self.input(item);
        }
        let items = item.count();
        match item.text()? {
            ItemText::Json(json) => self.output(place, json),
            text => {
                self.fields.too_large += u64::from(matches!(text, ItemText::TooLarge));
                self.executed.item(place, Item::Omitted(items))
            }
        }
    }

    fn end_list(&mut self, end: ItemPlace) {
        if matches!(self.side, Side::Outputs) {
            self.executed.end_list(end);
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        for source in run.sources.iter().flatten() {
            let sources = &mut self.node.sources;
            let of_output = (source.node.clone(), source.output);
            if sources.len() < SOURCES && !sources.contains(&of_output) {
                sources.push(of_output);
            }
        }
        let message = run.error.as_ref().and_then(|error| error.member("message"));
        if let (None, Some(Excerpt::Text(message))) = (&self.node.error, message) {
            self.node.error = Some(message.cut(ERROR_CHARS).0.into_owned());
        }
        self.executed.end_run(run)
    }

    fn end_node(&mut self, name: String) {
        let mut node = std::mem::take(&mut self.node);
        let fields = std::mem::replace(&mut self.fields, NodeFields::to_be_told());
        self.end.too_large += fields.too_large;
        self.end.has_more_paths |= fields.has_more_paths();
        (node.fields, node.together) = fields.into_findings();
        if self.bytes + node.bytes() > NODES_BYTES {
            self.end.is_partial = true;
            (node.fields, node.together, node.sample) = Default::default();
        }
        self.bytes += node.bytes();
        if let Some(before) = self.nodes.insert(name.clone(), node) {
            self.bytes -= before.bytes();
        }
        self.executed.end_node(name);
    }
}

impl<'p> Nodes<'p> {
    pub(super) fn new(projection: &'p DescribeProjection, header: &Header) -> Self {
        Self {
            projection,
            executed: Executed::new(header, usize::MAX),
            nodes: IndexMap::new(),
            bytes: 0,
            end: End::default(),
            node: DescribedNode::default(),
            fields: NodeFields::to_be_told(),
            side: Side::Outputs,
        }
    }

    /// The next item of an output.
    fn output(&mut self, place: ItemPlace, json: Bytes) -> Result<(), ReadError> {
        if self.node.sample.is_none() {
            (self.node.sample, self.node.sample_hash) = (Some(held(&json)?), json_hash(&json)?);
        }
        let is_marked = self.fields.item(place.into(), &json, self.projection.redacts)?;
        // Most items have nothing to read for the summary.
        let item = if is_marked { Item::Captured(json) } else { Item::Omitted(1) };
        self.executed.item(place, item)
    }

    /// The next item of an input that n8n stores itself: the first one is held.
    fn input(&mut self, item: Item<'_, '_>) -> Result<(), ReadError> {
        if self.node.input.is_some() {
            return item.skip();
        }
        if let ItemText::Json(json) = item.text()? {
            self.node.input = Some(held(&json)?);
        }
        Ok(())
    }

    /// What was read of the runs, of each node, and what was left out.
    pub(super) fn finish(self) -> (Executed, IndexMap<String, DescribedNode>, End) {
        (self.executed, self.nodes, self.end)
    }
}

/// A hash of the text of an item's `json`.
fn json_hash(item: &[u8]) -> Result<u64, ReadError> {
    let json = member(&mut Cursor::unpruned(item), "json", |cursor| cursor.json(ITEM_BYTES))?;
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    Ok(hasher.finish())
}

fn held(json: &[u8]) -> Result<Excerpt, ReadError> {
    read_item(&mut Cursor::unpruned(json), SAMPLE_BYTES)
}
