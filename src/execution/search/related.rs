//! The values of an item with which others of it are compared: `stock` with `reorderAt`.
//!
//! Two values are compared if they are in the same element of each list that both are in: a line's quantity with the stock of
//! that line, and with every value outside of lists.

use std::cmp::Ordering;

use super::path_end::PathEnd;
use super::query::{
    Condition, SearchedValue, ValueQuery, clipped, clipped_json, is_number, number, order_of_texts, same_number,
    text_number,
};
use crate::execution::values::{ElementPlace, Path, ValueVisitor, numbered};
use crate::json::{Visitor, Written};

/// A value that others are compared with.
#[derive(Debug)]
pub(super) struct RelatedValue {
    /// Its path, and the elements that lead to it.
    path: String,
    elements: Vec<ElementPlace>,
    value: OwnValue,
}

#[derive(Debug)]
enum OwnValue {
    String(String),
    Scalar(String),
    /// A container, with what the query needs of it.
    Container(u64, Box<[u8]>),
}

impl OwnValue {
    fn searched(&self) -> SearchedValue<'_> {
        match self {
            Self::String(text) => SearchedValue::Text(text),
            Self::Scalar(json) => SearchedValue::Scalar(json),
            Self::Container(parts, json) => SearchedValue::Container { parts: *parts, json },
        }
    }
}

/// The values of one item that a query compares others with.
#[derive(Debug, Default)]
pub(super) struct RelatedValues {
    /// The values at the searched path.
    pub candidates: Vec<RelatedValue>,
    /// The values at the condition's path.
    operands: Vec<RelatedValue>,
    /// The values at the other value's path that satisfy its condition, as far as that depends on them alone.
    also: Vec<RelatedValue>,
    /// The values with which these are compared.
    also_operands: Vec<RelatedValue>,
}

impl RelatedValues {
    /// The values of the next item follow.
    pub(super) fn clear(&mut self) {
        let Self { candidates, operands, also, also_operands } = self;
        [candidates, operands, also, also_operands].into_iter().for_each(Vec::clear);
    }

    /// The values with which a value is compared.
    fn operands_of(&self, value: &RelatedValue) -> impl Iterator<Item = &RelatedValue> {
        self.operands.iter().filter(|other| are_paired(value.place(), other.place()))
    }

    /// Whether a value relates to others as the query asks.
    pub(super) fn relate(&self, value: &RelatedValue, query: &ValueQuery) -> bool {
        let condition = query.condition.as_ref().filter(|condition| condition.path().is_some());
        if condition.is_some_and(|condition| !compare_with(condition, value, self.operands_of(value), query.as_numbers))
        {
            return false;
        }
        let mut also = self.also.iter().filter(|other| are_paired(value.place(), other.place()));
        query.also.is_none() || also.any(|other| self.is_satisfied(other, query))
    }

    /// What is shown of the first value with which one was compared.
    pub(super) fn shown_operand(&self, value: &RelatedValue) -> Option<String> {
        match &self.operands_of(value).next()?.value {
            OwnValue::String(text) => Some(clipped(text, 0..0)),
            OwnValue::Scalar(json) => Some(clipped_json(json)),
            OwnValue::Container(..) => None,
        }
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

impl RelatedValue {
    fn new(path: &Path, value: SearchedValue<'_>) -> Self {
        let value = match value {
            SearchedValue::String(text) => OwnValue::String(text.text().into_owned()),
            SearchedValue::Text(text) => OwnValue::String(text.to_owned()),
            SearchedValue::Scalar(json) => OwnValue::Scalar(json.to_owned()),
            SearchedValue::Container { parts, json } => OwnValue::Container(parts, json.into()),
        };
        Self { path: path.as_str().to_owned(), elements: path.elements(), value }
    }

    /// The value, as a query takes it.
    pub(super) fn searched(&self) -> SearchedValue<'_> {
        self.value.searched()
    }

    /// Its path, with the number of each element.
    pub(super) fn numbered(&self) -> String {
        numbered(&self.path, &self.elements)
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

/// Whether a value satisfies a condition together with one of the values with which it is compared.
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

/// The order of two values as in JavaScript: strings by their text, unless they count as numbers; a string next to a
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
        OwnValue::String(_) | OwnValue::Container(..) => None,
    }
}

/// Collects the values of an item that a query searches, and those that it compares them with.
pub(super) struct Collector<'c> {
    pub query: &'c ValueQuery,
    pub path: &'c mut Path,
    pub values: &'c mut RelatedValues,
    /// How many values have the path that is searched.
    pub fits: u64,
}

impl Collector<'_> {
    fn collect(&mut self, value: SearchedValue<'_>) {
        let (query, path) = (self.query, self.path.as_str());
        let ends = |end: Option<&PathEnd>| end.is_some_and(|end| end.ends(path));
        let new = || RelatedValue::new(self.path, value);
        if query.fits_path(path) {
            self.fits += 1;
            let condition = query.condition.as_ref().filter(|condition| condition.path().is_none());
            if condition.is_none_or(|condition| condition.holds(value, query.as_numbers)) {
                self.values.candidates.push(new());
            }
        }
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

    fn passes_over(&mut self, name: Written<'_>, value: u8) -> bool {
        !matches!(value, b'{' | b'[') && !self.query.asks_of(name)
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
