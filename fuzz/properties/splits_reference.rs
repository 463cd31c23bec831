//! A reference implementation of values that occur together, with sets of items instead of their hashes.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::fields_reference::{Found, Path, few, fields, is_empty, kind_of, paths, value_groups};
use super::values_reference::runs;

const VALUES: usize = 12;
const FEW_VALUES: usize = 4;
const CLAIMS: usize = 5;
const MOST: usize = 16;

type Items = BTreeSet<usize>;

/// A claim about a path: `["kind", "null"]`, `["there"]`, `["missing"]`, `["empty"]` or `["value", json]`.
type Claim = (String, Value);

/// `{claims: [[path, claim], …], more, items}` for the fields of a node with this many items.
pub fn together(paths: &[Path], items: usize) -> Vec<Value> {
    let all: Items = (1..=items).collect();
    let mut classes: Vec<(Items, Vec<Claim>)> = Vec::new();
    let mut distinct: HashMap<String, usize> = HashMap::new();
    for path in paths {
        distinct.insert(path.path.clone(), value_groups(path).map_or(0, |groups| groups.len()));
        for (of, claim) in claims(path, &all) {
            if of.len() < 2 || items - of.len() < 2 {
                continue;
            }
            let claim = (path.path.clone(), claim);
            match classes.iter_mut().find(|(known, _)| *known == of) {
                Some((_, claims)) => claims.push(claim),
                None => classes.push((of, vec![claim])),
            }
        }
    }
    for (_, claims) in &mut classes {
        *claims = without_entailed(claims);
    }
    remove_renamed(&mut classes, &distinct);
    for (_, claims) in &mut classes {
        if claims.iter().all(is_value) {
            claims.retain(|(path, _)| distinct[path] <= FEW_VALUES);
        }
    }
    classes.retain(|(_, claims)| claims.len() > 1);
    let mut found: Vec<(Items, Vec<Claim>)> = Vec::new();
    for (at, (of, claims)) in classes.iter().enumerate() {
        let others: Items = all.difference(of).copied().collect();
        let mirror = classes.iter().position(|(known, _)| *known == others);
        if mirror.is_none_or(|mirror| others.len() > of.len() || (others.len() == of.len() && mirror > at)) {
            found.push((of.clone(), claims.clone()));
        }
    }
    let is_of_values = |claims: &[Claim]| claims.iter().take(CLAIMS).all(is_value);
    let has_kind =
        |claims: &[Claim]| claims.iter().take(CLAIMS).any(|(_, claim)| claim[0] == "kind" && claim[1] != "null");
    found.sort_by_key(|(_, claims)| (is_of_values(claims), !has_kind(claims)));
    let paths = |claims: &[Claim]| claims.iter().take(CLAIMS).map(|(path, _)| path.clone()).collect::<Vec<_>>();
    let mut shown: Vec<(Items, Vec<Claim>)> = Vec::new();
    for (of, claims) in &found {
        let alike = |(_, other): &&(Items, Vec<Claim>)| is_of_values(other) && paths(other) == paths(claims);
        let is_fewest = found.iter().filter(alike).all(|(other, _)| other.len() >= of.len());
        if !is_of_values(claims) || (is_fewest && !shown.iter().any(|one| alike(&one))) {
            shown.push((of.clone(), claims.clone()));
        }
    }
    let told = shown.into_iter().take(MOST).map(|(of, claims)| {
        json!({"claims": claims.iter().take(CLAIMS).collect::<Vec<_>>(), "more": claims.len().saturating_sub(CLAIMS), "items": of.len()})
    });
    told.collect()
}

fn is_value((_, claim): &Claim) -> bool {
    claim[0] == "value"
}

/// The claims about a path, each with the items that satisfy it.
fn claims(path: &Path, all: &Items) -> Vec<(Items, Value)> {
    let of = |is: &dyn Fn(&Value) -> bool| -> Items {
        path.found.iter().filter(|found| found.value.as_ref().is_some_and(is)).map(|found| found.item).collect()
    };
    let mut kinds = Vec::new();
    for value in path.found.iter().filter_map(|found| found.value.as_ref()) {
        if !kinds.contains(&kind_of(value)) {
            kinds.push(kind_of(value));
        }
    }
    let mut claims = Vec::new();
    if kinds.len() > 1 {
        claims.extend(kinds.iter().map(|kind| (of(&|value| kind_of(value) == *kind), json!(["kind", kind]))));
    }
    let there = of(&|_| true);
    if !path.path.contains("[]") {
        claims.push((there.clone(), json!(["there"])));
        claims.push((all.difference(&there).copied().collect(), json!(["missing"])));
    }
    claims.push((of(&is_empty), json!(["empty"])));
    let groups = value_groups(path).filter(|groups| (2..=VALUES).contains(&groups.len())).unwrap_or_default();
    for (value, found) in groups.iter().filter(|(value, _)| *value != json!("")) {
        claims.push((found.iter().map(|found: &Found| found.item).collect(), json!(["value", value])));
    }
    claims
}

fn without_entailed(claims: &[Claim]) -> Vec<Claim> {
    let is_below = |path: &str, above: &str| {
        path.len() > above.len()
            && path.starts_with(above)
            && ['.', '['].contains(&char::from(path.as_bytes()[above.len()]))
    };
    let mut left: Vec<Claim> = Vec::new();
    for (path, claim) in claims {
        let is_shape = claim[0] == "there" || claim[0] == "missing";
        let is_entailed = is_shape && claims.iter().any(|(above, _)| is_below(path, above));
        if !is_entailed && !left.iter().any(|(known, _)| known == path) {
            left.push((path.clone(), claim.clone()));
        }
    }
    let (values, mut others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_value);
    others.extend(values);
    others
}

fn remove_renamed(classes: &mut [(Items, Vec<Claim>)], distinct: &HashMap<String, usize>) {
    let values = |claims: &[Claim]| -> Vec<String> {
        claims.iter().filter(|claim| is_value(claim)).map(|(path, _)| path.clone()).collect()
    };
    let mut renamed = BTreeSet::new();
    for (one, of_one) in distinct {
        for (other, of_other) in distinct.iter().filter(|(other, _)| *other != one) {
            // The one that comes first in the document stays.
            let shared = classes.iter().map(|(_, claims)| values(claims)).filter(|paths| {
                let at = |path: &String| paths.iter().position(|known| known == path);
                at(one).zip(at(other)).is_some_and(|(one, other)| one < other)
            });
            if shared.count() == *of_one && of_one == of_other {
                renamed.insert(other.clone());
            }
        }
    }
    for (_, claims) in classes {
        claims.retain(|claim| !is_value(claim) || !renamed.contains(&claim.0));
    }
}

/// The splits of all nodes, whose names are in document order.
pub fn splits(body: &Value, names: &[&String]) -> Vec<Value> {
    let runs = runs(body);
    let start =
        |name: &str| runs.iter().find(|run| run.node == name).map_or((f64::INFINITY, f64::INFINITY), |run| run.start);
    let mut ordered: Vec<&String> = names.to_vec();
    ordered.sort_by(|one, other| start(one).partial_cmp(&start(other)).expect("no start is NaN"));
    let mut found: Vec<(usize, Vec<String>, Value)> = Vec::new();
    for name in ordered {
        let (items, paths, _) = paths(body, name);
        let (_, fields, _) = fields(body, name);
        let telling: Vec<_> =
            together(&paths, items).into_iter().filter(|one| items >= 20 && is_telling(one, items)).collect();
        let told = |path: &str| telling.iter().any(|one| claims_of(one).iter().any(|(known, _)| known == path));
        let mut add = |rank: usize, paths: Vec<String>, fact: Value| {
            if !found.iter().any(|(other, known, _)| (*other, known) == (rank, &paths)) {
                found.push((rank, paths, json!({"node": name, "items": items, "fact": fact})));
            }
        };
        for field in &fields {
            let path = field["path"].as_str().expect("a path");
            if let Some(rank) = divides(field, path).filter(|_| !told(path)) {
                let mut field = field.clone();
                // No names are held of what is inside an item.
                if path.contains('.') {
                    field["repeated"] = Value::Null;
                }
                add(rank, vec![path.to_owned()], json!({"field": field}));
            }
        }
        for one in &telling {
            let claims = claims_of(one);
            let rank = if claims.iter().any(|(_, claim)| is_kind(claim)) { 0 } else { 3 };
            add(rank, claims.into_iter().map(|(path, _)| path).collect(), json!({"together": one}));
        }
    }
    found.truncate(100);
    found.sort_by_key(|(rank, ..)| *rank);
    found.into_iter().map(|(_, _, split)| split).collect()
}

fn claims_of(one: &Value) -> Vec<Claim> {
    let claims = one["claims"].as_array().into_iter().flatten();
    claims.map(|claim| (claim[0].as_str().expect("a path").to_owned(), claim[1].clone())).collect()
}

fn is_kind(claim: &Value) -> bool {
    claim[0] == "kind" && claim[1] != "null"
}

fn is_telling(one: &Value, items: usize) -> bool {
    let of = one["items"].as_u64().expect("a count") as usize;
    let claims = claims_of(one);
    let shapes = claims.iter().filter(|claim| !is_value(claim)).count();
    !few(of, items) && !few(items - of, items) && (claims.iter().any(|(_, claim)| is_kind(claim)) || shapes > 1)
}

/// The rank of a field whose values have parts.
fn divides(field: &Value, path: &str) -> Option<usize> {
    let kinds: Vec<usize> =
        field["kinds"].as_array()?.iter().filter_map(|count| Some(count.as_u64()? as usize)).collect();
    let total: usize = kinds.iter().sum();
    let others: Vec<usize> = kinds[1..].iter().copied().filter(|count| *count > 0).collect();
    let has_kinds = others.len() > 1 && !few(*others.iter().min()?, total);
    let names = &field["repeated"];
    let is_repeated = || Some(names["distinct"].as_u64()? * 10 >= names["values"].as_u64()? * 9);
    let is_divided = has_kinds || (!path.contains('.') && is_repeated() == Some(true));
    (total >= 20 && is_divided).then_some(if others.len() > 1 { 1 } else { 2 })
}
