//! Texts that cost more to expand than to read: items in another order than they are stored in, and references that multiply.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{answer, complaint, lens};
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

/// An execution of one item, whose `json` is the first of these elements, which is element 9.
fn with_item(elements: &[String]) -> String {
    format!(
        r#"[{{"version":1,"resultData":"1"}},{{"runData":"2"}},{{"A":"3"}},["4"],{{"startTime":1,"executionTime":1,"data":"5"}},{{"main":"6"}},["7"],["8"],{{"json":"9"}},{}]"#,
        elements.join(",")
    )
}

/// Elements that refer to the next one this many times each, and the last one.
fn multiplying(levels: usize, element: impl Fn(usize) -> String, last: String) -> String {
    with_item(&(10..10 + levels).map(element).chain([last]).collect::<Vec<_>>())
}

/// A list that refers to an element often.
fn list(times: usize) -> impl Fn(usize) -> String {
    move |to| format!("[{}]", vec![format!("\"{to}\""); times].join(","))
}

#[test]
fn references_that_multiply_end_within_seconds_and_are_not_called_damage() {
    let texts = [
        // 2 KB each.
        multiplying(40, |to| format!(r#"{{"a":"{to}","b":"{to}"}}"#), "\"boom\"".to_owned()),
        multiplying(11, list(30), "\"\"".to_owned()),
        multiplying(11, list(30), "{}".to_owned()),
        // 131 KB each.
        multiplying(5, list(40), format!("\"{}\"", "lorem ipsum ".repeat(10_900))),
        multiplying(5, list(40), format!("{{\"{}\":1}}", "n".repeat(130_000))),
        // 461 KB each.
        multiplying(170, list(400), "\"x\"".to_owned()),
        multiplying(2, list(4_000), format!("[{}]", vec!["7"; 200_000].join(","))),
    ];
    for text in texts {
        let store = store(&text);
        for question in [&["search", "900", "nothing"][..], &["node", "900", "A"], &["fields", "900"]] {
            let begun = Instant::now();
            let output = lens(store.path(), question).output().unwrap();
            // About a second of CPU in a release build.
            assert!(begun.elapsed() < Duration::from_secs(60), "{question:?}: {:?} of {:.200}", begun.elapsed(), text);
            println!("{question:?}: {} bytes, {:?}, {:?}", text.len(), begun.elapsed(), output.status.code());
            if output.status.code() == Some(0) {
                assert_eq!(question[0], "node", "{:.200}", text);
                continue;
            }
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("too expensive to expand") && said.contains("It is not damaged"), "{said}");
            assert!(said.contains("without --store") && said.contains("Narrow the question"), "{said}");
        }
    }
}

#[test]
fn damage_is_still_called_damage() {
    let said = complaint(&mut lens(store(&with_item(&["{\"a\":\"x\"}".to_owned()])).path(), &["search", "900", "a"]));
    assert!(said.contains("the store is damaged") && !said.contains("too expensive"), "{said}");
}
