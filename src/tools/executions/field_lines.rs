//! How values are distributed, as one line: `warehouse.id: 419 numbers, 1 text (item 317: "100")`.

use crate::execution::fields::{Claim, Claimed, FieldView, KINDS, NodePlace, Outlier, Together};
use crate::json::shorten;
use crate::units::counted;

/// The most characters of a path, and of a value.
const PATH_CHARS: usize = 80;
const VALUE_CHARS: usize = 40;

/// How many different values are named.
const VALUES: usize = 12;

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
    line(&field.path, &facts(field))
}

/// A path, and the facts about its values.
pub(super) fn line(path: &str, facts: &str) -> String {
    // A member can have an empty name.
    format!("{}: {facts}", if path.is_empty() { "\"\"".to_owned() } else { shorten(path, PATH_CHARS) })
}

/// The facts about the values of a path.
pub(super) fn facts(field: &FieldView) -> String {
    let strings = field.kinds[3];
    let mut facts: Vec<_> = [kinds(field), presence(field), empty(field)].into_iter().flatten().collect();
    // Where kinds are mixed, only the kinds matter.
    if field.kinds[1..].iter().filter(|count| **count > 0).count() < 2 {
        let numbers = (strings > 0 && field.numeric_texts == strings)
            .then(|| counted(strings, "number as text", "numbers as text"));
        let json =
            (strings > 0 && field.json_texts == strings).then(|| counted(strings, "text of JSON", "texts of JSON"));
        let dates = field.dates.as_ref().filter(|(least, most)| least != most);
        let dates = dates.map(|(least, most)| format!("{least} to {most}"));
        facts.extend([numbers, json, repeated(field)].into_iter().flatten());
        let counted = facts.join(", ");
        return match values(field) {
            Some(values) if facts.is_empty() => values,
            Some(values) => format!("{counted}; {values}"),
            None => {
                facts.extend([dates, range(field), constant(field)].into_iter().flatten());
                facts.join(", ")
            }
        };
    }
    facts.join(", ")
}

fn kinds(field: &FieldView) -> Option<String> {
    let counts = field.kinds.iter().zip(WORDS).filter(|(count, _)| **count > 0);
    let mut counts: Vec<_> = counts.map(|(count, words)| (*count, words)).collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let told: Vec<_> = counts.iter().map(|(count, (one, many))| counted(*count, one, many)).collect();
    let rarest = field.rarest.as_ref()?;
    Some(format!("{} ({})", told.join(", "), placed(rarest)))
}

/// `item 317: "100"`; with the run and the output if they are not 0.
fn placed(outlier: &Outlier) -> String {
    let value = outlier.value.as_deref().filter(|value| *value != "null");
    let value = value.map(|value| format!(": {}", shorten(value, 2 * VALUE_CHARS))).unwrap_or_default();
    format!("{}{value}", place(&outlier.place))
}

fn place(place: &NodePlace) -> String {
    let run = if place.run > 0 { format!("run {} ", place.run) } else { String::new() };
    let output = if place.output > 0 { format!("output {} ", place.output) } else { String::new() };
    format!("{run}{output}item {}", place.item)
}

fn presence(field: &FieldView) -> Option<String> {
    let is_partial = field.present < field.objects && !field.path.ends_with("[]");
    let absent = field.objects.saturating_sub(field.present);
    let smaller = smaller((field.present, field.first_present), (absent, field.first_absent));
    is_partial.then(|| format!("in {} of {}{smaller}", field.present, field.objects))
}

fn empty(field: &FieldView) -> Option<String> {
    let filled = field.kinds.iter().sum::<u64>() - field.empty;
    let smaller = smaller((field.empty, field.first_empty), (filled, field.first_filled));
    (field.empty > 0).then(|| format!("{} empty{smaller}", field.empty))
}

/// The first item of the smaller of two parts: of the places for which something holds, and of the others.
fn smaller(part: (u64, Option<NodePlace>), others: (u64, Option<NodePlace>)) -> String {
    let (first, not) = if part.0 < others.0 { (part.1, "") } else { (others.1, "not in ") };
    first.map(|first| format!(" ({not}{})", place(&first))).unwrap_or_default()
}

fn repeated(field: &FieldView) -> Option<String> {
    let names = field.repeated_names()?;
    let [one, again] = &names.first.places;
    let value = shorten(&names.first.value, VALUE_CHARS);
    let first = if names.has_more { "the first " } else { "" };
    let (distinct, values) = (names.distinct, names.values);
    Some(format!("{distinct} different in {first}{values} ({value} in {} and {})", place(one), place(again)))
}

fn values(field: &FieldView) -> Option<String> {
    let total: u64 = field.kinds.iter().sum();
    let is_told = (2..=VALUES).contains(&field.values.len()) && total > field.values.len() as u64;
    let mut values: Vec<_> = field.values.iter().filter(|(value, _)| value != "\"\"").collect();
    values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let values: Vec<_> = values.into_iter().map(|(value, count)| (bare(value), count)).collect();
    // The count after a number could be taken for a part of it.
    let end_in_digits = values.iter().any(|(value, _)| value.ends_with(char::is_numeric));
    let told = values.iter().map(|(value, count)| match end_in_digits {
        true => format!("{value} ({count})"),
        false => format!("{value} {count}"),
    });
    (is_told && !values.is_empty()).then(|| told.collect::<Vec<_>>().join(", "))
}

/// The range of the numbers, unless their values are named.
fn range(field: &FieldView) -> Option<String> {
    let (least, most) = field.numbers.both.filter(|(least, most)| least < most)?;
    (values(field).is_none() && repeated(field).is_none()).then(|| format!("{least} to {most}"))
}

/// The value that all items share, if there are several items.
fn constant(field: &FieldView) -> Option<String> {
    let [(value, count)] = &field.values[..] else { return None };
    (*count > 1 && *count == field.kinds.iter().sum::<u64>()).then(|| format!("always {}", bare(value)))
}

/// A value without its quotes, unless it could then be taken for something else.
fn bare(value: &str) -> String {
    let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or_default();
    let is_plain = |char: char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_' | '.' | '/' | '@');
    let is_word = inside.starts_with(char::is_alphanumeric) && inside.chars().all(is_plain);
    let is_scalar = ["true", "false", "null"].contains(&inside) || inside.parse::<f64>().is_ok();
    shorten(if is_word && !is_scalar { inside } else { value }, VALUE_CHARS)
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
