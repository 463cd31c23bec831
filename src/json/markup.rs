//! Pages where JSON was expected.

/// How much of a text [`shown_prefix`] returns, bytes.
pub const SHOWN_PREFIX_BYTES: usize = 80;

/// The format of a text that begins like a page rather than like JSON: `HTML` or `XML`. White space and a byte order
/// mark before it do not count.
///
/// ```
/// use n8n_lens::json::markup;
///
/// assert_eq!(markup(b"\r\n<!DOCTYPE html><title>Sign in</title>"), Some("HTML"));
/// assert_eq!(markup(b"[\"<html>\"]"), None);
/// ```
pub fn markup(prefix: &[u8]) -> Option<&'static str> {
    let text = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix).trim_ascii_start();
    match text {
        [b'<', b'?', ..] => Some("XML"),
        [b'<', ..] => Some("HTML"),
        _ => None,
    }
}

/// The prefix of a text that is not JSON, to be shown in an error.
pub fn shown_prefix(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN_PREFIX_BYTES)]);
    // The cut can be inside a character.
    text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned()
}
