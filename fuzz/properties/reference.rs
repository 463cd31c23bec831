//! A reference implementation of the filter for valid JSON: no streaming, no blocks, one value after another.
//!
//! It is so simple that it is unlikely to be incorrect.

use std::ops::Range;

use n8n_lens::json::{CAPTURE_BYTES, CUT_NAME_CHARS, Keep};

/// Containers nested deeper than this are emptied.
pub const FRAMES: usize = 64;

/// A longer number is refused.
pub const SCALAR_BYTES: usize = 1024;

/// A name written in more bytes is cut.
const NAME_BYTES: usize = 16 * 1024;

/// The part of a body that is kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    pub text: Vec<u8>,
    pub captured: Vec<Vec<u8>>,
}

/// The part of `body`, which must be JSON, that is kept; `None` if a number is too long, so that it must be refused.
pub fn prune(body: &[u8], keep: Keep, window: &Range<u64>) -> Option<Left> {
    let mut reader = Reader { body, at: 0, window, captured: Vec::new(), refused: false };
    let text = reader.value(keep, 0);
    (!reader.refused).then_some(Left { text, captured: reader.captured })
}

/// The bytes of numbers and words.
pub fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-+.".contains(&byte)
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    window: &'a Range<u64>,
    captured: Vec<Vec<u8>>,
    refused: bool,
}

impl<'a> Reader<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> u8 {
        while self.body[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.body[self.at]
    }

    /// Consumes one byte of punctuation.
    fn pass(&mut self) -> u8 {
        let byte = self.peek();
        self.at += 1;
        byte
    }

    /// The content of a string.
    fn string(&mut self) -> &'a [u8] {
        self.pass();
        let from = self.at;
        while self.body[self.at] != b'"' {
            self.at += if self.body[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        &self.body[from..self.at - 1]
    }

    fn scalar(&mut self) -> &'a [u8] {
        let rest = &self.body[self.at..];
        let len = rest.iter().position(|byte| !is_scalar(*byte)).unwrap_or(rest.len());
        self.at += len;
        self.refused |= len > SCALAR_BYTES;
        &rest[..len]
    }

    /// Skips a container.
    fn skip(&mut self) {
        let mut open = 0;
        loop {
            match self.peek() {
                b'"' => {
                    self.string();
                }
                byte => {
                    self.at += 1;
                    match byte {
                        b'{' | b'[' => open += 1,
                        b'}' | b']' => open -= 1,
                        _ => {}
                    }
                }
            }
            if open == 0 {
                return;
            }
        }
    }

    /// The output for the next value, inside `open` kept containers.
    fn value(&mut self, rule: Keep, open: usize) -> Vec<u8> {
        match self.peek() {
            b'"' => {
                let text = [b"\"", repaired(self.string()).as_slice(), b"\""].concat();
                match rule {
                    Keep::Whole | Keep::Members(_) => text,
                    Keep::Capture => self.capture(text),
                    _ => b"0".to_vec(),
                }
            }
            bracket @ (b'{' | b'[') => self.container(rule, open, bracket == b'{'),
            _ => {
                let scalar = self.scalar().to_vec();
                match rule {
                    Keep::Capture => self.capture(scalar),
                    Keep::Count if scalar != b"null" => b"0".to_vec(),
                    _ => scalar,
                }
            }
        }
    }

    fn container(&mut self, rule: Keep, open: usize, object: bool) -> Vec<u8> {
        let enters = match rule {
            Keep::Whole | Keep::Capture => true,
            Keep::Members(_) | Keep::Except(_) | Keep::EachMember(_) => object,
            Keep::EachElement(_) | Keep::Count | Keep::Window => !object,
            Keep::Skip => false,
        };
        if !enters || open == FRAMES {
            self.skip();
            let place = if !enters {
                "0"
            } else if object {
                "{}"
            } else {
                "[]"
            };
            return place.as_bytes().to_vec();
        }
        self.pass();
        let keep = if matches!(rule, Keep::Capture) { Keep::Whole } else { rule };
        let text = match keep {
            _ if object => self.members(keep, open + 1),
            Keep::Count => self.count(open + 1),
            Keep::Window => self.window(open + 1),
            Keep::EachElement(rule) => self.elements(*rule, open + 1),
            _ => self.elements(Keep::Whole, open + 1),
        };
        if matches!(rule, Keep::Capture) { self.capture(text) } else { text }
    }

    /// Whether the container has another part; consumes the comma or the end.
    fn has_next(&mut self) -> bool {
        match self.peek() {
            b'}' | b']' => {
                self.at += 1;
                false
            }
            b',' => {
                self.at += 1;
                true
            }
            _ => true,
        }
    }

    fn members(&mut self, keep: Keep, open: usize) -> Vec<u8> {
        let mut members = Vec::new();
        while self.has_next() {
            let (name, written) = decoded(&repaired(self.string()));
            let rule = match keep {
                Keep::EachMember(rule) => *rule,
                Keep::Members(rules) => find(rules, &name).unwrap_or(Keep::Skip),
                Keep::Except(rules) => find(rules, &name).unwrap_or(Keep::Whole),
                _ => Keep::Whole,
            };
            let is_omitted = matches!(keep, Keep::Members(_)) && matches!(rule, Keep::Skip);
            self.pass();
            let value = self.value(rule, open);
            if !is_omitted {
                members.push([b"\"", written.as_slice(), b"\":", value.as_slice()].concat());
            }
        }
        [b"{", members.join(&b","[..]).as_slice(), b"}"].concat()
    }

    fn elements(&mut self, rule: Keep, open: usize) -> Vec<u8> {
        let mut elements = Vec::new();
        while self.has_next() {
            elements.push(self.value(rule, open));
        }
        [b"[", elements.join(&b","[..]).as_slice(), b"]"].concat()
    }

    fn count(&mut self, open: usize) -> Vec<u8> {
        let mut count = 0_u64;
        while self.has_next() {
            self.value(Keep::Skip, open);
            count += 1;
        }
        count.to_string().into_bytes()
    }

    fn window(&mut self, open: usize) -> Vec<u8> {
        let (mut places, mut skipped, mut at) = (Vec::new(), 0_u64, 0_u64);
        while self.has_next() {
            if self.window.contains(&at) {
                if skipped > 0 {
                    places.push(format!("-{skipped}").into_bytes());
                }
                skipped = 0;
                places.push(self.value(Keep::Capture, open));
            } else {
                self.value(Keep::Skip, open);
                skipped += 1;
            }
            at += 1;
        }
        if skipped > 0 {
            places.push(format!("-{skipped}").into_bytes());
        }
        [b"[", places.join(&b","[..]).as_slice(), b"]"].concat()
    }

    /// Captures a value; returns the output in its place.
    fn capture(&mut self, text: Vec<u8>) -> Vec<u8> {
        if text.len() > CAPTURE_BYTES {
            return text;
        }
        self.captured.push(text);
        b"1".to_vec()
    }
}

fn find(rules: &[(&str, Keep)], name: &str) -> Option<Keep> {
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// A name, decoded, and as raw output.
fn decoded(written: &[u8]) -> (String, Vec<u8>) {
    let quoted = [b"\"", written, b"\""].concat();
    let name: String = serde_json::from_slice(&quoted).expect("a repaired string is valid");
    if written.len() <= NAME_BYTES {
        return (name, written.to_vec());
    }
    let kept: String = name.chars().take(CUT_NAME_CHARS).collect();
    let cut = format!("{kept}…[+{} chars]", name.chars().count() - CUT_NAME_CHARS);
    let written = super::tree::inside(&cut).into_bytes();
    (cut, written)
}

/// The content of a string, or a JSON text, with U+FFFD in place of lone surrogates.
pub fn repaired(string: &[u8]) -> Vec<u8> {
    let (mut repaired, mut rest) = (Vec::with_capacity(string.len()), string);
    while let Some(&first) = rest.first() {
        let len = match (first, rest.get(1)) {
            (b'\\', Some(b'u')) => match (unit(rest), rest.get(6..).and_then(unit_of_escape)) {
                (0xd800..0xdc00, Some(0xdc00..0xe000)) => 12,
                (0xd800..0xe000, _) => {
                    repaired.extend_from_slice(b"\\ufffd");
                    rest = &rest[6..];
                    continue;
                }
                _ => 6,
            },
            (b'\\', _) => 2,
            _ => 1,
        };
        repaired.extend_from_slice(&rest[..len]);
        rest = &rest[len..];
    }
    repaired
}

/// The UTF-16 code unit of a `\u` escape.
fn unit(escape: &[u8]) -> u32 {
    escape[2..6].iter().fold(0, |unit, digit| unit * 16 + char::from(*digit).to_digit(16).expect("a digit"))
}

/// The UTF-16 code unit of a `\u` escape, if there is one.
fn unit_of_escape(text: &[u8]) -> Option<u32> {
    text.starts_with(b"\\u").then(|| unit(text))
}
