//! The search: where in an execution a value occurs.

mod hits;
mod number_filter;
mod path_end;
mod query;
mod related;
mod stored_filter;

use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;

use self::hits::FirstHits;
pub use self::path_end::PathEnd;
use self::query::SearchedValue;
pub use self::query::{Also, Condition, InvalidRegex, Operand, Scalar, TextPattern, ValueKind, ValueQuery};
use self::related::{Collector, RelatedValues};
pub(in crate::execution) use self::stored_filter::StoredFilter;
use super::Error;
use super::header::Header;
use super::order::{Order, Starts};
use super::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use super::values::{Path, ValueVisitor, walk_error, walk_item};
use crate::json::{
    Capture, Cursor, Excerpt, Keep, Projection, Pruner, ReadError, Visitor, Written, is_name, member, shorten,
};

/// The maximum number of outputs of a node whose hits are counted one by one.
const OUTPUTS: usize = 16;

/// The maximum number of characters of a hit's path.
const PATH_CHARS: usize = 300;

/// Reads a [`SearchView`]: the values that match a query, in the items of all runs and in their errors.
///
/// Items that cannot have a match are skipped before they are parsed.
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
/// let search = SearchProjection { query, node: None, output: None, limit: 20, redacts: false };
/// let view = search.read_from(&body[..])?;
/// let hits: Vec<_> = view.hits.iter().map(|hit| (&*hit.node, hit.item, &*hit.path, hit.value.as_deref())).collect();
/// assert_eq!(hits, [("Read", Some(1), "name", Some("\"Bobby\"")), ("Send", Some(0), "to[1]", Some("\"Bob\""))]);
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchProjection {
    /// What a value must satisfy.
    pub query: ValueQuery,
    /// Only the items of this node, or of those with this shortened name.
    pub node: Option<String>,
    /// Only this output, counted across all types of connections.
    pub output: Option<u64>,
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
    /// The name of the executed workflow.
    pub workflow_name: Option<String>,
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
    /// Containers nested so deep that the values inside them were not searched.
    pub too_deep: u64,
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
    /// How many of them in each of the first 16 outputs, counted across all types of connections, up to the last one with
    /// any.
    pub outputs: Vec<u64>,
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
    /// Whether the item is one of the input that n8n stores itself: what a sub-node of an AI agent was called with. Its
    /// `output` is then the input.
    pub in_input: bool,
    /// The value's path, with the number of each element: `lines[26].taxRate`; for a missing value, the requested path.
    pub path: String,
    /// The value as JSON, or a string with the text around the match; `None` for a missing value.
    pub value: Option<String>,
    /// The first of the values with which it was compared, as JSON.
    pub other: Option<String>,
}

impl Projection for SearchProjection {
    type View = Result<SearchView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Search<'_>>(Keep::Members(&[("name", Keep::Whole)])));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window())
            .capturing(self.query.prefilter(self.redacts).map_or_else(Capture::all, Capture::picked))
            .with_focus(self.node.as_deref())
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |_| Search::new(self), |cursor| member(cursor, "name", Cursor::name))?;
        let view = execution.runs.view(execution.header, execution.data.redacted);
        if view.redacted && self.query.asks_for_missing() {
            // What is hidden is not missing.
            let SearchView { header, names, redacted, .. } = view;
            return Ok(SearchView {
                header,
                names,
                redacted,
                workflow_name: execution.workflow,
                ..SearchView::default()
            });
        }
        Ok(SearchView { workflow_name: execution.workflow, ..view })
    }
}

/// The runs, searched.
struct Search<'p> {
    projection: &'p SearchProjection,
    nodes: IndexMap<Arc<str>, SearchedNode>,
    hits: FirstHits,
    path: Path,
    /// The values of an item with which others are compared; their memory is reused.
    related: RelatedValues,
    /// The node that is being read, and whether its items are searched.
    name: Arc<str>,
    node: SearchedNode,
    is_searched: bool,
    side: Side,
    inputs: SearchedLists,
    outputs: SearchedLists,
}

/// What was found in a node.
#[derive(Default)]
struct SearchedNode {
    hits: u64,
    outputs: Vec<u64>,
    too_large: u64,
    too_deep: u64,
    starts: Starts,
}

/// What was found in the inputs, or in the outputs, of one run.
#[derive(Default)]
struct SearchedLists {
    matches: Matches,
    /// How many matches each output has, as far as it is counted.
    outputs: Vec<u64>,
    too_large: u64,
}

impl SearchedLists {
    /// Counts matches of an output.
    fn count(&mut self, output: u64, matches: u64) {
        let output = usize::try_from(output).unwrap_or(usize::MAX);
        if matches > 0 && output < OUTPUTS {
            self.outputs.resize(self.outputs.len().max(output + 1), 0);
            self.outputs[output] += matches;
        }
    }
}

impl RunObserver for Search<'_> {
    const PARTS: Parts = Parts::REDACTED.and(Parts::START).and(Parts::ERROR).and(Parts::INPUTS).and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        if self.nodes.contains_key(name) {
            self.hits.remove(name);
        }
        let requested = self.projection.node.as_ref();
        self.is_searched = requested.is_none_or(|requested| name == requested || is_name(requested, name));
        (self.name, self.node) = (name.into(), SearchedNode::default());
    }

    fn begin_lists(&mut self, _: u64, side: Side) {
        self.side = side;
        *self.lists() = SearchedLists::default();
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        let is_left_out = |output| matches!(self.side, Side::Inputs) || output != place.output;
        if !self.is_searched || self.projection.output.is_some_and(is_left_out) {
            return item.skip();
        }
        match item.text()? {
            ItemText::Json(json) => self.search_item(place, &json)?,
            ItemText::TooLarge => self.lists().too_large += 1,
            ItemText::Omitted => {}
        }
        Ok(())
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        let (inputs, outputs) = (std::mem::take(&mut self.inputs), std::mem::take(&mut self.outputs));
        let errors = self.search_error(run.error.as_ref())?;
        self.node.starts.add(run.start);
        self.node.hits += errors.count + inputs.matches.count + outputs.matches.count;
        self.node.too_large += inputs.too_large + outputs.too_large;
        self.node.too_deep += inputs.matches.too_deep + outputs.matches.too_deep;
        self.node.outputs.resize(self.node.outputs.len().max(outputs.outputs.len()), 0);
        self.node.outputs.iter_mut().zip(&outputs.outputs).for_each(|(sum, hits)| *sum += hits);
        let hits = errors.first.into_iter().chain(inputs.matches.first).chain(outputs.matches.first);
        let hits: Vec<_> = hits.map(|found| found.hit(&self.name, run.index)).collect();
        self.hits.add(run.start, &hits);
        Ok(())
    }

    fn end_node(&mut self, _: String) {
        self.nodes.insert(Arc::clone(&self.name), std::mem::take(&mut self.node));
    }
}

impl<'p> Search<'p> {
    fn new(projection: &'p SearchProjection) -> Self {
        Self {
            projection,
            nodes: IndexMap::new(),
            hits: FirstHits::new(projection.limit),
            path: Path::default(),
            related: RelatedValues::default(),
            name: Arc::default(),
            node: SearchedNode::default(),
            is_searched: false,
            side: Side::Outputs,
            inputs: SearchedLists::default(),
            outputs: SearchedLists::default(),
        }
    }

    /// What was found on the side that is being read.
    fn lists(&mut self) -> &mut SearchedLists {
        match self.side {
            Side::Inputs => &mut self.inputs,
            Side::Outputs => &mut self.outputs,
        }
    }

    fn search_item(&mut self, place: ItemPlace, item: &[u8]) -> Result<(), ReadError> {
        let Self { projection, path, related, side, inputs, outputs, .. } = self;
        let (in_input, lists) = match side {
            Side::Inputs => (true, inputs),
            Side::Outputs => (false, outputs),
        };
        let (query, before) = (&projection.query, lists.matches.count);
        let found = FoundIn { place: Some(place), in_input };
        let (fits, has_also) = if query.relates() {
            related.clear();
            let mut collector = Collector { query, path, values: related, fits: 0, too_deep: 0 };
            walk_item(item, projection.redacts, &mut collector)?;
            let fits = collector.fits;
            lists.matches.too_deep += collector.too_deep;
            related.arrange(query);
            lists.matches.add_related(projection, found, related);
            (fits, related.have_also(query))
        } else {
            let mut inspection = Inspection { projection, path, found, fits: 0, matches: &mut lists.matches };
            walk_item(item, projection.redacts, &mut inspection)?;
            (inspection.fits, true)
        };
        let is_missing = query.asks_for_missing() && fits == 0 && has_also;
        if let Some(end) = query.path.as_ref().filter(|_| is_missing) {
            let path = || end.as_str().to_owned();
            lists.matches.add(projection.limit, || Match { found, path: path(), value: None, other: None });
        }
        let matches = lists.matches.count - before;
        lists.count(place.output, matches);
        Ok(())
    }

    fn search_error(&mut self, error: Option<&Excerpt>) -> Result<Matches, ReadError> {
        let Self { projection, path, related, .. } = self;
        let query = &projection.query;
        let mut matches = Matches::default();
        let is_searched = self.is_searched && projection.output.is_none() && !query.asks_for_missing();
        if let Some(error) = error.filter(|_| is_searched) {
            let found = FoundIn { place: None, in_input: false };
            if query.relates() {
                related.clear();
                walk_error(error, &mut Collector { query, path, values: related, fits: 0, too_deep: 0 })?;
                related.arrange(query);
                matches.add_related(projection, found, related);
            } else {
                let mut inspection = Inspection { projection, path, found, fits: 0, matches: &mut matches };
                walk_error(error, &mut inspection)?;
            }
        }
        Ok(matches)
    }

    fn view(self, header: Header, redacted: bool) -> SearchView {
        let names = self.nodes.keys().map(|name| name.as_ref().to_owned()).collect();
        let total = self.nodes.values().map(|node| node.hits).sum();
        let too_large = self.nodes.values().map(|node| node.too_large).sum();
        let too_deep = self.nodes.values().map(|node| node.too_deep).sum();
        let order = Order::new(self.nodes.values().map(|node| node.starts.counters).sum());
        let mut nodes: Vec<_> = self.nodes.into_iter().filter(|(_, node)| node.hits > 0).collect();
        nodes.sort_by(|(_, one), (_, other)| order.compare(one.starts.first, other.starts.first));
        let of_node = |(name, node): (_, SearchedNode)| NodeHits { name, hits: node.hits, outputs: node.outputs };
        let nodes = nodes.into_iter().map(of_node).collect();
        let hits = self.hits.into_hits(order);
        SearchView { header, workflow_name: None, names, total, nodes, hits, too_large, too_deep, redacted }
    }
}

/// Values that match, in the order of the text.
#[derive(Default)]
struct Matches {
    count: u64,
    too_deep: u64,
    /// As many as may be listed.
    first: Vec<Match>,
}

/// The item of a run that a value is in.
#[derive(Clone, Copy)]
struct FoundIn {
    /// `None` in the error of the run.
    place: Option<ItemPlace>,
    in_input: bool,
}

/// A value that matches, in a run.
struct Match {
    found: FoundIn,
    path: String,
    value: Option<String>,
    other: Option<String>,
}

impl Match {
    fn hit(self, node: &Arc<str>, run: u64) -> Hit {
        Hit {
            node: Arc::clone(node),
            run,
            output: self.found.place.map_or(0, |place| place.output),
            item: self.found.place.map(|place| place.item),
            in_input: self.found.in_input,
            path: self.path,
            value: self.value,
            other: self.other,
        }
    }
}

impl Matches {
    /// Adds the values of an item that match together with others of it.
    fn add_related(&mut self, projection: &SearchProjection, found: FoundIn, values: &RelatedValues) {
        let query = &projection.query;
        for value in values.related(query) {
            self.add(projection.limit, || Match {
                found,
                path: shorten(&value.numbered(), PATH_CHARS),
                value: query.shown(value.searched()),
                other: value.shown_operand(),
            });
        }
    }

    fn add(&mut self, limit: usize, found: impl FnOnce() -> Match) {
        self.count += 1;
        if self.first.len() < limit {
            self.first.push(found());
        }
    }
}

/// Inspects each value of an item or of an error.
struct Inspection<'s> {
    projection: &'s SearchProjection,
    path: &'s mut Path,
    found: FoundIn,
    /// How many values have the path.
    fits: u64,
    matches: &'s mut Matches,
}

impl Inspection<'_> {
    /// Inspects a complete value.
    fn inspect(&mut self, value: SearchedValue<'_>) {
        self.judge(value);
        self.path.end_value();
    }

    fn judge(&mut self, value: SearchedValue<'_>) {
        let query = &self.projection.query;
        if !query.fits_path(self.path.as_str()) {
            return;
        }
        self.fits += 1;
        if let Some(shown) = query.shown(value) {
            let (found, path) = (self.found, &*self.path);
            self.matches.add(self.projection.limit, || Match {
                found,
                other: None,
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

    fn passes_over(&mut self, name: Written<'_>, value: u8) -> bool {
        !matches!(value, b'{' | b'[') && !self.projection.query.asks_of(name)
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        self.inspect(SearchedValue::String(text));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.inspect(SearchedValue::Scalar(&json.text()));
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        self.matches.too_deep += u64::from(parts > 0 && self.path.is_deep());
        self.inspect(SearchedValue::Container { parts, json });
    }
}
