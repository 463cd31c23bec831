//! Values that an expression provides for.

use serde_json::json;

use super::{check, executed, problems_of, set_to, write};

#[test]
fn what_exists_under_a_name_like_it_is_an_alternative() {
    let both = json!([{"user_id": 1, "userId": 2, "order id": 3, "orderId": 4}]);
    for (text, expected) in [
        ("={{ $json.userid ?? $json.userId }}", None),
        ("={{ $json.userid ?? $json.user_id }}", None),
        ("={{ $json.order_id || $json.orderId }}", None),
        ("={{ $json.userid ?? $json.nothing }}", Some("$json.userid")),
        ("={{ $json.userid }}", Some("$json.userid")),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("missingField {reference}")).collect();
        assert_eq!(problems_of(set_to(text), &both, &both), expected, "{text}");
    }
}

#[test]
fn a_use_with_a_default_and_one_without_are_two_problems() {
    let one = json!([{"coupon": "x"}]);
    let mut asking = set_to("={{ $json.copon }}");
    asking["parameters"]["other"] = json!("={{ $json.copon ?? '-' }}");
    asking["parameters"]["third"] = json!("={{ $json.copon }}");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "execution.json", executed(asking, &one, &one).to_string().as_bytes());
    let (answer, _) = check(&["--execution", &file]);
    let problems = answer["data"]["problems"].as_array().cloned().unwrap_or_default();
    let found: Vec<_> = problems.iter().map(|one| [&one["parameter"], &one["hasDefault"], &one["times"]]).collect();
    assert_eq!(found, [[&json!("/value"), &json!(null), &json!(2)], [&json!("/other"), &json!(true), &json!(null)]]);
}

#[test]
fn several_types_that_an_expression_handles_are_no_problem() {
    let values = json!([{"price": 1, "tags": ["x"]}, {"price": "2", "tags": "x"}, {"price": 3, "tags": ["y"]}]);
    for (text, expected) in [
        ("={{ $json.price * 2 }}", Some("$json.price")),
        ("={{ typeof $json.price === 'string' ? parseFloat($json.price) : $json.price }}", None),
        ("={{ Array.isArray($json.tags) ? $json.tags.join() : $json.tags }}", None),
        ("={{ Number($json.price) }} {{ $json.price }}", None),
        ("={{ [].concat($json.tags).join() }}", None),
        ("={{ $json.price.toString() }}", None),
        ("=Price: {{ $json.price }} EUR", None),
        ("=Price: {{ $json.price + 1 }} EUR", Some("$json.price")),
        ("=Tags: {{ $json.tags }}", Some("$json.tags")),
        ("={{ Number($json.price) + $json.tags.length }}", Some("$json.tags")),
    ] {
        let expected: Vec<_> = expected.iter().map(|reference| format!("mixedTypes {reference}")).collect();
        assert_eq!(problems_of(set_to(text), &values, &values), expected, "{text}");
    }
}
