//! The parts of an item, from its JSON text or, if it is too large to be held, from the body.

use crate::execution::fields::Kind;
use crate::json::{Cursor, Excerpt, FaultKind, ReadError, Visitor, WALKED_LEVELS, Written, walk};

/// Receives the parts of an item, in the order of the text.
pub(super) trait Events {
    /// A container begins. If it returns `false`, neither its contents nor its end follow.
    fn open(&mut self, object: bool) -> bool;

    /// A member has this name; its value follows.
    fn name(&mut self, name: &str);

    /// A string, a number or a literal.
    fn scalar(&mut self, kind: Kind);

    /// A string. Unless its length matters, it is a scalar like the others.
    fn string(&mut self, _: Text<'_>) {
        self.scalar(Kind::String);
    }

    /// The innermost container ends.
    fn close(&mut self);
}

/// What is known of the length of a string.
#[derive(Clone, Copy)]
pub(super) enum Text<'t> {
    /// It is written like this in JSON.
    Written(&'t [u8]),
    /// It has this many characters.
    Chars(u64),
}

impl Text<'_> {
    /// Its length as JavaScript counts it, in UTF-16 units; or its number of characters, if nothing else is known.
    pub(super) fn length(self) -> u64 {
        match self {
            Self::Written(json) => written_length(json),
            Self::Chars(chars) => chars,
        }
    }
}

/// The length of a string that is written like this, in UTF-16.
fn written_length(json: &[u8]) -> u64 {
    let (mut length, mut at) = (0, 0);
    while let Some(byte) = json.get(at) {
        let (bytes, units) = match byte {
            b'\\' if json.get(at + 1) == Some(&b'u') => (6, 1),
            b'\\' => (2, 1),
            0x80..=0xbf => (1, 0),
            0xf0.. => (1, 2),
            _ => (1, 1),
        };
        length += units;
        at += bytes;
    }
    length
}

/// Passes on the parts of an item that is in memory.
pub(super) fn of_text(item: &[u8], events: &mut impl Events) -> Result<(), ReadError> {
    let in_an_item = |kind: FaultKind| ReadError::Syntax(format!("{kind} in an item"));
    walk(item, &mut TextEvents(Filtered { events, passed: 0 })).map_err(in_an_item)
}

/// Passes on the parts of an item of any size.
pub(super) fn of_body(cursor: &mut Cursor<'_>, events: &mut impl Events) -> Result<(), ReadError> {
    value(cursor, 0, events)
}

fn value(cursor: &mut Cursor<'_>, level: usize, events: &mut impl Events) -> Result<(), ReadError> {
    let object = cursor.at_object()?;
    if !object && !cursor.at_array()? {
        return scalar(cursor, events);
    }
    if !events.open(object) {
        return cursor.skip();
    }
    if level == WALKED_LEVELS {
        cursor.skip()?;
    } else if object {
        cursor.object(|cursor, name| {
            events.name(name);
            value(cursor, level + 1, events)
        })?;
    } else {
        cursor.array(|cursor, _| value(cursor, level + 1, events))?;
    }
    events.close();
    Ok(())
}

fn scalar(cursor: &mut Cursor<'_>, events: &mut impl Events) -> Result<(), ReadError> {
    match cursor.excerpt(0)? {
        Excerpt::Scalar(json) => events.scalar(match json.as_bytes().first() {
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Boolean,
            _ => Kind::Number,
        }),
        Excerpt::Text(text) => events.string(Text::Chars(text.chars)),
        _ => events.scalar(Kind::String),
    }
    Ok(())
}

/// Receives the parts of a text.
struct TextEvents<'e, E>(Filtered<&'e mut E>);

impl<E: Events> Visitor for TextEvents<'_, E> {
    fn open(&mut self, object: bool) {
        self.0.open(object);
    }

    fn name(&mut self, name: Written<'_>) {
        if self.0.passed == 0 {
            self.0.name(&name.text());
        }
    }

    fn string(&mut self, text: Written<'_>) {
        self.0.string(Text::Written(text.bytes));
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.0.scalar(Kind::of_scalar(json));
    }

    fn close(&mut self, _: u64, _: &[u8]) {
        self.0.close();
    }
}

impl<E: Events> Events for &mut E {
    fn open(&mut self, object: bool) -> bool {
        (**self).open(object)
    }

    fn name(&mut self, name: &str) {
        (**self).name(name);
    }

    fn scalar(&mut self, kind: Kind) {
        (**self).scalar(kind);
    }

    fn string(&mut self, text: Text<'_>) {
        (**self).string(text);
    }

    fn close(&mut self) {
        (**self).close();
    }
}

/// There may be no receiver.
impl<E: Events> Events for Option<E> {
    fn open(&mut self, object: bool) -> bool {
        self.as_mut().is_some_and(|events| events.open(object))
    }

    fn name(&mut self, name: &str) {
        if let Some(events) = self {
            events.name(name);
        }
    }

    fn scalar(&mut self, kind: Kind) {
        if let Some(events) = self {
            events.scalar(kind);
        }
    }

    fn string(&mut self, text: Text<'_>) {
        if let Some(events) = self {
            events.string(text);
        }
    }

    fn close(&mut self) {
        if let Some(events) = self {
            events.close();
        }
    }
}

/// Passes the parts of an item to two receivers. Neither receives the inside of a container that it does not want.
pub(super) struct Tee<A, B>(Filtered<A>, Filtered<B>);

impl<A: Events, B: Events> Tee<A, B> {
    pub(super) fn new(one: A, other: B) -> Self {
        Self(Filtered { events: one, passed: 0 }, Filtered { events: other, passed: 0 })
    }
}

impl<A: Events, B: Events> Events for Tee<A, B> {
    fn open(&mut self, object: bool) -> bool {
        let (one, other) = (self.0.open(object), self.1.open(object));
        if one || other {
            return true;
        }
        // Neither its contents nor its end follow.
        self.0.passed -= 1;
        self.1.passed -= 1;
        false
    }

    fn name(&mut self, name: &str) {
        self.0.name(name);
        self.1.name(name);
    }

    fn scalar(&mut self, kind: Kind) {
        self.0.scalar(kind);
        self.1.scalar(kind);
    }

    fn string(&mut self, text: Text<'_>) {
        self.0.string(text);
        self.1.string(text);
    }

    fn close(&mut self) {
        self.0.close();
        self.1.close();
    }
}

/// Receives all parts, and passes on the parts of interest.
struct Filtered<E> {
    events: E,
    /// How many open containers are skipped.
    passed: usize,
}

impl<E: Events> Filtered<E> {
    /// Whether the container is of interest.
    fn open(&mut self, object: bool) -> bool {
        let is_wanted = self.passed == 0 && self.events.open(object);
        self.passed += usize::from(!is_wanted);
        is_wanted
    }

    fn name(&mut self, name: &str) {
        if self.passed == 0 {
            self.events.name(name);
        }
    }

    fn scalar(&mut self, kind: Kind) {
        if self.passed == 0 {
            self.events.scalar(kind);
        }
    }

    fn string(&mut self, text: Text<'_>) {
        if self.passed == 0 {
            self.events.string(text);
        }
    }

    fn close(&mut self) {
        match self.passed.checked_sub(1) {
            Some(passed) => self.passed = passed,
            None => self.events.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_as_long_as_in_javascript() {
        for (json, length) in
            [("", 0), ("abc", 3), ("é注", 2), ("😀", 2), (r"\ud83d\ude00", 2), (r"\ud83d", 1), (r#"\"\\\n"#, 3)]
        {
            assert_eq!(Text::Written(json.as_bytes()).length(), length, "{json}");
        }
    }
}
