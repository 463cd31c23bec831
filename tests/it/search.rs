//! The search: the projection against a reference, and the tool through the real binary.

use n8n_lens::execution::search::{SearchProjection, SearchView};
use n8n_lens::json::{Cursor, Projection};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::projections::{Cut, pruned};
use crate::properties::checks::search::{as_json, projection};
use crate::properties::checks::search_reference::{Question, search};
use crate::{fixtures, oracle};

fn view(body: &[u8], projection: &SearchProjection, sizes: &[usize]) -> SearchView {
    projection.read(Cursor::over(pruned(projection.pruner(), Cut::new(body, sizes)))).unwrap()
}

fn text(text: &str) -> Question {
    Question { text: Some(text.to_owned()), limit: 50, ..Question::default() }
}

fn path(path: &str, condition: Option<(&'static str, Value)>) -> Question {
    Question { path: Some(path.to_owned()), condition, limit: 50, ..Question::default() }
}

/// Questions that most fixtures answer.
fn questions() -> Vec<Question> {
    vec![
        text("a"),
        text("Error"),
        text("1"),
        text("true"),
        text("é"),
        text("/"),
        text("\n"),
        Question { limit: 1, ..text("http") },
        path("i", Some(("above", json!(20)))),
        path("id", None),
        path("message", None),
        path("headers", Some(("is", json!("object")))),
        path("id", Some(("is", json!("missing")))),
        path("[]", None),
        path("fileName", Some(("equals", json!("a.txt")))),
        path("name", Some(("notEquals", json!("x")))),
        path("json.i", Some(("below", json!(2.5)))),
    ]
}

#[test]
fn the_search_agrees_with_the_reference_on_every_fixture() {
    for (name, body) in fixtures::executions() {
        let value = fixtures::parse(&body);
        let body = value.to_string().into_bytes();
        for question in questions() {
            let truth = search(&value, &Question { path: question.path.clone().map(|path| path.replace("json.", "")), ..question.clone() }, oracle::error);
            let ours = as_json(&view(&body, &projection(&question), &[65_536]));
            assert_eq!(ours["total"], truth["total"], "{name}: {question:?}");
            assert_eq!(ours, truth, "{name}: {question:?}");
        }
    }
}

#[test]
fn other_spellings_of_a_text_are_found() {
    let body = br#"{"id":"1","data":{"resultData":{"runData":{"A":[{"data":{"main":[[
        {"json":{"a":"caf\u00e9"}}, {"json":{"a":"CAF\u00c9"}}, {"json":{"a":"caf\u00E9 \/ x"}}, {"json":{"\u0061":"cafe"}},
        {"json":{"a":"\u0063af\u00e9"}}, {"json":{"a":"no"}}]]}}]}}}}"#;
    let found = |question: &Question| {
        let view = view(body, &projection(question), &[64]);
        view.hits.iter().map(|hit| hit.item.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(found(&text("café")), [0, 1, 2, 4]);
    assert_eq!(found(&text("/ X")), [0; 0]);
    assert_eq!(found(&text("/ x")), [2]);
    assert_eq!(found(&path("a", Some(("equals", json!("cafe"))))), [3]);
    assert_eq!(found(&path("a", None)), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn hits_come_in_the_order_of_execution_and_all_are_counted() {
    let run = |index: u64, items: usize| {
        let items: Vec<_> = (0..items).map(|at| json!({"json": {"at": at}})).collect();
        json!({"data": {"main": [items]}, "executionIndex": index})
    };
    let body = json!({"id": "1", "data": {"resultData": {"runData": {
        "Last": [run(5, 30)], "Loop": [run(1, 2), run(3, 2)], "First": [run(0, 1)], "Body": [run(2, 2), run(4, 2)],
    }}}});
    let question = Question { limit: 6, ..path("at", None) };
    let view = view(body.to_string().as_bytes(), &projection(&question), &[7]);
    let hits: Vec<_> = view.hits.iter().map(|hit| (&*hit.node, hit.run, hit.item.unwrap())).collect();
    let expected =
        [("First", 0, 0), ("Loop", 0, 0), ("Loop", 0, 1), ("Body", 0, 0), ("Body", 0, 1), ("Loop", 1, 0)];
    assert_eq!(hits, expected);
    assert_eq!(view.total, 39);
    let nodes: Vec<_> = view.nodes.iter().map(|node| (&*node.name, node.hits)).collect();
    assert_eq!(nodes, [("First", 1), ("Loop", 4), ("Body", 4), ("Last", 30)]);
}

#[test]
fn large_items_are_searched_up_to_a_mebibyte_and_larger_ones_counted() {
    let item = |bytes: usize| json!({"json": {"long": "x".repeat(bytes), "wanted": "needle"}});
    let items = [item(10), item(100_000), item(900_000), item(1_100_000), item(3_000_000), item(10)];
    let body = json!({"id": "1", "data": {"resultData": {"runData": {"A": [{"data": {"main": [items]}}]}}}}).to_string();
    for question in [text("needle"), path("wanted", None)] {
        for sizes in [&[65_536][..], &[1000, 4096, 3], &[usize::MAX]] {
            let view = view(body.as_bytes(), &projection(&question), sizes);
            let hits: Vec<_> = view.hits.iter().map(|hit| hit.item.unwrap()).collect();
            assert_eq!((hits, view.too_large), (vec![0, 1, 2, 5], 2));
        }
    }
}

#[test]
fn a_broken_item_is_a_fault_if_it_is_read() {
    let body = br#"{"id":"1","data":{"resultData":{"runData":{"A":[{"data":{"main":[[{"json":{"a" "needle"}}]]}}]}}}}"#;
    let error = projection(&text("needle")).read_from(&body[..]).unwrap_err().to_string();
    assert!(error.contains("unexpected '\"' in an item"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_cuts_change_nothing(sizes in prop::collection::vec(1usize..3000, 1..20), pick in any::<prop::sample::Index>()) {
        let names = ["e_loop_25", "k_odd_names", "l_ai_agent", "c_stop_and_error", "v1/h_binary", "d_branches_merge"];
        let body = fixtures::execution(names[pick.index(names.len())]);
        for question in questions() {
            let projection = projection(&question);
            prop_assert_eq!(as_json(&view(&body, &projection, &sizes)), as_json(&view(&body, &projection, &[usize::MAX])));
        }
    }

    #[test]
    fn a_body_that_ends_early_is_never_shown(at in any::<prop::sample::Index>()) {
        let body = fixtures::execution("d_branches_merge");
        let cut = &body[..at.index(body.len() - 1)];
        prop_assert!(projection(&text("a")).read_from(cut).is_err());
    }
}
