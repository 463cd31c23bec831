//! The runs of all nodes of an execution: how long each took, how it ended, and how many items it output.

use super::Error;
use super::header::Header;
use super::runs::{self, Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use crate::json::{Cursor, Keep, Projection, ReadError};

/// The maximum number of runs held, 40 bytes each.
const MOST: usize = 100_000;

/// Reads [`NodeRuns`], without those that a retry has copied: items are counted, not read.
///
/// ```
/// use n8n_lens::execution::node_runs::NodeRunsProjection;
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id":"7","data":{"resultData":{"runData":{"Read":[
///     {"startTime":1795226662000,"executionTime":30,"executionStatus":"success","data":{"main":[[{},{}],[{}]]}}
/// ]}}}}"#;
/// let runs = NodeRunsProjection.read_from(&body[..])?;
/// let (name, of_node) = &runs.nodes[0];
/// assert_eq!((name.as_str(), of_node[0].ms, of_node[0].items, of_node[0].failed), ("Read", 30, 3, false));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NodeRunsProjection;

/// What was read.
#[derive(Debug, Default)]
pub struct NodeRuns {
    /// The execution's metadata.
    pub header: Header,
    /// The nodes, in the order of the body, with their runs.
    pub nodes: Vec<(String, Vec<NodeRun>)>,
    /// How many runs there are beyond the 100,000 that are held.
    pub left_out: u64,
}

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRun {
    /// How long it took, ms.
    pub ms: u64,
    /// Items in its outputs, of all types of connections.
    pub items: u64,
    /// Whether it failed.
    pub failed: bool,
}

impl Projection for NodeRunsProjection {
    type View = Result<NodeRuns, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(Keep::Skip));

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, Reader::new, Cursor::skip)?;
        let Reader { nodes, left_out, .. } = execution.runs;
        Ok(NodeRuns { header: execution.header, nodes, left_out })
    }
}

#[derive(Default)]
struct Reader {
    own_start: Option<i64>,
    nodes: Vec<(String, Vec<NodeRun>)>,
    runs: Vec<NodeRun>,
    held: usize,
    /// Items of the run that is being read.
    items: u64,
    left_out: u64,
}

impl Reader {
    fn new(header: &Header) -> Self {
        Self { own_start: header.own_start_ms(), ..Self::default() }
    }
}

impl RunObserver for Reader {
    const PARTS: Parts = Parts::START.and(Parts::TIME).and(Parts::STATUS).and(Parts::OUTPUTS);

    fn begin_node(&mut self, _: &str) {
        self.runs.clear();
    }

    fn begin_lists(&mut self, _: u64, _: Side) {
        self.items = 0;
    }

    fn item(&mut self, _: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        item.skip()
    }

    fn end_list(&mut self, end: ItemPlace) {
        self.items += end.item;
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        let items = std::mem::take(&mut self.items);
        if run.is_copied(self.own_start) {
            return Ok(());
        }
        if self.held >= MOST {
            self.left_out += 1;
            return Ok(());
        }
        self.held += 1;
        self.runs.push(NodeRun { ms: run.ms(), items, failed: run.failed });
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.nodes.retain(|(known, _)| *known != name);
        self.nodes.push((name, std::mem::take(&mut self.runs)));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_members_with_one_name_counts() {
        let body = br#"{"id":"7","data":{"resultData":{"runData":{"A":[{"data":{"main":[[{},{}]]},"data":{"main":[[{}]]}},{"data":{"main":[[{}]]}}]}}}}"#;
        let runs = NodeRunsProjection.read_from(&body[..]).unwrap();
        assert_eq!(runs.nodes[0].1.iter().map(|run| run.items).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn runs_that_a_retry_has_copied_are_left_out() {
        let body = |retry_of: &str| {
            format!(
                r#"{{"id":"8",{retry_of}"startedAt":"2026-11-21T02:04:22.000Z","data":{{"resultData":{{"runData":{{
                    "Read":[{{"startTime":1795226661000,"executionTime":30,"data":{{"main":[[{{}},{{}}]]}}}},
                            {{"startTime":1795226662001,"executionTime":7,"data":{{"main":[[{{}}]]}}}}],
                    "Copied":[{{"startTime":1795226661500,"executionTime":30}}]}}}}}}}}"#
            )
        };
        let ms = |retry_of: &str| -> Vec<Vec<u64>> {
            let runs = NodeRunsProjection.read_from(body(retry_of).as_bytes()).unwrap();
            runs.nodes.iter().map(|(_, runs)| runs.iter().map(|run| run.ms).collect()).collect()
        };
        assert_eq!(ms(""), [vec![30, 7], vec![30]]);
        assert_eq!(ms(r#""retryOf":"7","#), [vec![7], vec![]]);
    }
}
