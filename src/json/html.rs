//! What a reader sees of an HTML document: its title and its text, without style sheets and scripts.

/// How much of a document is read for it, bytes: the text that is shown is much shorter.
const READ_BYTES: usize = 64 * 1024;

/// The maximum number of bytes of a tag in which quotes count.
const TAG_BYTES: usize = 4096;

/// Elements whose content is not shown.
const HIDDEN: [&str; 5] = ["script", "style", "template", "noscript", "svg"];

/// Elements inside a line; others begin a new one.
const INLINE: [&str; 12] = ["a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup"];

/// Between the title and the text.
const SEPARATOR: &str = " · ";

/// The title and the visible text of a document, on one line; `None` for any other text, or if nothing is visible.
///
/// ```
/// use n8n_lens::json::visible_text;
///
/// let page = "<!DOCTYPE html><html><head><title>Velmar B2B</title><style>p { color: red }</style></head>\
///     <body><p>Please <b>sign&nbsp;in</b></p></body></html>";
/// assert_eq!(visible_text(page).as_deref(), Some("Velmar B2B · Please sign in"));
/// assert_eq!(visible_text("<b>not a document</b>"), None);
/// ```
pub fn visible_text(text: &str) -> Option<String> {
    let document = document(text)?;
    let rest = &document[..document.floor_char_boundary(READ_BYTES)];
    let mut page = Page { rest, title: String::new(), text: String::new() };
    page.read();
    let parts = [page.title.trim(), page.text.trim()];
    let visible = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(SEPARATOR);
    (!visible.is_empty()).then_some(visible)
}

/// The text from its first tag on, if it begins as a document does.
fn document(text: &str) -> Option<&str> {
    let document = text.trim_start_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    let begins = |begin: &&str| document.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin));
    ["<!doctype html", "<html"].iter().any(begins).then_some(document)
}

struct Page<'a> {
    rest: &'a str,
    title: String,
    text: String,
}

impl Page<'_> {
    fn read(&mut self) {
        while let Some(at) = self.rest.find('<') {
            add_text(&mut self.text, &self.rest[..at]);
            self.rest = &self.rest[at..];
            if self.rest.starts_with("<!--") {
                self.pass("-->");
            } else {
                self.tag();
            }
        }
        // A tag that is not complete was cut.
        add_text(&mut self.text, self.rest);
    }

    /// Skips everything up to and including a mark.
    fn pass(&mut self, mark: &str) {
        self.rest = self.rest.find(mark).map_or("", |at| &self.rest[at + mark.len()..]);
    }

    fn tag(&mut self) {
        let name = tag_name(&self.rest[1..]);
        self.rest = &self.rest[tag_len(self.rest)..];
        let end = format!("</{name}");
        if name == "title" {
            let content = find_ignoring_case(self.rest, &end).unwrap_or(self.rest.len());
            if self.title.is_empty() {
                add_text(&mut self.title, &self.rest[..content]);
            }
            self.rest = &self.rest[content..];
        } else if HIDDEN.contains(&name.as_str()) {
            let content = find_ignoring_case(self.rest, &end).unwrap_or(self.rest.len());
            self.rest = &self.rest[content..];
        } else if !INLINE.contains(&name.trim_start_matches('/')) {
            add_text(&mut self.text, " ");
        }
    }
}

/// The name of a tag, in lower case; that of an end begins with a slash.
fn tag_name(inside: &str) -> String {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '-';
    let slash = if inside.starts_with('/') { "/" } else { "" };
    let name: String = inside[slash.len()..].chars().take_while(|char| is_name(*char)).collect();
    slash.to_owned() + &name.to_ascii_lowercase()
}

/// The bytes of the tag that a text begins with: a value in quotes may have its end mark in it.
fn tag_len(text: &str) -> usize {
    let (mut quote, mut before) = (None, 0);
    for (at, byte) in text.bytes().take(TAG_BYTES).enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (Some(begin), _) if begin == byte => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    // A tag with unclosed quotes ends at the first mark.
    text.find('>').map_or(text.len(), |end| end + 1)
}

fn find_ignoring_case(text: &str, lower: &str) -> Option<usize> {
    text.match_indices('<')
        .map(|(at, _)| at)
        .find(|at| text.get(*at..at + lower.len()).is_some_and(|part| part.eq_ignore_ascii_case(lower)))
}

/// Adds text with its references decoded, and with one space in place of any white space.
fn add_text(to: &mut String, text: &str) {
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let (decoded, len) = reference(rest).unwrap_or((char, char.len_utf8()));
        rest = &rest[len..];
        if !decoded.is_whitespace() {
            to.push(decoded);
        } else if !to.is_empty() && !to.ends_with(' ') {
            to.push(' ');
        }
    }
}

/// A character reference at the beginning of a text, and its length in bytes.
fn reference(text: &str) -> Option<(char, usize)> {
    /// No reference that is decoded here has a longer name.
    const LONGEST: usize = 10;
    let inside = text.strip_prefix('&')?;
    let end = inside.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = &inside[..end];
    let decoded = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    Some((decoded, end + "&;".len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_left_out() {
        let visible = |inside: &str| visible_text(&format!(" <HTML>{inside}"));
        let text = Some("one two three".to_owned());
        assert_eq!(
            visible("<script>if (a < b) x('</p>')</script>one<p>two</p>\n<!-- <p>no --> three<STYLE>p{}</Style>"),
            text
        );
        assert_eq!(visible("one<br>two<style>never closed"), Some("one two".to_owned()));
        assert_eq!(
            visible("a &lt;b&gt; &#65;&#x42; &amp;amp; &unknown; &#xffffffff;"),
            Some("a <b> AB &amp; &unknown; &#xffffffff;".to_owned())
        );
        assert_eq!(visible("<title>T</title><title>no</title><b>x"), Some("T · x".to_owned()));
        assert_eq!(visible("<a title=\"1 > 0\" rel = 'it\"s'>x<p class=\"never closed>y"), Some("x y".to_owned()));
        assert_eq!(visible("<p class="), None);
        assert_eq!(visible("é<"), Some("é".to_owned()));
    }
}
