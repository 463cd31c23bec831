//! Writes JSON as npm's `flatted` does, which is how n8n stores run data.

use std::collections::{HashMap, VecDeque};

use n8n_lens::execution::StoredExecution;
use n8n_lens::json::flatted::Flatted;

/// Which containers are written once and referred to from several places. Strings always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// None: each container in the JSON text is a separate object in JavaScript.
    Nothing,
    /// All with the same text, as if nodes had passed on what they received.
    Equal,
}

/// The flatted text of a JSON text. Numbers, strings and names are copied verbatim, so that it works for any JSON:
/// lone surrogates, numbers of any size, duplicate names. Panics if the text is not JSON.
pub fn flatten(json: &str, share: Share) -> String {
    let mut reader = Reader { json, at: 0 };
    let root = reader.value();
    let mut flat = Flat { share, known: HashMap::new(), elements: 1, queue: VecDeque::from([&root]) };
    let mut text = "[".to_owned();
    let mut first = true;
    while let Some(value) = flat.queue.pop_front() {
        if !std::mem::replace(&mut first, false) {
            text.push(',');
        }
        flat.element(value, &mut text);
    }
    text.push(']');
    text
}

/// The members of a JSON object: their raw names, from between the quotes, and the texts of their values.
pub fn members(json: &str) -> Vec<(&str, &str)> {
    let mut reader = Reader { json, at: 0 };
    match reader.value().kind {
        Kind::Record(members) => members.into_iter().map(|(name, value)| (name, value.text)).collect(),
        _ => panic!("not an object"),
    }
}

/// A stored execution: its header, its run data and its workflow.
pub struct Stored {
    pub header: String,
    pub data: String,
    pub workflow: String,
}

impl Stored {
    /// The execution, with nothing hidden.
    pub fn revealed(&self) -> StoredExecution<'_> {
        StoredExecution { reveal: true, ..self.with_data(Flatted::new(Box::new(self.data.as_bytes()))) }
    }

    /// The execution with different run data.
    pub fn with_data<'a>(&'a self, data: Flatted<'a>) -> StoredExecution<'a> {
        let (header, workflow) = (self.header.as_bytes(), Box::new(self.workflow.as_bytes()));
        StoredExecution { header, workflow, data, reveal: false }
    }
}

/// A body of the public API as n8n stores it. Of members with the same name, the last one counts.
pub fn stored(body: &str, share: Share) -> Stored {
    let members = members(body);
    let last = |wanted: &str| members.iter().rev().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let header: Vec<_> = members
        .iter()
        .filter(|(name, _)| !["data", "workflowData"].contains(name))
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    Stored {
        header: format!("{{{}}}", header.join(",")),
        data: last("data").map_or_else(|| "[]".to_owned(), |data| flatten(data, share)),
        workflow: last("workflowData").unwrap_or("null").to_owned(),
    }
}

/// A JSON text as the content of a JSON string.
pub fn escape(text: &[u8]) -> Vec<u8> {
    let escaped = text.iter().flat_map(|byte| matches!(byte, b'"' | b'\\').then_some(b'\\').into_iter().chain([*byte]));
    escaped.collect()
}

/// The text that the content of a JSON string encodes; `None` if it is not written as [`escape`] does it.
pub fn unescape(escaped: &[u8]) -> Option<Vec<u8>> {
    let (mut text, mut bytes) = (Vec::new(), escaped.iter().copied());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return None,
            b'\\' => text.push(bytes.next().filter(|byte| matches!(byte, b'"' | b'\\'))?),
            byte => text.push(byte),
        }
    }
    Some(text)
}

struct Value<'a> {
    text: &'a str,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Scalar,
    Text,
    List(Vec<Value<'a>>),
    /// Names are the raw contents of JSON strings.
    Record(Vec<(&'a str, Value<'a>)>),
}

struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> u8 {
        while self.json.as_bytes()[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.json.as_bytes()[self.at]
    }

    fn value(&mut self) -> Value<'a> {
        let first = self.peek();
        let from = self.at;
        let kind = match first {
            b'"' => {
                self.string();
                Kind::Text
            }
            b'[' => Kind::List(self.parts(Self::value)),
            b'{' => Kind::Record(self.parts(|reader| {
                reader.peek();
                let name = reader.string();
                reader.peek();
                reader.at += 1;
                (name, reader.value())
            })),
            _ => {
                let rest = &self.json[from..];
                let end = |byte: u8| byte.is_ascii_whitespace() || b",]}".contains(&byte);
                self.at += rest.bytes().position(end).unwrap_or(rest.len());
                Kind::Scalar
            }
        };
        Value { text: &self.json[from..self.at], kind }
    }

    fn parts<T>(&mut self, part: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut parts = Vec::new();
        self.at += 1;
        while !matches!(self.peek(), b']' | b'}') {
            parts.push(part(self));
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        parts
    }

    fn string(&mut self) -> &'a str {
        let from = self.at + 1;
        self.at = from;
        while self.json.as_bytes()[self.at] != b'"' {
            self.at += if self.json.as_bytes()[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        &self.json[from..self.at - 1]
    }
}

struct Flat<'v, 'a> {
    share: Share,
    /// The indices of elements that are written once, by their text.
    known: HashMap<&'a str, usize>,
    /// How many elements have an index.
    elements: usize,
    queue: VecDeque<&'v Value<'a>>,
}

impl<'v, 'a> Flat<'v, 'a> {
    fn element(&mut self, value: &'v Value<'a>, to: &mut String) {
        match &value.kind {
            Kind::Scalar | Kind::Text => to.push_str(value.text),
            Kind::List(elements) => {
                to.push('[');
                for (at, element) in elements.iter().enumerate() {
                    to.push_str(if at > 0 { "," } else { "" });
                    self.inside(element, to);
                }
                to.push(']');
            }
            Kind::Record(members) => {
                to.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    to.push_str(if at > 0 { ",\"" } else { "\"" });
                    to.push_str(name);
                    to.push_str("\":");
                    self.inside(value, to);
                }
                to.push('}');
            }
        }
    }

    /// A value inside an element: a number or a literal, or the index of another element.
    fn inside(&mut self, value: &'v Value<'a>, to: &mut String) {
        if matches!(value.kind, Kind::Scalar) {
            to.push_str(value.text);
            return;
        }
        let shared = matches!(value.kind, Kind::Text) || self.share == Share::Equal;
        let known = if shared { self.known.get(value.text).copied() } else { None };
        let index = known.unwrap_or_else(|| {
            let index = self.elements;
            self.elements += 1;
            self.queue.push_back(value);
            if shared {
                self.known.insert(value.text, index);
            }
            index
        });
        to.push_str(&format!("\"{index}\""));
    }
}
