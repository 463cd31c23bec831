//! A description says of each node what its whole items say, and a split divides them as it claims.

use n8n_lens::execution::describe::{DescribeProjection, DescribedNode, Description};
use n8n_lens::execution::fields::{FieldsProjection, SplitFact};
use n8n_lens::json::{CUT_NAME_CHARS, Detail, Excerpt};
use n8n_lens::toolkit::Locale;
use n8n_lens::tools::executions::describe_execution::{self, DescribeRequest};
use serde_json::{Value, json};

use super::entropy::Entropy;
use super::fields::{as_json, leave_out_own, together_as_json, told};
use super::fields_reference::{fields, paths};
use super::projections::assert_answer;
use super::splits_reference::{splits, together};
use super::values_reference::{Run, masked, runs};
use super::{execution, read, shown, split, value_of};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 128 * 1024;

/// A larger item may be cut in the sample.
const SAMPLE_BYTES: usize = 600;

/// The property.
pub fn check(data: &[u8]) {
    compares(data);
}

/// Checks the property; returns whether items were compared with the reference.
pub fn compares(data: &[u8]) -> bool {
    let (mut choices, rest) = split(data);
    let body = match choices.one_in(2) {
        true => parted(&mut Entropy::new(rest)).into_bytes(),
        false => execution(&mut choices, rest),
    };
    if body.len() > MAX_BODY_BYTES {
        return false;
    }
    let sizes = choices.sizes();
    // Any JSON: no panic, and an answer within its budget.
    let projection = DescribeProjection { redacts: choices.one_in(2) };
    let counts = |view: &Description| {
        let nodes = view.summary.nodes.iter().map(|node| (&node.name, node.items, node.taken, node.is_sub_node));
        format!("{:?} {:?}", nodes.collect::<Vec<_>>(), view.not_run)
    };
    let Some(mut value) = value_of(&body) else { return false };
    if let Some(view) = read(&body, &projection, &sizes, counts) {
        let max_tokens = *choices.pick(&[1000, 3000, 25_000]);
        let request = DescribeRequest { max_tokens, locale: Locale::En };
        assert_answer(&describe_execution::answer(&view, Some("1234"), request), max_tokens);
    }
    leave_out_own(&mut value);
    check_against_reference(&value, projection.redacts, &sizes)
}

/// A body without members of the same name, lone surrogates and other spellings of numbers.
fn check_against_reference(value: &Value, redacts: bool, sizes: &[usize]) -> bool {
    let body = value.to_string().into_bytes();
    let value = if redacts { &masked(value) } else { value };
    let all = runs(value);
    let Some(view) = read(&body, &DescribeProjection { redacts }, sizes, |view| format!("{view:?}").to_lowercase())
    else {
        return false;
    };
    let mut names: Vec<&String> = Vec::new();
    for run in &all {
        if !names.contains(&&run.node) {
            names.push(&run.node);
        }
    }
    let is_hidden = view.summary.redacted;
    for name in &names {
        let Some(node) = view.nodes.get(*name) else { panic!("{name} is missing in {}", shown(&body)) };
        if is_hidden {
            let says_nothing = node.sample.is_none() && node.fields.is_empty() && node.together.is_empty();
            assert!(says_nothing, "{name} in {}", shown(&body));
            assert_eq!(node.sources, sources(&all, name), "{name} in {}", shown(&body));
        } else {
            check_node(value, name, node, &all, &body);
        }
        assert_eq!(node.pinned, is_pinned(value, name), "{name} in {}", shown(&body));
        let summary = view.summary.nodes.iter().find(|node| node.name == **name).expect("it ran");
        if !summary.is_sub_node {
            assert_eq!(summary.taken, Some(taken(&all, name)), "{name} in {}", shown(&body));
        }
    }
    let fields = FieldsProjection { redacts, ..FieldsProjection::default() };
    let view = read(&body, &fields, sizes, told).expect("it was read before");
    let ours = view.splits.iter().map(|split| {
        let fact = match &split.fact {
            SplitFact::Together(one) => json!({"together": together_as_json(one)}),
            SplitFact::Field(field) => json!({"field": as_json(field)}),
        };
        json!({"node": split.node, "items": split.items, "fact": fact})
    });
    assert_eq!(ours.collect::<Vec<_>>(), splits(value, &names), "in {}", shown(&body));
    all.iter().any(|run| !run.items.is_empty())
}

/// Whether n8n returned pinned data instead of running the node; of several nodes with this name, the last one counts.
fn is_pinned(value: &Value, name: &str) -> bool {
    let mut nodes = value["workflowData"]["nodes"].as_array().into_iter().flatten();
    let node = nodes.rfind(|node| node["name"] == name);
    let is_disabled = node.is_some_and(|node| node["disabled"] == true);
    value["data"]["resultData"]["pinData"].get(name).is_some() && !is_disabled
}

fn check_node(value: &Value, name: &str, node: &DescribedNode, all: &[Run<'_>], body: &[u8]) {
    let items: Vec<&Value> =
        all.iter().filter(|run| run.node == name).flat_map(|run| run.items.iter().map(|(_, _, item)| *item)).collect();
    let sample = node.sample.as_ref().and_then(|sample| sample.member("json"));
    if let Some(first) = items.first().map(|item| &item["json"]).filter(|json| is_small(json)) {
        assert_eq!(sample.map(written), Some(first.to_string()), "{name} in {}", shown(body));
    }
    assert_eq!(node.sources, sources(all, name), "{name} in {}", shown(body));
    let (count, paths, _) = paths(value, name);
    let (_, fields, _) = fields(value, name);
    let is_told = count >= 3;
    let expected: Vec<_> = if is_told { together(&paths, count) } else { Vec::new() };
    let ours: Vec<_> = node.together.iter().map(together_as_json).collect();
    assert_eq!(ours, expected, "{name} in {}", shown(body));
    let mut expected: Vec<_> = fields.iter().filter_map(|field| Some((telling(field)?, field))).collect();
    expected.sort_by_key(|(telling, _)| *telling);
    let expected: Vec<_> =
        expected.into_iter().filter(|_| is_told).map(|(_, field)| of_description(field)).take(32).collect();
    assert_eq!(node.fields.iter().map(as_json).collect::<Vec<_>>(), expected, "{name} in {}", shown(body));
}

/// A field in a description: without outliers, lengths, more than 12 values, and repeated names inside an item or after the
/// first.
fn of_description(field: &Value) -> Value {
    let mut field = field.clone();
    (field["odd"], field["lengths"]) = (Value::Null, Value::Null);
    if field["distinct"].as_u64().is_some_and(|distinct| distinct > 12) {
        (field["distinct"], field["values"]) = (Value::Null, json!([]));
    }
    if field["path"].as_str().is_some_and(|path| path.contains('.')) {
        field["repeated"] = Value::Null;
    }
    if let Some(again) = field["repeated"].get_mut("again").and_then(Value::as_array_mut) {
        again.truncate(1);
    }
    field
}

fn is_small(json: &Value) -> bool {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
            // A long name is cut.
            Value::Object(members) if members.keys().any(|name| name.len() > CUT_NAME_CHARS) => usize::MAX / 2,
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }
    json.is_object() && json.to_string().len() < SAMPLE_BYTES && depth(json) < 8
}

fn written(value: &Excerpt) -> String {
    let (mut json, mut clipped) = (String::new(), 0);
    value.write(Detail::WHOLE, &mut json, &mut clipped);
    json
}

/// The outputs that a node's runs name as their sources, at most 8.
fn sources(all: &[Run<'_>], name: &str) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> = Vec::new();
    for source in all.iter().filter(|run| run.node == name).flat_map(|run| sources_of(run.run)) {
        let output = match source["previousNodeOutput"].as_f64() {
            Some(output) if output >= 0.0 && output.fract() == 0.0 => output as u64,
            Some(_) => u64::MAX,
            None => 0,
        };
        let of_output = (name_of(source), output);
        if !found.contains(&of_output) && found.len() < 8 {
            found.push(of_output);
        }
    }
    found
}

fn sources_of(run: &Value) -> impl Iterator<Item = &Value> {
    run["source"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|source| source["previousNode"].is_string() || source["previousNode"].is_number())
}

/// The node that a source names; a number also counts as a name.
fn name_of(source: &Value) -> String {
    match &source["previousNode"] {
        Value::String(name) => n8n_lens::json::hold_name(name),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The items of the `main` outputs that a node's runs name.
fn taken(all: &[Run<'_>], name: &str) -> u64 {
    let mut taken = 0;
    for source in all.iter().filter(|run| run.node == name).flat_map(|run| sources_of(run.run)) {
        let node = name_of(source);
        // n8n leaves out 0, and a value that cannot be an index names nothing.
        let index = |member: &str| match source[member].as_f64() {
            Some(index) if index >= 0.0 && index.fract() == 0.0 => Some(index as usize),
            Some(_) => None,
            None => Some(0),
        };
        let run = all.iter().find(|run| run.node == node && Some(run.index) == index("previousNodeRun"));
        let output = run.zip(index("previousNodeOutput")).and_then(|(run, output)| run.run["data"]["main"].get(output));
        taken += output.and_then(Value::as_array).map_or(0, Vec::len) as u64;
    }
    taken
}

/// The rank of the most telling fact about a field in the reference's shape; smaller is more telling.
pub fn telling(field: &Value) -> Option<usize> {
    let number = |member: &str| field[member].as_u64().unwrap_or_default();
    let kinds: Vec<u64> = field["kinds"].as_array()?.iter().filter_map(Value::as_u64).collect();
    let (total, strings) = (kinds.iter().sum::<u64>(), kinds[3]);
    let path = field["path"].as_str()?;
    let values = field["values"].as_array()?.len() as u64;
    let names = &field["repeated"];
    let is_wide = |range: &Value| range.is_array() && range[0] != range[1];
    let facts = [
        kinds.iter().filter(|count| **count > 0).count() > 1,
        names.is_object() && names["distinct"].as_u64()? * 2 >= names["values"].as_u64()? && !path.contains('.'),
        number("present") < number("objects") && !path.ends_with("[]"),
        (1..total).contains(&number("empty")),
        strings > 0 && number("numericTexts") == strings,
        strings > 0 && number("jsonTexts") == strings,
        (2..=12).contains(&values) && total > values,
        is_wide(&field["dates"]),
        is_wide(&field["numbers"]),
        values == 1 && total > 1 && field["values"][0][1] == total,
    ];
    facts.iter().position(|holds| *holds)
}

/// A body with items whose values have parts: kinds, members that come and go together, names that occur twice.
fn parted(entropy: &mut Entropy<'_>) -> String {
    const VALUES: [&str; 16] = [
        "1",
        "2",
        "\"1\"",
        "\"2\"",
        "\"\"",
        "null",
        "true",
        "[]",
        "{}",
        "\"x-1\"",
        "\"x-2\"",
        "0.5",
        "\"2026-01-31\"",
        "\"2026-11-25\"",
        "[1,\"\"]",
        "{\"b\":1}",
    ];
    const NAMES: [&str; 6] = ["a", "b", "orderId", "c", "d", "a.b"];
    let total = *entropy.pick(&[2, 3, 4, 5, 20, 40, 60]);
    // A few shapes, so that members come and go together.
    let shapes: Vec<Vec<(&str, &str)>> = (0..1 + entropy.below(4))
        .map(|_| {
            let names: Vec<_> = NAMES.iter().filter(|_| !entropy.one_in(4)).collect();
            names.into_iter().map(|name| (*name, *entropy.pick(&VALUES))).collect()
        })
        .collect();
    let items: Vec<_> = (0..total)
        .map(|number| {
            let mut members = entropy.pick(&shapes).clone();
            let own = format!("\"N-{}\"", if entropy.one_in(8) { 0 } else { number });
            if entropy.one_in(8) && !members.is_empty() {
                let at = entropy.below(members.len());
                members[at].1 = *entropy.pick(&VALUES[..]);
            }
            let mut json: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            json.push(format!("\"own\":{own}"));
            format!("{{\"json\":{{{}}}}}", json.join(","))
        })
        .collect();
    let (one, other) = items.split_at(entropy.below(total));
    let (one, other, all) = (one.join(","), other.join(","), items.join(","));
    format!(
        r#"{{"id":"1","data":{{"resultData":{{"runData":{{
            "B":[{{"executionIndex":1,"source":[{{"previousNode":"A"}},{{"previousNode":"A","previousNodeOutput":1}}],"data":{{"main":[[{all}]]}}}}],
            "A":[{{"executionIndex":0,"data":{{"main":[[{one}],[{other}]]}}}}]
        }}}}}}}}"#
    )
}
