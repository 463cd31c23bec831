//! The look-up: how often the items that a node actually received, or that another node output, have a path.
//!
//! An expression such as `$json.customer.name` names a path in the items of its node's input; one such as
//! `$('Orders').first().json.total` names one in the output of another node. Here such a reference is a [`Question`].
//! This module does not know what an expression means, or what is wrong with it.
//!
//! The body is read twice. The first pass ([`RunsProjection`]) reads which nodes ran and which outputs each received,
//! and the workflow that ran. That and the questions make a [`Plan`]: which paths to look for in which lists of items.
//! The second pass ([`LookupProjection`]) counts.
//!
//! # What is counted
//!
//! - The input of a node is the items of all `main` outputs that `source` of its runs names, each list once, even if
//!   several runs received it. If n8n stores the input of a run itself (`inputOverride`, of AI sub-nodes), it is those items,
//!   and `source` names the nodes that use it.
//! - The output of a node is the items of the `main` outputs of all of its runs: of those that a question names, or of all.
//!   Expressions reach no others: n8n's `getNodeExecutionOrPinnedData` reads `data.main` (`packages/workflow/src/workflow-data-proxy.ts`).
//! - A path begins in the `json` of an item. An item has it if each step exists: a name in an object, an index in an array; as in
//!   JavaScript, an index can also name a member, and a name such as `"0"` an element.
//!   A path that leads to `null` is there; nothing is below `null`, a number or a boolean, and below a string are its characters,
//!   by index, as far as it is long (in UTF-16; of an item of more than 1 MiB, in characters).
//! - Items of any size are examined. Containers nested deeper than [`WALKED_LEVELS`](crate::json::WALKED_LEVELS) count as
//!   empty, as for the fields.
//!
//! # Cost
//!
//! Items are examined in place, by the marks of the filter: only the members on the way of a path are read, and only an
//! item whose answers differ from those of the item before it reaches the reader. Memory: 3 MiB for what the nodes
//! received, as much again for what the questions need of it; 500 bytes for each question; 2 MiB for the paths of the
//! first 100 items of each list, to suggest intended paths.
//!
//! # Limits
//!
//! 4,000 questions; 400 different paths in the items of one node; 16,000 pairs of a question and an output; 24 steps of
//! a path; 1,000 characters of a name. Questions beyond them are not looked up ([`Outcome::OverLimit`]).
//!
//! # Example
//!
//! ```
//! use n8n_lens::execution::lookup::{LookupProjection, Of, Plan, Question, RunsProjection, Which, path_of, path_text};
//! use n8n_lens::json::Projection;
//!
//! let body = br#"{"id": "7", "data": {"resultData": {"runData": {
//!     "Read": [{"data": {"main": [[{"json": {"id": 1, "taxRate": 7}}, {"json": {"id": "2", "taxRate": 7}}]]}}],
//!     "Send": [{"source": [{"previousNode": "Read"}], "data": {"main": [[]]}}]
//! }}}, "workflowData": {"name": "Orders"}}"#;
//!
//! let runs = RunsProjection.read_from(&body[..])?;
//! assert_eq!(runs.workflow.as_deref(), Some(&br#"{"name":"Orders"}"#[..]));
//! let ask = |path| Question { node: "Send".to_owned(), of: Of::Input(Which::Any), path: path_of(path) };
//! let plan = Plan::new(&runs, vec![ask("id"), ask("taxrate")]);
//!
//! let found = LookupProjection::new(plan).read_from(&body[..])?;
//! // One number, one string, which is first in item 1.
//! assert_eq!((found[0].have, found[0].items, found[0].kinds), (2, 2, [0, 0, 1, 1, 0, 0]));
//! assert_eq!(found[0].first_of_kind[3].as_ref().map(|place| place.item), Some(1));
//! assert_eq!((found[1].have, found[1].near.as_deref().map(path_text).as_deref()), (0, Some("taxRate")));
//! # Ok::<_, n8n_lens::execution::Error>(())
//! ```

mod answers;
mod events;
mod known;
mod near;
mod path;
mod path_tree;
mod pick;
mod plan;
mod reader;
mod run_set;
mod runs;
mod stored;
mod tally;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

pub use self::near::is_close;
pub use self::path::{Step, path_of, path_text};
pub use self::plan::Plan;
use self::reader::Reader;
pub use self::runs::{RunsProjection, RunsView};
pub(super) use self::stored::{LookedNode, LookedValue};
use super::Error;
pub use super::fields::KINDS;
use super::runs as walk;
pub use super::trace::Place;
use crate::json::{Capture, Cursor, Keep, Projection, Pruner};

/// The maximum number of questions.
pub const QUESTIONS: usize = 4000;

/// The maximum number of different paths in the items of one node.
pub const PATHS: usize = 400;

/// The maximum number of steps of a path: nothing below the walked levels can be found.
const STEPS: usize = 24;

/// The maximum number of characters of a name in a path.
const NAME_CHARS: usize = 1000;

/// The maximum number of pairs of a question and an output in which it is looked up.
const ASKS: usize = 16_000;

/// How many items of a list are searched for all of their paths.
const KNOWN_ITEMS: u64 = 100;

/// A question: whether items have a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The node that asks.
    pub node: String,
    /// In which items the path is looked up.
    pub of: Of,
    /// The path, from `json` on.
    pub path: Vec<Step>,
}

/// The items in which a path is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// The items that the node received.
    Input(Which),
    /// The items that another node output.
    Output {
        /// The node.
        node: String,
        /// The `main` outputs to look in, from 0; an empty list means all of them.
        outputs: Vec<u64>,
        /// Which of its items.
        which: Which,
    },
}

/// Which items of each list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All: `$json`, `.item`, `all()`.
    Any,
    /// The first one: `first()`.
    First,
    /// The last one: `last()`.
    Last,
    /// The one with this index, from 0: `all()[2]`.
    Index(u64),
}

/// The outcome of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The path was looked up. There may have been no items.
    #[default]
    LookedUp,
    /// The node that asks did not run.
    NotRun,
    /// It did, but the node whose output is requested did not.
    SourceNotRun,
    /// It received nothing: it is a trigger.
    NoInput,
    /// It ran so often that what it received was not held ([`RunsProjection`]).
    TooOften,
    /// There are too many questions, or the path is too long.
    OverLimit,
    /// n8n redacted the items.
    Redacted,
    /// n8n recovered runs after a crash, with placeholders for the items.
    Recovered,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Whether the path was looked up; if not, there are no counts.
    pub outcome: Outcome,
    /// How many items were examined.
    pub items: u64,
    /// How many of them have the path.
    pub have: u64,
    /// How many values of each of [`KINDS`].
    pub kinds: [u64; KINDS.len()],
    /// The first item without the path, in the order in which n8n ran the nodes. For an own input, `output` is the
    /// input.
    pub first_missing: Option<Place>,
    /// The first item with a value of each kind.
    pub first_of_kind: [Option<Place>; KINDS.len()],
    /// If no item has the path: the path that was probably meant, which items do have.
    pub near: Option<Vec<Step>>,
}

/// Reads the answers to the questions of a [`Plan`], in their order: the second pass of a look-up, of the same execution.
#[derive(Clone, Debug)]
pub struct LookupProjection {
    plan: Arc<Plan>,
}

impl LookupProjection {
    /// Looks up what is planned.
    pub fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan) }
    }

    /// What is looked for.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Projection for LookupProjection {
    type View = Result<Vec<Found>, Error>;
    const KEEP: Keep = Keep::Members(&walk::keep::<Reader<'_>>(Keep::Skip));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        let breaks = pick::Breaks::new(Arc::clone(&self.plan));
        // The first pass checked the body.
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::picked(breaks)).trusting_body()
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = walk::read(cursor, |_| Reader::new(&self.plan), Cursor::skip)?;
        let mut found = execution.runs.finish();
        if execution.data.redacted {
            found.fill(Found { outcome: Outcome::Redacted, ..Found::default() });
        }
        Ok(found)
    }
}
