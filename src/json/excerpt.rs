//! A bounded copy of one JSON value that knows how large the value was.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;

use struson::reader::{JsonReader, ValueType};

use super::cut::{CUT_NAME_CHARS, Prefix, cut_name, is_cut, shorten_name};
use super::fault::ReadError;
use super::long_string::Length;

/// Containers nested deeper than this inside the value are not copied.
const MAX_DEPTH: usize = 12;

/// The memory of a value in addition to its text, bytes: an estimate.
const VALUE_OVERHEAD_BYTES: usize = 40;

/// A copy of a JSON value, bounded in memory and depth. Strings, arrays and objects know their full length, so that one
/// copy can be written in any [`Detail`].
///
/// ```
/// use n8n_lens::json::{Cursor, Detail, ReadError};
///
/// let text = br#"{"id": 7, "note": "a note of many words", "list": [1, 2, 3, 4]}"#;
/// let excerpt = Cursor::unpruned(&text[..]).excerpt(10_000)?;
///
/// let (mut json, mut clipped) = (String::new(), 0);
/// excerpt.write(Detail { chars: 6, elements: 2, ..Detail::WHOLE }, &mut json, &mut clipped);
/// assert_eq!(json, r#"{"id":7,"note":"a note…[+14 chars]","list":[1,2,"…[+2 items]"]}"#);
/// assert_eq!(clipped, 2);
/// # Ok::<_, ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Excerpt {
    /// `null`, `true`, `false`, or a number verbatim.
    Scalar(String),
    /// A string.
    Text(Prefix),
    /// An array: its first elements, and how many it has.
    Array {
        /// The first elements.
        kept: Vec<Excerpt>,
        /// How many elements there are.
        total: u64,
    },
    /// An object: its first members, and how many it has.
    Object {
        /// The first members.
        kept: Vec<(String, Excerpt)>,
        /// How many members there are.
        total: u64,
    },
    /// A container that is nested too deep to copy.
    Deep {
        /// Whether it is an object or an array.
        object: bool,
    },
}

/// How much of an [`Excerpt`] is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The maximum number of characters of a string.
    pub chars: usize,
    /// The maximum number of elements of an array.
    pub elements: usize,
    /// The maximum number of members of an object.
    pub members: usize,
    /// The maximum number of characters of a member's name; longer than 200 makes no difference, since names are cut
    /// when read.
    pub name_chars: usize,
}

impl Detail {
    /// Everything that was copied.
    pub const WHOLE: Self =
        Self { chars: usize::MAX, elements: usize::MAX, members: usize::MAX, name_chars: usize::MAX };
}

impl Excerpt {
    /// Reads one value and keeps about `bytes` of it. The memory is spread: a long first string
    /// leaves room for the members after it.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn read(json: &mut impl JsonReader, bytes: usize) -> Result<Self, ReadError> {
        read_value(json, bytes, 0)
    }

    /// An object with these members.
    pub fn object(members: Vec<(&str, Self)>) -> Self {
        let kept: Vec<_> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let total = kept.len() as u64;
        Self::Object { kept, total }
    }

    /// An array with these elements.
    pub fn array(elements: impl IntoIterator<Item = Self>) -> Self {
        let kept: Vec<_> = elements.into_iter().collect();
        let total = kept.len() as u64;
        Self::Array { kept, total }
    }

    /// `null`.
    pub fn null() -> Self {
        Self::Scalar("null".to_owned())
    }

    /// The copied members of an object; none for another type.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        let kept: &[(String, Self)] = if let Self::Object { kept, .. } = self { kept } else { &[] };
        kept.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The copied member with this name, if the value is an object.
    pub fn member(&self, name: &str) -> Option<&Self> {
        self.members().find(|(member, _)| *member == name).map(|(_, value)| value)
    }

    /// The copied elements of an array; none for another type.
    pub fn elements(&self) -> impl Iterator<Item = &Self> {
        let kept: &[Self] = if let Self::Array { kept, .. } = self { kept } else { &[] };
        kept.iter()
    }

    /// How many member names were cut when the value was read, at any depth.
    pub fn cut_names(&self) -> u64 {
        let own = self.members().filter(|(name, _)| is_cut(name)).count() as u64;
        let below = self.members().map(|(_, value)| value).chain(self.elements());
        own + below.map(Self::cut_names).sum::<u64>()
    }

    /// The text of a string, with a mark if it was not copied whole; `None` for another type.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.cut(usize::MAX).0.into_owned()),
            _ => None,
        }
    }

    /// Whether everything was copied.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Scalar(_) => true,
            Self::Text(text) => text.kept.chars().count() as u64 == text.chars,
            Self::Array { kept, total } => kept.len() as u64 == *total && kept.iter().all(Self::is_whole),
            Self::Object { kept, total } => {
                kept.len() as u64 == *total && kept.iter().all(|(name, value)| !is_cut(name) && value.is_whole())
            }
            Self::Deep { .. } => false,
        }
    }

    /// The memory of this copy, bytes: an estimate.
    pub fn bytes(&self) -> usize {
        VALUE_OVERHEAD_BYTES
            + match self {
                Self::Scalar(text) | Self::Text(Prefix { kept: text, .. }) => text.len(),
                Self::Array { kept, .. } => kept.iter().map(Self::bytes).sum(),
                Self::Object { kept, .. } => kept.iter().map(|(name, value)| name.len() + value.bytes()).sum(),
                Self::Deep { .. } => 0,
            }
    }

    /// A cheap lower bound of the bytes that the copy takes as JSON.
    pub fn least_json_bytes(&self) -> usize {
        match self {
            Self::Scalar(text) | Self::Text(Prefix { kept: text, .. }) => text.len(),
            Self::Array { kept, .. } => kept.iter().map(|value| 1 + value.least_json_bytes()).sum(),
            Self::Object { kept, .. } => {
                kept.iter().map(|(name, value)| 4 + name.len() + value.least_json_bytes()).sum()
            }
            Self::Deep { .. } => 0,
        }
    }

    /// Shrinks the copy to about `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        let mut left = bytes.saturating_sub(VALUE_OVERHEAD_BYTES);
        match self {
            Self::Scalar(_) | Self::Deep { .. } => {}
            Self::Text(Prefix { kept, .. }) => {
                kept.truncate(kept.floor_char_boundary(left.max(SHORT_BYTES)));
                kept.shrink_to_fit();
            }
            Self::Array { kept, .. } => {
                kept.retain_mut(|value| shrink_within(value, &mut left));
                kept.shrink_to_fit();
            }
            Self::Object { kept, .. } => {
                kept.retain_mut(|(name, value)| {
                    left = left.saturating_sub(name.len());
                    shrink_within(value, &mut left)
                });
                kept.shrink_to_fit();
            }
        }
    }

    /// Appends the value to `to` as compact JSON, and adds the number of clipped strings, arrays and objects
    /// to `clipped`.
    pub fn write(&self, detail: Detail, to: &mut String, clipped: &mut u64) {
        match self {
            // Only a number of more than 32 bytes can be cut; it becomes a string.
            Self::Scalar(text) if text.len() > SCALAR_BYTES.max(detail.chars) => {
                *clipped += 1;
                write_string(&Prefix::from(text.clone()).cut(detail.chars).0, to);
            }
            Self::Scalar(text) => to.push_str(text),
            Self::Deep { object } => write_deep(*object, to, clipped),
            Self::Text(text) => {
                let (shown, cut) = text.cut(detail.chars);
                *clipped += u64::from(cut);
                write_string(&shown, to);
            }
            Self::Array { kept, total } => write_array(kept, *total, detail, to, clipped),
            Self::Object { kept, total } => write_object(kept, *total, detail, to, clipped),
        }
    }
}

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned().into())
    }
}

/// Writes `text` as a JSON string.
fn write_string(text: &str, to: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(to, "{}", serde_json::Value::from(text));
}

fn write_deep(object: bool, to: &mut String, clipped: &mut u64) {
    *clipped += 1;
    to.push_str(if object { "\"…{}\"" } else { "\"…[]\"" });
}

fn write_array(kept: &[Excerpt], total: u64, detail: Detail, to: &mut String, clipped: &mut u64) {
    let shown = kept.len().min(detail.elements);
    to.push('[');
    for (at, value) in kept[..shown].iter().enumerate() {
        if at > 0 {
            to.push(',');
        }
        value.write(detail, to, clipped);
    }
    let rest = total - shown as u64;
    if rest > 0 {
        *clipped += 1;
        let comma = if shown > 0 { "," } else { "" };
        let _ = write!(to, "{comma}\"…[+{rest} items]\"");
    }
    to.push(']');
}

fn write_object(kept: &[(String, Excerpt)], total: u64, detail: Detail, to: &mut String, clipped: &mut u64) {
    let shown = kept.len().min(detail.members);
    to.push('{');
    for (at, (name, value)) in kept[..shown].iter().enumerate() {
        if at > 0 {
            to.push(',');
        }
        let short = (detail.name_chars < CUT_NAME_CHARS).then(|| shorten_name(name, detail.name_chars));
        *clipped += u64::from(short.as_ref().is_some_and(|short| short != name));
        write_string(short.as_ref().unwrap_or(name), to);
        to.push(':');
        value.write(detail, to, clipped);
    }
    let rest = total - shown as u64;
    if rest > 0 {
        *clipped += 1;
        let comma = if shown > 0 { "," } else { "" };
        let _ = write!(to, "{comma}\"…\":\"+{rest} keys\"");
    }
    to.push('}');
}

/// A string of up to this many bytes is kept even if there is hardly any room left.
const SHORT_BYTES: usize = 64;

/// The maximum number of bytes kept of a string: no answer shows more.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// Numbers up to this many bytes are never clipped.
const SCALAR_BYTES: usize = 32;

/// A value's share of the bytes that are left: most of them, not all.
fn share(left: usize) -> usize {
    left - left / 8
}

/// Shrinks a value to its share of `left`; returns whether there is room for it at all.
fn shrink_within(value: &mut Excerpt, left: &mut usize) -> bool {
    if *left < VALUE_OVERHEAD_BYTES {
        return false;
    }
    if value.bytes() > share(*left) {
        value.shrink(share(*left));
    }
    *left = left.saturating_sub(value.bytes());
    true
}

fn read_value(json: &mut impl JsonReader, bytes: usize, depth: usize) -> Result<Excerpt, ReadError> {
    let left = bytes.saturating_sub(VALUE_OVERHEAD_BYTES);
    match json.peek()? {
        ValueType::Array if depth <= MAX_DEPTH => read_array(json, left, depth),
        ValueType::Object if depth <= MAX_DEPTH => read_object(json, left, depth),
        ValueType::Array => read_deep(json, false),
        ValueType::Object => read_deep(json, true),
        ValueType::String => Ok(Excerpt::Text(read_string(json, left.clamp(SHORT_BYTES, MAX_TEXT_BYTES))?)),
        ValueType::Number => Ok(Excerpt::Scalar(json.next_number_as_string()?)),
        ValueType::Boolean => Ok(Excerpt::Scalar(json.next_bool()?.to_string())),
        ValueType::Null => {
            json.next_null()?;
            Ok(Excerpt::Scalar("null".to_owned()))
        }
    }
}

/// Reads a container that is nested too deep. If it is empty, nothing is lost.
fn read_deep(json: &mut impl JsonReader, object: bool) -> Result<Excerpt, ReadError> {
    let empty = if object {
        json.begin_object()?;
        !json.has_next()?
    } else {
        json.begin_array()?;
        !json.has_next()?
    };
    while json.has_next()? {
        if object {
            json.skip_name()?;
        }
        json.skip_value()?;
    }
    if object {
        json.end_object()?
    } else {
        json.end_array()?
    }
    Ok(match (empty, object) {
        (false, object) => Excerpt::Deep { object },
        (true, true) => Excerpt::Object { kept: Vec::new(), total: 0 },
        (true, false) => Excerpt::Array { kept: Vec::new(), total: 0 },
    })
}

fn read_array(json: &mut impl JsonReader, mut left: usize, depth: usize) -> Result<Excerpt, ReadError> {
    let (mut kept, mut total) = (Vec::new(), 0);
    json.begin_array()?;
    while json.has_next()? {
        total += 1;
        if left < VALUE_OVERHEAD_BYTES {
            json.skip_value()?;
            continue;
        }
        let value = read_value(json, share(left), depth + 1)?;
        left = left.saturating_sub(value.bytes());
        kept.push(value);
    }
    json.end_array()?;
    Ok(Excerpt::Array { kept, total })
}

fn read_object(json: &mut impl JsonReader, mut left: usize, depth: usize) -> Result<Excerpt, ReadError> {
    let (mut kept, mut total) = (Vec::<(String, Excerpt)>::new(), 0);
    let mut seen = HashSet::new();
    json.begin_object()?;
    while json.has_next()? {
        if left < VALUE_OVERHEAD_BYTES {
            json.skip_name()?;
            json.skip_value()?;
            total += 1;
            continue;
        }
        let name = cut_name(json.next_name_owned()?);
        let value = read_value(json, share(left), depth + 1)?;
        left = left.saturating_sub(name.len() + value.bytes());
        // If members have the same name, the last value counts, at the place of the first, as in JavaScript.
        let first = if seen.insert(hash(&name)) { None } else { kept.iter_mut().find(|(known, _)| *known == name) };
        match first {
            Some((_, first)) => *first = value,
            None => {
                kept.push((name, value));
                total += 1;
            }
        }
    }
    json.end_object()?;
    Ok(Excerpt::Object { kept, total })
}

/// Equal names are rare: names are compared only if their hashes are equal.
fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Reads a string of any length and keeps its first `bytes`, up to a character boundary.
pub(super) fn read_string(json: &mut impl JsonReader, bytes: usize) -> Result<Prefix, ReadError> {
    let mut reader = json.next_string_reader()?;
    let (mut kept, mut length) = (Vec::new(), Length::default());
    // Most strings are short, and the piece is zeroed for each.
    let mut piece = [0; 512];
    loop {
        let read = reader.read(&mut piece)?;
        if read == 0 {
            break;
        }
        let piece = &piece[..read];
        length.add(piece);
        kept.extend_from_slice(&piece[..read.min(bytes.saturating_sub(kept.len()))]);
    }
    // The text is valid UTF-8; only the cut can split a character.
    let kept = String::from_utf8(kept).unwrap_or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned()
    });
    Ok(Prefix { kept, chars: length.chars() })
}
