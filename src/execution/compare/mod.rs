//! The comparison: what is different between two executions.

mod difference;
mod kinds;
mod node;
mod workflow;
mod workflow_difference;

use std::io::Read;
use std::ops::Range;

use indexmap::IndexMap;

pub use self::difference::{Comparison, FieldDifference, NodeDifference, Side};
pub use self::kinds::First;
use self::node::{NodeDigest, RUN};
use self::workflow::{WORKFLOW, WorkflowDigest};
pub use self::workflow_difference::{ChangedNode, ChangedPath, WorkflowDifference};
use super::header::Header;
use super::order::Order;
use super::{Error, body, stored_json};
use crate::json::{Cursor, Keep, Projection, ReadError, hold_name};

const DATA: Keep = Keep::Members(&[
    ("redactionInfo", Keep::Members(&[("isRedacted", Keep::Whole)])),
    ("resultData", Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))])),
]);

/// Memory for the fields of all nodes, bytes: those of nodes that do not fit are not compared.
const FIELDS_BYTES: usize = 2 * 1024 * 1024;

/// Reads a [`Digest`]: of each node how it ended, how many items it output, and which kinds of values are in them.
///
/// Memory is bounded by 400 paths of a node, 2 MiB of fields, 384 KiB of paths of the workflow, 192 KiB of its values, and
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

/// What is held of an execution so that it can be compared with another one.
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
    const KEEP: Keep = Keep::Members(&body::keep(DATA, WORKFLOW));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(
            cursor,
            |cursor, _| Digest::read(cursor, self.redacts),
            |cursor| WorkflowDigest::read(cursor, self.redacts),
        )?;
        Ok(Digest { header: body.header, workflow: body.workflow, ..body.data.unwrap_or_default() })
    }
}

impl Digest {
    fn read<R: Read>(cursor: &mut Cursor<R>, redacts: bool) -> Result<Self, ReadError> {
        let mut digest = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "redactionInfo" => digest.redacted = stored_json::member(cursor, "isRedacted", Cursor::is_true)?,
                "resultData" => {
                    digest.nodes = stored_json::member(cursor, "runData", |cursor| {
                        let (mut nodes, mut room) = (IndexMap::new(), FIELDS_BYTES);
                        cursor.object(|cursor, name| {
                            // The last of several nodes with the same name counts.
                            nodes.insert(hold_name(name), NodeDigest::read(cursor, redacts, &mut room)?);
                            Ok(())
                        })?;
                        Ok(nodes)
                    })?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(digest)
    }

    /// Whether any node was executed, as far as n8n tells.
    pub fn has_nodes(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether the fields of a node were not all read: there are too many, or its items are too large.
    pub fn is_partial(&self) -> bool {
        self.nodes.values().any(|node| node.is_partial)
    }

    /// Nodes of the workflow that were too large to be read, and its connections if they were.
    pub fn unread_parts(&self) -> u64 {
        self.workflow.as_ref().map_or(0, |workflow| workflow.too_large)
    }

    /// Nodes with their digests in the order of execution.
    fn in_order(&self) -> Vec<(&str, &NodeDigest)> {
        let mut nodes: Vec<_> = self.nodes.iter().map(|(name, node)| (name.as_str(), node)).collect();
        // The sort is stable: document order is the last criterion.
        let order = Order::new(self.nodes.values().map(|node| node.first_runs).sum());
        nodes.sort_by(|(_, one), (_, other)| order.compare(one.start, other.start));
        nodes
    }
}

/// Whether a path is below this one.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']))
}
