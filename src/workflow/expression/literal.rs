//! String literals of JavaScript: their values, and how to write a text as one.

/// The value of a string literal, or of a template literal without `${`; its quotes are at both ends. Half of
/// a surrogate pair becomes U+FFFD.
pub(super) fn unquoted(literal: &str) -> String {
    let inside = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !inside.contains('\\') {
        return inside.to_owned();
    }
    let mut units = Vec::new();
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        units.extend(rest[..at].encode_utf16());
        rest = escape(&rest[at + 1..], &mut units);
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

/// Decodes what follows a backslash; returns the rest.
fn escape<'a>(text: &'a str, units: &mut Vec<u16>) -> &'a str {
    let mut chars = text.chars();
    let Some(char) = chars.next() else { return "" };
    let rest = chars.as_str();
    let plain = match char {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' if !rest.starts_with(|next: char| next.is_ascii_digit()) => '\0',
        '\r' => return rest.strip_prefix('\n').unwrap_or(rest),
        '\n' | '\u{2028}' | '\u{2029}' => return rest,
        'x' | 'u' => {
            if let Some((code, rest)) = hexadecimal(char, rest) {
                let mut pair = [0; 2];
                match char::from_u32(code) {
                    Some(char) => units.extend(char.encode_utf16(&mut pair).iter()),
                    None => units.extend(u16::try_from(code)),
                }
                return rest;
            }
            char
        }
        char => char,
    };
    units.extend(plain.encode_utf16(&mut [0; 2]).iter());
    rest
}

/// `\x41`, `\u0041`, `\u{41}`: the code, and the rest.
fn hexadecimal(kind: char, text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = match text.strip_prefix('{') {
        Some(braced) if kind == 'u' => braced.split_once('}')?,
        _ => text.split_at_checked(if kind == 'x' { 2 } else { 4 })?,
    };
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?, rest))
}

/// A text as a literal in these quotes. In `{{ }}`, it contains no `}}`.
pub(in crate::workflow) fn quoted(text: &str, quote: char, is_in_braces: bool) -> String {
    let mut literal = String::from(quote);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\u{2028}' => literal.push_str("\\u2028"),
            '\u{2029}' => literal.push_str("\\u2029"),
            '$' if quote == '`' && chars.peek() == Some(&'{') => literal.push_str("\\$"),
            // The end of a comment.
            '/' if literal.ends_with('*') => literal.push_str("\\/"),
            '}' if is_in_braces && chars.peek() == Some(&'}') => {
                chars.next();
                literal.push_str("\\x7d\\x7d");
            }
            char => {
                if char == quote {
                    literal.push('\\');
                }
                literal.push(char);
            }
        }
    }
    literal.push(quote);
    literal
}

/// Whether a member with this name may be written after a dot. n8n itself only supports such names in ASCII.
pub(super) fn is_identifier(name: &str) -> bool {
    let is_start = |char: char| char.is_ascii_alphabetic() || matches!(char, '_' | '$');
    name.starts_with(is_start) && name.chars().all(|char| is_start(char) || char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_decoded_as_javascript_decodes_it() {
        for (literal, text) in [
            (r"'a'", "a"),
            (r#""a\"b\\""#, r#"a"b\"#),
            (r"'\x41\u0042\u{43}\n\q'", "ABC\nq"),
            (r"'\ud83d\ude00 \ud83d'", "😀 \u{fffd}"),
            ("'a\\\nb'", "ab"),
            (r"'\u{}\xg'", "u{}xg"),
            ("`a`", "a"),
        ] {
            assert_eq!(unquoted(literal), text, "{literal}");
        }
    }

    #[test]
    fn a_text_is_written_so_that_it_reads_back() {
        for text in
            ["a", "it's", "\"", "\\", "$&", "${x}", "}}", "}}}", "`", "🎉", "a\nb\r\u{2028}", "*/", "{{", "\\}}"]
        {
            for quote in ['\'', '"', '`'] {
                let literal = quoted(text, quote, true);
                assert_eq!(unquoted(&literal), text, "{literal}");
                assert!(!literal.contains("}}") && !literal.contains("*/") && !literal.contains('\n'), "{literal}");
            }
        }
        assert_eq!(quoted("a}}b", '"', false), r#""a}}b""#);
    }
}
