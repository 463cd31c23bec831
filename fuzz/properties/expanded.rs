//! A reference implementation of the expansion of flatted text: the whole text, one element after another.
//!
//! It is so simple that it is unlikely to be incorrect.

use serde::de::IgnoredAny;

/// Containers nested deeper than this are emptied.
const FRAMES: usize = 64;

/// The expanded JSON text.
pub enum Expanded {
    /// The text is not flatted, in an element that is reached from the root.
    Broken,
    /// The text is larger than the limit.
    TooLarge,
    Json {
        json: String,
        /// Whether a reference leads nowhere, or to a number or a literal: the skipped part then looks different.
        unusual: bool,
    },
}

/// Expands a text, up to about `limit` bytes.
pub fn expand(text: &[u8], limit: usize) -> Expanded {
    let Some(elements) = elements(text) else { return Expanded::Broken };
    let mut expansion =
        Expansion { elements, open: Vec::new(), json: String::new(), limit, large: false, unusual: false };
    match expansion.element(0) {
        None => Expanded::Broken,
        Some(()) if expansion.large => Expanded::TooLarge,
        Some(()) => Expanded::Json { json: expansion.json, unusual: expansion.unusual },
    }
}

/// The elements of the outer array; `None` if the text is not an array, or containers nest in it.
fn elements(text: &[u8]) -> Option<Vec<&[u8]>> {
    let inside = text.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let (mut elements, mut from) = (Vec::new(), 0);
    let (mut in_string, mut escaped, mut in_container) = (false, false, false);
    for (at, byte) in inside.iter().enumerate() {
        // Outside strings a backslash is not JSON; a quote after it begins no string.
        let is_escaped = escaped;
        escaped = *byte == b'\\' && !is_escaped;
        match byte {
            b'"' if is_escaped => {}
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' if !in_container => in_container = true,
            b'}' | b']' if in_container => in_container = false,
            b'{' | b'[' | b'}' | b']' => return None,
            b',' if !in_container => {
                elements.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !inside.is_empty() {
        elements.push(&inside[from..]);
    }
    (!in_string && !escaped && !in_container).then_some(elements)
}

struct Expansion<'a> {
    elements: Vec<&'a [u8]>,
    open: Vec<usize>,
    json: String,
    limit: usize,
    large: bool,
    unusual: bool,
}

impl<'a> Expansion<'a> {
    fn element(&mut self, index: usize) -> Option<()> {
        self.large |= self.json.len() > self.limit;
        if self.large {
            return Some(());
        }
        if self.open.contains(&index) {
            self.json.push_str("\"[Circular Reference]\"");
            return Some(());
        }
        let Some(&element) = self.elements.get(index) else {
            self.unusual = true;
            self.json.push_str("null");
            return Some(());
        };
        // Parts that are not read are not checked.
        let read = std::str::from_utf8(element).ok().filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
        match element.first()? {
            b'{' if self.open.len() == FRAMES => self.json.push_str("{}"),
            b'[' if self.open.len() == FRAMES => self.json.push_str("[]"),
            bracket @ (b'{' | b'[') => {
                self.open.push(index);
                self.container(&trimmed(read?)?[1..element.len() - 1], *bracket == b'{')?;
                self.open.pop();
            }
            first => {
                self.unusual |= index > 0 && *first != b'"';
                self.json.push_str(trimmed(read?)?);
            }
        }
        Some(())
    }

    fn container(&mut self, mut rest: &'a str, object: bool) -> Option<()> {
        self.json.push(if object { '{' } else { '[' });
        let mut first = true;
        while !rest.is_empty() {
            let mut name = "";
            if object {
                let end = string_end(rest)?;
                (name, rest) = rest.split_at(end);
                rest = rest.strip_prefix(':')?;
            }
            let end = if rest.starts_with('"') { string_end(rest)? } else { rest.find(',').unwrap_or(rest.len()) };
            let value = &rest[..end];
            rest = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
            let value = trimmed(value)?;
            let index = if value.starts_with('"') { Some(index(value)?) } else { None };
            // A member that is `undefined` does not exist.
            if object && index.is_some_and(|index| index >= self.elements.len()) {
                self.unusual = true;
                continue;
            }
            if !std::mem::replace(&mut first, false) {
                self.json.push(',');
            }
            if object {
                self.json.push_str(name);
                self.json.push(':');
            }
            match index {
                Some(index) => self.element(index)?,
                None => self.json.push_str(value),
            }
        }
        self.json.push(if object { '}' } else { ']' });
        Some(())
    }
}

/// The text; `None` if there is white space around it, which `flatted` does not write.
fn trimmed(text: &str) -> Option<&str> {
    (text.trim() == text).then_some(text)
}

/// The length of the string that the text begins with; `None` if it does not begin with one.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    let inside = text.strip_prefix('"')?;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The index in a reference, in decimal as `flatted` writes it.
fn index(reference: &str) -> Option<usize> {
    let digits = reference.strip_prefix('"')?.strip_suffix('"')?;
    let index: u64 = digits.parse().ok()?;
    (index.to_string() == digits).then(|| usize::try_from(index).unwrap_or(usize::MAX))
}
