//! Shows how a change affects a file. Secrets of other servers are in the same file, so only texts that n8n-lens itself
//! writes are shown.

use serde_json::{Map, Value};
use similar::TextDiff;

use super::client::Format;
use super::entry;
use crate::json::shorten;
use crate::secrets::REDACTED;

/// How many characters of a line are shown, and how many of them may come before the first difference.
const LINE_CHARS: usize = 400;
const SAME_CHARS: usize = 80;

/// The differences between two texts of a file, in unified form. Of its strings and comments, only those in `shown` are
/// readable.
pub(super) fn unified(file: &str, old: Option<&str>, new: &str, format: Format, shown: &VisibleTexts) -> String {
    let before = if old.is_some() { file } else { "/dev/null" };
    let (old, new) = (masked(old.unwrap_or_default(), format, shown), masked(new, format, shown));
    let difference = TextDiff::from_lines(&old, &new).unified_diff().header(before, file).to_string();
    match difference.is_empty() {
        true => "Only texts that are not shown differ.".to_owned(),
        false => clipped(difference.trim_end()),
    }
}

/// The differences between two texts without secrets, in unified form; `None` is a file that does not exist.
pub(super) fn of_texts(file: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { file } else { "/dev/null" };
    let (before, after) = (name(old), name(new));
    let difference = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
    difference.unified_diff().header(before, after).to_string().trim_end().to_owned()
}

/// A difference in which no line is much longer than [`LINE_CHARS`]. Two long lines are shown from where they
/// begin to differ.
fn clipped(difference: &str) -> String {
    let lines: Vec<_> = difference.lines().collect();
    let clipped = lines.iter().enumerate().map(|(at, line)| {
        let other = match line.as_bytes().first() {
            Some(b'-') => lines[at..].iter().find(|other| other.starts_with('+')),
            Some(b'+') => lines[..at].iter().rev().find(|other| other.starts_with('-')),
            _ => None,
        };
        clipped_line(line, other.copied().unwrap_or_default())
    });
    clipped.collect::<Vec<_>>().join("\n")
}

fn clipped_line(line: &str, other: &str) -> String {
    if line.len() <= LINE_CHARS {
        return line.to_owned();
    }
    let (sign, text) = line.split_at(1);
    let same = text.chars().zip(other.chars().skip(1)).take_while(|(one, other)| one == other).count();
    let skipped = same.saturating_sub(SAME_CHARS);
    let before = if skipped > 0 { format!("[+{skipped} chars]…") } else { String::new() };
    let start = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
    format!("{sign}{before}{}", shorten(&text[start..], LINE_CHARS))
}

/// The texts that may be shown.
#[derive(Default)]
pub(super) struct VisibleTexts(Vec<String>);

impl VisibleTexts {
    /// The texts that n8n-lens writes for a server with these members, except for the API key itself.
    pub(super) fn of(members: &Map<String, Value>) -> Self {
        let mut shown = Self::in_members(members);
        shown.0.extend(entry::texts_of_prompts().map(str::to_owned));
        shown
    }

    fn in_members(members: &Map<String, Value>) -> Self {
        let mut shown = Self::default();
        for (name, value) in members {
            match value {
                Value::String(text) if name != "N8N_API_KEY" || text.starts_with("${") => shown.0.push(text.clone()),
                Value::Array(values) => shown.0.extend(values.iter().filter_map(Value::as_str).map(str::to_owned)),
                Value::Object(members) => shown.0.extend(Self::in_members(members).0),
                _ => {}
            }
        }
        shown
    }

    fn contains(&self, literal: &str) -> bool {
        let text = serde_json::from_str(literal).unwrap_or_else(|_| literal.trim_matches(['"', '\'']).to_owned());
        self.0.contains(&text)
    }
}

/// A text without its strings and comments, except for names of members and texts in `shown`.
fn masked(text: &str, format: Format, shown: &VisibleTexts) -> String {
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['"', '\'', '/', '#']) {
        masked.push_str(&rest[..at]);
        rest = &rest[at..];
        let token = token(rest, format);
        let (literal, after) = rest.split_at(token.len());
        rest = after;
        match token {
            Token::Comment(_) => {
                masked.push_str(&literal[..1]);
                masked.push_str(if literal.starts_with('#') { " …" } else { "/ …" });
            }
            Token::Text(_) if is_name(after, format) || shown.contains(literal) => masked.push_str(literal),
            Token::Text(_) => masked.push_str(&format!("\"{REDACTED}\"")),
            Token::Other(_) => masked.push_str(literal),
        }
    }
    masked.push_str(rest);
    masked.replace('\r', "")
}

/// The token that begins at a character, with its length in bytes.
enum Token {
    Text(usize),
    Comment(usize),
    Other(usize),
}

impl Token {
    fn len(&self) -> usize {
        match self {
            Self::Text(length) | Self::Comment(length) | Self::Other(length) => *length,
        }
    }
}

fn token(text: &str, format: Format) -> Token {
    // Only searched where it matters: a file can be one line of megabytes.
    let line = || text.find('\n').unwrap_or(text.len());
    let is_toml = format == Format::Toml;
    match text.as_bytes() {
        [b'#', ..] if is_toml => Token::Comment(line()),
        [b'/', b'/', ..] if !is_toml => Token::Comment(line()),
        [b'/', b'*', ..] if !is_toml => Token::Comment(text.find("*/").map_or(text.len(), |at| at + 2)),
        [b'"', b'"', b'"', ..] if is_toml => Token::Text(closed(text, "\"\"\"", true)),
        [b'\'', b'\'', b'\'', ..] if is_toml => Token::Text(closed(text, "'''", false)),
        [b'"', ..] => Token::Text(closed(text, "\"", true)),
        [b'\'', ..] if is_toml => Token::Text(closed(text, "'", false)),
        _ => Token::Other(1),
    }
}

/// The length of a string with this quote at both ends.
fn closed(text: &str, quote: &str, has_escapes: bool) -> usize {
    let mut at = quote.len();
    while at < text.len() {
        match text.as_bytes()[at] {
            b'\\' if has_escapes => at += 2,
            _ if text.as_bytes()[at..].starts_with(quote.as_bytes()) => {
                at += quote.len();
                // One or two more quotes belong to the string.
                let more =
                    text.as_bytes()[at..].iter().take_while(|byte| quote.len() == 3 && **byte == quote.as_bytes()[0]);
                return at + more.count();
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether a string is the name of a member, judged by the text after it.
fn is_name(after: &str, format: Format) -> bool {
    format != Format::Toml && after.trim_start().starts_with(':')
}
