//! Which structural problems an edit introduced.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::super::check_workflow::Row;
use super::check::Found;
use crate::workflow::edit::Changed;
use crate::workflow::problems::Rule;

/// What a problem says, without the excerpt of a syntax error: where that ends depends on the length of the names in it.
type Statement = (&'static str, String, Option<String>, Option<String>);

/// The problems before an edit that were not found again, with their parameters.
struct Before(HashMap<Statement, Vec<Option<String>>>);

/// The problems that the edit introduced, and how many of the others there are.
pub(super) fn new_and_old(found: &Found, changes: &[Changed]) -> (Vec<Row>, usize) {
    let [mut before, after] = found.wait().map(|found| found.list.into_iter().map(Row::from).collect::<Vec<_>>());
    for changed in changes {
        let Changed::Renamed { from, to, .. } = changed else { continue };
        before.iter_mut().for_each(|row| row.rename(from, to));
    }
    let mut known = Before::of(before);
    // One in the same place first, since the elements of a list move.
    let (mut old, elsewhere): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|row| known.take(row, |parameter| *parameter == row.parameter));
    let (moved, new): (Vec<_>, Vec<_>) = elsewhere.into_iter().partition(|row| known.take(row, |_| true));
    old.extend(moved);
    let old: HashSet<_> = old.iter().map(Row::statement).collect();
    (counted(new), old.len())
}

impl Before {
    fn of(rows: Vec<Row>) -> Self {
        let mut known: HashMap<_, Vec<_>> = HashMap::new();
        for row in rows {
            known.entry(statement(&row)).or_default().push(row.parameter);
        }
        Self(known)
    }

    /// Whether it has this problem; it is then found again.
    fn take(&mut self, row: &Row, is_it: impl Fn(&Option<String>) -> bool) -> bool {
        let Some(parameters) = self.0.get_mut(&statement(row)) else { return false };
        let found = parameters.iter().position(is_it);
        found.map(|at| parameters.swap_remove(at)).is_some()
    }
}

fn statement(row: &Row) -> Statement {
    let (rule, node, reference, detail) = row.statement();
    let reference = reference.filter(|_| rule != Rule::Syntax.name());
    (rule, node.to_owned(), reference.map(str::to_owned), detail.map(str::to_owned))
}

/// Each problem once, clipped, with the number of times.
fn counted(rows: Vec<Row>) -> Vec<Row> {
    let mut counted: IndexMap<_, Row> = IndexMap::new();
    for row in rows {
        let (rule, node, reference, detail) = row.statement();
        let key = (rule, node.to_owned(), reference.map(str::to_owned), detail.map(str::to_owned));
        counted.entry(key).and_modify(|known| known.times += 1).or_insert(row);
    }
    counted.into_values().map(Row::clipped).collect()
}
