//! The fields: what all items of a node look like, and which value is an outlier.

mod at_first_node;
mod by;
mod dates;
mod field;
mod item_set;
mod known;
mod outlier;
mod pattern;
mod recent;
mod repeated;
mod splits;
pub(super) mod table;
mod together;

use indexmap::IndexMap;

use self::at_first_node::{AtFirstNode, NodeFact};
use self::by::FieldBy;
pub use self::by::{By, ByRow, ByView};
use self::field::{Field, SharedByPaths, Wanted};
pub use self::field::{KINDS, Range};
pub(super) use self::field::{Kind, shown_container, shown_text};
pub(super) use self::item_set::NumberedPlace;
pub use self::outlier::Outlier;
pub use self::repeated::{MAX_REPEATED, Repeated, Repetition};
pub use self::splits::{Split, SplitFact};
use self::splits::{ranked, splits};
use self::table::Table;
use self::together::together;
pub use self::together::{Claim, Claimed, Together};
use super::Error;
use super::header::Header;
use super::order::{Order, Starts};
use super::runs::{self, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver};
use super::values::walk_item;
use crate::json::{Capture, Cursor, Keep, Projection, Pruner, ReadError, is_name};

/// The maximum number of different values listed.
const LISTED_VALUES: usize = 16;

/// A path with more different values is described by its range, not value by value.
const TOLD_VALUES: usize = 12;

/// Fewer items have no distribution: one of them is the sample.
const MIN_ITEMS: u64 = 3;

/// The maximum number of paths of a node in a description.
const TELLING_FIELDS: usize = 32;

/// Reads a [`FieldsView`]: the paths of a node's items, or the outliers of all nodes.
///
/// Memory is bounded by 400 paths of one node, 64 values and 16 longer strings of each, and 32,768 names of things.
///
/// ```
/// use n8n_lens::execution::fields::FieldsProjection;
/// use n8n_lens::json::Projection;
///
/// let items: Vec<_> = (0..30).map(|n| format!(r#"{{"json":{{"id":{n},"paid":{}}}}}"#, n != 17)).collect();
/// let body = format!(r#"{{"id":"7","data":{{"resultData":{{"runData":{{"Read":[{{"data":{{"main":[[{}]]}}}}]}}}}}}}}"#, items.join(","));
///
/// let fields = FieldsProjection { node: Some("Read".to_owned()), ..FieldsProjection::default() };
/// let view = fields.read_from(body.as_bytes())?;
/// assert_eq!(view.fields.iter().map(|field| &*field.path).collect::<Vec<_>>(), ["id", "paid"]);
/// let outlier = view.fields[1].outlier.as_ref().expect("one item of thirty differs");
/// assert_eq!((outlier.place.item, outlier.value.as_deref()), (17, Some("false")));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FieldsProjection {
    /// The node, or its shortened name; `None` for the outliers of all nodes.
    pub node: Option<String>,
    /// Only this run, from 0.
    pub run: Option<u64>,
    /// Only this output, counted across all types of connections.
    pub output: Option<u64>,
    /// Only this path and those below it.
    pub below: Option<String>,
    /// Divides the values of `below` by those of this path in the same item.
    pub by: Option<String>,
    /// Whether values of known secret keys in items are masked.
    pub redacts: bool,
}

/// What items look like.
#[derive(Debug, Default)]
pub struct FieldsView {
    /// The execution's metadata.
    pub header: Header,
    /// The names of all executed nodes, in document order.
    pub names: Vec<String>,
    /// The requested node.
    pub node: Option<String>,
    /// How many runs it has.
    pub runs: u64,
    /// How many items were read.
    pub items: u64,
    /// The fields of the requested node, in document order.
    pub fields: Vec<FieldView>,
    /// The outliers of all nodes, each at the first node that has it.
    pub outliers: Vec<PlacedOutlier>,
    /// The requested path by another one.
    pub by: Option<ByView>,
    /// Facts that divide the items of a node, each at the first node that has it; the strongest first.
    pub splits: Vec<Split>,
    /// Whether a node has more than 400 paths.
    pub has_more_paths: bool,
    /// Items of more than 1 MiB, which were not read.
    pub too_large: u64,
    /// Whether n8n redacted the items.
    pub redacted: bool,
}

/// The values with one path.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldView {
    /// The path, such as `lines[].taxRate`.
    pub path: String,
    /// How many values of each of [`KINDS`].
    pub kinds: [u64; 6],
    /// The first value of the rarest kind, if there are several.
    pub rarest: Option<Outlier>,
    /// How many objects might have this member.
    pub objects: u64,
    /// How many values there are.
    pub present: u64,
    /// The first object without it.
    pub first_absent: Option<NodePlace>,
    /// The first value.
    pub first_present: Option<NodePlace>,
    /// How many items have none.
    pub missing: u64,
    /// How many values are strings, arrays or objects with nothing in them.
    pub empty: u64,
    /// The first of them.
    pub first_empty: Option<NodePlace>,
    /// The first value with something in it.
    pub first_filled: Option<NodePlace>,
    /// How many strings are written like numbers.
    pub numeric_texts: u64,
    /// How many strings begin and end like a JSON object or array.
    pub json_texts: u64,
    /// The earliest and the latest date, if all strings are dates in one form of ISO 8601.
    pub dates: Option<(String, String)>,
    /// How often values that name things occur, if one occurs again.
    pub repeated: Option<Repeated>,
    /// How many values that name things were compared, all different, if there was no room for all of them.
    pub names_compared: Option<u64>,
    /// The smallest and the largest number.
    pub numbers: Range,
    /// The smallest and the largest length of strings, in characters, and of arrays; not in a description.
    pub lengths: Range,
    /// How many different strings, numbers and booleans; `None` if there are more than 64, in a description more than 12.
    pub distinct: Option<usize>,
    /// These values as JSON, with their counts, if there are at most 16, in a description at most 12.
    pub values: Vec<(String, u64)>,
    /// The first of them, as JSON.
    pub example: Option<String>,
    /// The first value that differs from almost all others; not in a description.
    pub outlier: Option<Outlier>,
}

/// An outlier of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedOutlier {
    /// The node's name.
    pub node: String,
    /// The path.
    pub path: String,
    /// The value.
    pub outlier: Outlier,
}

impl NodeFact for PlacedOutlier {
    const MOST: usize = 400;

    fn node(&self) -> &str {
        &self.node
    }

    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path && self.outlier.value == other.outlier.value
    }
}

/// Where an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodePlace {
    /// The run, from 0.
    pub run: u64,
    /// The output, counted across all types of connections.
    pub output: u64,
    /// The item.
    pub item: u64,
}

impl From<ItemPlace> for NodePlace {
    fn from(ItemPlace { run, output, item, .. }: ItemPlace) -> Self {
        Self { run, output, item }
    }
}

impl Projection for FieldsProjection {
    type View = Result<FieldsView, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader<'_>>(Keep::Skip));

    fn window(&self) -> std::ops::Range<u64> {
        0..u64::MAX
    }

    fn pruner(&self) -> Pruner {
        Pruner::new(Self::KEEP, self.window()).capturing(Capture::all()).with_focus(self.node.as_deref())
    }

    fn read(&self, cursor: Cursor<'_>) -> Self::View {
        let execution = runs::read(cursor, |_| Reader::new(self), Cursor::skip)?;
        Ok(execution.runs.view(execution.header, execution.data.redacted))
    }
}

/// What was read so far.
struct Reader<'p> {
    projection: &'p FieldsProjection,
    view: FieldsView,
    /// Each node, and how many of its runs begin a counter.
    nodes: IndexMap<String, u64>,
    outliers: AtFirstNode<PlacedOutlier>,
    splits: AtFirstNode<Split>,
    /// The node that is being read, and whether its items are wanted.
    node: NodeFields,
    is_wanted: bool,
}

/// The items of a node.
pub(super) struct NodeFields {
    table: Table<Field>,
    starts: Starts,
    /// Items of more than 1 MiB.
    pub too_large: u64,
    /// One path by another one.
    by: Option<FieldBy>,
}

impl RunObserver for Reader<'_> {
    const PARTS: Parts = Parts::REDACTED.and(Parts::START).and(Parts::OUTPUTS);

    fn begin_node(&mut self, name: &str) {
        let requested = self.projection.node.as_deref();
        let is_exact = requested == Some(name);
        let is_similar = requested.is_some_and(|requested| is_name(requested, name));
        let has_exact = self.view.node.is_some() && self.view.node.as_deref() == requested;
        self.is_wanted = requested.is_none() || is_exact || (is_similar && !has_exact);
        self.outliers.remove(name);
        self.splits.remove(name);
        self.node = NodeFields::of(self.projection);
    }

    fn item(&mut self, place: ItemPlace, item: Item<'_, '_>) -> Result<(), ReadError> {
        let is_left_out = |wanted: Option<u64>, number| wanted.is_some_and(|wanted| wanted != number);
        let FieldsProjection { run, output, redacts, .. } = *self.projection;
        if !self.is_wanted || is_left_out(run, place.run) || is_left_out(output, place.output) {
            return item.skip();
        }
        match item.text()? {
            ItemText::Json(json) => {
                self.node.item(place.into(), &json, redacts)?;
            }
            ItemText::TooLarge => self.node.too_large += 1,
            ItemText::Omitted => {}
        }
        Ok(())
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.node.starts.add(run.start);
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.node.end();
        match self.projection.node {
            None => {
                self.add_outliers(&name);
                for split in &splits(&name, &self.node.table) {
                    self.splits.add(self.node.starts.first, split);
                }
            }
            Some(_) if self.is_wanted => self.show(&name),
            Some(_) => {}
        }
        self.nodes.insert(name, self.node.starts.counters);
    }
}

impl<'p> Reader<'p> {
    fn new(projection: &'p FieldsProjection) -> Self {
        Self {
            projection,
            view: FieldsView::default(),
            nodes: IndexMap::new(),
            outliers: AtFirstNode::default(),
            splits: AtFirstNode::default(),
            node: NodeFields::of(projection),
            is_wanted: false,
        }
    }

    /// The fields of the requested node.
    fn show(&mut self, name: &str) {
        let (view, node) = (&mut self.view, &self.node);
        (view.node, view.runs, view.items) = (Some(name.to_owned()), node.starts.runs, node.items());
        view.by = node.by.as_ref().map(FieldBy::view);
        (view.has_more_paths, view.too_large) = (node.table.is_full, node.too_large);
        view.fields =
            node.table.fields().map(|(path, field, objects)| shown(path, field, objects, view.items)).collect();
    }

    fn add_outliers(&mut self, name: &str) {
        let node = &self.node;
        self.view.items += node.table.items.len;
        self.view.too_large += node.too_large;
        self.view.has_more_paths |= node.table.is_full;
        for (path, field, objects) in node.table.fields() {
            let Some(outlier) = field.outlier(objects) else { continue };
            let one = PlacedOutlier { node: name.to_owned(), path: path.to_owned(), outlier };
            self.outliers.add(node.starts.first, &one);
        }
    }

    fn view(self, header: Header, redacted: bool) -> FieldsView {
        let order = Order::new(self.nodes.values().sum());
        let (outliers, splits) = (self.outliers.into_ones(order), ranked(self.splits.into_ones(order)));
        FieldsView { header, names: self.nodes.into_keys().collect(), outliers, splits, redacted, ..self.view }
    }
}

impl NodeFields {
    fn of(projection: &FieldsProjection) -> Self {
        let paths = projection.below.as_ref().zip(projection.by.as_ref());
        let by = paths.map(|(path, by)| FieldBy::new(path, by));
        let wanted = if projection.node.is_some() { Wanted::All } else { Wanted::Outliers };
        Self { by, ..Self::new(projection.below.clone(), wanted) }
    }

    /// For all paths, or only for those below one.
    fn new(below: Option<String>, wanted: Wanted) -> Self {
        let table = Table::new(below, SharedByPaths::new(wanted));
        Self { table, starts: Starts::default(), too_large: 0, by: None }
    }

    /// For a description, which does not show outliers.
    pub(super) fn to_be_told() -> Self {
        Self::new(None, Wanted::Described)
    }

    /// Whether there are more than 400 paths.
    pub(super) fn has_more_paths(&self) -> bool {
        self.table.is_full
    }

    /// No more items follow.
    fn end(&mut self) {
        self.table.end();
        self.by.iter_mut().for_each(FieldBy::end);
    }

    /// How many items were read.
    fn items(&self) -> u64 {
        self.by.as_ref().map_or(self.table.items.len, FieldBy::items)
    }

    /// The next item. Values of known secret keys are masked, if `redacts`. Returns whether it is marked, as
    /// [`walk_item`] does.
    pub(super) fn item(&mut self, place: NodePlace, json: &[u8], redacts: bool) -> Result<bool, ReadError> {
        if let Some(by) = &mut self.by {
            return by.item(place, json, redacts);
        }
        self.table.begin_item(place);
        walk_item(json, redacts, &mut self.table)
    }

    /// The paths whose values are worth reporting, the most important first; and facts that hold for the same items.
    pub(super) fn into_findings(mut self) -> (Vec<FieldView>, Vec<Together>) {
        self.end();
        let items = self.table.items;
        if items.len < MIN_ITEMS {
            return (Vec::new(), Vec::new());
        }
        let shown = self.table.fields().map(|(path, field, objects)| shown(path, field, objects, items.len));
        let mut fields: Vec<_> = shown.filter(|field| field.finding().is_some()).collect();
        // The sort is stable: document order decides among the others.
        fields.sort_by_key(FieldView::finding);
        fields.truncate(TELLING_FIELDS);
        (fields, together(self.table.fields().map(|(path, field, _)| (path, field)), items))
    }
}

impl FieldView {
    /// How often values that name the items occur, if one occurs again and most are different. Below an object, they
    /// name something else, to which several items may refer.
    pub fn repeated_names(&self) -> Option<&Repeated> {
        self.repeated.as_ref().filter(|names| names.distinct * 2 >= names.values && !self.path.contains('.'))
    }

    /// What is worth reporting first about the values of a path; `None` if nothing is.
    pub fn finding(&self) -> Option<Finding> {
        let kinds = || self.kinds.iter().filter(|count| **count > 0).count();
        let strings = self.kinds[Kind::String as usize];
        let total: u64 = self.kinds.iter().sum();
        let is_listed = || (2..=TOLD_VALUES).contains(&self.values.len()) && total > self.values.len() as u64;
        let is_range = || self.numbers.both.is_some_and(|(least, most)| least < most);
        Some(match () {
            () if kinds() > 1 => Finding::Kinds,
            () if self.repeated_names().is_some() => Finding::Repeated,
            () if self.present < self.objects && !self.path.ends_with("[]") => Finding::Missing,
            () if self.empty > 0 && self.empty < total => Finding::Empty,
            () if strings > 0 && self.numeric_texts == strings => Finding::NumericTexts,
            () if strings > 0 && self.json_texts == strings => Finding::JsonTexts,
            () if is_listed() => Finding::Values,
            () if self.dates.as_ref().is_some_and(|(least, most)| least < most) => Finding::Dates,
            () if is_range() => Finding::Range,
            () if self.values.len() == 1 && self.values[0].1 == total && total > 1 => Finding::Constant,
            () => return None,
        })
    }
}

/// What may be worth reporting about the values of a path, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Finding {
    /// They are of several kinds.
    Kinds,
    /// They name things, and one of them occurs again.
    Repeated,
    /// Some objects have none.
    Missing,
    /// Some have nothing in them.
    Empty,
    /// All strings are written like numbers.
    NumericTexts,
    /// All strings are written like JSON objects or arrays.
    JsonTexts,
    /// There are few different ones.
    Values,
    /// They are dates.
    Dates,
    /// They are different numbers.
    Range,
    /// They are all the same.
    Constant,
}

/// What is shown of a path of a node with this many items.
fn shown(path: &str, field: &Field, objects: u64, items: u64) -> FieldView {
    let mut kinds = [0; KINDS.len()];
    for (kind, group) in field.kinds.iter() {
        kinds[*kind as usize] = group.count;
    }
    let distinct = (!field.values.is_full()).then_some(field.values.len());
    let is_listed = distinct.is_some_and(|distinct| distinct <= LISTED_VALUES);
    let values = field.values.iter().filter(|_| is_listed).map(|(_, group)| (group.shown.clone(), group.count));
    FieldView {
        path: path.to_owned(),
        kinds,
        rarest: field.rarest_kind(),
        objects,
        present: field.present,
        first_absent: field.first_absent,
        first_present: field.first_present(),
        missing: items - field.items.len,
        empty: field.empty,
        first_empty: field.first_empty,
        first_filled: field.first_filled,
        numeric_texts: field.numeric_texts,
        json_texts: field.json_texts,
        dates: field.dates.range().map(|(least, most)| (least.to_owned(), most.to_owned())),
        repeated: field.names.repeated(),
        names_compared: field.names.compared(),
        numbers: field.numbers,
        lengths: field.lengths,
        distinct,
        values: values.collect(),
        example: field.example.clone(),
        outlier: field.outlier(objects),
    }
}
