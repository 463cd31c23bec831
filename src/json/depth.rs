//! How deep a text is nested, before it is parsed.

/// The largest number of containers that are open at once; meaningless for a text that is not JSON.
///
/// ```
/// use n8n_lens::json::depth;
///
/// assert_eq!(depth("1"), 0);
/// assert_eq!(depth(r#"{"a":[],"b":"[[["}"#), 2);
/// ```
pub fn depth(text: &str) -> usize {
    let (mut open, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn only_open_containers_are_counted() {
        let cases = [
            ("1", 0),
            ("\"[[[\"", 0),
            ("{}", 1),
            ("[[],[],{}]", 2),
            (r#"{"a":"\"[{","b":[1,{"c":"]}"}]}"#, 3),
            (r#"{"a":"\\","b":[[]]}"#, 3),
        ];
        for (text, deep) in cases {
            assert_eq!(depth(text), deep, "{text}");
        }
    }
}
