//! Dates and times. Each function returns the end of the one that starts here; the caller has checked that a word could
//! start there.

use super::characters::{is_digit, is_space};
use super::text::Text;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date, with or without a time.
pub(super) fn date(text: Text, at: usize) -> Option<usize> {
    text.one(at, |char| is_digit(char) || char.is_ascii_uppercase())?;
    iso(text, at).or_else(|| named(text, at)).or_else(|| numbers(text, at))
}

/// `2026-11-21`, `2026-11-21T12:30:00.000Z`, `2026-11-21 12:30 +0100`
fn iso(text: Text, at: usize) -> Option<usize> {
    let month = text.digits(at, 4..=4).and_then(|at| text.literal(at, "-"))?;
    let day = two(text, month).and_then(|at| text.literal(at, "-"))?;
    let end = two(text, day)?;
    let time = text.one(end, |char| char == 'T' || is_space(char)).and_then(|at| hours(text, at));
    Some(time.map_or(end, |at| zone(text, seconds(text, at))))
}

/// `Sat, 21 Nov 2026 12:30:00 GMT`, `Nov 21 12:30`, `Sat Nov 21 2026 12:30:00 GMT+0100`
fn named(text: Text, at: usize) -> Option<usize> {
    let name = |at, names| text.any(at, names).map(|end| text.run(end, |char| char.is_ascii_lowercase()));
    let blank = |at| text.some(at, is_space);
    let after_comma = |at| blank(text.literal(at, ",").unwrap_or(at));
    let year = |at| text.digits(at, 4..=4);

    let at = name(at, &WEEKDAYS).and_then(after_comma).unwrap_or(at);
    let at = text.digits(at, 1..=2).and_then(blank).unwrap_or(at);
    let at = name(at, &MONTHS).and_then(blank).and_then(|at| text.digits(at, 1..=4))?;
    let at = after_comma(at).and_then(year).unwrap_or(at);
    let at = after_comma(at).and_then(|at| hours(text, at)).map_or(at, |at| sixtieth(text, at).unwrap_or(at));
    let at = blank(at).and_then(|at| text.any(at, &["GMT", "UTC"])).map_or(at, |at| {
        let offset = text.one(at, |char| char == '+' || char == '-').and_then(year);
        offset.unwrap_or(at)
    });
    Some(blank(at).and_then(year).unwrap_or(at))
}

/// `21.11.2026`, `11/21/2026`
fn numbers(text: Text, at: usize) -> Option<usize> {
    let part = |at| text.digits(at, 1..=2).and_then(|at| text.one(at, |char| char == '.' || char == '/'));
    part(at).and_then(part).and_then(|at| text.digits(at, 4..=4)).filter(|end| text.is_end(*end))
}

/// A time of day: `12:30`, `12:30:00.000`, `9:30 pm`.
pub(super) fn time(text: Text, at: usize) -> Option<usize> {
    let minutes = text.digits(at, 1..=2).and_then(|at| sixtieth(text, at))?;
    // A time ends before what is not part of it: `12:30:00.5x` is `12:30:00` and more.
    [seconds(text, minutes), sixtieth(text, minutes).unwrap_or(minutes), minutes].into_iter().find_map(|end| {
        let blank = text.one(end, is_space).unwrap_or(end);
        let half =
            text.one(blank, |char| "AaPp".contains(char)).and_then(|at| text.one(at, |char| "Mm".contains(char)));
        [half, Some(end)].into_iter().flatten().find(|end| text.is_end(*end))
    })
}

fn two(text: Text, at: usize) -> Option<usize> {
    text.digits(at, 2..=2)
}

/// `12:30`
fn hours(text: Text, at: usize) -> Option<usize> {
    two(text, at).and_then(|at| sixtieth(text, at))
}

/// `:30`
fn sixtieth(text: Text, at: usize) -> Option<usize> {
    text.literal(at, ":").and_then(|at| two(text, at))
}

/// `:30.123`, if there are any.
fn seconds(text: Text, at: usize) -> usize {
    let Some(end) = sixtieth(text, at) else { return at };
    text.literal(end, ".").and_then(|at| text.digits(at, 1..=usize::MAX)).unwrap_or(end)
}

/// `Z`, `+01:00`, `+0100`, if there is one.
fn zone(text: Text, at: usize) -> usize {
    let offset = || {
        let minutes = text.one(at, |char| char == '+' || char == '-').and_then(|at| two(text, at))?;
        two(text, text.literal(minutes, ":").unwrap_or(minutes))
    };
    text.literal(at, "Z").or_else(offset).unwrap_or(at)
}
