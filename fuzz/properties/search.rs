//! A search finds the same as a search of the whole value, however the body arrives and wherever it comes from.

use n8n_lens::execution::search::{
    Also, Condition, Operand, PathEnd, Scalar, SearchProjection, SearchView, TextPattern, ValueKind, ValueQuery,
};
use n8n_lens::execution::{Searched, StoredExecution, StoredSearch};
use n8n_lens::json::Projection;
use n8n_lens::json::flatted::Flatted;
use n8n_lens::toolkit::{Locale, Words};
use n8n_lens::tools::executions::search_execution::{self, SearchRequest};
use serde_json::{Value, json};

use super::entropy::Entropy;
use super::flatten::{Share, escape, members, stored};
use super::projections::assert_answer;
use super::search_reference::{self, Question, search};
use super::values_reference::{masked, runs};
use super::{execution, leave_out, read, shown, split, value_of};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 256 * 1024;

const TEXTS: [&str; 20] = [
    "a", "error", "é", "0", "1", "true", "null", "Error", "/", "\"", "\\", "\n", "🎉", "redacted", "漢a", "k",
    "\u{fffd}", "\u{1}", "17", "K",
];

/// As many other choices of a text are pieces of the body.
const PIECES: usize = 12;

const PATHS: [&str; 16] = [
    "a", "b", "id", "name", "message", "a.b", "[]", "a[]", "json.a", "data", "a[].b", "password", "…", "main", "type",
    "error",
];

/// Members whose shown form differs from the stored one; they have tests of their own.
const OWN: [&str; 3] = ["error", "redactedError", "binary"];

/// The property.
pub fn check(data: &[u8]) {
    compares(data);
}

/// Checks the property; returns whether items were compared with the reference.
pub fn compares(data: &[u8]) -> bool {
    let (mut choices, rest) = split(data);
    let body = execution(&mut choices, rest);
    if body.len() > MAX_BODY_BYTES {
        return false;
    }
    let Some(mut value) = value_of(&body) else { return false };
    let question = question(&mut choices, &value);
    let redacts = choices.one_in(2);
    let projection = SearchProjection { redacts, ..projection(&question) };
    let sizes = choices.sizes();
    read(&body, &SearchProjection { limit: usize::MAX, ..projection.clone() }, &sizes, places);
    // Normalized: without duplicate members, lone surrogates and unusual spellings of numbers.
    one_of_many(value.clone(), &projection, choices.one_in(2));
    leave_out(&mut value, &OWN);
    let body = value.to_string().into_bytes();
    let value = if redacts { masked(&value) } else { value };
    let Some(view) = read(&body, &projection, &sizes, |view| as_json(view).to_string()) else { return false };
    let expected = search(&value, &question, error);
    assert!(as_json(&view) == expected, "{question:?}: {} instead of {expected} in {}", as_json(&view), shown(&body));
    let max_tokens = *choices.pick(&[1000, 4000, 25_000]);
    let request = SearchRequest { projection, max_tokens, locale: Locale::En };
    if let Ok(answer) = search_execution::answer(&view, Some("1234"), &request) {
        assert_answer(&answer, max_tokens);
    }
    runs(&value).iter().any(|run| !run.items.is_empty())
}

/// The error of a run as it is shown, of those that are left.
fn error(run: &Value) -> Option<Value> {
    let error = run.get("error").filter(|error| !error.is_object() && !error.is_null())?;
    Some(json!({"message": error}))
}

/// A search of many stored executions finds as much in one as a search of it alone, and at the same place first.
pub fn one_of_many(mut value: Value, projection: &SearchProjection, has_halves: bool) {
    as_javascript_writes(&mut value);
    let body = value.to_string();
    // A half of a surrogate pair cannot be held in a string here.
    let body = if has_halves { body.replace('é', "\\ud83d") } else { body };
    if !value.is_object() || members(&body).iter().any(|(name, _)| name.contains('\\')) {
        return;
    }
    let Ok(view) = projection.read_from(body.as_bytes()) else { return };
    let stored = stored(&body, Share::Nothing);
    let search = StoredSearch::new(projection.clone());
    let texts = search.texts();
    let has_one = texts.iter().any(|text| stored.data.contains(text));
    assert!(view.total == 0 || texts.is_empty() || has_one, "none of {texts:?} in {}", shown(stored.data.as_bytes()));
    let escaped = escape(stored.data.as_bytes());
    let plain = Flatted::new(Box::new(stored.data.as_bytes()));
    for text in [plain, Flatted::escaped(Box::new(&escaped[..]))] {
        let found = match search.search(StoredExecution { reveal: true, ..stored.with_data(text) }) {
            Ok(Searched::Read(found)) => (found.total, found.hits.into_iter().next()),
            Ok(Searched::Nothing | Searched::NoData) => (0, None),
            Ok(Searched::Redacted) => panic!("it is revealed"),
            // A version that is not known, or a text that stands for too much.
            Err(_) => return,
        };
        assert!(
            found == (view.total, view.hits.first().cloned()),
            "{projection:?}: {found:?} in {}",
            shown(body.as_bytes())
        );
    }
}

/// Writes numbers as n8n does, where that is another number of digits.
fn as_javascript_writes(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
            *value = whole.map_or_else(|| Value::Number(number.clone()), |whole| json!(whole as i64));
        }
        Value::Array(elements) => elements.iter_mut().for_each(as_javascript_writes),
        Value::Object(members) => members.values_mut().for_each(as_javascript_writes),
        _ => {}
    }
}

fn question(choices: &mut Entropy<'_>, body: &Value) -> Question {
    let text = choices.one_in(2).then(|| text(choices, body));
    let path = (text.is_none() || choices.one_in(3)).then(|| (*choices.pick(&PATHS)).to_owned());
    let condition = match choices.below(9) {
        0 if text.is_none() => Some(("is", json!("missing"))),
        _ => condition(choices),
    };
    let also = choices.one_in(3).then(|| (end(choices.pick::<&str>(&PATHS)), self::condition(choices)));
    let (limit, as_numbers) = (*choices.pick(&[20, 1, 3, 100, 0]), choices.one_in(3));
    let output = choices.one_in(6).then(|| choices.below(3));
    Question { text, path: path.map(|path| end(&path)), condition, also, as_numbers, node: None, output, limit }
}

/// One of the texts, or a few characters of the body.
fn text(choices: &mut Entropy<'_>, body: &Value) -> String {
    if let Some(text) = TEXTS.get(choices.below(TEXTS.len() + PIECES)) {
        return (*text).to_owned();
    }
    let body = body.to_string();
    let (from, length) = (choices.below(body.chars().count()), 1 + choices.below(8));
    body.chars().skip(from).take(length).collect()
}

fn end(path: &str) -> String {
    path.trim_start_matches("json.").to_owned()
}

fn condition(choices: &mut Entropy<'_>) -> Option<search_reference::Condition> {
    let scalars = [
        json!(0),
        json!(1),
        json!("a"),
        json!(true),
        json!(1.5),
        json!(""),
        json!("1"),
        json!("[redacted]"),
        json!(" 1 "),
    ];
    let limits = [json!(0.0), json!(3.0), json!(1e300), json!(-5.0), json!("b"), json!("1"), json!("2026-01-31")];
    let kinds = ["null", "empty", "string", "number", "boolean", "array", "object"];
    let mut operand = |values: &[Value]| match choices.one_in(3) {
        true => json!({"path": end(choices.pick::<&str>(&PATHS))}),
        false => choices.pick(values).clone(),
    };
    let (scalar, limit) = (operand(&scalars), operand(&limits));
    match choices.below(8) {
        0..3 => None,
        3 => Some(("equals", scalar)),
        4 => Some(("notEquals", scalar)),
        5 => Some(("above", limit)),
        6 => Some(("below", limit)),
        _ => Some(("is", json!(*choices.pick(&kinds)))),
    }
}

/// The projection for a question.
pub fn projection(question: &Question) -> SearchProjection {
    let operand = |value: &Value| match value {
        Value::String(text) => Operand::Scalar(Scalar::Text(text.clone())),
        Value::Bool(boolean) => Operand::Scalar(Scalar::Boolean(*boolean)),
        Value::Object(_) => Operand::Path(PathEnd::new(value["path"].as_str().expect("a path"))),
        number => Operand::Scalar(Scalar::Number(number.to_string())),
    };
    let condition = |(name, value): &search_reference::Condition| match *name {
        "equals" => Condition::Equals(operand(value)),
        "notEquals" => Condition::NotEquals(operand(value)),
        "above" => Condition::Above(operand(value)),
        "below" => Condition::Below(operand(value)),
        _ => Condition::Is(value.as_str().and_then(ValueKind::named).expect("a kind")),
    };
    let also = |(path, of_it): &(String, Option<search_reference::Condition>)| Also {
        path: PathEnd::new(path),
        condition: of_it.as_ref().map(condition),
    };
    let query = ValueQuery {
        text: question.text.as_deref().map(|text| TextPattern::literal(text).expect("a short text")),
        path: question.path.as_deref().map(PathEnd::new),
        condition: question.condition.as_ref().map(condition),
        as_numbers: question.as_numbers,
        also: question.also.as_ref().map(also),
    };
    let output = question.output.map(|output| output as u64);
    SearchProjection { query, node: question.node.clone(), output, limit: question.limit, redacts: false }
}

/// Where something was found in items. Without the filter, values can be spelled differently, and errors of runs can
/// be arrays, which the filter drops.
fn places(view: &SearchView) -> String {
    let of_items = view.hits.iter().filter(|hit| hit.item.is_some());
    let hits: Vec<_> = of_items.map(|hit| (&hit.node, hit.run, hit.output, hit.item, &hit.path)).collect();
    format!("{hits:?} {}", view.too_large)
}

/// The result of a search, in the reference's shape.
pub fn as_json(view: &SearchView) -> Value {
    let value = |json: &String| serde_json::from_str::<Value>(json).expect("a value is JSON");
    let nodes: Vec<_> = view
        .nodes
        .iter()
        .map(|node| json!({"nodeName": *node.name, "hits": node.hits, "outputs": node.outputs}))
        .collect();
    let hit = |hit: &n8n_lens::execution::search::Hit| json!({"nodeName": *hit.node, "run": hit.run, "output": hit.output, "item": hit.item, "input": hit.in_input, "path": hit.path, "value": hit.value.as_ref().map(value), "other": hit.other.as_ref().map(value)});
    let hits: Vec<_> = view.hits.iter().map(hit).collect();
    json!({"total": view.total, "perNode": nodes, "hits": hits})
}
