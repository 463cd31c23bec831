//! The values of an item with which others of it are compared: `stock` with `reorderAt`.
//!
//! Two values are compared if they are in the same element of each list that both are in: a line's quantity with the stock of
//! that line, and with every value outside of lists. If a value has exactly the given path, those whose paths only end
//! like it are not compared; and no value is compared with itself.

use std::cmp::Ordering;

use indexmap::IndexSet;
use serde_json::Value;

use super::path_end::PathEnd;
use super::query::{
    Condition, SearchedValue, ValueQuery, clipped, clipped_json, is_number, number, order_of_texts, same_number,
    text_number,
};
use crate::execution::values::{ElementPlace, Path, ValueVisitor, numbered};
use crate::json::{Visitor, Written, well_formed};

/// A value of an item; its texts are in [`Texts`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RelatedValue {
    /// Its number among the values of the item: they are in document order.
    number: u32,
    /// Which path it has.
    path: u32,
    /// Where the elements that lead to it are, and its text.
    elements: (u32, u32),
    text: (u32, u32),
    kind: Kind,
}

impl RelatedValue {
    fn is_in_a_list(&self) -> bool {
        self.elements.0 < self.elements.1
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    String,
    Scalar,
    /// A container with this many members or elements.
    Container(u32),
}

/// What the values of an item consist of; the memory is used again for the next item.
#[derive(Debug, Default)]
struct Texts {
    /// The different paths.
    paths: IndexSet<String>,
    elements: Vec<ElementPlace>,
    values: String,
}

impl Texts {
    fn clear(&mut self) {
        let Self { paths, elements, values } = self;
        paths.clear();
        elements.clear();
        values.clear();
    }

    /// Holds a value.
    fn hold(&mut self, number: u32, path: &Path, value: SearchedValue<'_>) -> RelatedValue {
        let (elements, text) = (self.elements.len() as u32, self.values.len() as u32);
        self.elements.extend(path.elements());
        let kind = match value {
            SearchedValue::String(written) => self.add(&written.text(), Kind::String),
            SearchedValue::Text(text) => self.add(text, Kind::String),
            SearchedValue::Scalar(json) => self.add(json, Kind::Scalar),
            SearchedValue::Container { parts, json } => self.add(&well_formed(json), Kind::Container(parts as u32)),
        };
        let known = self.paths.get_index_of(path.as_str());
        let path = known.unwrap_or_else(|| self.paths.insert_full(path.as_str().to_owned()).0) as u32;
        let (elements, text) = ((elements, self.elements.len() as u32), (text, self.values.len() as u32));
        RelatedValue { number, path, elements, text, kind }
    }

    fn add(&mut self, text: &str, kind: Kind) -> Kind {
        self.values.push_str(text);
        kind
    }

    fn path(&self, value: &RelatedValue) -> &str {
        &self.paths[value.path as usize]
    }

    fn elements(&self, value: &RelatedValue) -> &[ElementPlace] {
        &self.elements[value.elements.0 as usize..value.elements.1 as usize]
    }

    fn value(&self, value: &RelatedValue) -> SearchedValue<'_> {
        let text = &self.values[value.text.0 as usize..value.text.1 as usize];
        match value.kind {
            Kind::String => SearchedValue::Text(text),
            Kind::Scalar => SearchedValue::Scalar(text),
            Kind::Container(parts) => SearchedValue::Container { parts: parts.into(), json: text.as_bytes() },
        }
    }

    /// How many lists both values are in.
    fn shared(&self, one: &RelatedValue, other: &RelatedValue) -> usize {
        let (path, of) = (self.path(one).as_bytes(), self.path(other).as_bytes());
        let is_same = |(a, b): &(&ElementPlace, &ElementPlace)| {
            a.path_len == b.path_len && path[..a.path_len] == of[..b.path_len]
        };
        self.elements(one).iter().zip(self.elements(other)).take_while(is_same).count()
    }

    /// The order of two values by their elements in the first lists that they are in.
    fn order(&self, one: &RelatedValue, other: &RelatedValue, lists: usize) -> Ordering {
        let indices = |value| self.elements(value).iter().take(lists).map(|element| element.index);
        indices(one).cmp(indices(other))
    }

    /// Sorts values: first those outside of lists, then the others by their paths, and by their elements.
    fn sort(&self, values: &mut [RelatedValue]) {
        let path = |value: &RelatedValue| value.is_in_a_list().then_some(value.path);
        values.sort_unstable_by(|one, other| {
            let by_elements = || self.order(one, other, usize::MAX);
            path(one).cmp(&path(other)).then_with(by_elements).then(one.number.cmp(&other.number))
        });
    }

    /// The sorted values that share every list element with this one: a slice of those outside lists, then one per path.
    fn paired<'v>(
        &'v self,
        value: &'v RelatedValue,
        sorted: &'v [RelatedValue],
    ) -> impl Iterator<Item = &'v [RelatedValue]> {
        let (outside, mut rest) = sorted.split_at(sorted.partition_point(|other| !other.is_in_a_list()));
        let in_lists = std::iter::from_fn(move || {
            let first = rest.first()?;
            let of_path;
            (of_path, rest) = rest.split_at(rest.partition_point(|other| other.path == first.path));
            let lists = self.shared(value, first);
            let before = of_path.partition_point(|other| self.order(other, value, lists).is_lt());
            let after = of_path.partition_point(|other| self.order(other, value, lists).is_le());
            Some(&of_path[before..after])
        });
        std::iter::once(outside).chain(in_lists)
    }

    /// The value among some sorted ones that makes a condition on this one hold, the first one in the text; for
    /// `notEquals`, none of them is the same.
    fn decisive(
        &self,
        condition: &Condition,
        value: &RelatedValue,
        sorted: &[RelatedValue],
        as_numbers: bool,
    ) -> Option<RelatedValue> {
        let this = self.value(value);
        let same = |other: &RelatedValue| equals(this, self.value(other), as_numbers);
        let ordered = |other: &RelatedValue| order(this, self.value(other), as_numbers);
        let holds = |other: &&RelatedValue| {
            other.number != value.number
                && match condition {
                    Condition::Is(_) => false,
                    Condition::Equals(_) => same(other),
                    Condition::NotEquals(_) => true,
                    Condition::Above(_) => ordered(other) == Some(Ordering::Greater),
                    Condition::Below(_) => ordered(other) == Some(Ordering::Less),
                }
        };
        let is_refuted =
            |others: &[RelatedValue]| others.iter().any(|other| other.number != value.number && same(other));
        if matches!(condition, Condition::NotEquals(_)) && self.paired(value, sorted).any(is_refuted) {
            return None;
        }
        let firsts = self.paired(value, sorted).filter_map(|others| others.iter().find(holds));
        firsts.min_by_key(|other| other.number).copied()
    }
}

/// The values of one item that a query compares others with.
#[derive(Debug, Default)]
pub(super) struct RelatedValues {
    texts: Texts,
    /// How many values the item has so far.
    number: u32,
    /// The values at the searched path that satisfy what the query asks of them alone.
    candidates: Vec<RelatedValue>,
    /// The values at the condition's path.
    operands: Vec<RelatedValue>,
    /// The values at the other value's path that satisfy its condition.
    also: Vec<RelatedValue>,
    /// The values with which these are compared.
    also_operands: Vec<RelatedValue>,
}

/// A value that relates to others as the query asks.
pub(super) struct Related<'v> {
    texts: &'v Texts,
    value: RelatedValue,
    other: Option<RelatedValue>,
}

impl Related<'_> {
    /// The value, as a query takes it.
    pub(super) fn searched(&self) -> SearchedValue<'_> {
        self.texts.value(&self.value)
    }

    /// Its path, with the number of each element.
    pub(super) fn numbered(&self) -> String {
        numbered(self.texts.path(&self.value), self.texts.elements(&self.value))
    }

    /// What is shown of the value with which it was compared.
    pub(super) fn shown_operand(&self) -> Option<String> {
        match self.texts.value(self.other.as_ref()?) {
            SearchedValue::Text(text) => Some(clipped(text, 0..0)),
            SearchedValue::Scalar(json) => Some(clipped_json(json)),
            SearchedValue::String(_) | SearchedValue::Container { .. } => None,
        }
    }
}

/// A condition that compares a value with others.
fn comparing(condition: &Option<Condition>) -> Option<(&Condition, &PathEnd)> {
    condition.as_ref().and_then(|condition| Some((condition, condition.path()?)))
}

impl RelatedValues {
    /// The values of the next item follow.
    pub(super) fn clear(&mut self) {
        let Self { texts, number, candidates, operands, also, also_operands } = self;
        [candidates, operands, also, also_operands].into_iter().for_each(Vec::clear);
        *number = 0;
        texts.clear();
    }

    /// All values of the item were collected.
    pub(super) fn arrange(&mut self, query: &ValueQuery) {
        let Self { texts, operands, also, also_operands, .. } = self;
        let arrange = |values: &mut Vec<RelatedValue>, end: &PathEnd| {
            let is_whole = |value: &RelatedValue| texts.path(value) == end.as_str();
            if values.iter().any(is_whole) {
                values.retain(is_whole);
            }
            texts.sort(values);
        };
        if let Some((_, end)) = comparing(&query.condition) {
            arrange(operands, end);
        }
        if let Some((condition, end)) = query.also.as_ref().and_then(|also| comparing(&also.condition)) {
            arrange(also_operands, end);
            also.retain(|value| texts.decisive(condition, value, also_operands, query.as_numbers).is_some());
        }
        texts.sort(also);
    }

    /// The values that relate to others as the query asks, in document order.
    pub(super) fn related<'v>(&'v self, query: &'v ValueQuery) -> impl Iterator<Item = Related<'v>> {
        let (texts, condition) = (&self.texts, comparing(&query.condition));
        self.candidates.iter().filter_map(move |value| {
            let other = match condition {
                Some((condition, _)) => Some(texts.decisive(condition, value, &self.operands, query.as_numbers)?),
                None => None,
            };
            let has_also = query.also.is_none() || texts.paired(value, &self.also).any(|also| !also.is_empty());
            has_also.then_some(Related { texts, value: *value, other })
        })
    }

    /// Whether any value satisfies what the query asks of another one, wherever it is.
    pub(super) fn have_also(&self, query: &ValueQuery) -> bool {
        query.also.is_none() || !self.also.is_empty()
    }
}

/// Whether two values are the same: of one kind, unless one is a number or strings count as numbers; containers by their
/// content.
fn equals(one: SearchedValue<'_>, other: SearchedValue<'_>, as_numbers: bool) -> bool {
    let is_mixed = is_number(one) != is_number(other);
    if (as_numbers || is_mixed)
        && let Some((one, other)) = numeric(one).zip(numeric(other))
    {
        return one == other;
    }
    match (one, other) {
        (SearchedValue::Text(one), SearchedValue::Text(other)) => one == other,
        (SearchedValue::Scalar(json), SearchedValue::Scalar(of)) => {
            if is_number(one) && is_number(other) {
                same_number(json, of)
            } else {
                json == of
            }
        }
        (SearchedValue::Container { json: one, .. }, SearchedValue::Container { json: other, .. }) => {
            let parsed = |json| serde_json::from_slice::<Value>(json).ok();
            one == other || parsed(one).zip(parsed(other)).is_some_and(|(one, other)| same_json(&one, &other))
        }
        _ => false,
    }
}

fn same_json(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_json(one, other))
        }
        (Value::Object(one), Value::Object(of)) => {
            let is_in = |(name, value): (&String, &Value)| of.get(name).is_some_and(|other| same_json(value, other));
            one.len() == of.len() && one.iter().all(is_in)
        }
        (Value::Number(one), Value::Number(other)) => same_number(&one.to_string(), &other.to_string()),
        _ => one == other,
    }
}

/// The order of two values as in JavaScript: strings by their text, unless they count as numbers; a string next to a
/// number as a number.
fn order(one: SearchedValue<'_>, other: SearchedValue<'_>, as_numbers: bool) -> Option<Ordering> {
    match (one, other) {
        (SearchedValue::Text(one), SearchedValue::Text(other)) if !as_numbers => Some(order_of_texts(one, other)),
        _ => numeric(one)?.partial_cmp(&numeric(other)?),
    }
}

/// The number that a value is, or that a string looks like.
fn numeric(value: SearchedValue<'_>) -> Option<f64> {
    match value {
        SearchedValue::Text(text) => text_number(text),
        value => number(value, false),
    }
}

/// Collects the values of an item that a query searches, and the values that it compares them with.
pub(super) struct Collector<'c> {
    pub query: &'c ValueQuery,
    pub path: &'c mut Path,
    pub values: &'c mut RelatedValues,
    /// How many values have the path that is searched.
    pub fits: u64,
    /// How many containers are nested so deep that the values inside them were not visited.
    pub too_deep: u64,
}

impl Collector<'_> {
    fn collect(&mut self, value: SearchedValue<'_>) {
        let (query, path) = (self.query, self.path.as_str());
        let ends = |end: Option<&PathEnd>| end.is_some_and(|end| end.ends(path));
        let holds = |condition: &Option<Condition>| {
            let own = condition.as_ref().filter(|condition| condition.path().is_none());
            own.is_none_or(|condition| condition.holds(value, query.as_numbers))
        };
        let fits = query.fits_path(path);
        self.fits += u64::from(fits);
        let lists = [
            fits && holds(&query.condition) && query.has_text(value),
            ends(query.condition.as_ref().and_then(Condition::path)),
            query.also.as_ref().is_some_and(|also| also.path.ends(path) && holds(&also.condition)),
            ends(query.also.as_ref().and_then(|also| also.condition.as_ref()).and_then(Condition::path)),
        ];
        let RelatedValues { texts, number, candidates, operands, also, also_operands } = &mut *self.values;
        if lists.contains(&true) {
            let held = texts.hold(*number, self.path, value);
            let all = [candidates, operands, also, also_operands].into_iter().zip(lists);
            all.filter(|(_, is_wanted)| *is_wanted).for_each(|(list, _)| list.push(held));
        }
        *number += 1;
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
        self.too_deep += u64::from(parts > 0 && self.path.is_deep());
        self.collect(SearchedValue::Container { parts, json });
    }
}
