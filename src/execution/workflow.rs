//! The executed workflow: a snapshot inside the execution, usually after its data.

use std::collections::{HashMap, HashSet};

use super::workflow_node::WorkflowNode;
use crate::json::{Cursor, Keep, Members, ReadError, hold_name, members};

/// Sticky notes are stored as nodes, but never executed.
pub(super) const STICKY_NOTE: &str = "n8n-nodes-base.stickyNote";

/// Its items come from another execution, including items that stand for an error.
pub(super) const EXECUTE_WORKFLOW: &str = "n8n-nodes-base.executeWorkflow";

/// No node has more outputs; any further ones are not read.
const MAX_OUTPUTS: usize = 256;

/// Whether an output leads anywhere, but not where.
pub(super) const CONNECTIONS: Keep =
    Keep::EachMember(&Keep::EachMember(&Keep::EachElement(&Keep::EachElement(&Keep::Members(&[])))));

/// The maximum number of bytes held of a workflow as JSON: n8n accepts no larger one.
pub(super) const JSON_BYTES: usize = 16 * 1024 * 1024;

/// The member `workflowData` as JSON; `None` if it is not an object, or larger.
pub(super) fn read_json(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, ReadError> {
    if cursor.at_object()? {
        return cursor.json(JSON_BYTES);
    }
    cursor.skip()?;
    Ok(None)
}

/// What the summary needs of `workflowData`.
#[derive(Debug, Default)]
pub(super) struct Workflow {
    pub name: Option<String>,
    /// How many nodes there are, without sticky notes.
    pub nodes: u64,
    /// The type of each node, by name.
    pub types: HashMap<String, String>,
    /// What the editor calls the outputs of the nodes that have several, where their names are known.
    pub labels: HashMap<String, Vec<String>>,
    /// The nodes that continue after an error, with items that stand for it.
    pub continuing: HashSet<String>,
    /// For each node that leads to others, which of its outputs do.
    pub connected: HashMap<String, Vec<bool>>,
    /// The nodes that serve others, as a tool or a model serves an AI agent.
    pub sub_nodes: HashSet<String>,
}

members!(Workflow, |workflow, cursor| match name {
    ("name", Keep::Whole) => workflow.name = cursor.name()?,
    ("nodes", Keep::EachElement(&WorkflowNode::SUMMARY)) => workflow.read_nodes(cursor, |_| {})?,
    ("connections", CONNECTIONS) => workflow.read_connections(cursor, |cursor, _| cursor.skip_present())?,
});

/// Where a connection of a workflow begins.
#[derive(Clone, Copy)]
pub(super) struct LinkStart<'a> {
    pub node: &'a str,
    /// The connection's type.
    pub kind: &'a str,
    /// The output of this type, from 0.
    pub output: u64,
}

impl Workflow {
    /// Reads `nodes`; `each` receives all but sticky notes.
    pub(super) fn read_nodes(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut each: impl FnMut(&WorkflowNode),
    ) -> Result<(), ReadError> {
        (self.nodes, self.types, self.labels, self.continuing) = (0, HashMap::new(), HashMap::new(), HashSet::new());
        cursor.array(|cursor, _| {
            let node = WorkflowNode::read_or_default(cursor)?;
            if node.node_type.as_deref() != Some(STICKY_NOTE) {
                each(&node);
            }
            self.add_node(node);
            Ok(())
        })?;
        Ok(())
    }

    fn add_node(&mut self, node: WorkflowNode) {
        self.nodes += u64::from(node.node_type.as_deref() != Some(STICKY_NOTE));
        let (continues, labels) = (node.continues(), node.output_labels());
        let Some(name) = node.name else { return };
        if let Some(labels) = labels.names().filter(|names| names.len() > 1) {
            self.labels.insert(name.clone(), labels.to_vec());
        }
        if continues {
            self.continuing.insert(name.clone());
        }
        if let Some(node_type) = node.node_type {
            self.types.insert(name, node_type);
        }
    }

    /// Reads `connections`; `read_end` reads where each leads, and returns whether there was anything.
    pub(super) fn read_connections(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut read_end: impl FnMut(&mut Cursor<'_>, LinkStart<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        self.connected.clear();
        self.sub_nodes.clear();
        cursor.object(|cursor, node| {
            let node = hold_name(node);
            let mut serves = false;
            let outputs = read_connected(cursor, &node, |cursor, start| {
                let leads_on = read_end(cursor, start)?;
                serves |= leads_on && start.kind != "main";
                Ok(leads_on)
            })?;
            if serves {
                self.sub_nodes.insert(node.clone());
            }
            self.connected.insert(node, outputs);
            Ok(())
        })?;
        Ok(())
    }

    /// Whether an item of its executions can stand for an error or come from a sub-workflow: a node continues after an
    /// error, serves an AI agent, or returns what another workflow returned.
    pub(super) fn may_have_marked_items(&self) -> bool {
        !self.continuing.is_empty()
            || !self.sub_nodes.is_empty()
            || self.types.values().any(|node_type| node_type == EXECUTE_WORKFLOW)
    }

    /// Whether this node returns what another workflow returned.
    pub(super) fn calls_workflow(&self, node: &str) -> bool {
        self.types.get(node).is_some_and(|node_type| node_type == EXECUTE_WORKFLOW)
    }
}

/// Which `main` outputs of a node lead to another.
fn read_connected(
    cursor: &mut Cursor<'_>,
    node: &str,
    mut read_end: impl FnMut(&mut Cursor<'_>, LinkStart<'_>) -> Result<bool, ReadError>,
) -> Result<Vec<bool>, ReadError> {
    let mut connected = Vec::new();
    cursor.object(|cursor, kind| {
        let kind = kind.to_owned();
        let mut outputs = Vec::new();
        cursor.array(|cursor, output| {
            let mut leads_on = false;
            cursor.array(|cursor, _| {
                leads_on |= read_end(cursor, LinkStart { node, kind: &kind, output })?;
                Ok(())
            })?;
            if output < MAX_OUTPUTS as u64 {
                outputs.push(leads_on);
            }
            Ok(())
        })?;
        if kind == "main" {
            connected = outputs;
        }
        Ok(())
    })?;
    Ok(connected)
}
