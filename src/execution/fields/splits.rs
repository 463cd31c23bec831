//! What divides the items of a node into parts that are too large to be outliers: values of two kinds, a name that occurs
//! twice, members that come and go together or are empty together.

use super::at_first_node::NodeFact;
use super::field::{Field, KINDS, Kind};
use super::outlier::few;
use super::table::Table;
use super::together::{Claimed, Together, together};
use super::{FieldView, shown};

/// Fewer values have no parts.
const MIN_VALUES: u64 = 20;

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

/// The splits of a node with these fields.
pub(super) fn splits(node: &str, table: &Table<Field>) -> Vec<Split> {
    let items = table.items;
    let all = together(table.fields().map(|(path, field, _)| (path, field)), items);
    let strong: Vec<_> = all.into_iter().filter(|one| items.len >= MIN_VALUES && is_notable(one, items.len)).collect();
    let is_shown = |path: &str| strong.iter().any(|one| one.claims.iter().any(|claim| claim.path == path));
    let divided = table.fields().filter(|(path, field, _)| !is_shown(path) && divides(field, path));
    let fields = divided.map(|(path, field, objects)| shown(path, field, objects, items.len));
    let facts: Vec<_> = fields.map(|field| SplitFact::Field(Box::new(field))).collect();
    let facts = facts.into_iter().chain(strong.into_iter().map(SplitFact::Together));
    facts.map(|fact| Split { node: node.to_owned(), items: items.len, fact }).collect()
}

/// The strongest first; equally strong ones stay in the order of execution.
pub(super) fn ranked(mut splits: Vec<Split>) -> Vec<Split> {
    splits.sort_by_key(Split::rank);
    splits
}

impl NodeFact for Split {
    const MOST: usize = 100;

    fn node(&self) -> &str {
        &self.node
    }

    fn is_same(&self, other: &Self) -> bool {
        self.rank() == other.rank() && self.paths().eq(other.paths())
    }
}

impl Split {
    /// The paths that it is about.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let (claims, field) = match &self.fact {
            SplitFact::Together(one) => (one.claims.as_slice(), None),
            SplitFact::Field(field) => ([].as_slice(), Some(field.path.as_str())),
        };
        claims.iter().map(|claim| claim.path.as_str()).chain(field)
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
fn is_notable(one: &Together, items: u64) -> bool {
    let is_shape = |claim: &Claimed| !matches!(claim, Claimed::Value(_));
    let has_parts = !few(one.items, items) && !few(items - one.items, items);
    let has_kinds = one.claims.iter().any(|claim| is_kind(&claim.is));
    has_parts && (has_kinds || one.claims.iter().filter(|claim| is_shape(&claim.is)).count() > 1)
}

/// Whether the values of a path have parts, and none of them is merely an outlier.
fn divides(field: &Field, path: &str) -> bool {
    let total: u64 = field.kinds.iter().map(|(_, group)| group.count).sum();
    if total < MIN_VALUES {
        return false;
    }
    let kinds = field.kinds.iter().filter(|(kind, _)| **kind != Kind::Null);
    let kinds: Vec<_> = kinds.map(|(_, group)| group.count).collect();
    let has_kinds = kinds.len() > 1 && !few(kinds.iter().copied().min().unwrap_or(0), total);
    // Almost all differ, as names do. Below an object, they name something else, to which several items may refer.
    let names = || field.names.repeated().filter(|_| !path.contains('.'));
    has_kinds || names().is_some_and(|names| names.distinct * 10 >= names.values * 9)
}
