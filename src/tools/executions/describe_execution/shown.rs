//! What a description has shown so far, so that nothing is repeated.

use std::collections::HashSet;

use crate::execution::fields::{Finding, Together};

/// What was shown of the nodes so far.
#[derive(Default)]
pub(super) struct Shown {
    /// The paths already described, each with the kind of fact.
    paths: HashSet<(String, Finding)>,
    /// The facts about values that were shown, or counted, each with the last name of their path: a node can move them.
    lines: HashSet<(String, String)>,
    together: HashSet<Vec<String>>,
    /// Whether anything was left out.
    pub less: bool,
}

impl Shown {
    /// Whether this fact about a path is new, both for the path and among all facts shown.
    pub(super) fn is_new(&self, path: &str, finding: Finding, line: &str) -> bool {
        !self.paths.contains(&(path.to_owned(), finding)) && !self.lines.contains(&(last_name(path), line.to_owned()))
    }

    pub(super) fn add(&mut self, path: &str, finding: Finding, line: String) {
        self.paths.insert((path.to_owned(), finding));
        self.lines.insert((last_name(path), line));
    }

    /// A later node with the same fact did not make it.
    pub(super) fn add_left_out(&mut self, path: &str, line: &str) {
        self.lines.insert((last_name(path), line.to_owned()));
    }

    pub(super) fn is_new_together(&self, one: &Together) -> bool {
        !self.together.contains(&paths(one))
    }

    pub(super) fn tell_together(&mut self, one: &Together) {
        self.together.insert(paths(one));
    }
}

fn last_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_owned()
}

fn paths(one: &Together) -> Vec<String> {
    one.claims.iter().map(|claim| claim.path.clone()).collect()
}
