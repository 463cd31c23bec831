//! What divides the items of a node into parts, each of which is more than an outlier: two kinds, names that occur twice,
//! members that come and go together or are empty together.

use super::field::{Field, KINDS, Kind};
use super::outlier::few;
use super::table::Table;
use super::together::{Claimed, Together, together};
use super::{FieldView, shown};
use crate::execution::order::{Order, Start};

/// The most that are held: those of the nodes that ran first.
const MOST: usize = 100;

/// Fewer values have no parts.
const LEAST_VALUES: u64 = 20;

/// What divides the items of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The node's name.
    pub node: String,
    /// How many items it output.
    pub items: u64,
    /// What divides them.
    pub fact: SplitFact,
}

/// What divides items.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitFact {
    /// Facts that hold for the same items, one of them about more than a value.
    Together(Together),
    /// The values with a path are of several kinds, or name things and occur twice.
    Field(Box<FieldView>),
}

/// The splits of the nodes read so far. Which order the nodes have is known only at the end of the run data, so all are held.
#[derive(Default)]
pub(super) struct Splits(Vec<(Start, Split)>);

impl Splits {
    /// Removes those of a node.
    pub(super) fn remove(&mut self, node: &str) {
        self.0.retain(|(_, split)| split.node != node);
    }

    /// Adds those of a node with this start.
    pub(super) fn add_node(&mut self, name: &str, start: Start, table: &Table<Field>) {
        let items = table.items;
        let mut add = |fact| self.0.push((start, Split { node: name.to_owned(), items: items.len, fact }));
        let all = together(table.fields().map(|(path, field, _)| (path, field)), items);
        let telling: Vec<_> =
            all.into_iter().filter(|one| items.len >= LEAST_VALUES && is_telling(one, items.len)).collect();
        for (path, field, objects) in table.fields() {
            let is_told = telling.iter().any(|one| one.claims.iter().any(|claim| claim.path == path));
            if !is_told && divides(field, path) {
                add(SplitFact::Field(Box::new(shown(path, field, objects, items.len))));
            }
        }
        telling.into_iter().for_each(|one| add(SplitFact::Together(one)));
        if self.0.len() > 2 * MOST {
            self.shrink(Order::Counter);
        }
    }

    /// All of them, each at the first node that has it, the strongest first.
    pub(super) fn into_ranked(mut self, order: Order) -> Vec<Split> {
        self.shrink(order);
        // The sort is stable: the order of execution decides among the others.
        self.0.sort_by_key(|(_, split)| split.rank());
        self.0.into_iter().map(|(_, split)| split).collect()
    }

    fn shrink(&mut self, order: Order) {
        self.0.sort_by(|(one, _), (other, _)| order.compare(*one, *other));
        let mut told: Vec<(Vec<String>, u8)> = Vec::new();
        self.0.retain(|(_, split)| {
            let key = (split.paths(), split.rank());
            let is_new = !told.contains(&key);
            told.push(key);
            is_new
        });
        self.0.truncate(MOST);
    }
}

impl Split {
    /// The paths that it is about.
    fn paths(&self) -> Vec<String> {
        match &self.fact {
            SplitFact::Together(one) => one.claims.iter().map(|claim| claim.path.clone()).collect(),
            SplitFact::Field(field) => vec![field.path.clone()],
        }
    }

    /// The smaller, the stronger.
    fn rank(&self) -> u8 {
        match &self.fact {
            SplitFact::Together(one) if one.claims.iter().any(|claim| is_kind(&claim.is)) => 0,
            SplitFact::Field(field) if kinds(field) > 1 => 1,
            SplitFact::Field(_) => 2,
            SplitFact::Together(_) => 3,
        }
    }
}

fn is_kind(claim: &Claimed) -> bool {
    matches!(claim, Claimed::Kind(kind) if *kind != KINDS[Kind::Null as usize])
}

/// How many kinds of values there are besides null.
fn kinds(field: &FieldView) -> usize {
    field.kinds[1..].iter().filter(|count| **count > 0).count()
}

/// Whether it is worth a look: kinds that go with something else, or members that come and go together, and not merely with
/// an outlier.
fn is_telling(one: &Together, items: u64) -> bool {
    let is_shape = |claim: &Claimed| !matches!(claim, Claimed::Value(_));
    let has_parts = !few(one.items, items) && !few(items - one.items, items);
    let has_kinds = one.claims.iter().any(|claim| is_kind(&claim.is));
    has_parts && (has_kinds || one.claims.iter().filter(|claim| is_shape(&claim.is)).count() > 1)
}

/// Whether the values of a path have parts, and none of them is merely an outlier.
fn divides(field: &Field, path: &str) -> bool {
    let total: u64 = field.kinds.iter().map(|(_, group)| group.count).sum();
    if total < LEAST_VALUES {
        return false;
    }
    let kinds = field.kinds.iter().filter(|(kind, _)| **kind != Kind::Null);
    let kinds: Vec<_> = kinds.map(|(_, group)| group.count).collect();
    let has_kinds = kinds.len() > 1 && !few(kinds.iter().copied().min().unwrap_or(0), total);
    // Almost all differ, as names do. Below an object, they name something else, to which several items may refer.
    let names = || field.names.repeated(path).filter(|_| !path.contains('.'));
    has_kinds || names().is_some_and(|names| names.distinct * 10 >= names.values * 9)
}
