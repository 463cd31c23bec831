//! How a JSON text is laid out, so that an edited file keeps the style of its owner.

use memchr::memchr;
use serde_json::Value;

/// The layout of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// One level of indentation; `None` for a text on one line.
    indent: Option<String>,
    /// Whether it ends in a line break.
    ends_in_line: bool,
    /// What ends a line.
    line_break: &'static str,
}

impl Default for Layout {
    /// The layout of n8n's own exports.
    fn default() -> Self {
        Self { indent: Some("  ".to_owned()), ends_in_line: false, line_break: "\n" }
    }
}

impl Layout {
    /// The layout of a text.
    pub fn of(text: &[u8]) -> Self {
        let body = text.trim_ascii_end();
        let ends_in_line = text.len() > body.len() && text.ends_with(b"\n");
        let is_crlf = memchr(b'\n', text).is_some_and(|at| text[..at].ends_with(b"\r"));
        let mut lines = body.split(|byte| *byte == b'\n').skip(1);
        let indent = lines.next().map(|line| {
            let width = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            String::from_utf8_lossy(&line[..width]).into_owned()
        });
        let line_break = if is_crlf { "\r\n" } else { "\n" };
        Self { indent, ends_in_line, line_break }
    }

    /// Lays out a JSON text. Only white space outside strings changes.
    pub fn apply(&self, json: &str) -> String {
        let mut text = self.laid_out(json, self.line_break);
        if self.ends_in_line {
            text.push_str(self.line_break);
        }
        text
    }

    /// Lays out a value that follows this white space: on separate lines if that contains a line break.
    pub(super) fn value(&self, value: &Value, lead: &str) -> String {
        match lead.rfind('\n') {
            Some(at) => {
                let line = lead.get(at.saturating_sub(1)..).filter(|line| line.starts_with('\r'));
                self.laid_out(&value.to_string(), line.unwrap_or(&lead[at..]))
            }
            None => value.to_string(),
        }
    }

    /// The white space before a value at this nesting depth.
    pub(super) fn line(&self, depth: usize) -> String {
        let line = |indent: &String| format!("{}{}", self.line_break, indent.repeat(depth));
        self.indent.as_ref().map_or_else(String::new, line)
    }

    /// The separator between a name and its value.
    pub(super) fn colon(&self) -> &'static str {
        if self.indent.is_some() { ": " } else { ":" }
    }

    /// `line` is a line break and the indentation of the whole text.
    fn laid_out(&self, json: &str, line: &str) -> String {
        let mut out = Writer { layout: self, line, depth: 0, text: String::with_capacity(json.len()) };
        out.write(json);
        out.text
    }
}

struct Writer<'a> {
    layout: &'a Layout,
    line: &'a str,
    depth: usize,
    text: String,
}

impl Writer<'_> {
    fn write(&mut self, json: &str) {
        let mut rest = json.trim_start();
        while let Some(char) = rest.chars().next() {
            let taken = match char {
                '"' => self.string(rest),
                '{' | '[' => self.open(rest, char),
                '}' | ']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line();
                    self.text.push(char);
                    1
                }
                ',' => {
                    self.text.push(',');
                    self.line();
                    1
                }
                ':' => {
                    self.text.push_str(self.layout.colon());
                    1
                }
                char => {
                    self.text.push(char);
                    char.len_utf8()
                }
            };
            rest = rest[taken..].trim_start();
        }
    }

    /// Copies a string unchanged; returns its length in bytes.
    fn string(&mut self, rest: &str) -> usize {
        let mut escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let taken = end.map_or(rest.len(), |end| end + 2);
        self.text.push_str(&rest[..taken]);
        taken
    }

    /// Opens an object or an array, and closes an empty one; returns the length of the copied text in bytes.
    fn open(&mut self, rest: &str, bracket: char) -> usize {
        let close = if bracket == '{' { '}' } else { ']' };
        let inside = rest[1..].trim_start();
        self.text.push(bracket);
        if inside.starts_with(close) {
            self.text.push(close);
            return rest.len() - inside.len() + 1;
        }
        self.depth += 1;
        self.line();
        1
    }

    fn line(&mut self) {
        if let Some(indent) = self.layout.indent.as_deref() {
            self.text.push_str(self.line);
            self.text.extend(std::iter::repeat_n(indent, self.depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_its_layout() {
        let texts = [
            "{\n  \"a\": [],\n  \"b\": {\n    \"c\": \"x: [1, \\\"2\\\"]\"\n  },\n  \"d\": [\n    1,\n    {}\n  ]\n}\n",
            "{\n\t\"a\": 1\n}",
            "{\r\n  \"a\": {\r\n    \"b\": []\r\n  }\r\n}\r\n",
            "{\"a\":[1,2,{\"b\":\"\\\\\"}]}",
            "{}",
        ];
        for text in texts {
            assert_eq!(Layout::of(text.as_bytes()).apply(text), text);
            let compact = Layout { indent: None, ends_in_line: false, line_break: "\n" }.apply(text);
            assert_eq!(Layout::of(text.as_bytes()).apply(&compact), text);
        }
    }
}
