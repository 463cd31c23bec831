//! Whether an execution is of another workflow than the one that is checked.

use crate::toolkit::Locale;
use crate::workflow::parsed::{NOTE, Parsed, ParsedNode};

/// Why an execution seems to be of another workflow, if it does: fewer than half of the checked nodes are among its own, and the
/// ids of the two workflows do not say that they are one. A few names, such as Webhook, occur in many workflows.
pub(super) fn foreign(
    now: &Parsed,
    now_id: Option<&str>,
    then: &Parsed,
    then_id: Option<&str>,
    locale: Locale,
) -> Option<String> {
    let nodes = || now.nodes.iter().filter(|node| !node.is(NOTE));
    let known = nodes().filter(|node| then.nodes.iter().any(|other| is_one(node, other))).count();
    let is_same = now_id.is_some() && now_id == then_id;
    if is_same || 2 * known >= nodes().count() {
        return None;
    }
    let (ja, en) = if known == 0 {
        ("この実行ではこれらのノードがひとつも実行されていません。", "The execution ran none of these nodes")
    } else {
        (
            "この実行のワークフローには、これらのノードの半分もありません。",
            "The execution knows fewer than half of these nodes",
        )
    };
    Some(locale.choose(
        format!("{ja}別のワークフローの実行と思われるため、参照は確認していません。"),
        format!("{en}, and seems to be of another workflow: no reference was looked up."),
    ))
}

fn is_one(node: &ParsedNode, other: &ParsedNode) -> bool {
    let has_same_id = node.id.is_some() && node.id == other.id;
    has_same_id || (node.name == other.name && node.node_type == other.node_type)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::workflow::Document;

    fn parsed(nodes: Value) -> Parsed {
        let text = json!({"nodes": nodes, "connections": {}}).to_string();
        Parsed::of(&Document::parse(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn a_shared_name_does_not_make_it_the_same_workflow() {
        let then =
            parsed(json!([{"name": "Webhook", "type": "w", "id": "1"}, {"name": "Split", "type": "s", "id": "2"}]));
        let node = |name: &str, kind: &str, id: &str| json!({"name": name, "type": kind, "id": id});
        let (shared, own) = (node("Webhook", "w", "7"), node("Own", "s", "8"));
        let note = node("Note", NOTE, "9");
        for (nodes, ids, expected) in [
            (json!([shared, own, own]), (Some("a"), Some("b")), Some("fewer than half")),
            (json!([shared, own, own]), (None, Some("b")), Some("fewer than half")),
            (json!([shared, own, own]), (Some("a"), Some("a")), None),
            (json!([shared, own, note, note]), (Some("a"), Some("b")), None),
            (json!([own]), (Some("a"), None), Some("none")),
            (json!([node("Webhook", "x", "7")]), (None, None), Some("none")),
            (json!([node("Renamed", "w", "1")]), (None, None), None),
            (json!([]), (None, None), None),
        ] {
            let found = foreign(&parsed(nodes.clone()), ids.0, &then, ids.1, Locale::En);
            let is_expected = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected) && found.contains("another workflow"),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{nodes} {ids:?}: {found:?}");
        }
    }
}
