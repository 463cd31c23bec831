//! Shortens texts and names, and marks them as shortened.

use std::borrow::Cow;

use super::html::visible_text;

/// The maximum number of characters (Unicode code points) shown of a name.
pub const CUT_NAME_CHARS: usize = 200;

/// The maximum number of characters held of a name: no real name is longer, and memory must stay flat. Names that agree
/// in this many characters and in their length are taken to be the same.
pub(super) const HELD_NAME_CHARS: usize = 1000;

/// The beginning of a text, and the length of the whole text in characters (Unicode code points).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The part that is held.
    pub kept: String,
    /// Characters of the whole text.
    pub chars: u64,
}

impl Prefix {
    /// The first `chars` characters, followed by `…[+N chars]` if there are more; and whether there are more. For an
    /// HTML document, `[html, N chars]` and the first characters of its visible text.
    pub fn cut(&self, chars: usize) -> (Cow<'_, str>, bool) {
        let (shown, rest) = self.first(chars);
        if rest == 0 {
            return (shown.into(), false);
        }
        if let Some(visible) = visible_text(&self.kept) {
            let visible = Self::from(visible);
            let (shown, rest) = visible.first(chars);
            let more = if rest > 0 { "…" } else { "" };
            return (format!("[html, {} chars] {shown}{more}", self.chars).into(), true);
        }
        (format!("{shown}…[+{rest} chars]").into(), true)
    }

    /// Two texts as [`cut`](Self::cut) shows them. If only what is cut off differs, both begin shortly before that, after `…`.
    pub fn cut_both(one: &Self, other: &Self, chars: usize) -> [String; 2] {
        let shown = [one, other].map(|text| text.cut(chars).0.into_owned());
        if shown[0] != shown[1] || one == other {
            return shown;
        }
        let same = one.kept.chars().zip(other.kept.chars()).take_while(|(one, other)| one == other).count();
        let from = same.saturating_sub(chars / 4);
        [one, other].map(|text| {
            let rest = Self { kept: text.kept.chars().skip(from).collect(), chars: text.chars - from as u64 };
            format!("…{}", rest.cut(chars).0)
        })
    }

    /// The first `chars` characters, and how many more there are.
    fn first(&self, chars: usize) -> (&str, u64) {
        let end = self.kept.char_indices().nth(chars).map_or(self.kept.len(), |(at, _)| at);
        let shown = &self.kept[..end];
        (shown, self.chars.saturating_sub(shown.chars().count() as u64))
    }

    /// The part of a name that matters.
    fn of_name(name: &str) -> Self {
        let end = name.char_indices().nth(HELD_NAME_CHARS).map_or(name.len(), |(at, _)| at);
        Self { kept: name[..end].to_owned(), chars: name.chars().count() as u64 }
    }

    /// The text as [`cut`](Self::cut) shows it.
    pub(super) fn into_cut(self, chars: usize) -> String {
        if self.first(chars).1 == 0 { self.kept } else { self.cut(chars).0.into_owned() }
    }

    /// The text as a name to hold: whole, unless it is longer than [`HELD_NAME_CHARS`].
    pub(super) fn into_name(self) -> String {
        if self.chars <= HELD_NAME_CHARS as u64 { self.kept } else { ShortName::of(&self).shorten(CUT_NAME_CHARS) }
    }
}

impl From<String> for Prefix {
    fn from(kept: String) -> Self {
        let chars = kept.chars().count() as u64;
        Self { kept, chars }
    }
}

/// The first `chars` characters of a text, and a mark if there are more.
///
/// ```
/// use n8n_lens::json::shorten;
///
/// assert_eq!(shorten("a long text", 6), "a long…[+5 chars]");
/// ```
pub fn shorten(text: &str, chars: usize) -> String {
    Prefix::from(text.to_owned()).cut(chars).0.into_owned()
}

/// Two different values as JSON, shortened as [`Prefix::cut_both`] does it: a longer value becomes its beginning as a string.
pub fn cut_json_both(values: [&str; 2], chars: usize) -> [String; 2] {
    let [one, other] = values.map(|json| Prefix::from(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())));
    let [cut_one, cut_other] = Prefix::cut_both(&one, &other, chars);
    let shown = |json: &str, whole: Prefix, cut| match whole.kept == cut {
        true => json.to_owned(),
        false => serde_json::Value::from(cut).to_string(),
    };
    [shown(values[0], one, cut_one), shown(values[1], other, cut_other)]
}

/// Whether a name was shortened by [`cut_name`], here or in the filter.
pub(super) fn is_cut(name: &str) -> bool {
    name.len() > CUT_NAME_CHARS && ShortName::parse(name).is_some_and(|short| short.chars() == CUT_NAME_CHARS)
}

/// The form of a name in memory: whole up to 1,000 characters, otherwise shortened as by [`cut_name`].
pub fn hold_name(name: &str) -> String {
    Prefix::of_name(name).into_name()
}

/// The first `chars` characters of a name, and a mark, `…[+N chars #hhhh]`, if there are more. The mark counts the rest
/// and holds a stable hash, so that names that differ only after the cut stay different. Shortening a shortened name
/// keeps both.
///
/// ```
/// use n8n_lens::json::{is_name, shorten_name};
///
/// let (one, other) = ("x".repeat(300) + "1", "x".repeat(300) + "2");
/// let shown = shorten_name(&one, 200);
/// assert!(is_name(&shown, &one) && !is_name(&shown, &other));
/// ```
pub fn shorten_name(name: &str, chars: usize) -> String {
    match ShortName::parse(name) {
        Some(short) if short.chars() == CUT_NAME_CHARS => short.shorten(chars),
        _ => {
            let prefix = Prefix::of_name(name);
            if prefix.chars <= chars as u64 { prefix.kept } else { ShortName::of(&prefix).shorten(chars) }
        }
    }
}

/// A name in single quotes, as messages show it: at most `chars` characters and the mark, with a backslash before each
/// quote and backslash, so that the end of the name is clear.
///
/// ```
/// use n8n_lens::json::quoted_name;
///
/// assert_eq!(quoted_name("Bob's node", 200), r"'Bob\'s node'");
/// ```
pub fn quoted_name(name: &str, chars: usize) -> String {
    let mut quoted = "'".to_owned();
    for char in shorten_name(name, chars).chars() {
        if matches!(char, '\'' | '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(char);
    }
    quoted.push('\'');
    quoted
}

/// The form in which a name is shown: at most [`CUT_NAME_CHARS`] characters and the mark.
///
/// Shortening it again changes nothing, so the filter can cut a name of 500 MB without the projection's knowledge.
pub fn cut_name(name: String) -> String {
    if name.len() <= CUT_NAME_CHARS { name } else { shorten_name(&name, CUT_NAME_CHARS) }
}

/// Whether `requested` is `name`, or a shortened form of it as answers show it.
pub fn is_name(requested: &str, name: &str) -> bool {
    if requested == name {
        return true;
    }
    let short_name = ShortName::parse(name).filter(|short| short.chars() == CUT_NAME_CHARS);
    match (ShortName::parse(requested), short_name) {
        (None, None) => false,
        (Some(requested), Some(name)) => requested.agrees_with(&name),
        (Some(requested), None) => requested.agrees_with(&ShortName::of(&Prefix::of_name(name))),
        (None, Some(name)) => name.agrees_with(&ShortName::of(&Prefix::of_name(requested))),
    }
}

/// The three parts of a shortened name.
struct ShortName<'a> {
    kept: &'a str,
    /// How many characters follow those in `kept`.
    rest: u64,
    /// The stable hash of the first [`HELD_NAME_CHARS`] characters; `None` in a name that something else shortened.
    hash: Option<u16>,
}

impl<'a> ShortName<'a> {
    fn of(name: &'a Prefix) -> Self {
        let end = name.kept.char_indices().nth(HELD_NAME_CHARS).map_or(name.kept.len(), |(at, _)| at);
        let rest = name.chars.saturating_sub(name.kept.chars().count() as u64);
        Self { kept: &name.kept, rest, hash: Some(stable_hash(&name.kept[..end])) }
    }

    fn parse(text: &'a str) -> Option<Self> {
        let (kept, mark) = text.rsplit_once("…[+")?;
        let (rest, hash) = mark.strip_suffix(']')?.split_once(" chars")?;
        let hash = match hash.strip_prefix(" #") {
            Some(digits) => Some(u16::from_str_radix(digits, 16).ok()?),
            None if hash.is_empty() => None,
            None => return None,
        };
        Some(Self { kept, rest: rest.parse().ok()?, hash })
    }

    fn chars(&self) -> usize {
        self.kept.chars().count()
    }

    fn shorten(&self, chars: usize) -> String {
        let end = self.kept.char_indices().nth(chars).map_or(self.kept.len(), |(at, _)| at);
        let (shown, dropped) = self.kept.split_at(end);
        let rest = self.rest.saturating_add(dropped.chars().count() as u64);
        match self.hash {
            Some(hash) => format!("{shown}…[+{rest} chars #{hash:04x}]"),
            None => format!("{shown}…[+{rest} chars]"),
        }
    }

    fn agrees_with(&self, name: &Self) -> bool {
        let total = |name: &Self| (name.chars() as u64).saturating_add(name.rest);
        let hashes = self.hash.zip(name.hash).is_none_or(|(one, other)| one == other);
        let beginnings = name.kept.starts_with(self.kept) || self.kept.starts_with(name.kept);
        total(self) == total(name) && hashes && beginnings
    }
}

/// FNV-1a, folded to 16 bits: the same on every platform and in every version.
pub(crate) fn stable_hash(text: &str) -> u16 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 16) as u16 ^ hash as u16
}

/// Whether a JSON text has marks in place of values: something was cut when it was shown.
pub fn is_clipped(json: &str) -> bool {
    const OF_CONTAINERS: [&str; 3] = ["\"…{}\"", "\"…[]\"", "\"…\":\"+"];
    let is_mark = |rest: &str| {
        let unit = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        unit.len() < rest.len() && [" chars]", " chars #", " items]"].iter().any(|mark| unit.starts_with(mark))
    };
    json.split("…[+").skip(1).any(is_mark) || OF_CONTAINERS.iter().any(|mark| json.contains(mark))
}
