//! The trace: where an item came from, and where it went.
//!
//! The body is read twice at most, whatever the number of steps. The first pass reads the lineage of all items
//! ([`LineageProjection`]), the second one the items that the [`Route`] leads over ([`ItemsProjection`]).

mod changes;
mod items;
mod link;
mod log;
mod pairing;
mod route;

use std::collections::HashSet;
use std::io::Read;
use std::ops::Range;

pub use self::changes::{Change, changes};
pub use self::items::{ItemsProjection, ItemsView};
use self::log::Lineage;
use self::pairing::{Breaks, Continuation, Pairing};
pub use self::route::{Absent, Direction, Note, Place, Route, Step};
use super::Error;
use super::header::Header;
use super::related::Parent;
use super::runs::{self, Item, ItemPlace, Parts, RunHead, RunObserver, Side};
use crate::json::{Capture, Cursor, Keep, Members, Projection, Pruner, ReadError, member, members};

/// Ids, types and modes are never longer; anything longer is cut.
const VALUE_CHARS: usize = 100;

/// Reads a [`LineageView`]: the lineage of all items, and nothing else of them.
///
/// ```
/// use n8n_lens::execution::trace::{Direction, LineageProjection, Place, Route};
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id": "7", "data": {"resultData": {"runData": {
///     "Read": [{"source": [], "data": {"main": [[{"json": {"n": 1}}, {"json": {"n": 2}}]]}}],
///     "Filter": [{
///         "source": [{"previousNode": "Read"}],
///         "data": {"main": [[{"json": {"n": 2}, "pairedItem": {"item": 1}}]]}
///     }]
/// }}}}"#;
/// let view = LineageProjection.read_from(&body[..])?;
/// let start = Place { node: "Filter".to_owned(), run: 0, output: 0, item: 0 };
/// let route = Route::new(&view, &start, Direction::Back).expect("the item exists");
/// let steps: Vec<_> = route.steps.iter().map(|step| (&*step.place.node, step.place.item)).collect();
/// assert_eq!(steps, [("Filter", 0), ("Read", 1)]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LineageProjection;

impl Projection for LineageProjection {
    type View = Result<LineageView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader<true>>(WORKFLOW));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::picked(Breaks::default()))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        LineageView::read::<true, R>(cursor)
    }
}

/// Like [`LineageProjection`], for run data as n8n stores it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredLineageProjection;

impl Projection for StoredLineageProjection {
    type View = Result<LineageView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader<false>>(WORKFLOW));

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        LineageView::read::<false, R>(cursor)
    }
}

/// The lineage of all items of an execution.
#[derive(Debug, Default)]
pub struct LineageView {
    /// The execution's metadata.
    pub header: Header,
    /// The execution that started this one as a part of it.
    pub parent: Option<Parent>,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    lineage: Lineage,
    /// The nodes whose items n8n may have paired by their position.
    by_position: HashSet<String>,
}

/// The trace of an item, without the items.
#[derive(Debug)]
pub struct Trace {
    /// The execution's metadata.
    pub header: Header,
    /// The names of all executed nodes, in document order.
    pub names: Vec<String>,
    /// The execution that started this one as a part of it.
    pub parent: Option<Parent>,
    /// Whether n8n redacted the items.
    pub redacted: bool,
    /// The node and the run from which on there was no room for the lineage.
    pub stopped: Option<(String, u64)>,
    /// The steps, or the reason why there are none.
    pub route: Result<Route, Absent>,
}

impl Trace {
    /// Follows an item.
    pub fn new(view: LineageView, start: &Place, direction: Direction) -> Self {
        let route = Route::new(&view, start, direction);
        let stopped = view.lineage.stopped.map(|(node, run)| (view.lineage.names.name(node).to_owned(), run));
        let names = view.lineage.nodes.keys().map(|node| view.lineage.names.name(*node).to_owned()).collect();
        let LineageView { header, parent, redacted, .. } = view;
        Self { header, names, parent, redacted, stopped, route }
    }

    /// The items that are shown, and those with which they are compared.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for step in self.route.iter().flat_map(|route| &route.steps) {
            let exists = !matches!(step.note, Some(Note::NoItem | Note::NotHeld));
            let here = Some(&step.place).filter(|_| exists);
            places.extend(here.into_iter().chain(step.single_source()).cloned());
        }
        let mut known = HashSet::new();
        places.retain(|place| known.insert(place.clone()));
        places
    }
}

impl LineageView {
    fn read<const WINDOWED: bool, R: Read>(cursor: Cursor<R>) -> Result<Self, Error> {
        let execution = runs::read(cursor, |_| Reader::<WINDOWED>::default(), read_workflow)?;
        Ok(Self {
            header: execution.header,
            parent: execution.data.parent,
            redacted: execution.data.redacted,
            lineage: execution.runs.lineage,
            by_position: execution.workflow,
        })
    }
}

const WORKFLOW: Keep = Keep::Members(&[("nodes", Keep::EachElement(&CodeNode::KEEP))]);

/// A node of the workflow: whether it runs code, and how.
#[derive(Default)]
struct CodeNode {
    name: Option<String>,
    node_type: Option<String>,
    mode: Option<String>,
}

members!(CodeNode, |node, cursor| match name {
    ("name", Keep::Whole) => node.name = cursor.name()?,
    ("type", Keep::Whole) => node.node_type = cursor.text(VALUE_CHARS)?,
    ("parameters", PARAMETERS) => node.mode = member(cursor, "mode", |cursor| cursor.text(VALUE_CHARS))?,
});

const PARAMETERS: Keep = Keep::Members(&[("mode", Keep::Whole)]);

/// The nodes that run code which returns all items at once: n8n pairs items that the code made by their position.
fn read_workflow<R: Read>(cursor: &mut Cursor<R>) -> Result<HashSet<String>, ReadError> {
    member(cursor, "nodes", |cursor| {
        let mut nodes = HashSet::new();
        cursor.array(|cursor, _| {
            let node = CodeNode::read_or_default(cursor)?;
            let is_code = matches!(node.node_type.as_deref(), Some("n8n-nodes-base.code" | "n8n-nodes-base.function"));
            let is_for_all = is_code && node.mode.as_deref() != Some("runOnceForEachItem");
            nodes.extend(node.name.filter(|_| is_for_all));
            Ok(())
        })?;
        Ok(nodes)
    })
}

/// Reads the runs of nodes. The items are those of a window; if not, only their `pairedItem` is there.
#[derive(Default)]
struct Reader<const WINDOWED: bool> {
    lineage: Lineage,
    /// The node that is being read.
    node: usize,
    continuation: Continuation,
}

impl<const WINDOWED: bool> RunObserver for Reader<WINDOWED> {
    const PARTS: Parts = Parts::REDACTED
        .and(Parts::PARENT)
        .and(Parts::SOURCES)
        .and(Parts::OWN_INPUT)
        .and(if WINDOWED { Parts::OUTPUTS } else { Parts::LINEAGE });

    fn begin_node(&mut self, name: &str) {
        self.node = self.lineage.begin_node(name);
    }

    fn begin_lists(&mut self, _: u64, _: Side) {
        self.lineage.clear_run();
    }

    fn begin_list(&mut self, connection: &str, _: u64) {
        self.lineage.begin_list(connection == "main");
        self.continuation = Continuation::default();
    }

    fn item<R: Read>(&mut self, _: ItemPlace, item: Item<'_, R>) -> Result<(), ReadError> {
        let lineage = &mut self.lineage;
        match item {
            Item::Omitted(items) => {
                let (first, step) = self.continuation.skip(items).unwrap_or_default();
                lineage.add_plain(first, step, items);
            }
            Item::Captured(item) => {
                let number = pairing::plain(&item);
                self.continuation.next(number);
                let pairing = match number {
                    Some(number) => Pairing::plain(number),
                    None => Pairing::of_item(&item, &mut lineage.names)?,
                };
                lineage.add(pairing);
            }
            Item::Unread(cursor) => {
                self.continuation.next(None);
                let names = &mut lineage.names;
                let pairing = member(cursor, "pairedItem", |cursor| Pairing::read(cursor, names))?;
                lineage.add(pairing);
            }
        }
        Ok(())
    }

    fn end_list(&mut self, _: ItemPlace) {
        self.lineage.end_list();
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.lineage.end_run(self.node, &run.sources, run.has_own_input);
        Ok(())
    }
}
