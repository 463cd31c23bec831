//! The visible text of any page is on one line, and if the parts of a page are known, it is theirs.

use n8n_lens::json::visible_text;

use super::entropy::Entropy;
use super::{shown, split};

/// Parts of a text, and what a reader sees of them.
const TEXTS: [(&str, &str); 16] = [
    ("one", "one"),
    (" two\n", " two "),
    ("a > b", "a > b"),
    ("&amp;", "&"),
    ("&lt;b&gt;", "<b>"),
    ("&quot;&apos;", "\"'"),
    ("&nbsp;", " "),
    ("&#65;&#x42;", "AB"),
    ("&#xd800;", "&#xd800;"),
    ("&unknown;", "&unknown;"),
    ("& ", "& "),
    ("é漢🎉", "é漢🎉"),
    ("\u{a0}\u{2003}", " "),
    ("\u{301}", "\u{301}"),
    ("\t\r\n", " "),
    ("'\"", "'\""),
];

/// Tags, and whether they begin a new line.
const TAGS: [(&str, bool); 10] = [
    ("<p>", true),
    ("</P>", true),
    ("<br/>", true),
    ("<b>", false),
    ("</b>", false),
    ("<a href='/?q=<i>'>", false),
    ("<SPAN title=\"a > b\">", false),
    ("<td data-x = \"it's > 1\">", true),
    ("<h1 class=c>", true),
    ("<img alt=''>", true),
];

/// Elements that are not visible; the end of one begins a new line.
const HIDDEN: [(&str, bool); 5] = [
    ("<script>if (a < b) x('</p>')</script>", true),
    ("<STYLE type=\"text/css\">p > a { content: '<p>' }</Style>", true),
    ("<svg><title>no</title></svg>", true),
    ("<!-- <p>no -->", false),
    ("<noscript></noscript>", true),
];

/// A longer page is not read to the end.
const PAGE_BYTES: usize = 60_000;

/// The property.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    match choices.byte() % 2 {
        0 => any(&format!("<html>{}", String::from_utf8_lossy(rest))),
        _ => page(&mut Entropy::new(rest)),
    }
}

/// Any text: no panic, and one line that is not longer.
fn any(text: &str) {
    let Some(visible) = visible_text(text) else { return };
    let one_line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(visible == one_line, "{visible:?} of {}", shown(text.as_bytes()));
    assert!(!visible.is_empty() && visible.len() <= text.len(), "{visible:?} of {}", shown(text.as_bytes()));
}

/// A page of known parts.
fn page(choices: &mut Entropy<'_>) {
    let start = *choices.pick(&["<!DOCTYPE html>", " <HTML lang=\"de\">", "\u{feff}\n<html>"]);
    let (mut html, mut title, mut text) = (start.to_owned(), String::new(), String::new());
    while !choices.is_over() && html.len() < PAGE_BYTES {
        match choices.below(5) {
            0 | 1 => {
                let (written, seen) = *choices.pick(&TEXTS);
                html += written;
                text += seen;
            }
            2 => {
                let (tag, is_block) = *choices.pick(&TAGS);
                html += tag;
                text += if is_block { " " } else { "" };
            }
            3 => {
                let (hidden, ends) = *choices.pick(&HIDDEN);
                html += hidden;
                text += if ends { " " } else { "" };
            }
            _ => {
                let (written, seen) = *choices.pick(&TEXTS);
                html += &format!("<title>{written}</title>");
                // The first one counts.
                title = if title.trim().is_empty() { seen.to_owned() } else { title };
                text.push(' ');
            }
        }
    }
    let parts = [title, text].map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let expected = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let ours = visible_text(&html).unwrap_or_default();
    assert!(ours == expected, "{ours:?} instead of {expected:?} of {}", shown(html.as_bytes()));
}
