//! The fields of a node are those of its whole items, however the body arrives.

use n8n_lens::execution::fields::{
    By, ByRow, Claimed, FieldView, FieldsProjection, FieldsView, NodePlace, Outlier, Together,
};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::get_execution_fields::{self, FieldsRequest};
use serde_json::{Value, json};

use super::entropy::Entropy;
use super::fields_reference::{self, fields};
use super::projections::assert_answer;
use super::tree::{self, Tree};
use super::values_reference::{masked, runs};
use super::{execution, leave_out, read, shown, split, value_of};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// The property.
pub fn check(data: &[u8]) {
    compares(data);
}

/// Checks the property; returns whether items were compared with the reference.
pub fn compares(data: &[u8]) -> bool {
    let (mut choices, rest) = split(data);
    let body = match choices.one_in(2) {
        true => alike(&mut Entropy::new(rest)).into_bytes(),
        false => execution(&mut choices, rest),
    };
    if body.len() > MAX_BODY_BYTES {
        return false;
    }
    let redacts = choices.one_in(2);
    let Some(mut value) = value_of(&body) else { return false };
    check_as_written(&body, redacts, &mut choices);
    // Normalized: without duplicate members, lone surrogates and unusual spellings of numbers.
    leave_out_own(&mut value);
    let body = value.to_string().into_bytes();
    let value = if redacts { masked(&value) } else { value };
    let names: Vec<_> = runs(&value).into_iter().map(|run| run.node).collect();
    let node = if names.is_empty() { "A".to_owned() } else { choices.pick(&names).clone() };
    let one = FieldsProjection { node: Some(node.clone()), redacts, ..FieldsProjection::default() };
    let sizes = choices.sizes();
    let Some(view) = read(&body, &one, &sizes, told) else { return false };
    let (items, expected, is_full) = fields(&value, &node);
    assert!(view.items == items as u64, "{} of {items} items in {}", view.items, shown(&body));
    for (ours, expected) in view.fields.iter().map(as_json).zip(&expected) {
        assert!(ours == *expected, "{ours} instead of {expected} in {}", shown(&body));
    }
    assert_eq!((view.fields.len(), view.has_more_paths), (expected.len(), is_full), "in {}", shown(&body));
    if !expected.is_empty() {
        let mut path = || choices.pick(&expected)["path"].as_str().expect("a path").to_owned();
        let (below, by) = (Some(path()), Some(path()));
        check_by(&value, &body, FieldsProjection { below, by, ..one.clone() }, &sizes);
    }
    let all = FieldsProjection { redacts, ..FieldsProjection::default() };
    let view_of_all = read(&body, &all, &sizes, told).expect("it was read before");
    for (projection, view) in [(one, view), (all, view_of_all)] {
        let max_tokens = *choices.pick(&[1000, 4000, 25_000]);
        let request = FieldsRequest { projection, max_tokens, locale: Locale::En };
        if let Ok(answer) = get_execution_fields::answer(&view, Some("1234"), &request) {
            assert_answer(&answer, max_tokens);
        }
    }
    items > 0
}

/// A view as text. Without the filter, the hexadecimal digits of an escape in a container can be upper-case.
pub fn told(view: &FieldsView) -> String {
    format!("{view:?}").to_lowercase()
}

/// One path by another one.
fn check_by(value: &Value, body: &[u8], projection: FieldsProjection, sizes: &[usize]) {
    let view = read(body, &projection, sizes, told).expect("it was read before");
    let [node, path, by] = [projection.node, projection.below, projection.by].map(Option::unwrap_or_default);
    let rows = view.by.map(|by| by.rows).unwrap_or_default();
    let ours: Vec<_> = rows.iter().map(row_as_json).collect();
    let expected = fields_reference::by(value, &node, &path, &by);
    assert!(ours == expected, "{path:?} by {by:?}: {ours:?} instead of {expected:?} in {}", shown(body));
}

fn row_as_json(row: &ByRow) -> Value {
    let by = match &row.by {
        By::Value(value) => json!([serde_json::from_str::<Value>(value).expect("a value is JSON")]),
        By::Others => json!("others"),
        By::Missing => json!("none"),
    };
    let mut field = as_json(&row.field);
    field["odd"] = Value::Null;
    json!({"by": by, "items": row.items, "field": field})
}

/// Any JSON: the filter changes nothing except how values are spelled.
fn check_as_written(body: &[u8], redacts: bool, choices: &mut Entropy<'_>) {
    let all = FieldsProjection { redacts, ..FieldsProjection::default() };
    let sizes = choices.sizes();
    let Some(view) = read(body, &all, &sizes, |view| view.items.to_string()) else { return };
    if view.names.is_empty() {
        return;
    }
    let node = choices.pick(&view.names).clone();
    let paths = |view: &FieldsView| {
        let fields: Vec<_> = view.fields.iter().map(|field| (&field.path, &field.kinds, field.missing)).collect();
        format!("{} {fields:?}", view.items)
    };
    read(body, &FieldsProjection { node: Some(node), ..all }, &sizes, paths);
}

/// A body with similar items, except for a few.
fn alike(entropy: &mut Entropy<'_>) -> String {
    let common = tree::any(entropy, 4).text();
    let others: Vec<_> =
        (0..1 + entropy.below(3)).map(|_| tree::any(entropy, 4)).map(|tree: Tree| tree.text()).collect();
    let total = *entropy.pick(&[20, 19, 50, 100, 120, 251, 300]);
    let mut items = vec![common; total];
    for _ in 0..entropy.below(8) {
        let at = entropy.below(total);
        items[at] = entropy.pick(&others).clone();
    }
    let items: Vec<_> = items.iter().map(|item| format!(r#"{{"json":{{"id":1,"a":{item}}}}}"#)).collect();
    let (one, other) = items.split_at(entropy.below(total));
    format!(
        r#"{{"id":"1","data":{{"resultData":{{"runData":{{"A":[{{"data":{{"main":[[{}],[{}]]}}}}]}}}}}}}}"#,
        one.join(","),
        other.join(",")
    )
}

/// Parts of items whose shown form differs from the stored one; they have tests of their own.
const OWN: [&str; 2] = ["binary", "error"];

/// Leaves out the parts of items whose shown form differs from the stored one.
pub fn leave_out_own(body: &mut Value) {
    leave_out(body, &OWN);
}

/// A field in the reference's shape.
pub fn as_json(field: &FieldView) -> Value {
    let value = |json: &String| serde_json::from_str::<Value>(json).expect("a value is JSON");
    let values: Vec<_> = field.values.iter().map(|(json, count)| json!([value(json), count])).collect();
    let odd = field.outlier.as_ref().map(outlier);
    json!({
        "path": field.path, "kinds": field.kinds, "missing": field.missing, "numbers": field.numbers.both,
        "lengths": field.lengths.both, "distinct": field.distinct, "values": values,
        "example": field.example.as_ref().map(value), "odd": odd,
        "objects": field.objects, "present": field.present, "absent": field.first_absent.map(place),
        "places": ([field.first_present, field.first_empty, field.first_filled].map(|first| first.map(place))),
        "rarest": field.rarest.as_ref().map(outlier), "empty": field.empty, "numericTexts": field.numeric_texts, "jsonTexts": field.json_texts,
        "dates": field.dates,
        "repeated": field.repeated.as_ref().map(|names| json!({
            "values": names.values, "distinct": names.distinct,
            "again": ([&names.first].into_iter().chain(&names.others)
                .map(|one| json!({"value": value(&one.value), "places": one.places.map(place)})).collect::<Vec<_>>()),
        })),
    })
}

fn place(place: NodePlace) -> Value {
    json!({"run": place.run, "output": place.output, "item": place.item})
}

fn outlier(odd: &Outlier) -> Value {
    let value = odd.value.as_ref().map(|json| json!([serde_json::from_str::<Value>(json).expect("a value is JSON")]));
    json!({"run": odd.place.run, "output": odd.place.output, "item": odd.place.item, "value": value})
}

/// Values that occur together, in the reference's shape.
pub fn together_as_json(one: &Together) -> Value {
    let claims = one.claims.iter().map(|claim| {
        let is = match &claim.is {
            Claimed::Kind(kind) => json!(["kind", kind]),
            Claimed::There => json!(["there"]),
            Claimed::Missing => json!(["missing"]),
            Claimed::Empty => json!(["empty"]),
            Claimed::Value(value) => json!(["value", serde_json::from_str::<Value>(value).expect("a value is JSON")]),
        };
        json!([claim.path, is])
    });
    json!({"claims": claims.collect::<Vec<_>>(), "more": one.more, "items": one.items})
}
