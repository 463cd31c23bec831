//! Look-ups in executions that n8n wrote.

use std::collections::BTreeMap;

use n8n_lens::execution::lookup::{
    Found, LookupProjection, Of, Outcome, Plan, Question, RunsProjection, Step, Which, path_of, path_text,
};
use n8n_lens::json::Projection;
use serde_json::Value;

use crate::fixtures;
use crate::random::Random;

/// Both passes.
fn look(body: &[u8], questions: Vec<Question>) -> Vec<Found> {
    let runs = RunsProjection.read_from(body).unwrap();
    LookupProjection::new(Plan::new(&runs, questions)).read_from(body).unwrap()
}

/// The paths of the items of each node that end with a name, with the first index of each list.
fn paths(body: &Value) -> Vec<(String, Vec<Step>)> {
    fn below(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
        if path.len() > 6 {
            return;
        }
        if matches!(path.last(), Some(Step::Name(_))) && !found.contains(path) {
            found.push(path.clone());
        }
        let members = value.as_object().into_iter().flatten().map(|(name, value)| (Step::Name(name.clone()), value));
        let element = value.get(0).map(|value| (Step::Index(0), value));
        for (step, value) in members.chain(element) {
            path.push(step);
            below(value, path, found);
            path.pop();
        }
    }
    let mut all = Vec::new();
    for (node, runs) in body["data"]["resultData"]["runData"].as_object().into_iter().flatten() {
        let mut found = Vec::new();
        for run in runs.as_array().into_iter().flatten() {
            for item in run["data"]["main"].as_array().into_iter().flatten().flat_map(|list| list.as_array()).flatten()
            {
                below(&item["json"], &mut Vec::new(), &mut found);
            }
        }
        found.truncate(60);
        all.extend(found.into_iter().map(|path| (node.clone(), path)));
    }
    all
}

/// Possible mistakes in a path.
const SLIPS: [&str; 6] =
    ["a letter lost", "two letters swapped", "a letter doubled", "another case", "a level lost", "a level too many"];

/// The path with a mistake, if it can have one.
fn slip(kind: &str, path: &[Step], random: &mut Random) -> Option<Vec<Step>> {
    let mut path = path.to_vec();
    let at = random.index(path.len());
    match kind {
        "a level lost" => {
            let at = random.index(path.len().checked_sub(1).filter(|above| *above > 0)?);
            path.remove(at);
            return Some(path);
        }
        "a level too many" => {
            path.insert(at, Step::Name("data".to_owned()));
            return Some(path);
        }
        _ => {}
    }
    let Step::Name(name) = &mut path[at] else { return None };
    let mut letters: Vec<char> = name.chars().collect();
    let at = random.index(letters.len().max(1));
    match kind {
        "a letter lost" if letters.len() > 1 => drop(letters.remove(at)),
        "a letter doubled" if !letters.is_empty() => letters.insert(at, letters[at]),
        "two letters swapped" if at + 1 < letters.len() => letters.swap(at, at + 1),
        "another case" => {
            let letter = letters.get_mut(at)?;
            *letter =
                if letter.is_lowercase() { letter.to_uppercase().next()? } else { letter.to_lowercase().next()? };
        }
        _ => return None,
    }
    let slipped: String = letters.into_iter().collect();
    if slipped == *name {
        return None;
    }
    *name = slipped;
    Some(path)
}

#[test]
fn slips_are_found_with_what_was_meant() {
    slips_are_found([fixtures::executions(), fixtures::scenarios()].concat());
}

/// The large execution.
mod slow {
    #[test]
    #[ignore = "slow: 5 s"]
    fn slips_are_found_with_what_was_meant_in_every_execution() {
        use super::fixtures::{executions_of_any_size, questions, scenarios};
        super::slips_are_found([executions_of_any_size(), scenarios(), questions()].concat());
    }
}

/// Misspells paths of the items of all nodes.
fn slips_are_found(bodies: Vec<(String, Vec<u8>)>) {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (file, body) in bodies {
        let Ok(value) = serde_json::from_slice::<Value>(&body) else { continue };
        let mut random = Random(7);
        for kind in SLIPS {
            let of = |node: &str| Of::Output { node: node.to_owned(), outputs: Vec::new(), which: Which::Any };
            let asked: Vec<(Vec<Step>, Question)> = paths(&value)
                .into_iter()
                .filter_map(|(node, path)| {
                    let slipped = slip(kind, &path, &mut random)?;
                    Some((path, Question { of: of(&node), node, path: slipped }))
                })
                .collect();
            if RunsProjection.read_from(&body[..]).is_ok_and(|runs| runs.redacted) || asked.is_empty() {
                continue;
            }
            let questions = asked.iter().map(|(_, question)| question.clone()).collect();
            for ((meant, question), found) in asked.iter().zip(look(&body, questions)) {
                if found.outcome == Outcome::Recovered {
                    continue;
                }
                assert_eq!(found.outcome, Outcome::LookedUp);
                // Otherwise it is another path that items have.
                if found.have == 0 {
                    let (right, all) = counts.entry(kind).or_default();
                    *all += 1;
                    *right += u32::from(found.near.as_ref() == Some(meant));
                    if found.near.as_ref() != Some(meant) {
                        let near = found.near.as_deref().map(path_text);
                        println!("{file} {kind}: {} of {} is {near:?}", path_text(&question.path), path_text(meant));
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    let (right, all) = counts.values().fold((0, 0), |(right, all), count| (right + count.0, all + count.1));
    assert!(all > 1000 && right * 100 >= all * 97, "{right} of {all}");
}

#[test]
fn what_a_sub_node_was_called_with_is_its_input() {
    let body = &fixtures::execution("l_ai_agent");
    let ask =
        |node: &str, path: &str| Question { node: node.to_owned(), of: Of::Input(Which::Any), path: path_of(path) };
    let found =
        look(body, vec![ask("Calculator", "query"), ask("OpenAI Chat Model", "messages[0]"), ask("Nobody", "a")]);
    assert_eq!((found[0].have, found[0].items), (1, 1));
    assert_eq!(found[0].first_of_kind[3].as_ref().map(|place| place.node.as_str()), Some("Calculator"));
    assert_eq!((found[1].have, found[1].items), (2, 2));
    assert_eq!(found[2].outcome, Outcome::NotRun);
}
