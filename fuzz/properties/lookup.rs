//! A look-up in the items of an execution agrees with a simple reference, however the body arrives.

use std::collections::BTreeSet;

use n8n_lens::execution::lookup::{
    Found, LookupProjection, Of, Outcome, Plan, Question, RunsProjection, RunsView, Step, Which,
};
use n8n_lens::json::Projection;
use serde_json::Value;

use super::entropy::Entropy;
use super::lookup_reference::{found, has};
use super::values_reference::runs;
use super::{execution, is_json, read, shown, split};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 128 * 1024;

/// Names that paths have in addition to those of the body.
const NAMES: [&str; 6] = ["a", "b", "error", "length", "A", "half \u{fffd}"];

/// The property.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let body = match choices.one_in(2) {
        true => alike(&mut Entropy::new(rest)).into_bytes(),
        false => execution(&mut choices, rest),
    };
    if body.len() > MAX_BODY_BYTES || !is_json(&body) {
        return;
    }
    let sizes = choices.sizes();
    // The questions need more choices than the input begins with.
    let backwards: Vec<u8> = rest.iter().rev().copied().collect();
    let mut choices = Entropy::new(&backwards);
    let paths = paths(&body);
    let Some((_, _)) = look(&body, &mut choices, &paths, &sizes) else { return };
    // The reference does not support duplicate members.
    let Ok(value) = serde_json::from_slice::<Value>(&body) else { return };
    let body = value.to_string().into_bytes();
    let Some((questions, ours)) = look(&body, &mut choices, &paths, &sizes) else { return };
    for (question, ours) in questions.iter().zip(ours) {
        let truth = found(&value, question);
        let told = Found { near: None, ..ours.clone() };
        assert_eq!(told, truth, "{question:?} in {}", shown(&body));
        if let Some(near) = ours.near {
            assert!(truth.have == 0 && truth.items > 0 && near != question.path, "{near:?} for {question:?}");
            // The beginning of the execution exists.
            let all = runs(&value);
            let mut items = all.iter().flat_map(|run| run.items.iter().chain(&run.inputs));
            assert!(items.any(|(_, _, item)| has(item, &near[..1]).is_some()), "{near:?} in {}", shown(&body));
        }
    }
}

/// Both passes, with questions that follow from the first.
fn look(
    body: &[u8],
    choices: &mut Entropy<'_>,
    paths: &[Vec<Step>],
    sizes: &[usize],
) -> Option<(Vec<Question>, Vec<Found>)> {
    let runs = read(body, &RunsProjection, sizes, |view| format!("{view:?}"))?;
    let questions = questions(choices, &runs, paths);
    let plan = Plan::new(&runs, questions.clone());
    let (needs_items, unread) = (plan.needs_items(), plan.unread());
    let lookup = LookupProjection::new(plan);
    let found = read(body, &lookup, sizes, |found| format!("{found:?}"))?;
    // The second pass trusts the first, which may have read another text: it does not panic.
    let mut other = body.to_vec();
    let at = choices.below(other.len());
    other[at] = choices.byte();
    let _ = lookup.read_from(&other[..]);
    if !needs_items {
        assert_eq!(found, unread);
    }
    assert!(found.iter().all(|found| found.outcome == Outcome::LookedUp || found.items == 0));
    Some((questions, found))
}

/// Paths that items have.
pub fn paths(body: &[u8]) -> Vec<Vec<Step>> {
    fn below(value: &Value, path: &mut Vec<Step>, paths: &mut BTreeSet<String>, found: &mut Vec<Vec<Step>>) {
        const MOST: usize = 60;
        if path.len() > 8 || found.len() > MOST || !paths.insert(format!("{path:?}")) {
            return;
        }
        found.push(path.clone());
        let members = value.as_object().into_iter().flatten().map(|(name, value)| (Step::Name(name.clone()), value));
        let elements = value.as_array().into_iter().flatten().take(3).enumerate();
        for (step, value) in members.chain(elements.map(|(at, value)| (Step::Index(at as u64), value))) {
            path.push(step);
            below(value, path, paths, found);
            path.pop();
        }
    }
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let (mut paths, mut all) = (BTreeSet::new(), Vec::new());
    for run in runs(&value) {
        for (_, _, item) in run.items.iter().chain(&run.inputs) {
            paths.remove("[]");
            below(&item["json"], &mut Vec::new(), &mut paths, &mut all);
        }
    }
    all
}

/// Questions about paths that items have, and about others.
pub fn questions(choices: &mut Entropy<'_>, runs: &RunsView, paths: &[Vec<Step>]) -> Vec<Question> {
    let mut names: Vec<String> = runs.names().map(str::to_owned).collect();
    names.push("none".to_owned());
    (0..1 + choices.below(12))
        .map(|_| {
            let which = *choices.pick(&[Which::Any, Which::Any, Which::First, Which::Last, Which::Index(1)]);
            let node = choices.pick(&names).clone();
            let of = match choices.one_in(3) {
                true => {
                    let node = choices.pick(&names).clone();
                    let outputs = (0..choices.below(3)).filter(|_| choices.one_in(2)).map(|output| output as u64);
                    Of::Output { node, outputs: outputs.collect(), which }
                }
                false => Of::Input(which),
            };
            Question { node, of, path: path(choices, paths) }
        })
        .collect()
}

fn path(choices: &mut Entropy<'_>, paths: &[Vec<Step>]) -> Vec<Step> {
    let mut path = if paths.is_empty() { Vec::new() } else { choices.pick(paths).clone() };
    match choices.below(8) {
        0 => path.push(Step::Name((*choices.pick(&NAMES)).to_owned())),
        1 => path.push(Step::Index(choices.below(3) as u64)),
        2 if !path.is_empty() => drop(path.remove(choices.below(path.len()))),
        3 => {
            let at = choices.below(path.len());
            if let Some(Step::Name(name)) = path.get_mut(at) {
                name.pop();
            }
        }
        _ => {}
    }
    path
}

/// An execution with long lists of similar items, so that most of them are only counted.
fn alike(entropy: &mut Entropy<'_>) -> String {
    const VALUES: [&str; 10] =
        ["1", "\"x\"", "null", "true", "[1,{\"c\":2}]", "{\"c\":1}", "{}", "[]", "-0.5e3", "\"\\\"{[\""];
    const MEMBERS: [&str; 6] = ["\"a\"", "\"b\"", "\"half \\ud83d\"", "\"\\u0061\"", "\"\"", "\"c d\""];
    let mut shape: Vec<(&str, &str)> =
        (0..1 + entropy.below(5)).map(|_| (*entropy.pick(&MEMBERS), *entropy.pick(&VALUES))).collect();
    let mut list = |entropy: &mut Entropy<'_>| {
        // The first hundred are always examined.
        let plain = r#"{"json":{"a":1}}"#.to_owned();
        let mut items = if entropy.one_in(2) { vec![plain; 110] } else { Vec::new() };
        for _ in 0..entropy.below(40) {
            // Some similar items, and then a change.
            let space = *entropy.pick(&["", "", " ", "\n\t"]);
            let members: Vec<_> =
                shape.iter().map(|(name, value)| format!("{name}{space}:{space}{value}{space}")).collect();
            let json = format!("\"json\":{{{space}{}}}", members.join(","));
            let item = match entropy.below(12) {
                0 => "7".to_owned(),
                1 => format!("{{\"pairedItem\":{{\"item\":0}},{json}}}"),
                2 => format!("{{{json},\"json\":{{\"a\":false}}}}"),
                _ => format!("{{{json},\"pairedItem\":{{\"item\":0}}}}"),
            };
            items.extend(vec![item; 1 + entropy.below(6)]);
            let at = entropy.below(shape.len());
            match entropy.below(5) {
                0 => shape[at].1 = *entropy.pick(&VALUES),
                1 => shape[at].0 = *entropy.pick(&MEMBERS),
                _ => {}
            }
        }
        items.truncate(250);
        format!("[{}]", items.join(","))
    };
    let (one, other, long) = (list(entropy), list(entropy), format!("\"{}\"", "x".repeat(entropy.below(5000))));
    let starts = [entropy.below(3), entropy.below(3), entropy.below(3), entropy.below(3)];
    let run = entropy.below(3);
    format!(
        r#"{{"id":"1","data":{{"resultData":{{"runData":{{
            "B":[{{"executionIndex":{},"source":[{{"previousNode":"A","previousNodeRun":{run}}},{{"previousNode":"A","previousNodeOutput":1}}],
                  "data":{{"main":[{one}]}}}},{{"source":[null,{{"previousNode":"B"}}],"data":{{"ai_tool":[[]],"main":[[],{other}]}}}}],
            "Tool":[{{"inputOverride":{{"ai_tool":[{other}]}},"source":[{{"previousNode":"B"}}],"executionIndex":{}}}],
            "A":[{{"data":{{"main":[{other},{one}]}},"executionIndex":{},"note":{long}}},
                 {{"executionIndex":{},"data":{{"main":[{one}]}},"note":{long}}}]
        }}}}}}}}"#,
        starts[0], starts[1], starts[2], starts[3]
    )
}
