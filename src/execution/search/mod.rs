//! The search: where in an execution a value occurs.

mod hits;
mod query;

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use self::hits::FirstHits;
use self::query::Value;
pub use self::query::{Condition, InvalidRegex, PathEnd, Scalar, TextPattern, ValueKind, ValueQuery};
use super::header::Header;
use super::order::{Order, Start};
use super::run::ERROR_BYTES;
use super::values::{ITEM_LISTS, Item, ItemPlace, Path, ValueVisitor, read_items, walk_error, walk_item};
use super::{Error, body, failure, stored_json};
use crate::json::{
    Capture, Cursor, Excerpt, Keep, Projection, Pruner, ReadError, Visitor, Written, hold_name, is_name, shorten,
};

/// Of a run: when it started, its error and its items.
const RUN: Keep = Keep::Members(&[
    ("executionIndex", Keep::Whole),
    ("startTime", Keep::Whole),
    ("error", failure::WHOLE),
    ("redactedError", failure::REDACTED),
    ("data", ITEM_LISTS),
]);

const DATA: Keep = Keep::Members(&[
    ("redactionInfo", Keep::Members(&[("isRedacted", Keep::Whole)])),
    ("resultData", Keep::Members(&[("runData", Keep::EachMember(&Keep::EachElement(&RUN)))])),
]);

/// The most characters of a hit's path.
const PATH_CHARS: usize = 300;

/// Reads a [`SearchView`]: the values that match a query, in the items of all runs and in their errors.
///
/// Items that cannot have a match are passed over before they are parsed.
///
/// ```
/// use n8n_lens::execution::search::{SearchProjection, TextPattern, ValueQuery};
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id": "7", "data": {"resultData": {"runData": {
///     "Send": [{"executionIndex": 1, "data": {"main": [[{"json": {"to": ["Ann", "Bob"]}}]]}}],
///     "Read": [{"executionIndex": 0, "data": {"main": [[{"json": {"n": 1}}, {"json": {"name": "Bobby"}}]]}}]
/// }}}}"#;
/// let query = ValueQuery { text: Some(TextPattern::literal("bob").expect("it is short")), ..ValueQuery::default() };
/// let search = SearchProjection { query, node: None, limit: 20, redacts: false };
/// let view = search.read_from(&body[..])?;
/// let hits: Vec<_> = view.hits.iter().map(|hit| (&*hit.node, hit.item, &*hit.path, hit.value.as_deref())).collect();
/// assert_eq!(hits, [("Read", Some(1), "name", Some("\"Bobby\"")), ("Send", Some(0), "to[1]", Some("\"Bob\""))]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchProjection {
    /// What is asked of a value.
    pub query: ValueQuery,
    /// Only the items of this node, or of those with this shortened name.
    pub node: Option<String>,
    /// At most this many hits are listed; all are counted.
    pub limit: usize,
    /// Whether values of known secret keys in items are masked before they are searched.
    pub redacts: bool,
}

/// Where a value occurs.
#[derive(Debug, Default)]
pub struct SearchView {
    /// The execution's metadata.
    pub header: Header,
    /// The names of all executed nodes, in document order.
    pub names: Vec<String>,
    /// How many values match.
    pub total: u64,
    /// The nodes with hits, in the order in which they ran first.
    pub nodes: Vec<NodeHits>,
    /// The first hits, by the start of their run, then by output and item.
    pub hits: Vec<Hit>,
    /// Items of more than 1 MiB, which were not searched.
    pub too_large: u64,
    /// Whether n8n redacted the items.
    pub redacted: bool,
}

/// How many values of a node match.
#[derive(Debug)]
pub struct NodeHits {
    /// The node's name.
    pub name: Arc<str>,
    /// How many.
    pub hits: u64,
}

/// A value that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The node's name.
    pub node: Arc<str>,
    /// The run, from 0.
    pub run: u64,
    /// The output, counted across all types of connections; 0 in an error.
    pub output: u64,
    /// The item in this output; `None` in the error of a run.
    pub item: Option<u64>,
    /// The value's path, with the number of each element: `lines[26].taxRate`; of a value that is missing, the path that
    /// was asked for.
    pub path: String,
    /// The value as JSON, or a string with what is around the match; `None` for a value that is missing.
    pub value: Option<String>,
}

impl Projection for SearchProjection {
    type View = Result<SearchView, Error>;
    const KEEP: Keep = Keep::Members(&body::keep(DATA, Keep::Skip));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window())
            .capturing(self.query.seeker().map_or_else(Capture::all, Capture::picked))
            .with_focus(self.node.as_deref())
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let body = body::read(cursor, |cursor, _| Search::read(cursor, self), Cursor::skip)?;
        Ok(body.data.unwrap_or_else(|| Search::new(self)).view(body.header))
    }
}

/// The member `runData`, searched.
struct Search<'p> {
    projection: &'p SearchProjection,
    nodes: IndexMap<Arc<str>, SearchedNode>,
    hits: FirstHits,
    path: Path,
    redacted: bool,
}

/// What was found in a node.
#[derive(Default)]
struct SearchedNode {
    hits: u64,
    too_large: u64,
    /// The start of its first run.
    start: Option<Start>,
    /// How many runs are the first of a counter.
    first_runs: u64,
}

impl<'p> Search<'p> {
    fn new(projection: &'p SearchProjection) -> Self {
        Self {
            projection,
            nodes: IndexMap::new(),
            hits: FirstHits::new(projection.limit),
            path: Path::default(),
            redacted: false,
        }
    }

    fn read<R: Read>(cursor: &mut Cursor<R>, projection: &'p SearchProjection) -> Result<Self, ReadError> {
        let mut search = Self::new(projection);
        let mut redacted = false;
        cursor.object(|cursor, member| {
            match member {
                "redactionInfo" => redacted = stored_json::member(cursor, "isRedacted", Cursor::is_true)?,
                "resultData" => {
                    search = stored_json::member(cursor, "runData", |cursor| {
                        let mut search = Self::new(projection);
                        cursor.object(|cursor, name| search.read_node(cursor, &hold_name(name)))?;
                        Ok(Some(search))
                    })?
                    .unwrap_or_else(|| Self::new(projection))
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        search.redacted = redacted;
        Ok(search)
    }

    fn read_node<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str) -> Result<(), ReadError> {
        let node: Arc<str> = name.into();
        // The last of several nodes with the same name counts.
        if self.nodes.contains_key(name) {
            self.hits.remove(name);
        }
        let mut searched = SearchedNode::default();
        let is_searched = self.searches(name);
        cursor.array(|cursor, run| {
            let found = RunSearch::read(cursor, self, is_searched)?;
            searched.start.get_or_insert(found.start);
            searched.first_runs += u64::from(found.start.is_first());
            searched.hits += found.errors.count + found.items.count;
            searched.too_large += found.too_large;
            let hits = found.errors.first.into_iter().chain(found.items.first);
            let hits: Vec<_> = hits.map(|found| found.hit(&node, run)).collect();
            self.hits.add(found.start, &hits);
            Ok(())
        })?;
        self.nodes.insert(node, searched);
        Ok(())
    }

    fn searches(&self, name: &str) -> bool {
        self.projection.node.as_ref().is_none_or(|requested| name == requested || is_name(requested, name))
    }

    fn view(self, header: Header) -> SearchView {
        let names = self.nodes.keys().map(|name| name.as_ref().to_owned()).collect();
        let total = self.nodes.values().map(|node| node.hits).sum();
        let too_large = self.nodes.values().map(|node| node.too_large).sum();
        let order = Order::new(self.nodes.values().map(|node| node.first_runs).sum());
        let mut nodes: Vec<_> = self.nodes.into_iter().filter(|(_, node)| node.hits > 0).collect();
        nodes.sort_by(|(_, one), (_, other)| {
            order.compare(one.start.unwrap_or_default(), other.start.unwrap_or_default())
        });
        let nodes = nodes.into_iter().map(|(name, node)| NodeHits { name, hits: node.hits }).collect();
        SearchView { header, names, total, nodes, hits: self.hits.into_hits(order), too_large, redacted: self.redacted }
    }
}

/// What was found in one run.
#[derive(Default)]
struct RunSearch {
    start: Start,
    errors: Matches,
    items: Matches,
    too_large: u64,
}

/// Values that match, in the order of the text.
#[derive(Default)]
struct Matches {
    count: u64,
    /// As many as may be listed.
    first: Vec<Match>,
}

/// A value that matches, in a run.
struct Match {
    place: Option<ItemPlace>,
    path: String,
    value: Option<String>,
}

impl Match {
    fn hit(self, node: &Arc<str>, run: u64) -> Hit {
        Hit {
            node: Arc::clone(node),
            run,
            output: self.place.map_or(0, |place| place.output),
            item: self.place.map(|place| place.item),
            path: self.path,
            value: self.value,
        }
    }
}

impl RunSearch {
    fn read<R: Read>(cursor: &mut Cursor<R>, search: &mut Search<'_>, is_searched: bool) -> Result<Self, ReadError> {
        let mut run = Self::default();
        let (mut error, mut redacted) = (None, None);
        cursor.object(|cursor, member| {
            match member {
                "executionIndex" => run.start.index = cursor.number()?,
                "startTime" => run.start.time = cursor.number()?,
                "error" => error = failure::read_whole(cursor, ERROR_BYTES)?,
                "redactedError" => redacted = failure::read_redacted(cursor)?,
                "data" => run.read_items(cursor, search, is_searched)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        if let Some(error) = error.or(redacted).filter(|_| is_searched) {
            run.search_error(&error, search)?;
        }
        Ok(run)
    }

    fn read_items<R: Read>(
        &mut self,
        cursor: &mut Cursor<R>,
        search: &mut Search<'_>,
        is_searched: bool,
    ) -> Result<(), ReadError> {
        (self.items, self.too_large) = (Matches::default(), 0);
        read_items(cursor, |place, item| {
            match item {
                Item::Json(json) if is_searched => self.items.search_item(place, &json, search)?,
                Item::TooLarge if is_searched => self.too_large += 1,
                _ => {}
            }
            Ok(())
        })
    }

    fn search_error(&mut self, error: &Excerpt, search: &mut Search<'_>) -> Result<(), ReadError> {
        if search.projection.query.asks_for_missing() {
            return Ok(());
        }
        let Search { projection, path, .. } = search;
        let mut inspection = Inspection { projection, path, place: None, fits: 0, matches: &mut self.errors };
        walk_error(error, &mut inspection)
    }
}

impl Matches {
    fn search_item(&mut self, place: ItemPlace, item: &[u8], search: &mut Search<'_>) -> Result<(), ReadError> {
        let Search { projection, path, .. } = search;
        let mut inspection = Inspection { projection, path, place: Some(place), fits: 0, matches: self };
        walk_item(item, projection.redacts, &mut inspection)?;
        let is_missing = projection.query.asks_for_missing() && inspection.fits == 0;
        if let Some(end) = projection.query.path.as_ref().filter(|_| is_missing) {
            self.add(projection.limit, || Match { place: Some(place), path: end.as_str().to_owned(), value: None });
        }
        Ok(())
    }

    fn add(&mut self, limit: usize, found: impl FnOnce() -> Match) {
        self.count += 1;
        if self.first.len() < limit {
            self.first.push(found());
        }
    }
}

/// Looks at each value of an item or of an error.
struct Inspection<'s> {
    projection: &'s SearchProjection,
    path: &'s mut Path,
    place: Option<ItemPlace>,
    /// How many values have the path.
    fits: u64,
    matches: &'s mut Matches,
}

impl Inspection<'_> {
    /// Looks at a value that is complete.
    fn inspect(&mut self, value: Value<'_>) {
        self.judge(value);
        self.path.end_value();
    }

    fn judge(&mut self, value: Value<'_>) {
        let query = &self.projection.query;
        if !query.fits_path(self.path.as_str()) {
            return;
        }
        self.fits += 1;
        if let Some(shown) = query.shown(value) {
            let (place, path) = (self.place, &*self.path);
            self.matches.add(self.projection.limit, || Match {
                place,
                path: shorten(&path.numbered(), PATH_CHARS),
                value: Some(shown),
            });
        }
    }
}

impl ValueVisitor for Inspection<'_> {
    fn begin(&mut self, part: &'static str) {
        self.path.begin(part);
    }
}

impl Visitor for Inspection<'_> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        self.inspect(Value::String(text));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.inspect(Value::Scalar(&json.text()));
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        self.inspect(Value::Container { parts, json });
    }
}
