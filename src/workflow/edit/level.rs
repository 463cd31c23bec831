//! One level of a JSON text: an object or a list whose values are not parsed. Everything unchanged stays as it was written,
//! including white space, and additions are laid out like their neighbours.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

use super::lone_surrogates::LoneSurrogates;
use super::string::{decoded, string_bytes};
use crate::workflow::Layout;

/// An object or a list.
#[derive(Debug)]
pub(super) struct Level<'t> {
    is_object: bool,
    entries: Vec<Entry<'t>>,
    /// The text between the brackets if there is no entry.
    blank: &'t str,
    style: Style<'t>,
}

/// How new values are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style<'l> {
    pub layout: &'l Layout,
    /// How many brackets are open around the level.
    pub depth: usize,
}

/// A member or an element, without the comma.
#[derive(Debug)]
struct Entry<'t> {
    /// The white space before it.
    lead: Cow<'t, str>,
    /// The key with its quotes; empty in a list.
    key: Cow<'t, str>,
    /// The colon, and the white space around it.
    colon: &'t str,
    value: Cow<'t, str>,
    /// The white space after it.
    trail: Cow<'t, str>,
}

impl Entry<'_> {
    fn is_called(&self, name: &str) -> bool {
        if self.key.contains('\\') {
            return decoded::<String>(&self.key).as_deref() == Some(name);
        }
        self.key.len() == name.len() + 2 && &self.key[1..self.key.len() - 1] == name
    }
}

impl<'t> Level<'t> {
    /// Opens a JSON text; `None` if it is a scalar.
    pub(super) fn open(text: &'t str, style: Style<'t>) -> Option<Self> {
        let text = text.trim_ascii();
        let is_object = text.starts_with('{');
        if !is_object && !text.starts_with('[') {
            return None;
        }
        let inside = &text[1..text.len() - 1];
        let mut level = Self { is_object, entries: Vec::new(), blank: "", style };
        if inside.trim_ascii_start().is_empty() {
            level.blank = inside;
            return Some(level);
        }
        let mut rest = Rest(inside);
        loop {
            let lead = rest.white_space();
            let key = if is_object { rest.value() } else { "" };
            let colon = if is_object { rest.colon() } else { "" };
            let (value, trail) = (rest.value(), rest.white_space());
            level.entries.push(Entry {
                lead: lead.into(),
                key: key.into(),
                colon,
                value: value.into(),
                trail: trail.into(),
            });
            // Anything but a comma is the end.
            if rest.0.is_empty() {
                return Some(level);
            }
            rest.0 = &rest.0[1..];
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.is_object
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The style of a level inside this one.
    pub(super) fn inner(&self) -> Style<'t> {
        Style { depth: self.style.depth + 1, ..self.style }
    }

    /// The values as raw text.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.value.as_ref())
    }

    /// The value at an index.
    pub(super) fn value(&self, at: usize) -> &str {
        &self.entries[at].value
    }

    /// The original text of a value that was not changed.
    pub(super) fn written(&self, at: usize) -> &'t str {
        match self.entries[at].value {
            Cow::Borrowed(text) => text,
            Cow::Owned(_) => "",
        }
    }

    /// The names of the members, decoded; a lone surrogate is U+FFFD.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| decoded(&entry.key).unwrap_or_default())
    }

    /// Where the last member with this name is: the one that counts.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.is_object.then_some(())?;
        self.entries.iter().rposition(|entry| entry.is_called(name))
    }

    /// The value of a member.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        Some(self.value(self.find(name)?))
    }

    /// Replaces a value with a raw text.
    pub(super) fn replace(&mut self, at: usize, text: String) {
        self.entries[at].value = text.into();
    }

    /// Edits a value that is an object or a list; `None` if it is neither.
    pub(super) fn inside<T>(&mut self, at: usize, edit: impl FnOnce(&mut Level<'_>) -> T) -> Option<T> {
        let mut inner = Level::open(&self.entries[at].value, self.inner())?;
        let done = edit(&mut inner);
        let text = inner.to_string();
        self.replace(at, text);
        Some(done)
    }

    /// Whether a value is equal to this one.
    fn is(&self, at: usize, value: &Value) -> bool {
        // Without `decoded`: half a surrogate pair is not U+FFFD.
        serde_json::from_str::<Value>(&self.entries[at].value).is_ok_and(|known| known == *value)
    }

    /// Replaces a value, unless it is equal.
    pub(super) fn set(&mut self, at: usize, value: &Value) {
        if self.is(at, value) {
            return;
        }
        self.entries[at].value = self.laid_out(value, &self.entries[at].lead).into();
    }

    /// Replaces the value of a member, or adds it as the last one.
    pub(super) fn set_member(&mut self, name: &str, value: &Value) {
        match self.find(name) {
            Some(at) => self.set(at, value),
            None => self.push(Some(name), value),
        }
    }

    /// Like [`set_member`](Self::set_member), but everything in the value that is equal stays as it was written.
    pub(super) fn merge_member(&mut self, name: &str, value: &Value) {
        match self.find(name) {
            Some(at) => self.merge(at, value),
            None => self.push(Some(name), value),
        }
    }

    fn merge(&mut self, at: usize, value: &Value) {
        match value {
            Value::Object(members) if self.value(at).starts_with('{') => {
                self.inside(at, |inner| {
                    inner.remove_others(members);
                    members.iter().for_each(|(name, value)| inner.merge_member(name, value));
                });
            }
            Value::Array(elements) if self.value(at).starts_with('[') => {
                self.inside(at, |inner| inner.merge_elements(elements));
            }
            value => self.set(at, value),
        }
    }

    /// Removes the members with other names than these have.
    pub(super) fn remove_others(&mut self, members: &Map<String, Value>) {
        let others: Vec<_> = self.names().filter(|name| !members.contains_key(name)).collect();
        others.iter().for_each(|name| self.remove_member(name));
    }

    /// Removes elements before others that are equal, changes those that are not, and adds the rest.
    fn merge_elements(&mut self, elements: &[Value]) {
        let mut at = 0;
        for (number, element) in elements.iter().enumerate() {
            let left = elements.len() - number;
            while self.len() - at > left && !self.is(at, element) {
                self.remove(at);
            }
            if at < self.len() {
                self.merge(at, element)
            } else {
                self.push(None, element)
            }
            at += 1;
        }
        while self.len() > at {
            self.remove(at);
        }
    }

    /// Writes the name of a member, and the strings in its value, in their original form.
    pub(super) fn restore_member(&mut self, name: &str, lone_surrogates: &LoneSurrogates) {
        let Some(at) = self.find(name).filter(|_| !lone_surrogates.is_empty()) else { return };
        let entry = &mut self.entries[at];
        let (key, value) = (lone_surrogates.restored(&entry.key), lone_surrogates.restored(&entry.value));
        (entry.key, entry.value) = (key.into(), value.into());
    }

    /// Renames a member, and any duplicates that it hides.
    pub(super) fn rename_member(&mut self, from: &str, to: &str) {
        let key = Value::from(to).to_string();
        for entry in self.entries.iter_mut().filter(|entry| entry.is_called(from)) {
            entry.key = key.clone().into();
        }
    }

    /// Renames each member to the result of `name`, or removes it.
    pub(super) fn rename_all(&mut self, name: impl Fn(&str) -> Option<String>) {
        for (at, old) in self.names().enumerate().collect::<Vec<_>>().into_iter().rev() {
            match name(&old) {
                Some(new) if new == old => {}
                Some(new) => self.entries[at].key = Value::from(new).to_string().into(),
                None => self.remove(at),
            }
        }
    }

    /// Removes a member, and any duplicates that it hides.
    pub(super) fn remove_member(&mut self, name: &str) {
        while let Some(at) = self.find(name) {
            self.remove(at);
        }
    }

    /// Adds an element, or a member with this name, as the last one.
    pub(super) fn push(&mut self, name: Option<&str>, value: &Value) {
        let Style { layout, depth } = self.style;
        let (lead, colon, trail) = match self.entries.last_mut() {
            Some(last) => (last.lead.clone(), last.colon, std::mem::take(&mut last.trail)),
            None => (layout.line(depth + 1).into(), layout.colon(), layout.line(depth).into()),
        };
        let value = self.laid_out(value, &lead).into();
        let (key, colon) = match name {
            Some(name) => (Value::from(name).to_string(), colon),
            None => (String::new(), ""),
        };
        self.entries.push(Entry { lead, key: key.into(), colon, value, trail });
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, at: usize) {
        let removed = self.entries.remove(at);
        let was_last = at == self.entries.len();
        // The bracket stays where it is.
        if let Some(last) = self.entries.last_mut().filter(|_| was_last) {
            last.trail = removed.trail;
        }
    }

    /// Lays out a new value that follows this white space.
    fn laid_out(&self, value: &Value, lead: &str) -> String {
        self.style.layout.value(value, lead)
    }
}

impl Display for Level<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_object { "{" } else { "[" })?;
        for (at, Entry { lead, key, colon, value, trail }) in self.entries.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{lead}{key}{colon}{value}{trail}")?;
        }
        f.write_str(if self.entries.is_empty() { self.blank } else { "" })?;
        f.write_str(if self.is_object { "}" } else { "]" })
    }
}

/// The unread part of a valid JSON text.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn white_space(&mut self) -> &'t str {
        self.take(self.0.len() - self.0.trim_ascii_start().len())
    }

    fn colon(&mut self) -> &'t str {
        let before = self.0.len() - self.0.trim_ascii_start().len();
        let after = self.0.get(before + 1..).unwrap_or_default();
        self.take(before + 1 + after.len() - after.trim_ascii_start().len())
    }

    fn value(&mut self) -> &'t str {
        self.take(value_bytes(self.0.as_bytes()))
    }
}

/// The length of the value at the beginning of a text.
fn value_bytes(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at += string_bytes(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Level<'_>)) -> String {
        let layout = Layout::of(text.as_bytes());
        let mut level = Level::open(text, Style { layout: &layout, depth: 0 }).unwrap();
        assert_eq!(level.to_string(), text);
        edit(&mut level);
        level.to_string()
    }

    #[test]
    fn what_is_not_changed_stays_as_it_was_written() {
        let texts = [
            "{}",
            "[ ]",
            "{\r\n}",
            r#"{"a":1}"#,
            "{ \"a\" : [1 , {}] ,\t\"b\":\"x]}\\\"\" }",
            "[1.50,1e400 ,null]",
            r#"{"\ud83d":"\udc00","":{"":[]}}"#,
        ];
        for text in texts {
            edited(text, |_| {});
        }
    }

    #[test]
    fn what_is_added_looks_like_its_neighbours() {
        let add = |level: &mut Level<'_>| level.push(level.is_object().then_some("n"), &json!({"x": [1]}));
        assert_eq!(edited("{}", add), r#"{"n":{"x":[1]}}"#);
        assert_eq!(edited(r#"{"a": 1, "b": 2}"#, add), r#"{"a": 1, "b": 2, "n": {"x":[1]}}"#);
        assert_eq!(
            edited("{\n  \"a\": {}\n}", add),
            "{\n  \"a\": {},\n  \"n\": {\n    \"x\": [\n      1\n    ]\n  }\n}"
        );
        let inside = |level: &mut Level<'_>| level.inside(0, |inner| inner.push(Some("n"), &json!([1]))).unwrap();
        assert_eq!(
            edited("{\r\n  \"a\": {}\r\n}", inside),
            "{\r\n  \"a\": {\r\n    \"n\": [\r\n      1\r\n    ]\r\n  }\r\n}"
        );
        assert_eq!(edited("[\r\n\t1\r\n]", add), "[\r\n\t1,\r\n\t{\r\n\t\t\"x\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n]");
    }

    #[test]
    fn the_closing_bracket_stays_where_it_is() {
        let text = "[\n  1,\n  2\n]";
        assert_eq!(edited(text, |level| level.remove(1)), "[\n  1\n]");
        assert_eq!(edited(text, |level| level.remove(0)), "[\n  2\n]");
        let empty = edited(text, |level| {
            level.remove(1);
            level.remove(0);
        });
        assert_eq!(empty, "[]");
    }

    #[test]
    fn of_members_with_the_same_name_the_last_one_counts() {
        let changed = edited(r#"{"a":1,"\u0061":2,"b":3}"#, |level| level.set_member("a", &json!(null)));
        assert_eq!(changed, r#"{"a":1,"\u0061":null,"b":3}"#);
    }

    #[test]
    fn what_a_member_hides_goes_with_it() {
        let text = r#"{"a":1,"b":2,"\u0061":3}"#;
        assert_eq!(edited(text, |level| level.remove_member("a")), r#"{"b":2}"#);
        assert_eq!(edited(text, |level| level.rename_member("a", "c")), r#"{"c":1,"b":2,"c":3}"#);
    }

    #[test]
    fn what_is_equal_in_a_changed_value_stays_as_it_was_written() {
        let text = r#"{"a": { "x":[ {"n" : "\u0041",  "i":0} ,{"n":"B","i": 1.0}, {"n":"C"} ] , "y":0 }, "b":[ ]}"#;
        let merged = |value: Value| edited(text, |level| level.merge_member("a", &value));
        let [a, b, c] = [json!({"n": "A", "i": 0}), json!({"n": "B", "i": 1.0}), json!({"n": "C"})];
        assert_eq!(merged(json!({"x": [a, b, c], "y": 0})), text);
        assert_eq!(
            merged(json!({"x": [a, c], "y": 0})),
            text.replace(r#"{"n":"B","i": 1.0}, "#, " ").replace(" ,  {", " , {")
        );
        assert_eq!(merged(json!({"x": [c]})), r#"{"a": { "x":[ {"n":"C"} ] }, "b":[ ]}"#);
        assert_eq!(merged(json!({"x": [a, {"n": "Bee", "i": 1.0}, c], "y": 0})), text.replace(r#""B""#, r#""Bee""#));
        assert_eq!(
            merged(json!({"x": [a, b, c, {"n": "D"}], "y": 0})),
            text.replace(r#"{"n":"C"} "#, r#"{"n":"C"}, {"n":"D"} "#)
        );
        assert_eq!(merged(json!([1])), r#"{"a": [1], "b":[ ]}"#);
    }

    #[test]
    fn the_same_value_stays_as_it_was_written() {
        let text = r#"{"a": [1, 0.50],"b":"\u0061","c":"\ud83d"}"#;
        let same = edited(text, |level| {
            level.set_member("a", &json!([1, 0.5]));
            level.set_member("b", &json!("a"));
        });
        assert_eq!(same, text);
        let other = edited(r#"{"c":"\ud83d"}"#, |level| level.set_member("c", &json!("\u{fffd}")));
        assert_eq!(other, "{\"c\":\"\u{fffd}\"}");
    }
}
