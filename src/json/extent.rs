//! How deep a text nests and how many parts it has, before anything is built from it.

/// The extent of a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The maximum number of containers open at once: `{}` is 1, `{"a":[]}` is 2, `"a"` is 0.
    pub depth: usize,
    /// Containers, elements and members: never fewer than the values that a parser builds, and at most twice as many.
    pub parts: usize,
}

impl Extent {
    /// The extent of a text, at memory speed. The text must be JSON; the extent of any other text means nothing.
    pub fn of(text: &[u8]) -> Self {
        let (mut extent, mut open, mut in_string, mut escaped) = (Self { depth: 0, parts: 1 }, 0_usize, false, false);
        for byte in text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => {
                    open += 1;
                    extent.parts += 1;
                    extent.depth = extent.depth.max(open);
                }
                b'}' | b']' => open = open.saturating_sub(1),
                b',' | b':' => extent.parts += 1,
                _ => {}
            }
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn strings_hold_no_parts() {
        let cases = [
            ("1", 0, 1),
            ("\"[[[,:\"", 0, 1),
            ("{}", 1, 2),
            ("[[],[],{}]", 2, 7),
            (r#"{"a":"\"[{,","b":[1,{"c":"]}"}]}"#, 3, 9),
            (r#"{"a":"\\","b":[[]]}"#, 3, 7),
        ];
        for (text, depth, parts) in cases {
            assert_eq!(Extent::of(text.as_bytes()), Extent { depth, parts }, "{text}");
        }
    }
}
