//! Where names of removed and renamed nodes are left. They are searched for once, after all operations: a later one may remove them.

use std::collections::HashSet;

use super::level::Level;
use super::sought::Sought;
use super::{Editor, type_in};
use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::workflow::expression::{ParameterText, Syntax, mentions, parameter_texts, scan};

/// A name that no node has any longer.
#[derive(Debug)]
pub(super) enum Left {
    /// Of a node that was removed.
    Removed(String),
    /// Of a node that was renamed: what refers to it was updated.
    Renamed {
        name: String,
        /// The nodes that may hold it: to search all of them again for each name would take long.
        nodes: Vec<usize>,
    },
}

impl Left {
    fn name(&self) -> &str {
        match self {
            Self::Removed(name) | Self::Renamed { name, .. } => name,
        }
    }

    /// A node was removed: those after it have other indexes now.
    pub(super) fn node_was_removed(&mut self, at: usize) {
        if let Self::Renamed { nodes, .. } = self {
            nodes.retain(|node| *node != at);
            nodes.iter_mut().filter(|node| **node > at).for_each(|node| *node -= 1);
        }
    }
}

impl Editor<'_> {
    /// Notes what names a node that does not exist yet, and is about to have this name.
    pub(super) fn note_adopted(&mut self, name: &str) {
        let is_connected =
            self.connections().is_ok_and(|all| all.iter().any(|one| one.source == name || one.target == name));
        let is_pinned = self.is_pinned(name);
        let what = match (is_connected, is_pinned) {
            (false, false) => return,
            (true, false) => "Connections",
            (false, true) => "Pinned data",
            (true, true) => "Connections and pinned data",
        };
        let name = quoted_name(name, CUT_NAME_CHARS);
        self.notes.push(format!("{what} of a missing node {name} were left in the workflow: this node has them now."));
    }

    /// Whether there are pinned data under this name.
    pub(super) fn is_pinned(&self, name: &str) -> bool {
        let pinned = self.top.get("pinData").and_then(|text| Level::open(text, self.top.inner()));
        pinned.is_some_and(|pinned| pinned.find(name).is_some())
    }

    /// Says in which nodes such names are left.
    pub(super) fn left_names(&self) -> Vec<String> {
        let mut known: HashSet<_> = self.names().collect();
        // The last operation that concerns a name decides.
        let mut notes: Vec<_> = self
            .left
            .iter()
            .rev()
            .filter(|left| known.insert(left.name()))
            .filter_map(|left| self.note(left))
            .collect();
        notes.reverse();
        notes
    }

    fn note(&self, left: &Left) -> Option<String> {
        match left {
            Left::Removed(name) => {
                let nodes = self.nodes_that_may_name(&Sought::new(name));
                let still = self.nodes_with_text(nodes, name, |text, syntax| {
                    scan(text, syntax).names.iter().any(|one| one.name == *name && !one.is_in_comment)
                });
                let nodes = (!still.is_empty()).then(|| still.join(", "))?;
                Some(format!("{} is still named in expressions of: {nodes}.", quoted_name(name, CUT_NAME_CHARS)))
            }
            // n8n does not update a name in a plain string, or in code that it cannot read; neither does this.
            Left::Renamed { name, nodes } => {
                let sought = Sought::new(name);
                let nodes = nodes.iter().copied().filter(|at| self.may_name(*at, &sought)).collect();
                let still = self.nodes_with_text(nodes, name, |text, syntax| mentions(text, syntax, name) > 0);
                let nodes = (!still.is_empty()).then(|| still.join(", "))?;
                Some(format!(
                    "{} is also written where it may not name the node, and was left there, in: {nodes}.",
                    quoted_name(name, CUT_NAME_CHARS)
                ))
            }
        }
    }

    /// The names of those of the nodes with an expression or code for which `holds` returns true, or with another text that refers to
    /// the name as an expression would: Python, or an expression without its `=`.
    fn nodes_with_text(&self, nodes: Vec<usize>, name: &str, holds: impl Fn(&str, Syntax) -> bool) -> Vec<String> {
        let refers = ["('", "(\"", "(`", "['", "[\""].map(|before| format!("{before}{name}{}", &before[1..]));
        let is_it = |text: &ParameterText| match text.syntax {
            Some(syntax) => holds(&text.text, syntax),
            None => refers.iter().any(|reference| text.text.contains(reference)),
        };
        let has = |at: &usize| {
            let Ok(node) = self.node(*at) else { return false };
            let (node_type, version) = type_in(&node);
            let texts = node.get("parameters").map(|json| parameter_texts(&node_type, version, json));
            texts.into_iter().flatten().any(|text| is_it(&text))
        };
        nodes.into_iter().filter(has).map(|at| self.name(at)).collect()
    }
}
