//! Facts that hold for exactly the same items of a node: `amount` is a string just where `software` is 4.1.0.
//!
//! For each fact, the number of its items and a hash of them are known; two facts with the same of both go together.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::field::{Field, KINDS, Kind};
use super::item_set::ItemSet;

/// The maximum number of different values of a path with a fact each.
const VALUES: usize = 12;

/// Two paths with more different values are not compared with each other: each place has its own zip code.
const FEW_VALUES: usize = 4;

/// A fact about fewer items is an outlier, or a coincidence.
const MIN_ITEMS: u64 = 2;

/// The maximum number of facts named together.
const CLAIMS: usize = 5;

/// The maximum number of values holding for the same items that are compared with each other.
const COMPARED: usize = 40;

/// The maximum number of sets of facts of a node.
const MOST: usize = 16;

/// Facts that hold for the same items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The facts, at least two: those about more than a value first, then in document order.
    pub claims: Vec<Claim>,
    /// How many more there are than the first five.
    pub more: usize,
    /// How many items they hold for.
    pub items: u64,
}

/// What holds for some of the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The path of the value.
    pub path: String,
    /// What is claimed of it.
    pub is: Claimed,
}

/// What is said of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// One of [`KINDS`], where there are several.
    Kind(&'static str),
    /// It is there, where others lack it.
    There,
    /// It is not there.
    Missing,
    /// It is a string, an array or an object with nothing in it.
    Empty,
    /// It is this one, as JSON.
    Value(String),
}

impl Together {
    /// Whether it is only about values, as when each country has its currency.
    pub fn is_of_values(&self) -> bool {
        self.claims.iter().all(|claim| matches!(claim.is, Claimed::Value(_)))
    }

    fn is_of_kinds(&self) -> bool {
        let is_kind = |claim: &Claim| matches!(claim.is, Claimed::Kind(kind) if kind != KINDS[Kind::Null as usize]);
        self.claims.iter().any(is_kind)
    }
}

/// The facts that hold for one set of items.
struct Class {
    items: ItemSet,
    claims: Vec<Claim>,
}

/// What goes together among the fields of a node, whose items are `all`; the strongest first.
pub(super) fn together<'f>(fields: impl Iterator<Item = (&'f str, &'f Field)>, all: ItemSet) -> Vec<Together> {
    let mut classes: IndexMap<(u64, u64), Class> = IndexMap::new();
    let mut values: HashMap<&str, usize> = HashMap::new();
    for (path, field) in fields {
        values.insert(path, field.values.len());
        claims(field, path.contains("[]"), all, |items, is| {
            if items.len >= MIN_ITEMS && all.len - items.len >= MIN_ITEMS {
                let class = classes.entry(items.key()).or_insert_with(|| Class { items, claims: Vec::new() });
                class.claims.push(Claim { path: path.to_owned(), is });
            }
        });
    }
    classes.values_mut().for_each(|class| remove_entailed(&mut class.claims));
    remove_renamed(&mut classes, &values);
    let has_few = |claim: &Claim| values.get(claim.path.as_str()).is_some_and(|values| *values <= FEW_VALUES);
    classes.retain(|_, class| {
        let is_of_values = class.claims.iter().all(|claim| matches!(claim.is, Claimed::Value(_)));
        if is_of_values {
            class.claims.retain(has_few);
        }
        class.claims.len() > 1
    });
    let mut found = Vec::new();
    for (at, Class { items, claims }) in classes.values().enumerate() {
        // A fact about all other items says the same.
        let mirror = classes.get_index_of(&items.complement(all).key());
        let is_told = mirror.is_some_and(|mirror| (all.len - items.len, mirror) < (items.len, at));
        if !is_told {
            let more = claims.len().saturating_sub(CLAIMS);
            found.push(Together { claims: claims[..claims.len() - more].to_vec(), more, items: items.len });
        }
    }
    // The sort is stable: document order decides among the others.
    found.sort_by_key(|one| (one.is_of_values(), !one.is_of_kinds()));
    keep_one_of_values(&mut found);
    found.truncate(MOST);
    found
}

/// Passes the facts about a path to `each`.
fn claims(field: &Field, is_in_list: bool, all: ItemSet, mut each: impl FnMut(ItemSet, Claimed)) {
    if field.kinds.len() > 1 {
        field.kinds.iter().for_each(|(kind, group)| each(group.items, Claimed::Kind(KINDS[*kind as usize])));
    }
    // In a list, some of the elements may have it.
    if !is_in_list {
        each(field.items, Claimed::There);
        each(field.items.complement(all), Claimed::Missing);
    }
    each(field.empty_items, Claimed::Empty);
    let values = field.values.iter().filter(|_| (2..=VALUES).contains(&field.values.len()));
    for (_, group) in values.filter(|(_, group)| group.shown != "\"\"") {
        each(group.items, Claimed::Value(group.shown.clone()));
    }
}

/// Removes what follows from another fact: where an object is missing, all of its members are. One fact of each path is
/// left, those about more than a value first.
fn remove_entailed(claims: &mut Vec<Claim>) {
    let paths: Vec<_> = claims.iter().map(|claim| claim.path.clone()).collect();
    claims.retain(|claim| {
        let is_above =
            |above: &String| claim.path.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']));
        !matches!(claim.is, Claimed::There | Claimed::Missing) || !paths.iter().any(is_above)
    });
    // The only value of a kind, or the kind of all that is there, says nothing more.
    let mut known: HashSet<String> = HashSet::new();
    claims.retain(|claim| known.insert(claim.path.clone()));
    claims.sort_by_key(|claim| matches!(claim.is, Claimed::Value(_)));
}

/// Removes pairs of paths that say the same in other words: each value of one goes with exactly one value of the other, as a
/// city goes with its zip code. `values` holds how many different values each path has.
fn remove_renamed(classes: &mut IndexMap<(u64, u64), Class>, values: &HashMap<&str, usize>) {
    let mut pairs: HashMap<(String, String), usize> = HashMap::new();
    for class in classes.values() {
        let paths = || class.claims.iter().filter(|claim| matches!(claim.is, Claimed::Value(_))).take(COMPARED);
        for (at, one) in paths().enumerate() {
            for other in paths().skip(at + 1) {
                *pairs.entry((one.path.clone(), other.path.clone())).or_default() += 1;
            }
        }
    }
    let is_renamed = |(one, other): &(String, String), shared: usize| {
        [one, other].iter().all(|path| values.get(path.as_str()) == Some(&shared))
    };
    let renamed: HashSet<_> =
        pairs.into_iter().filter(|(pair, shared)| is_renamed(pair, *shared)).map(|((_, other), _)| other).collect();
    for class in classes.values_mut() {
        class.claims.retain(|claim| !matches!(claim.is, Claimed::Value(_)) || !renamed.contains(&claim.path));
    }
}

/// Keeps one of the facts about the values of the same paths: the one about the fewest items.
fn keep_one_of_values(found: &mut Vec<Together>) {
    let paths = |one: &Together| one.claims.iter().map(|claim| claim.path.clone()).collect::<Vec<_>>();
    let fewest = |one: &Together, among: &[Together]| {
        let alike = among.iter().filter(|other| other.is_of_values() && paths(other) == paths(one));
        alike.map(|other| other.items).min() == Some(one.items)
    };
    let among = found.clone();
    let mut told: Vec<Vec<String>> = Vec::new();
    found.retain(|one| {
        if !one.is_of_values() {
            return true;
        }
        let is_kept = fewest(one, &among) && !told.contains(&paths(one));
        told.extend(is_kept.then(|| paths(one)));
        is_kept
    });
}
