//! Removing a node.

use super::left::Left;
use super::{Changed, Editor};
use crate::workflow::Error;
use crate::workflow::connections::{Connection, PortRef};

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
        self.left.push(Left::Removed(name.clone()));
        Ok(vec![Changed::Removed { name, bridges }])
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
