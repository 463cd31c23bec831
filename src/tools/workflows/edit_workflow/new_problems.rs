//! Which structural problems an edit introduced.

use std::collections::{HashMap, HashSet};

use super::super::check_workflow::Row;
use super::check::Found;
use crate::workflow::edit::Changed;
use crate::workflow::problems::{Problem, Rule, Statement, counted};

/// The problems before an edit.
struct Before {
    /// Their parameters.
    parameters: Vec<Option<String>>,
    /// Those that were not found again, by what they say.
    known: HashMap<Statement, Vec<usize>>,
    found: HashSet<usize>,
}

/// The problems that the edit introduced, clipped, and how many of the others there are.
pub(super) fn new_and_old(found: &Found, changes: &[Changed]) -> (Vec<Row>, usize) {
    let [before, after] = found.wait().map(|found| found.list);
    let renamed = changes.iter().filter_map(|changed| match changed {
        Changed::Renamed { from, to, .. } => Some((from.as_str(), to.as_str())),
        _ => None,
    });
    let mut known = Before::of(before, &renamed.collect::<Vec<_>>());
    // One in the same place first, since the elements of a list move.
    let (mut old, elsewhere): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|problem| known.take(problem, |parameter| *parameter == problem.parameter));
    let (moved, new): (Vec<_>, Vec<_>) = elsewhere.into_iter().partition(|problem| known.take(problem, |_| true));
    old.extend(moved);
    let old: HashSet<_> = old.iter().map(Problem::statement).collect();
    (counted(new).into_iter().map(|problem| Row::from(problem).clipped()).collect(), old.len())
}

impl Before {
    fn of(problems: Vec<Problem>, renamed: &[(&str, &str)]) -> Self {
        let (mut parameters, mut known): (_, HashMap<_, Vec<_>>) = (Vec::new(), HashMap::new());
        for problem in problems {
            let mut says = says(&problem, renamed);
            says.dedup();
            for statement in says {
                known.entry(statement).or_default().push(parameters.len());
            }
            parameters.push(problem.parameter);
        }
        Self { parameters, known, found: HashSet::new() }
    }

    /// Whether it has this problem; it is then found again.
    fn take(&mut self, problem: &Problem, is_it: impl Fn(&Option<String>) -> bool) -> bool {
        let known = self.known.get(&statement(problem)).into_iter().flatten();
        let mut open = known.filter(|at| !self.found.contains(at) && is_it(&self.parameters[**at]));
        open.next().copied().is_some_and(|at| self.found.insert(at))
    }
}

/// What a problem before the edit says after nodes were renamed: a rename follows references, but not every text that holds the
/// name, such as that of a node whose name is longer.
fn says(problem: &Problem, renamed: &[(&str, &str)]) -> Vec<Statement> {
    let (mut followed, mut left) = (problem.clone(), problem.clone());
    for (from, to) in renamed {
        followed.rename(from, to);
        left.rename_node(from, to);
    }
    vec![statement(&followed), statement(&left)]
}

/// What a problem says, without the excerpt of a syntax error: where that ends depends on the length of the names in it.
fn statement(problem: &Problem) -> Statement {
    let (rule, node, reference, detail) = problem.statement();
    (rule, node, reference.filter(|_| rule != Rule::Syntax), detail)
}
