//! Addresses in a text: URLs, e-mail and IP addresses, paths of files. Each function returns the end of the address
//! that starts here. URLs, UUIDs and IPv4 addresses start where a word could start; the caller has checked that.

use super::characters::{is_digit, is_space, is_word};
use super::text::Text;
use super::words::push_numberless;

/// The schemes of URLs.
const SCHEMES: [&str; 11] =
    ["https", "http", "wss", "ws", "ftp", "postgresql", "postgres", "mysql", "redis", "mongodb+srv", "mongodb"];

/// A URL.
pub(super) fn url(text: Text, at: usize) -> Option<usize> {
    text.one(at, |char| matches!(char, 'h' | 'w' | 'f' | 'p' | 'm' | 'r'))?;
    let end = SCHEMES.iter().find_map(|scheme| text.literal(text.literal(at, scheme)?, "://"))?;
    text.some(end, |char| !is_space(char) && !matches!(char, '"' | '\'' | '<' | '>' | '`' | '\\'))
}

/// Appends what is shown of a URL: its scheme, and its host without numbers.
pub(super) fn push_url(url: Text, out: &mut String) {
    let scheme = url.run(0, |char| char != ':');
    let start = scheme + "://".len();
    let user = url.run(start, |char| char != '/' && char != '@');
    let host = url.literal(user, "@").unwrap_or(start);
    let host = url.slice(host..url.run(host, |char| !"/?#:".contains(char)));
    out.extend(url.slice(0..start));
    if !host.is_empty() && host.iter().all(|char| char.is_ascii_digit() || *char == '.') {
        out.push('*');
    } else {
        push_numberless(Text(host), out);
    }
    out.push_str("/*");
}

/// E-mail addresses. Every character of a possible local part could start one: its end is searched for once.
#[derive(Debug, Default)]
pub(super) struct Emails {
    local_end: usize,
    end: Option<usize>,
}

impl Emails {
    /// An e-mail address.
    pub(super) fn email(&mut self, text: Text, at: usize) -> Option<usize> {
        if at >= self.local_end {
            self.local_end = text.run(at, is_local);
            self.end = domain(text, self.local_end);
        }
        self.end.filter(|_| at < self.local_end)
    }
}

fn is_local(char: char) -> bool {
    let is_sign = matches!(char, '.' | '!' | '#'..='&' | '*' | '+' | '-' | '/' | '=' | '?' | '^'..='`' | '{'..='~');
    char.is_ascii_alphanumeric() || is_sign
}

/// `@example.com`
fn domain(text: Text, at: usize) -> Option<usize> {
    let label = |at, before| text.literal(at, before).and_then(|at| text.some(at, is_label));
    let mut end = label(label(at, "@")?, ".")?;
    while let Some(next) = label(end, ".") {
        end = next;
    }
    Some(end)
}

fn is_label(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '-'
}

/// A UUID.
pub(super) fn uuid(text: Text, at: usize) -> Option<usize> {
    let mut end = text.count(at, 8..=8, is_hex)?;
    for digits in [4, 4, 4, 12] {
        end = text.literal(end, "-").and_then(|at| text.count(at, digits..=digits, is_hex))?;
    }
    Some(end).filter(|end| text.is_end(*end))
}

fn is_hex(char: char) -> bool {
    char.is_ascii_hexdigit()
}

/// An IPv4 address, with or without a port.
pub(super) fn ip4(text: Text, at: usize) -> Option<usize> {
    let mut end = at;
    for _ in 0..3 {
        end = text.digits(end, 1..=3).and_then(|at| text.literal(at, "."))?;
    }
    let end = text.digits(end, 1..=3)?;
    [port(text, end), Some(end)].into_iter().flatten().find(|end| text.is_end(*end))
}

/// An IPv6 address: at least four groups, or `::1` with or without a port.
pub(super) fn ip6(text: Text, at: usize) -> Option<usize> {
    let is_part = |char| is_word(char) || char == ':';
    text.one(at, |char| is_hex(char) || char == ':')?;
    if text.follows(at, is_part) {
        return None;
    }
    let local = text.literal(at, "::1").map(|end| port(text, end).unwrap_or(end));
    let end = local.or_else(|| ip6_groups(text, at))?;
    (!text.is(end, is_part)).then_some(end)
}

/// Four to eight groups.
fn ip6_groups(text: Text, at: usize) -> Option<usize> {
    let group = |at| text.count(at, 1..=4, is_hex);
    let (mut end, mut groups) = (group(at)?, 1);
    while groups < 8
        && let Some(next) = text.literal(end, ":").and_then(group)
    {
        (end, groups) = (next, groups + 1);
    }
    (groups >= 4).then_some(end)
}

/// `:443`
fn port(text: Text, at: usize) -> Option<usize> {
    text.literal(at, ":").and_then(|at| text.some(at, is_digit))
}

/// A path of at least one folder: `/data/export`, `C:\data\export`.
pub(super) fn path(text: Text, at: usize) -> Option<usize> {
    let first = text.get(at)?;
    let drive = || text.literal(at + 1, ":\\").filter(|_| first.is_ascii_alphabetic());
    let root = if first == '/' { Some(at + 1) } else { drive() }?;
    if text.follows(at, |char| is_word(char) || ":/.<".contains(char)) {
        return None;
    }
    let folder = |at| text.some(at, is_in_path).and_then(|at| text.one(at, |char| char == '/' || char == '\\'));
    let mut end = folder(root)?;
    while let Some(next) = folder(end) {
        end = next;
    }
    Some(text.run(end, is_in_path))
}

fn is_in_path(char: char) -> bool {
    is_word(char) || matches!(char, '.' | '@' | '%' | '+' | '~' | '-')
}
