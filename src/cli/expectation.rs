//! What a proof expects, in words short enough for the command line: `Ship parcel = "P-0219"`.

use serde_json::{Value, json};

/// How it is written.
pub(super) const FORM: &str = r#"NODE = VALUE (or NODE != VALUE), where VALUE is JSON, such as "P-0219", 3 or true"#;

/// Reads it: some value of the node equals this one, or none does.
pub(super) fn expectation(text: &str) -> Option<Value> {
    let parts = |at: usize| {
        let (node, equals) = (text[..at].trim_end(), serde_json::from_str::<Value>(&text[at + 1..]).ok()?);
        let (node, hits) = node.strip_suffix('!').map_or((node, "some"), |node| (node.trim_end(), "none"));
        let is_scalar = equals.is_string() || equals.is_number() || equals.is_boolean();
        (is_scalar && !node.is_empty()).then(|| json!([{"nodeName": node, "equals": equals, "hits": hits}]))
    };
    // A name, and a text, can have this character, too.
    text.match_indices('=').find_map(|(at, _)| parts(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_a_node_is_some_or_none() {
        for (text, expected) in [
            (r#"Ship parcel = "P-0219""#, Some(("Ship parcel", json!("P-0219"), "some"))),
            ("Count!=0", Some(("Count", json!(0), "none"))),
            (r#"a = b = "c = 1""#, Some(("a = b", json!("c = 1"), "some"))),
            ("Paid = true", Some(("Paid", json!(true), "some"))),
            ("= 1", None),
            ("A = [1]", None),
            ("A = P-0219", None),
        ] {
            let expected =
                expected.map(|(node, equals, hits)| json!([{"nodeName": node, "equals": equals, "hits": hits}]));
            assert_eq!(expectation(text), expected, "{text}");
        }
    }
}
