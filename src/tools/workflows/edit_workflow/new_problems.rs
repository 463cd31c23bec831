//! Which structural problems an edit introduced.

use std::collections::{HashMap, HashSet};

use super::super::check_workflow::Row;
use super::check::Found;
use crate::workflow::edit::Changed;
use crate::workflow::problems::{Problem, Rule, Statement, counted};

/// The problems before an edit that were not found again, with their parameters.
struct Before(HashMap<Statement, Vec<Option<String>>>);

/// The problems that the edit introduced, clipped, and how many of the others there are.
pub(super) fn new_and_old(found: &Found, changes: &[Changed]) -> (Vec<Row>, usize) {
    let [mut before, after] = found.wait().map(|found| found.list);
    for changed in changes {
        let Changed::Renamed { from, to, .. } = changed else { continue };
        before.iter_mut().for_each(|problem| problem.rename(from, to));
    }
    let mut known = Before::of(before);
    // One in the same place first, since the elements of a list move.
    let (mut old, elsewhere): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|problem| known.take(problem, |parameter| *parameter == problem.parameter));
    let (moved, new): (Vec<_>, Vec<_>) = elsewhere.into_iter().partition(|problem| known.take(problem, |_| true));
    old.extend(moved);
    let old: HashSet<_> = old.iter().map(Problem::statement).collect();
    (counted(new).into_iter().map(|problem| Row::from(problem).clipped()).collect(), old.len())
}

impl Before {
    fn of(problems: Vec<Problem>) -> Self {
        let mut known: HashMap<_, Vec<_>> = HashMap::new();
        for problem in problems {
            known.entry(statement(&problem)).or_default().push(problem.parameter);
        }
        Self(known)
    }

    /// Whether it has this problem; it is then found again.
    fn take(&mut self, problem: &Problem, is_it: impl Fn(&Option<String>) -> bool) -> bool {
        let Some(parameters) = self.0.get_mut(&statement(problem)) else { return false };
        let found = parameters.iter().position(is_it);
        found.map(|at| parameters.swap_remove(at)).is_some()
    }
}

/// What a problem says, without the excerpt of a syntax error: where that ends depends on the length of the names in it.
fn statement(problem: &Problem) -> Statement {
    let (rule, node, reference, detail) = problem.statement();
    (rule, node, reference.filter(|_| rule != Rule::Syntax), detail)
}
