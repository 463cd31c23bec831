//! The comparison: the differences between two executions.

mod difference;
mod kinds;
mod node;
mod values;
mod workflow;
mod workflow_difference;

use std::ops::Range;

use indexmap::IndexMap;

pub use self::difference::{Comparison, FieldDifference, NodeDifference, Side};
pub use self::kinds::First;
use self::kinds::KindsOfPath;
use self::node::NodeDigest;
pub use self::values::{ValueDifference, first_places, first_values};
use self::workflow::WorkflowDigest;
pub use self::workflow_difference::{ChangedNode, ChangedPath, WorkflowDifference};
use super::Error;
use super::fields::table::Table;
use super::header::Header;
use super::order::Order;
use super::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver};
use super::values::walk_item;
use crate::json::{Cursor, Keep, Members, Projection, ReadError};

/// Memory for the fields of all nodes, bytes: fields of nodes that do not fit are not compared.
const FIELDS_BYTES: usize = 2 * 1024 * 1024;

/// Reads a [`Digest`]: for each node how it ended, how many items it output, and which kinds of values they have.
///
/// Memory is bounded by 400 paths of a node, 2 MiB of fields, 384 KiB of paths of the workflow, 1 MiB of its values, and
/// a few numbers for each node.
///
/// ```
/// use n8n_lens::execution::compare::{Comparison, DigestProjection};
/// use n8n_lens::json::Projection;
///
/// let body = |total: &str| format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{
///     "Start":[{{"data":{{"main":[[{{"json":{{}}}}]]}}}}],
///     "Read":[{{"data":{{"main":[[{{"json":{{"total":{total}}}}}]]}}}}]}}}}}}}}"#);
/// let digest = DigestProjection { redacts: false };
/// let (this, other) = (digest.read_from(body("\"12\"").as_bytes())?, digest.read_from(body("12").as_bytes())?);
///
/// let comparison = Comparison::new(&this, &other);
/// assert_eq!(comparison.same, 1);
/// let field = &comparison.nodes[0].fields[0];
/// assert_eq!((&*field.path, &field.kinds), ("total", &(vec!["string"], vec!["number"])));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DigestProjection {
    /// Whether values of known secret keys in items and parameters are masked.
    pub redacts: bool,
}

/// What is held of an execution for comparison with another one.
#[derive(Debug, Default)]
pub struct Digest {
    /// The execution's metadata.
    pub header: Header,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    nodes: IndexMap<String, NodeDigest>,
    workflow: Option<WorkflowDigest>,
}

impl Projection for DigestProjection {
    type View = Result<Digest, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(WorkflowDigest::KEEP));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let read_workflow = |cursor: &mut Cursor<'_>| WorkflowDigest::read(cursor, self.redacts);
        let execution = runs::read(cursor, |header| Reader::new(self.redacts, header), read_workflow)?;
        let (redacted, nodes) = (execution.data.redacted, execution.runs.nodes);
        Ok(Digest { header: execution.header, redacted, nodes, workflow: execution.workflow })
    }
}

/// Reads the nodes of a digest.
struct Reader {
    redacts: bool,
    /// When a retry began.
    own_start: Option<i64>,
    nodes: IndexMap<String, NodeDigest>,
    /// Bytes left for fields.
    room: usize,
    /// The node that is being read.
    node: NodeDigest,
    table: Table<KindsOfPath>,
}

impl Reader {
    fn new(redacts: bool, header: &Header) -> Self {
        Self {
            redacts,
            own_start: header.own_start_ms(),
            nodes: IndexMap::new(),
            room: FIELDS_BYTES,
            node: NodeDigest::default(),
            table: Table::new(None, ()),
        }
    }
}

impl RunObserver for Reader {
    const PARTS: Parts = Parts::REDACTED.and(Parts::START).and(Parts::TIME).and(Parts::STATUS).and(Parts::OUTPUTS);

    fn begin_node(&mut self, _: &str) {
        (self.node, self.table) = (NodeDigest::default(), Table::new(None, ()));
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        match item.text()? {
            ItemText::Json(json) => {
                self.table.begin_item(place.into());
                walk_item(&json, self.redacts, &mut self.table)?;
            }
            ItemText::TooLarge => self.node.is_partial = true,
            // The window holds every item.
            ItemText::Omitted => {}
        }
        Ok(())
    }

    fn end_list(&mut self, end: ItemPlace) {
        if let Some(output) = end.main_output {
            self.node.count(output, end.item);
        }
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.node.copied_runs += u64::from(run.is_copied(self.own_start));
        self.node.has_placeholders |= run.start.has_placeholders();
        self.node.tally.add(run);
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.node.end(&self.table, &mut self.room);
        self.nodes.insert(name, std::mem::take(&mut self.node));
    }
}

impl Digest {
    /// Whether n8n reports that any node was executed.
    pub fn has_nodes(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether the fields of a node were not all read: there are too many, or its items are too large.
    pub fn is_partial(&self) -> bool {
        self.nodes.values().any(|node| node.is_partial)
    }

    /// The nodes with runs that a retry copied from the execution that it retries, in the order of execution.
    pub fn copied(&self) -> Vec<&str> {
        let nodes = self.in_order().into_iter().filter(|(_, node)| node.copied_runs > 0);
        nodes.map(|(name, _)| name).collect()
    }

    /// Whether the execution was stored with the workflow that it ran.
    pub fn has_workflow(&self) -> bool {
        self.workflow.is_some()
    }

    /// The nodes of the workflow, and its connections, that were too large to read.
    pub fn unread_parts(&self) -> u64 {
        self.workflow.as_ref().map_or(0, |workflow| workflow.too_large)
    }

    /// Nodes with their digests in the order of execution.
    fn in_order(&self) -> Vec<(&str, &NodeDigest)> {
        let mut nodes: Vec<_> = self.nodes.iter().map(|(name, node)| (name.as_str(), node)).collect();
        // The sort is stable: document order is the last criterion.
        let order = Order::new(self.nodes.values().map(|node| node.tally.starts.counters).sum());
        nodes.sort_by(|(_, one), (_, other)| order.compare(one.tally.starts.first, other.tally.starts.first));
        nodes
    }
}

/// Whether a path is below this one.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']))
}
