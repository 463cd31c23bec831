//! What a description has shown so far, since nothing is shown twice.

use std::collections::HashSet;

use crate::execution::fields::{Telling, Together};

/// What was shown of the nodes so far: nothing is said twice.
#[derive(Default)]
pub(super) struct Shown {
    /// The paths of which something was told, with what it was.
    paths: HashSet<(String, Telling)>,
    /// What was told of the values of a path, whatever the path is: a node can move them.
    lines: HashSet<String>,
    together: HashSet<Vec<String>>,
    /// Whether anything was left out.
    pub less: bool,
}

impl Shown {
    /// Whether a path has more to tell than was told of it before, or of other values that are distributed in the same way.
    pub(super) fn is_new(&self, path: &str, telling: Telling, line: &str) -> bool {
        !self.paths.contains(&(path.to_owned(), telling)) && !self.lines.contains(line)
    }

    pub(super) fn tell(&mut self, path: &str, telling: Telling, line: String) {
        self.paths.insert((path.to_owned(), telling));
        self.lines.insert(line);
    }

    pub(super) fn is_new_together(&self, one: &Together) -> bool {
        !self.together.contains(&paths(one))
    }

    pub(super) fn tell_together(&mut self, one: &Together) {
        self.together.insert(paths(one));
    }
}

fn paths(one: &Together) -> Vec<String> {
    one.claims.iter().map(|claim| claim.path.clone()).collect()
}
