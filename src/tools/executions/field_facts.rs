//! What is worth saying about the values of a field, as data: the page shows it in the reader's language, and
//! [`field_lines`](super::field_lines) writes it for agents.

use serde::Serialize;

use crate::execution::fields::{Claim, Claimed, FieldView, KINDS, NodePlace, Together};
use crate::json::shorten;
use crate::toolkit::answer::is_zero;

/// The most characters of a path, and of a value.
pub(super) const PATH_CHARS: usize = 80;
const VALUE_CHARS: usize = 40;

/// How many different values are named.
const VALUES: usize = 12;

/// A fact about the values of a field.
#[derive(Debug, Serialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub(super) enum Fact {
    /// They are of several kinds: how many of each, the most frequent first, and where the rarest one is.
    Kinds {
        kinds: Vec<(&'static str, u64)>,
        place: Place,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// Only some of the objects have it.
    Present {
        count: u64,
        of: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<Example>,
    },
    /// Some have nothing in them.
    Empty {
        count: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<Example>,
    },
    /// All strings are written like numbers.
    NumericTexts { count: u64 },
    /// All strings are written like JSON objects or arrays.
    JsonTexts { count: u64 },
    /// Most are different, but one occurs again; `of` values, or the first ones, were compared.
    Repeated { count: u64, of: u64, more: bool, value: String, places: [Place; 2] },
    /// There are few different ones: how often each occurs.
    Values { values: Vec<(String, u64)> },
    /// They are dates.
    Dates { from: String, to: String },
    /// They are numbers.
    Range { from: f64, to: f64 },
    /// They are all the same.
    Always { value: String },
}

/// The first item of the smaller of two parts: of those for which a fact holds, or of the others.
#[derive(Debug, Serialize)]
pub(super) struct Example {
    pub holds: bool,
    pub place: Place,
}

/// Where an item is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    #[serde(skip_serializing_if = "is_zero")]
    pub run: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub output: u64,
    pub item: u64,
}

impl From<&NodePlace> for Place {
    fn from(place: &NodePlace) -> Self {
        Self { run: place.run, output: place.output, item: place.item }
    }
}

/// The facts about the values of a field, in the order in which they are said.
pub(super) fn facts(field: &FieldView) -> Vec<Fact> {
    let strings = field.kinds[3];
    let mut facts: Vec<_> = [kinds(field), presence(field), empty(field)].into_iter().flatten().collect();
    // Where kinds are mixed, only the kinds matter.
    if field.kinds[1..].iter().filter(|count| **count > 0).count() < 2 {
        let numbers = (strings > 0 && field.numeric_texts == strings).then_some(Fact::NumericTexts { count: strings });
        let json = (strings > 0 && field.json_texts == strings).then_some(Fact::JsonTexts { count: strings });
        let dates = field.dates.as_ref().filter(|(least, most)| least != most);
        let dates = dates.map(|(least, most)| Fact::Dates { from: least.to_string(), to: most.to_string() });
        facts.extend([numbers, json, repeated(field)].into_iter().flatten());
        match values(field) {
            Some(values) => facts.push(values),
            None => facts.extend([dates, range(field), constant(field)].into_iter().flatten()),
        }
    }
    facts
}

fn kinds(field: &FieldView) -> Option<Fact> {
    let mut kinds: Vec<_> = KINDS.into_iter().zip(field.kinds).filter(|(_, count)| *count > 0).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rarest = field.rarest.as_ref()?;
    let value = rarest.value.as_deref().filter(|value| *value != "null");
    let value = value.map(|value| shorten(value, 2 * VALUE_CHARS));
    Some(Fact::Kinds { kinds, place: (&rarest.place).into(), value })
}

fn presence(field: &FieldView) -> Option<Fact> {
    let is_partial = field.present < field.objects && !field.path.ends_with("[]");
    let absent = field.objects.saturating_sub(field.present);
    let example = example((field.present, field.first_present), (absent, field.first_absent));
    is_partial.then_some(Fact::Present { count: field.present, of: field.objects, example })
}

fn empty(field: &FieldView) -> Option<Fact> {
    let filled = field.kinds.iter().sum::<u64>() - field.empty;
    let example = example((field.empty, field.first_empty), (filled, field.first_filled));
    (field.empty > 0).then_some(Fact::Empty { count: field.empty, example })
}

fn example(part: (u64, Option<NodePlace>), others: (u64, Option<NodePlace>)) -> Option<Example> {
    let holds = part.0 < others.0;
    let place = if holds { part.1 } else { others.1 };
    Some(Example { holds, place: (&place?).into() })
}

fn repeated(field: &FieldView) -> Option<Fact> {
    let names = field.repeated_names()?;
    let [one, again] = &names.first.places;
    Some(Fact::Repeated {
        count: names.distinct,
        of: names.values,
        more: names.has_more,
        value: shorten(&names.first.value, VALUE_CHARS),
        places: [one.into(), again.into()],
    })
}

fn values(field: &FieldView) -> Option<Fact> {
    let total: u64 = field.kinds.iter().sum();
    let is_told = (2..=VALUES).contains(&field.values.len()) && total > field.values.len() as u64;
    let mut values: Vec<_> = field.values.iter().filter(|(value, _)| value != "\"\"").collect();
    values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let values: Vec<_> = values.iter().map(|(value, count)| (bare(value), *count)).collect();
    (is_told && !values.is_empty()).then_some(Fact::Values { values })
}

/// The range of the numbers, unless they name things.
fn range(field: &FieldView) -> Option<Fact> {
    let (from, to) = field.numbers.both.filter(|(least, most)| least < most)?;
    repeated(field).is_none().then_some(Fact::Range { from, to })
}

/// The value that all items share, if there are several items.
fn constant(field: &FieldView) -> Option<Fact> {
    let [(value, count)] = &field.values[..] else { return None };
    (*count > 1 && *count == field.kinds.iter().sum::<u64>()).then(|| Fact::Always { value: bare(value) })
}

/// A value without its quotes, unless it could then be taken for something else.
pub(super) fn bare(value: &str) -> String {
    let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or_default();
    let is_plain = |char: char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_' | '.' | '/' | '@');
    let is_word = inside.starts_with(char::is_alphanumeric) && inside.chars().all(is_plain);
    let is_scalar = ["true", "false", "null"].contains(&inside) || inside.parse::<f64>().is_ok();
    shorten(if is_word && !is_scalar { inside } else { value }, VALUE_CHARS)
}

/// Facts that hold for the same items.
#[derive(Serialize)]
pub(super) struct TogetherFact {
    claims: Vec<ClaimFact>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    items: u64,
}

/// What is claimed of a value: `kind`, `there`, `missing`, `empty` or `value`.
#[derive(Serialize)]
struct ClaimFact {
    path: String,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl From<&Together> for TogetherFact {
    fn from(one: &Together) -> Self {
        Self { claims: one.claims.iter().map(ClaimFact::from).collect(), more: one.more as u64, items: one.items }
    }
}

impl From<&Claim> for ClaimFact {
    fn from(claim: &Claim) -> Self {
        let (is, value) = match &claim.is {
            Claimed::Kind(kind) => ("kind", Some((*kind).to_owned())),
            Claimed::There => ("there", None),
            Claimed::Missing => ("missing", None),
            Claimed::Empty => ("empty", None),
            Claimed::Value(value) => ("value", Some(bare(value))),
        };
        Self { path: shorten(&claim.path, PATH_CHARS), is, value }
    }
}
