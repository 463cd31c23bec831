//! Values that an expression provides for.

use serde_json::json;

use super::{problems_of, set_to};

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
