//! Texts that cost more to expand than to read: items in another order than the stored one, and references that multiply.

use serde_json::{Value, json};

use super::{answer, complaint, lens};
use crate::flatted::{lists, pairs, with_item};
use crate::large_store::LargeStore;
use crate::support::n8n_store::N8nFolder;

/// n8n's folder with this run data, twice.
fn store(data: &str) -> N8nFolder {
    let store = N8nFolder::wal();
    let mut body: Value = serde_json::from_str(&LargeStore::stored().header).unwrap();
    body["finished"] = json!(true);
    for id in [900, 901] {
        body["id"] = json!(id.to_string());
        store.save_row(&store.open(), &body);
        store.save_data(&store.open(), id, &LargeStore::stored().workflow, data);
    }
    store
}

/// 12 MB: a Sort node outputs the items of the first node in another order, and the last node passes them on.
const SORTED: LargeStore = LargeStore { nodes: 3, items: 5_000, text: 2_000, shuffled: true };

#[test]
fn damage_is_still_called_damage() {
    let said = complaint(&mut lens(store(&with_item(&["{\"a\":\"x\"}".to_owned()])).path(), &["search", "900", "a"]));
    assert!(said.contains("the store is damaged") && !said.contains("too expensive"), "{said}");
}

/// Expansions that take long.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: 11 s"]
    fn every_question_about_items_that_were_sorted_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.flatted");
        SORTED.write_to(&file);
        let store = store(&std::fs::read_to_string(&file).unwrap());
        let ask = |arguments: &[&str]| answer(&mut lens(store.path(), arguments))["data"].clone();

        let found = ask(&["search", "900", "R-4321"]);
        assert_eq!(found["total"], 3, "{found}");
        let order = SORTED.order();
        let place = order.iter().position(|origin| *origin == 4321).unwrap();
        assert_eq!(
            found["hits"].as_array().unwrap().iter().map(|hit| hit["item"].clone()).collect::<Vec<_>>(),
            [json!(4321), json!(place), json!(place)]
        );

        let fields = ask(&["fields", "900"]);
        assert_eq!(fields["items"], 15_000, "{fields}");

        let steps = ask(&["trace", "900", "Node 2", &place.to_string()])["steps"].clone();
        let items: Vec<_> = steps.as_array().unwrap().iter().map(|step| step["item"].clone()).collect();
        assert_eq!(items, [json!(place), json!(place), json!(4321)], "{steps}");

        let compared = lens(store.path(), &["compare", "900", "901"]).output().unwrap();
        assert_eq!(compared.status.code(), Some(0), "{}", String::from_utf8_lossy(&compared.stderr));
    }

    #[test]
    #[ignore = "slow: 10 s"]
    fn references_that_multiply_are_refused_and_not_called_damage() {
        for text in [pairs(40), lists(5, 40, &format!("\"{}\"", "lorem ipsum ".repeat(10_900)))] {
            let said = complaint(&mut lens(store(&text).path(), &["search", "900", "nothing"]));
            assert!(said.contains("too expensive to expand") && said.contains("It is not damaged"), "{said}");
            assert!(said.contains("without --store") && said.contains("Narrow the question"), "{said}");
        }
    }
}
