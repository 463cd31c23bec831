//! The values of an item with which others of it are compared: `stock` beside `reorderAt`.
//!
//! Two values are compared if they are in the same element of each list that both are in: a line's quantity with the stock of
//! that line, and with every value outside of lists.

use std::cmp::Ordering;

use super::query::{
    Condition, PathEnd, SearchedValue, ValueQuery, clipped, clipped_json, is_number, number, order_of_texts,
    same_number,
};
use crate::execution::values::{ElementPlace, Path, ValueVisitor};
use crate::json::{Visitor, Written};

/// A value that others are compared with.
#[derive(Debug)]
struct RelatedValue {
    /// Its place, and its path.
    path: String,
    elements: Vec<ElementPlace>,
    value: OwnValue,
}

#[derive(Debug)]
enum OwnValue {
    String(String),
    Scalar(String),
    /// Whether it holds for a container was decided when it was there.
    Container,
}

/// The values of one item that a query compares others with.
#[derive(Debug, Default)]
pub(super) struct RelatedValues {
    /// Those of the condition's path.
    operands: Vec<RelatedValue>,
    /// Those of the other value's path that satisfy its condition, as far as that depends on them alone.
    also: Vec<RelatedValue>,
    /// Those that they are compared with.
    also_operands: Vec<RelatedValue>,
}

/// The values that one value is compared with.
pub(super) struct Related<'r> {
    values: &'r RelatedValues,
    path: &'r Path,
    as_numbers: bool,
}

impl RelatedValues {
    /// Those that the value with this path is compared with.
    pub(super) fn of<'r>(&'r self, path: &'r Path, query: &ValueQuery) -> Related<'r> {
        Related { values: self, path, as_numbers: query.as_numbers }
    }

    /// Whether any value satisfies what the query asks of another one, wherever it is.
    pub(super) fn have_also(&self, query: &ValueQuery) -> bool {
        query.also.is_none() || self.also.iter().any(|value| self.is_satisfied(value, query))
    }

    /// Whether another value satisfies what the query asks of it.
    fn is_satisfied(&self, value: &RelatedValue, query: &ValueQuery) -> bool {
        let condition = query.also.as_ref().and_then(|also| also.condition.as_ref());
        // A condition without a path was checked before.
        condition.filter(|condition| condition.path().is_some()).is_none_or(|condition| {
            let operands = self.also_operands.iter().filter(|other| are_paired(value.place(), other.place()));
            compare_with(condition, value, operands, query.as_numbers)
        })
    }
}

impl Related<'_> {
    /// Whether a value satisfies a condition.
    pub(super) fn satisfies(&self, condition: Option<&Condition>, value: SearchedValue<'_>) -> bool {
        let Some(condition) = condition else { return true };
        if condition.path().is_none() {
            return condition.holds(value, self.as_numbers);
        }
        let this = RelatedValue::new(self.path, value);
        let operands = self.values.operands.iter().filter(|other| are_paired(this.place(), other.place()));
        compare_with(condition, &this, operands, self.as_numbers)
    }

    /// The first value with which it is compared, as JSON.
    pub(super) fn first(&self) -> Option<String> {
        let place = (self.path.as_str(), &self.path.elements()[..]);
        let other = self.values.operands.iter().find(|other| are_paired(place, other.place()))?;
        match &other.value {
            OwnValue::String(text) => Some(clipped(text, 0..0)),
            OwnValue::Scalar(json) => Some(clipped_json(json)),
            OwnValue::Container => None,
        }
    }

    /// Whether the value has beside it what the query asks of another one.
    pub(super) fn has_also(&self, query: &ValueQuery) -> bool {
        let place = (self.path.as_str(), &self.path.elements()[..]);
        let mut also = self.values.also.iter().filter(|value| are_paired(place, value.place()));
        query.also.is_none() || also.any(|value| self.values.is_satisfied(value, query))
    }
}

impl RelatedValue {
    fn new(path: &Path, value: SearchedValue<'_>) -> Self {
        let value = match value {
            SearchedValue::String(text) => OwnValue::String(text.text().into_owned()),
            SearchedValue::Scalar(json) => OwnValue::Scalar(json.to_owned()),
            SearchedValue::Container { .. } => OwnValue::Container,
        };
        Self { path: path.as_str().to_owned(), elements: path.elements(), value }
    }

    fn place(&self) -> (&str, &[ElementPlace]) {
        (&self.path, &self.elements)
    }
}

/// Whether two values are in the same element of each list that both are in.
fn are_paired(one: (&str, &[ElementPlace]), other: (&str, &[ElementPlace])) -> bool {
    let lists = one.1.iter().zip(other.1);
    let mut shared = lists.take_while(|(a, b)| {
        a.path_len == b.path_len && one.0.as_bytes()[..a.path_len] == other.0.as_bytes()[..b.path_len]
    });
    shared.all(|(a, b)| a.index == b.index)
}

/// Whether a value satisfies a condition beside one of the values with which it is compared.
fn compare_with<'r>(
    condition: &Condition,
    value: &RelatedValue,
    mut others: impl Iterator<Item = &'r RelatedValue>,
    as_numbers: bool,
) -> bool {
    let same = |other: &RelatedValue| equals(&value.value, &other.value, as_numbers);
    let ordered = |other: &RelatedValue| order(&value.value, &other.value, as_numbers);
    match condition {
        Condition::Is(_) => false,
        Condition::Equals(_) => others.any(same),
        Condition::NotEquals(_) => {
            let (mut is_there, mut is_same) = (false, false);
            others.for_each(|other| (is_there, is_same) = (true, is_same || same(other)));
            is_there && !is_same
        }
        Condition::Above(_) => others.any(|other| ordered(other) == Some(Ordering::Greater)),
        Condition::Below(_) => others.any(|other| ordered(other) == Some(Ordering::Less)),
    }
}

/// Whether two values are the same: of one kind, unless strings count as numbers.
fn equals(one: &OwnValue, other: &OwnValue, as_numbers: bool) -> bool {
    if as_numbers && let Some((one, other)) = numeric(one, true).zip(numeric(other, true)) {
        return one == other;
    }
    match (one, other) {
        (OwnValue::String(one), OwnValue::String(other)) => one == other,
        (OwnValue::Scalar(one), OwnValue::Scalar(other)) => {
            let are_numbers = [one, other].iter().all(|json| is_number(SearchedValue::Scalar(json)));
            if are_numbers { same_number(one, other) } else { one == other }
        }
        _ => false,
    }
}

/// The order of two values as JavaScript has it: strings by their text, unless they count as numbers; a string beside a
/// number as a number.
fn order(one: &OwnValue, other: &OwnValue, as_numbers: bool) -> Option<Ordering> {
    match (one, other) {
        (OwnValue::String(one), OwnValue::String(other)) if !as_numbers => Some(order_of_texts(one, other)),
        (one, other) => numeric(one, true)?.partial_cmp(&numeric(other, true)?),
    }
}

fn numeric(value: &OwnValue, of_texts: bool) -> Option<f64> {
    match value {
        OwnValue::Scalar(json) => number(SearchedValue::Scalar(json), false),
        OwnValue::String(text) if of_texts => text_number(text),
        OwnValue::String(_) | OwnValue::Container => None,
    }
}

/// The number that a string is written like.
pub(super) fn text_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also reads `inf` and `nan`.
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())
}

/// Collects the values of an item that a query compares others with.
pub(super) struct Collector<'c> {
    pub query: &'c ValueQuery,
    pub path: &'c mut Path,
    pub values: RelatedValues,
}

impl Collector<'_> {
    fn collect(&mut self, value: SearchedValue<'_>) {
        let (query, path) = (self.query, self.path.as_str());
        let ends = |end: Option<&PathEnd>| end.is_some_and(|end| end.ends(path));
        let new = || RelatedValue::new(self.path, value);
        if ends(query.condition.as_ref().and_then(Condition::path)) {
            self.values.operands.push(new());
        }
        if let Some(also) = &query.also {
            let own = also.condition.as_ref().filter(|condition| condition.path().is_none());
            let holds = own.is_none_or(|condition| condition.holds(value, query.as_numbers));
            if also.path.ends(path) && holds {
                self.values.also.push(new());
            }
            if ends(also.condition.as_ref().and_then(Condition::path)) {
                self.values.also_operands.push(new());
            }
        }
        self.path.end_value();
    }
}

impl ValueVisitor for Collector<'_> {
    fn begin(&mut self, part: &'static str) {
        self.path.begin(part);
    }
}

impl Visitor for Collector<'_> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        self.collect(SearchedValue::String(text));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.collect(SearchedValue::Scalar(&json.text()));
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        self.collect(SearchedValue::Container { parts, json });
    }
}
