//! One item of a recording: its hashes, and its text as `JSON.stringify` writes it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::hash::{JsonHash, chained};
use crate::execution::leaves::fingerprint;
use crate::json::{Cursor, FaultKind, ReadError};

/// What is held of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemHashes {
    /// The hash of its `json`.
    pub json: u64,
    /// The hash of its `pairedItem`.
    pub pairing: u64,
    /// The hash of the names, types and sizes of its files.
    pub files: u64,
    /// Whether it stands for an error.
    pub is_error: bool,
    /// Whether it has values or files.
    pub has_content: bool,
    /// Whether it contains U+FFFD.
    pub is_replaced: bool,
}

/// The members with which a Code node can return an item: n8n refuses any other, such as the `metadata` of a sub-workflow's.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts<'a> {
    #[serde(borrow)]
    json: Option<&'a RawValue>,
    binary: Option<&'a RawValue>,
    paired_item: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Parts<'a> {
    const NAMES: [&'static str; 4] = ["json", "binary", "pairedItem", "error"];

    fn of(text: &'a str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The texts of the members, with their names.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &'a str)> {
        let parts = [self.json, self.binary, self.paired_item, self.error];
        Self::NAMES.into_iter().zip(parts).filter_map(|(name, part)| Some((name, part?.get())))
    }
}

/// The parts of a file that are compared; where n8n keeps it is not.
#[derive(Deserialize, Hash)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(borrow, default, deserialize_with = "raw")]
    file_name: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "raw")]
    mime_type: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "raw")]
    file_size: Option<&'a str>,
}

/// A raw value: a name can hold half of a surrogate pair.
fn raw<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(|raw| Some(raw.get()))
}

/// The beginning of an item that only reports an error.
const ERROR: &str = r#"{"error":"#;

/// What this member holds where nothing failed.
const NO_ERROR: [&str; 6] = ["null", "false", r#""""#, "0", "[]", "{}"];

/// The hashes of an item, given its text; `keep` receives the parts of it that a copy can return.
pub(super) fn read(text: &str, keep: &mut dyn Write) -> io::Result<ItemHashes> {
    let (parts, mut hashes, mut json) = (Parts::of(text), ItemHashes::default(), JsonHash::new());
    let mut before = "{";
    for (name, text) in parts.texts() {
        write!(keep, "{before}\"{name}\":{text}")?;
        before = ",";
        hashes.note(name, text);
    }
    keep.write_all(if before == "{" { b"{}" } else { b"}" })?;
    json.add(parts.json.map_or("{}", RawValue::get).as_bytes());
    hashes.json = json.finish();
    hashes.is_replaced = text.contains('\u{fffd}');
    Ok(hashes)
}

/// The hash of an item by what its `json` says.
pub(super) fn by_value(text: &str) -> Result<ItemHashes, FaultKind> {
    let json = Parts::of(text).json.map_or("{}", RawValue::get);
    Ok(ItemHashes { json: fingerprint(json.as_bytes())?, ..ItemHashes::default() })
}

impl ItemHashes {
    /// Notes what the text of a part, or its beginning, shows.
    fn note(&mut self, name: &str, text: &str) {
        match name {
            "json" => {
                self.is_error |= reports_error(text);
                self.has_content |= text != "{}";
            }
            "pairedItem" => self.pairing = chained(0, text),
            "binary" => {
                self.files = files(text);
                self.has_content |= self.files != 0;
            }
            _ => self.is_error = true,
        }
    }
}

/// Whether an item's `json` only reports an error.
fn reports_error(json: &str) -> bool {
    let is = |value: &str, no: &str| value.strip_prefix(no).is_some_and(|rest| rest.starts_with([',', '}']));
    json.strip_prefix(ERROR).is_some_and(|value| !NO_ERROR.iter().any(|no| is(value, no)))
}

fn files(binary: &str) -> u64 {
    match serde_json::from_str::<BTreeMap<String, File<'_>>>(binary) {
        Ok(files) if files.is_empty() => 0,
        Ok(files) => chained(0, files),
        Err(_) => chained(0, binary),
    }
}

/// Reads an item that is too large to be held piece by piece; `keep` receives its text. `None` if it is not an object, or contains a
/// character that may replace half of a surrogate pair.
pub(super) fn stream(cursor: &mut Cursor<'_>, keep: &mut dyn Write) -> Result<Option<ItemHashes>, ReadError> {
    /// The maximum number of bytes held of a part other than `json`.
    const HELD: usize = 64 * 1024;
    if !cursor.at_object()? {
        return cursor.skip().map(|()| None);
    }
    let (mut hashes, mut json, mut text) = (ItemHashes::default(), JsonHash::new(), Stringified::new(keep));
    let mut before = "{";
    cursor.object(|cursor, name| {
        if !Parts::NAMES.contains(&name) {
            return cursor.skip();
        }
        write!(text.to, "{before}\"{name}\":").map_err(ReadError::Io)?;
        before = ",";
        let mut held = Vec::new();
        cursor.copy_to(&mut text.seen_by(|bytes: &[u8]| {
            if name == "json" {
                json.add(bytes);
            }
            held.extend(bytes.iter().take(HELD.saturating_sub(held.len())));
        }))?;
        hashes.note(name, &String::from_utf8_lossy(&held));
        Ok(())
    })?;
    text.to.write_all(if before == "{" { b"{}" } else { b"}" }).map_err(ReadError::Io)?;
    (hashes.json, hashes.is_replaced) = (json.finish(), text.has_replacement);
    let is_exact = !text.has_replacement || !cursor.has_replacement();
    Ok(is_exact.then_some(hashes))
}

/// Passes a JSON text on as `JSON.stringify` writes it: with escapes in lower case.
struct Stringified<'a> {
    to: &'a mut dyn Write,
    /// How many bytes of an escape were passed on.
    escape: u8,
    /// How many bytes of U+FFFD were.
    replacement: usize,
    has_replacement: bool,
}

/// The same, whose output has another receiver, too.
struct Seen<'s, 'a, F> {
    text: &'s mut Stringified<'a>,
    see: F,
}

impl<'a> Stringified<'a> {
    fn new(to: &'a mut dyn Write) -> Self {
        Self { to, escape: 0, replacement: 0, has_replacement: false }
    }

    fn seen_by<F: FnMut(&[u8])>(&mut self, see: F) -> Seen<'_, 'a, F> {
        Seen { text: self, see }
    }

    fn byte(&mut self, byte: u8) -> u8 {
        const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
        self.replacement = match byte {
            byte if byte == REPLACEMENT[self.replacement] => self.replacement + 1,
            byte => usize::from(byte == REPLACEMENT[0]),
        };
        if self.replacement == REPLACEMENT.len() {
            (self.replacement, self.has_replacement) = (0, true);
        }
        let (escape, byte) = match (self.escape, byte) {
            (0, b'\\') => (1, byte),
            (1, b'u') => (2, byte),
            (2..=4, byte) => (self.escape + 1, byte.to_ascii_lowercase()),
            (5, byte) => (0, byte.to_ascii_lowercase()),
            (_, byte) => (0, byte),
        };
        self.escape = escape;
        byte
    }
}

impl<F: FnMut(&[u8])> Write for Seen<'_, '_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes: Vec<u8> = bytes.iter().map(|byte| self.text.byte(*byte)).collect();
        (self.see)(&bytes);
        self.text.to.write_all(&bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::ReadError;

    /// An item that is read piece by piece has the same text and the same hashes as one that is held.
    #[test]
    fn a_large_item_is_what_a_small_one_is() -> Result<(), ReadError> {
        for text in [
            r#"{"json":{"a":"\u001b\u0000\\u001B\"é😀\n","n":-1.5e-7,"list":[1,[],{}]},"pairedItem":{"item":3}}"#,
            r#"{"json":{"error":"no"},"binary":{"data":{"fileName":"a.pdf","fileSize":"3 kB","id":"filesystem-v2:x"}}}"#,
            r#"{"json":{},"pairedItem":[{"item":0},{"item":1,"input":1}],"error":{"message":"no"}}"#,
            r#"{"json":{"":"","\\":1},"pairedItem":0}"#,
            "{\"json\":{\"a\":\"\u{fffd}\"}}",
        ] {
            let (mut read_at_once, mut kept) = (Vec::new(), Vec::new());
            let hashes = read(text, &mut read_at_once).map_err(ReadError::Io)?;
            let streamed = stream(&mut Cursor::unpruned(text.as_bytes()), &mut kept)?;
            assert_eq!([read_at_once, kept].map(|kept| String::from_utf8_lossy(&kept).into_owned()), [text, text]);
            assert_eq!(streamed, Some(hashes), "{text}");
        }
        for unknown in [r#"{"json":{"a":"\ud83d"}}"#, "{\"json\":{\"a\":\"\u{fffd}\\ud83d\"}}", "[1]"] {
            assert_eq!(stream(&mut Cursor::unpruned(unknown.as_bytes()), &mut Vec::new())?, None, "{unknown}");
        }
        Ok(())
    }

    #[test]
    fn an_empty_error_is_none() {
        for (json, is_error) in [
            (r#"{"error":"no"}"#, true),
            (r#"{"error":0.5,"a":1}"#, true),
            (r#"{"error":{"message":"no"}}"#, true),
            (r#"{"error":0,"a":1}"#, false),
            (r#"{"error":null}"#, false),
            (r#"{"error":""}"#, false),
            (r#"{"a":1,"error":"no"}"#, false),
        ] {
            assert_eq!(reports_error(json), is_error, "{json}");
        }
    }

    #[test]
    fn a_file_is_its_name_type_and_size() {
        let item = |id: &str, size: &str| {
            let file = format!(r#"{{"fileName":"\ud83d.txt","fileSize":"{size}","id":"{id}"}}"#);
            read(&format!(r#"{{"json":{{}},"binary":{{"a":{file}}}}}"#), &mut Vec::new()).ok()
        };
        assert_eq!(item("1", "3 kB"), item("2", "3 kB"));
        assert_ne!(item("1", "3 kB"), item("1", "4 kB"));
    }

    /// n8n refuses an item of a Code node with any other member.
    #[test]
    fn only_parts_are_kept_that_a_code_node_can_return() -> Result<(), ReadError> {
        let text = r#"{"metadata":{"subExecution":{"executionId":"14"}},"json":{"a":1},"index":0,"pairedItem":0}"#;
        let (mut small, mut large) = (Vec::new(), Vec::new());
        read(text, &mut small).map_err(ReadError::Io)?;
        stream(&mut Cursor::unpruned(text.as_bytes()), &mut large)?;
        assert_eq!(
            [small, large].map(|kept| String::from_utf8_lossy(&kept).into_owned()),
            [r#"{"json":{"a":1},"pairedItem":0}"#; 2]
        );
        Ok(())
    }
}
