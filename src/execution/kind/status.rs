//! Statuses that distinguish failures: 404 and 500 must not become one `*`.

use super::characters::{is_digit, is_space};
use super::text::Text;

/// Words that a status follows, besides `HTTP/1.1`; the longer one first.
const KEYWORDS: [&str; 4] = ["status code", "status", "code", "error"];

/// Where statuses start: HTTP's of 1xx to 5xx, and SMTP's as in `550 5.1.1`.
pub(super) fn kept(text: Text) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < text.0.len() {
        let status = status(text, at);
        kept.extend(status);
        at = status.map_or(at + 1, |start| start + 3);
    }
    kept
}

/// Where the status starts, if it or the words before it start here.
fn status(text: Text, at: usize) -> Option<usize> {
    match text.get(at)? {
        '1'..='5' => at_start(text, at).or_else(|| smtp(text, at)),
        '(' => code(text, at + 1),
        's' | 'S' | 'ſ' | 'c' | 'C' | 'e' | 'E' | 'h' | 'H' if text.is_start(at) => named(text, at),
        _ => None,
    }
}

/// `404 - …`, `404: …`, `404 {"error": …`, `404 Not found` at the very start.
fn at_start(text: Text, at: usize) -> Option<usize> {
    let end = code(text, at).filter(|_| at == 0)? + 3;
    let opens = |at| text.is(at, |char| "{[\"(".contains(char));
    let is_title = text.literal(end, " ").is_some_and(|at| opens(at) || text.is(at, |char| char.is_ascii_uppercase()));
    let is_alone = end == text.0.len() || text.any(end, &[" - ", ": "]).is_some() || opens(end) || is_title;
    is_alone.then_some(at)
}

/// `status code 404`, `HTTP/1.1 404`, `Error: 404`.
fn named(text: Text, at: usize) -> Option<usize> {
    let after = |end| code(text, text.run(end, |char| " :=".contains(char)));
    let named = KEYWORDS.iter().find_map(|word| keyword(text, at, word).and_then(after));
    named.or_else(|| {
        let http = keyword(text, at, "http")?;
        let major = text.literal(http, "/").and_then(|at| text.one(at, is_digit));
        let minor = major.and_then(|at| text.literal(at, ".")).and_then(|at| text.one(at, is_digit));
        [minor, major, Some(http)].into_iter().flatten().find_map(after)
    })
}

/// The end of a word in any case; `ſ` is an `s` as in Unicode's case folding.
fn keyword(text: Text, at: usize, word: &str) -> Option<usize> {
    let mut end = at;
    for char in word.chars() {
        end = text.one(end, |its| its.eq_ignore_ascii_case(&char) || its == 'ſ' && char == 's')?;
    }
    Some(end)
}

/// Three digits and what may follow a status.
fn code(text: Text, at: usize) -> Option<usize> {
    let end = text.one(at, |char| ('1'..='5').contains(&char)).and_then(|at| text.digits(at, 2..=2))?;
    let is_end = text.get(end).is_none_or(|char| is_space(char) || ":,.;)]}\"-".contains(char));
    is_end.then_some(at)
}

/// `550 5.1.1`, `550-5.7.26`.
fn smtp(text: Text, at: usize) -> Option<usize> {
    let class = |at| text.one(at, |char| "245".contains(char));
    let end = class(at).filter(|_| text.is_start(at)).and_then(|at| text.digits(at, 2..=2))?;
    let subject = text.one(end, |char| " -".contains(char)).and_then(class).and_then(|at| text.literal(at, "."))?;
    let detail = text.digits(subject, 1..=3).and_then(|at| text.literal(at, ".")).and_then(|at| text.digits(at, 1..=1));
    detail.map(|_| at)
}
