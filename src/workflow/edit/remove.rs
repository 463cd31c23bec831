//! Removing a node.

use super::sought::Sought;
use super::{Changed, Editor, type_in};
use crate::workflow::Error;
use crate::workflow::connections::{Connection, PortRef};
use crate::workflow::expression::{Syntax, parameter_texts, scan};

impl Editor<'_> {
    /// Removes a node and its connections; with `reconnect`, the nodes that fed it then feed the nodes that it fed.
    pub(super) fn remove(&mut self, node: &str, reconnect: bool) -> Result<Vec<Changed>, Error> {
        let at = self.find_only(node)?;
        let (name, has_namesake) = (self.heads[at].name.clone(), self.has_namesake(at));
        self.remove_node(at);
        let Some(name) = name.clone().filter(|_| !has_namesake) else {
            // Nothing can refer to one without a name.
            if let Some(name) = name {
                self.note_namesake(&name);
            }
            return Ok(vec![Changed::Removed { name: node.to_owned(), bridges: Vec::new() }]);
        };
        self.edit_member("pinData", |pinned| pinned.remove_member(&name));
        let removed = self.connections()?.retain(|connection| connection.source != name && connection.target != name);
        let mut bridges = if reconnect { bridges(&name, &removed)? } else { Vec::new() };
        let connections = self.connections()?;
        bridges.retain(|bridge| connections.add(bridge));
        self.note_names(&name);
        Ok(vec![Changed::Removed { name, bridges }])
    }

    /// Notes the nodes whose expressions and code refer to a removed node.
    fn note_names(&mut self, name: &str) {
        let names =
            |text: &str, syntax| scan(text, syntax).names.iter().any(|one| one.name == name && !one.is_in_comment);
        let still = self.nodes_with_text(self.nodes_that_may_name(&Sought::new(name)), names);
        if !still.is_empty() {
            self.notes.push(format!("'{name}' is still named in expressions of: {}.", still.join(", ")));
        }
    }

    /// The names of the given nodes that have an expression or code for which `holds` returns true.
    pub(super) fn nodes_with_text(&self, nodes: Vec<usize>, holds: impl Fn(&str, Syntax) -> bool) -> Vec<String> {
        let has = |at: &usize| {
            let Ok(node) = self.node(*at) else { return false };
            let (node_type, version) = type_in(&node);
            let texts = node.get("parameters").map(|json| parameter_texts(&node_type, version, json));
            texts.into_iter().flatten().any(|text| text.syntax.is_some_and(|syntax| holds(&text.text, syntax)))
        };
        nodes.into_iter().filter(has).map(|at| self.name(at)).collect()
    }
}

/// The connections that replace those of a removed node.
fn bridges(name: &str, removed: &[Connection]) -> Result<Vec<Connection>, Error> {
    let main = |port: &PortRef| port.kind == "main";
    let into = removed.iter().filter(|one| one.target == name && one.source != name && main(&one.input));
    let out: Vec<_> =
        removed.iter().filter(|one| one.source == name && one.target != name && main(&one.output)).collect();
    let mut outputs: Vec<_> = out.iter().map(|one| one.output.index).collect();
    outputs.sort_unstable();
    outputs.dedup();
    if outputs.len() > 1 {
        let outputs: Vec<_> = outputs.iter().map(|index| format!("main:{index}")).collect();
        return Err(Error::Edit(format!(
            "'{name}' feeds others through several outputs ({}), so reconnect cannot know which way its data go; leave it out, \
             and add the connections",
            outputs.join(", ")
        )));
    }
    let bridge = |one: &Connection, other: &Connection| Connection {
        source: one.source.clone(),
        output: one.output.clone(),
        target: other.target.clone(),
        input: other.input.clone(),
    };
    let all = into.flat_map(|one| out.iter().map(move |other| bridge(one, other)));
    Ok(all.filter(|bridge| bridge.source != bridge.target).collect())
}
