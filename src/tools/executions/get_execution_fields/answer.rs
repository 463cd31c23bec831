//! The answer about fields within its budget.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::super::field_lines::{field_line, together_line};
use super::super::no_data::no_values;
use super::FieldsRequest;
use crate::budget::Ladder;
use crate::execution::fields::{
    By, ByRow, FieldView, FieldsView, KINDS, MAX_REPEATED, NodePlace, Outlier, PlacedOutlier, Range, Repetition, Split,
    SplitFact,
};
use crate::json::{CUT_NAME_CHARS, number, shorten, shorten_name};
use crate::toolkit::answer::{Truncated, is_zero, json, success};
use crate::units::counted;

/// The most outliers listed for all nodes together, and the most splits of their items.
const MAX_OUTLIERS: usize = 20;
const MAX_SPLITS: usize = 12;

/// The answer as it is sent: as many fields as fit; if not all do, fields with an outlier come first.
pub(super) fn compose(view: &FieldsView, request: &FieldsRequest) -> String {
    let message = request.locale.choose("項目の一覧を取得しました", "Fields retrieved");
    let rows = view.by.as_ref().map_or(0, |by| by.rows.len());
    let entries =
        view.fields.len().max(rows).max(view.outliers.len().min(MAX_OUTLIERS)).max(view.splits.len().min(MAX_SPLITS));
    let most = FieldLimits { entries, repeated: MAX_REPEATED - 1, chars: CUT_NAME_CHARS };
    let write = |limits| success(message, &data(view, request, limits));
    most.ladder().largest_that_fits(request.max_tokens, write).answer
}

/// How much is shown.
#[derive(Clone, Copy)]
struct FieldLimits {
    entries: usize,
    /// How many more values that occur again are listed of the requested path.
    repeated: usize,
    /// The most characters of a name or a path.
    chars: usize,
}

impl FieldLimits {
    /// Fewer repeated values, then fewer entries, then shorter texts, then no entries.
    fn ladder(self) -> Ladder<Self> {
        Ladder::new(self)
            .fewer(|limits| &mut limits.repeated, |repeated| repeated - 1, 0)
            .fewer(|limits| &mut limits.entries, |entries| entries * 15 / 16, 5)
            .shorter(|limits| &mut limits.chars, |chars| chars * 3 / 4, 12)
            .fewer(|limits| &mut limits.entries, |entries| entries - 1, 0)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FieldsAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    /// The two paths, if the values of one are shown by the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<ShownRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<ShownField>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    odd: Option<Vec<ShownOutlier>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    splits: Vec<ShownSplit>,
}

/// The values of a path in the items that have one value at another path.
#[derive(Serialize)]
struct ShownRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    /// The row of all other values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    others: bool,
    /// The row of items without a value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    none: bool,
    items: u64,
    #[serde(flatten)]
    field: ShownField,
}

/// A field that splits the items of a node.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownSplit {
    node_name: String,
    items: u64,
    split: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownField {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Kinds::is_one")]
    types: Kinds,
    #[serde(skip_serializing_if = "is_zero")]
    missing: u64,
    #[serde(skip_serializing_if = "is_zero")]
    empty: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<End>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<End>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distinct: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<ShownRepeated>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<(Box<RawValue>, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    odd: Option<ShownOutlier>,
}

/// One end of a range of numbers or dates.
#[derive(Serialize)]
#[serde(untagged)]
enum End {
    Number(Number),
    Date(String),
}

/// Values that identify things and occur more than once.
#[derive(Serialize)]
#[serde(untagged)]
enum ShownRepeated {
    Found(Found),
    /// None of those that were compared, which are not all.
    NotAmong {
        compared: u64,
    },
}

#[derive(Serialize)]
struct Found {
    distinct: u64,
    /// How many values were compared, if not all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<u64>,
    value: Box<RawValue>,
    items: [Value; 2],
    /// The next values that occur again, with their items, if the fields of one path were requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<(Box<RawValue>, [Value; 2])>,
}

/// How many values there are of each kind.
struct Kinds([u64; KINDS.len()]);

impl Kinds {
    fn is_one(&self) -> bool {
        self.0.iter().filter(|count| **count > 0).count() < 2
    }
}

impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(KINDS.iter().zip(self.0).filter(|(_, count)| *count > 0))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownOutlier {
    #[serde(skip_serializing_if = "Option::is_none")]
    node_name: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    output: u64,
    item: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
}

fn data(view: &FieldsView, request: &FieldsRequest, limits: FieldLimits) -> FieldsAnswer {
    let is_one_node = request.projection.node.is_some();
    let odd = view.outliers.iter().take(limits.entries).map(|one| placed_outlier(one, limits.chars)).collect();
    let shown_path =
        |path: &Option<String>| path.as_ref().filter(|_| view.by.is_some()).map(|path| shorten(path, limits.chars));
    FieldsAnswer {
        node_name: view.node.as_ref().map(|node| shorten_name(node, limits.chars)),
        path: shown_path(&request.projection.below),
        by: shown_path(&request.projection.by),
        items: view.items,
        truncated: truncated(view, limits),
        notes: no_values(&view.header, &view.names, view.redacted),
        rows: view
            .by
            .as_ref()
            .map(|by| by.rows.iter().take(limits.entries).map(|row| shown_row(row, limits.chars)).collect()),
        fields: (is_one_node && view.by.is_none()).then(|| fields(view, request.projection.below.as_deref(), limits)),
        odd: (!is_one_node).then_some(odd),
        splits: view
            .splits
            .iter()
            .take(limits.entries.min(MAX_SPLITS))
            .map(|one| shown_split(one, limits.chars))
            .collect(),
    }
}

fn shown_row(row: &ByRow, chars: usize) -> ShownRow {
    let value = if let By::Value(value) = &row.by { Some(json(value)) } else { None };
    let field = ShownField { path: None, odd: None, ..shown_field(&row.field, 0, chars) };
    ShownRow { value, others: row.by == By::Others, none: row.by == By::Missing, items: row.items, field }
}

fn shown_split(split: &Split, chars: usize) -> ShownSplit {
    let line = match &split.fact {
        SplitFact::Together(one) => together_line(one),
        SplitFact::Field(field) => field_line(field),
    };
    ShownSplit { node_name: shorten_name(&split.node, chars), items: split.items, split: shorten(&line, 4 * chars) }
}

/// Where an item is: its number, or `[run, output, item]` if it is not in the first output of the first run.
fn place(place: &NodePlace) -> Value {
    match place {
        NodePlace { run: 0, output: 0, item } => (*item).into(),
        NodePlace { run, output, item } => vec![*run, *output, *item].into(),
    }
}

/// The values that occur again: the first one, and up to `others` more.
fn shown_repeated(field: &FieldView, others: usize) -> Option<ShownRepeated> {
    let Some(names) = &field.repeated else {
        return field.names_compared.map(|compared| ShownRepeated::NotAmong { compared });
    };
    let shown = |one: &Repetition| (json(&one.value), one.places.each_ref().map(place));
    let (value, items) = shown(&names.first);
    let compared = names.has_more.then_some(names.values);
    let others = names.others.iter().take(others).map(shown).collect();
    Some(ShownRepeated::Found(Found { distinct: names.distinct, compared, value, items, others }))
}

/// The fields in document order; if not all are shown, those with an outlier first. That of the requested path lists
/// more of the values that occur again.
fn fields(view: &FieldsView, requested: Option<&str>, limits: FieldLimits) -> Vec<ShownField> {
    let mut fields: Vec<_> = view.fields.iter().collect();
    if limits.entries < fields.len() {
        fields.sort_by_key(|field| field.outlier.is_none());
    }
    let shown = |field: &FieldView| {
        let repeated = if requested == Some(&*field.path) { limits.repeated } else { 0 };
        shown_field(field, repeated, limits.chars)
    };
    fields.into_iter().take(limits.entries).map(shown).collect()
}

fn shown_field(field: &FieldView, repeated: usize, chars: usize) -> ShownField {
    let kinds = Kinds(field.kinds);
    let kind = KINDS.iter().zip(field.kinds).find(|(_, count)| *count > 0).map(|(kind, _)| *kind);
    let both = |range: Range| (range.both.map(|(least, _)| number(least)), range.both.map(|(_, most)| number(most)));
    let ((min, max), (min_length, max_length)) = (both(field.numbers), both(field.lengths));
    let dates = field.dates.clone().filter(|_| min.is_none());
    let (first, last) = dates.map_or((None, None), |(first, last)| (Some(End::Date(first)), Some(End::Date(last))));
    let is_listed = !field.values.is_empty();
    ShownField {
        path: Some(shorten(&field.path, chars)),
        kind: kind.filter(|_| kinds.is_one()),
        types: kinds,
        missing: field.missing,
        empty: field.empty,
        min: min.map(End::Number).or(first),
        max: max.map(End::Number).or(last),
        min_length,
        max_length,
        distinct: field.distinct.filter(|distinct| *distinct > 0 && !is_listed),
        repeated: shown_repeated(field, repeated),
        values: field.values.iter().map(|(value, count)| (json(value), *count)).collect(),
        example: field.example.as_deref().filter(|_| !is_listed).map(json),
        odd: field.outlier.as_ref().map(shown_outlier),
    }
}

fn placed_outlier(one: &PlacedOutlier, chars: usize) -> ShownOutlier {
    let (node_name, path) = (Some(shorten_name(&one.node, chars)), Some(shorten(&one.path, chars)));
    ShownOutlier { node_name, path, ..shown_outlier(&one.outlier) }
}

fn shown_outlier(outlier: &Outlier) -> ShownOutlier {
    ShownOutlier {
        node_name: None,
        run: outlier.place.run,
        output: outlier.place.output,
        item: outlier.place.item,
        path: None,
        value: outlier.value.as_deref().map(json),
        missing: outlier.value.is_none(),
    }
}

/// What the limits leave out, and how to see it.
fn truncated(view: &FieldsView, limits: FieldLimits) -> Option<Truncated> {
    let mut reasons = Vec::new();
    let rows = view.by.as_ref().map_or(0, |by| by.rows.len()).saturating_sub(limits.entries);
    if rows > 0 {
        reasons.push(format!("{}: use a larger maxTokens.", counted(rows, "more row", "more rows")));
    }
    let fields = view.fields.len().saturating_sub(limits.entries);
    if fields > 0 {
        reasons.push(format!("{}: use path, or a larger maxTokens.", counted(fields, "more field", "more fields")));
    }
    let odd = view.outliers.len().saturating_sub(limits.entries);
    if odd > 0 {
        reasons
            .push(format!("{}: use nodeName to see those of one node.", counted(odd, "more outlier", "more outliers")));
    }
    let splits = view.splits.len().min(MAX_SPLITS).saturating_sub(limits.entries);
    if splits > 0 {
        reasons.push(format!("{}: use a larger maxTokens.", counted(splits, "more split", "more splits")));
    }
    if view.has_more_paths {
        reasons.push("A node has more than 400 paths; the others were not read: use path.".to_owned());
    }
    if view.too_large > 0 {
        let items =
            counted(view.too_large, "item of more than 1 MiB was not read.", "items of more than 1 MiB were not read.");
        reasons.push(items);
    }
    (!reasons.is_empty()).then(|| Truncated { reason: reasons.join(" "), next_offset: None, clipped_values: None })
}
