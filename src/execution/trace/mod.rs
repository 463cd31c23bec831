//! The trace: where an item came from, and where it went.
//!
//! The body is read twice at most, whatever the number of steps. The first pass reads the lineage of all items
//! ([`LineageProjection`]), the second one the items that the [`Route`] leads over ([`ItemsProjection`]).

mod changes;
mod items;
mod log;
mod pairing;
mod route;

use std::collections::HashSet;
use std::io::Read;
use std::ops::Range;

pub use self::changes::{Change, changes};
pub use self::items::{ItemsProjection, ItemsView};
use self::log::Lineage;
use self::pairing::{Continuation, News, Pairing};
pub use self::route::{Absent, Direction, Note, Place, Route, Step};
use super::flow::{self, Parent};
use super::header::Header;
use super::run::read_sources;
use super::values::ITEM_LISTS;
use super::{Error, body, stored_json};
use crate::json::{Capture, Cursor, Element, Keep, Projection, Pruner, ReadError, hold_name};

/// Of a run: what its inputs came from, and its items.
const RUN: Keep = Keep::Members(&[
    ("source", Keep::EachElement(&Keep::Whole)),
    ("inputOverride", Keep::Members(&[])),
    ("data", ITEM_LISTS),
]);

/// The same, but nothing of the items but their lineage: for a text in which skipping is cheaper than reading.
const RUN_OF_PAIRS: Keep = Keep::Members(&[
    ("source", Keep::EachElement(&Keep::Whole)),
    ("inputOverride", Keep::Members(&[])),
    ("data", Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&Keep::Members(&[("pairedItem", Keep::Whole)]))))),
]);

const fn data(run_data: &'static Keep) -> [(&'static str, Keep); 3] {
    [
        ("redactionInfo", Keep::Members(&[("isRedacted", Keep::Whole)])),
        ("parentExecution", flow::PARENT),
        ("resultData", *run_data),
    ]
}

const WORKFLOW: Keep = Keep::Members(&[(
    "nodes",
    Keep::EachElement(&Keep::Members(&[
        ("name", Keep::Whole),
        ("type", Keep::Whole),
        ("parameters", Keep::Members(&[("mode", Keep::Whole)])),
    ])),
)]);

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
    const KEEP: Keep = Keep::Members(&body::keep(
        Keep::Members(&data(&Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))]))),
        WORKFLOW,
    ));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::picked(News::default()))
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, _| LineageView::read(cursor, true), read_workflow)?;
        Ok(LineageView { header: body.header, by_position: body.workflow, ..body.data.unwrap_or_default() })
    }
}

/// As [`LineageProjection`], for run data as n8n stores it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredLineageProjection;

impl Projection for StoredLineageProjection {
    type View = Result<LineageView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(
        Keep::Members(&data(&Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN_OF_PAIRS)))]))),
        WORKFLOW,
    ));

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, _| LineageView::read(cursor, false), read_workflow)?;
        Ok(LineageView { header: body.header, by_position: body.workflow, ..body.data.unwrap_or_default() })
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
    /// The steps, or why there are none.
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
    fn read<R: Read>(cursor: &mut Cursor<R>, is_windowed: bool) -> Result<Self, ReadError> {
        let mut view = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "redactionInfo" => view.redacted = stored_json::member(cursor, "isRedacted", Cursor::is_true)?,
                "parentExecution" => view.parent = Parent::read(cursor)?,
                "resultData" => {
                    view.lineage = stored_json::member(cursor, "runData", |cursor| {
                        let mut reader = Reader { lineage: Lineage::default(), is_windowed };
                        cursor.object(|cursor, name| reader.node(cursor, &hold_name(name)))?;
                        Ok(reader.lineage)
                    })?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(view)
    }
}

/// The nodes that run code which returns all items at once: n8n pairs items that the code made by their position.
fn read_workflow<R: Read>(cursor: &mut Cursor<R>) -> Result<HashSet<String>, ReadError> {
    stored_json::member(cursor, "nodes", |cursor| {
        let mut nodes = HashSet::new();
        cursor.array(|cursor, _| {
            let (mut name, mut node_type, mut mode) = (None, None, None);
            cursor.object(|cursor, member| {
                match member {
                    "name" => name = cursor.name()?,
                    "type" => node_type = cursor.text(VALUE_CHARS)?,
                    "parameters" => mode = stored_json::member(cursor, "mode", |cursor| cursor.text(VALUE_CHARS))?,
                    _ => cursor.skip()?,
                }
                Ok(())
            })?;
            let is_code = matches!(node_type.as_deref(), Some("n8n-nodes-base.code" | "n8n-nodes-base.function"));
            let is_for_all = is_code && mode.as_deref() != Some("runOnceForEachItem");
            nodes.extend(name.filter(|_| is_for_all));
            Ok(())
        })?;
        Ok(nodes)
    })
}

/// Reads the runs of nodes.
struct Reader {
    lineage: Lineage,
    /// Whether items are those of a window; if not, only their `pairedItem` is there.
    is_windowed: bool,
}

impl Reader {
    fn node<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str) -> Result<(), ReadError> {
        let node = self.lineage.begin_node(name);
        cursor
            .array(|cursor, _| {
                self.lineage.begin_run();
                let (mut sources, mut has_own_input) = (Vec::new(), false);
                cursor.object(|cursor, member| {
                    match member {
                        "source" => sources = read_sources(cursor)?,
                        "inputOverride" => has_own_input = cursor.skip_present()?,
                        "data" => self.lists(cursor)?,
                        _ => cursor.skip()?,
                    }
                    Ok(())
                })?;
                self.lineage.end_run(node, &sources, has_own_input);
                Ok(())
            })
            .map(drop)
    }

    fn lists<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        self.lineage.clear_run();
        cursor
            .object(|cursor, connection| {
                let is_main = connection == "main";
                cursor
                    .array(|cursor, _| {
                        self.lineage.begin_list(is_main);
                        let mut continuation = Continuation::default();
                        cursor.array(|cursor, _| self.item(cursor, &mut continuation))?;
                        self.lineage.end_list();
                        Ok(())
                    })
                    .map(drop)
            })
            .map(drop)
    }

    fn item<R: Read>(&mut self, cursor: &mut Cursor<R>, continuation: &mut Continuation) -> Result<(), ReadError> {
        let lineage = &mut self.lineage;
        let element = if self.is_windowed { cursor.element()? } else { Element::Unread };
        match element {
            Element::Omitted(items) => {
                let (first, step) = continuation.skip(items).unwrap_or_default();
                lineage.add_plain(first, step, items);
            }
            Element::Captured(item) => {
                let number = pairing::plain(&item);
                continuation.next(number);
                let pairing = match number {
                    Some(number) => Pairing::plain(number),
                    None => Pairing::of_item(&item, &mut lineage.names)?,
                };
                lineage.add(pairing);
            }
            Element::Unread => {
                continuation.next(None);
                let names = &mut lineage.names;
                let pairing = stored_json::member(cursor, "pairedItem", |cursor| Pairing::read(cursor, names))?;
                lineage.add(pairing);
            }
        }
        Ok(())
    }
}
