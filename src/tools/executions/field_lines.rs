//! How values are distributed, as one line: `warehouse.id: 419 numbers, 1 text (item 317: "100")`.

use super::field_facts::{Example, Fact, PATH_CHARS, Place, bare, facts};
use crate::execution::fields::{Claim, Claimed, FieldView, KINDS, Together};
use crate::json::shorten;
use crate::units::counted;

/// The names of kinds of values, singular and plural.
const WORDS: [(&str, &str); KINDS.len()] = [
    ("null", "null"),
    ("boolean", "booleans"),
    ("number", "numbers"),
    ("text", "texts"),
    ("list", "lists"),
    ("object", "objects"),
];

/// The path of a field, and the facts about its values.
pub(super) fn field_line(field: &FieldView) -> String {
    line(&field.path, &words(&facts(field)))
}

/// A path, and the facts about its values.
pub(super) fn line(path: &str, facts: &str) -> String {
    // A member can have an empty name.
    format!("{}: {facts}", if path.is_empty() { "\"\"".to_owned() } else { shorten(path, PATH_CHARS) })
}

/// The facts, separated by commas; the values by a semicolon.
pub(super) fn words(facts: &[Fact]) -> String {
    facts.iter().enumerate().fold(String::new(), |words, (at, fact)| {
        let separator = match fact {
            _ if at == 0 => "",
            Fact::Values { .. } => "; ",
            _ => ", ",
        };
        words + separator + &words_of(fact)
    })
}

fn words_of(fact: &Fact) -> String {
    match fact {
        Fact::Kinds { kinds, place, value } => {
            let value = value.as_ref().map(|value| format!(": {value}")).unwrap_or_default();
            let kinds: Vec<_> = kinds.iter().map(|(kind, count)| counted_kind(kind, *count)).collect();
            format!("{} ({}{value})", kinds.join(", "), placed(place))
        }
        Fact::Present { count, of, example } => format!("in {count} of {of}{}", smaller(example.as_ref())),
        Fact::Empty { count, example } => format!("{count} empty{}", smaller(example.as_ref())),
        Fact::NumericTexts { count } => counted(*count, "number as text", "numbers as text"),
        Fact::JsonTexts { count } => counted(*count, "text of JSON", "texts of JSON"),
        Fact::Repeated { count, of, more, value, places: [one, again] } => {
            let first = if *more { "the first " } else { "" };
            format!("{count} different in {first}{of} ({value} in {} and {})", placed(one), placed(again))
        }
        Fact::Values { values } => counted_values(values),
        Fact::Dates { from, to } => format!("{from} to {to}"),
        Fact::Range { from, to } => format!("{from} to {to}"),
        Fact::Always { value } => format!("always {value}"),
    }
}

fn counted_values(values: &[(String, u64)]) -> String {
    // The count after a number could be taken for a part of it.
    let end_in_digits = values.iter().any(|(value, _)| value.ends_with(char::is_numeric));
    let words = values.iter().map(|(value, count)| match end_in_digits {
        true => format!("{value} ({count})"),
        false => format!("{value} {count}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn counted_kind(kind: &str, count: u64) -> String {
    let words = KINDS.iter().zip(WORDS).find(|(name, _)| **name == kind);
    words.map_or_else(String::new, |(_, (one, many))| counted(count, one, many))
}

/// `item 317`; with the run and the output if they are not 0.
fn placed(place: &Place) -> String {
    let run = if place.run > 0 { format!("run {} ", place.run) } else { String::new() };
    let output = if place.output > 0 { format!("output {} ", place.output) } else { String::new() };
    format!("{run}{output}item {}", place.item)
}

fn smaller(example: Option<&Example>) -> String {
    let Some(Example { holds, place }) = example else { return String::new() };
    format!(" ({}{})", if *holds { "" } else { "not in " }, placed(place))
}

/// `amount is a text: just where software = 4.1.0 (1004)`.
pub(super) fn together_line(one: &Together) -> String {
    let claims: Vec<_> = one.claims.iter().map(claim).collect();
    let (first, others) = claims
        .split_first()
        .map_or((String::new(), String::new()), |(first, others)| (first.clone(), others.join(", ")));
    let more = if one.more > 0 { format!(", …[+{} more]", one.more) } else { String::new() };
    format!("{first}: just where {others}{more} ({})", one.items)
}

fn claim(claim: &Claim) -> String {
    let path = shorten(&claim.path, PATH_CHARS);
    match &claim.is {
        Claimed::Kind("null") => format!("{path} is null"),
        Claimed::Kind(kind) => {
            let word = KINDS.iter().zip(WORDS).find(|(name, _)| *name == kind).map_or(*kind, |(_, (one, _))| one);
            format!("{path} is {} {word}", if word == "object" { "an" } else { "a" })
        }
        Claimed::There => format!("{path} is there"),
        Claimed::Missing => format!("{path} is missing"),
        Claimed::Empty => format!("{path} is empty"),
        Claimed::Value(value) => format!("{path} = {}", bare(value)),
    }
}
