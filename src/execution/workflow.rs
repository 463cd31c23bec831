//! The executed workflow: a snapshot inside the execution, usually after its data.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use super::graph::{self, Graph};
use crate::json::{Cursor, Excerpt, Keep, ReadError, hold_name};

/// Sticky notes are stored as nodes, but never executed.
const STICKY_NOTE: &str = "n8n-nodes-base.stickyNote";

/// Its items come from another execution, those that stand for an error included.
pub(super) const EXECUTE_WORKFLOW: &str = "n8n-nodes-base.executeWorkflow";

/// A longer node type is cut; real ones never are.
const TYPE_CHARS: usize = 200;

/// Memory for the parameters that decide what a node's outputs are called, if the table keeps them.
const PARAMETER_BYTES: usize = 16 * 1024;

/// No node has more outputs; any further ones are not read.
const MAX_OUTPUTS: usize = 256;

/// What is kept of `workflowData` for the summary.
pub(super) const SUMMARY: Keep = Keep::Members(&[
    ("name", Keep::Whole),
    (
        "nodes",
        Keep::EachElement(&Keep::Members(&[
            ("name", Keep::Whole),
            ("type", Keep::Whole),
            ("onError", Keep::Whole),
            ("continueOnFail", Keep::Whole),
        ])),
    ),
    (
        "connections",
        Keep::EachMember(&Keep::Members(&[("main", Keep::EachElement(&Keep::EachElement(&Keep::Members(&[]))))])),
    ),
]);

/// What the summary needs of `workflowData`.
#[derive(Debug, Default)]
pub(super) struct Workflow {
    pub name: Option<String>,
    /// How many nodes there are, without sticky notes.
    pub nodes: u64,
    /// The type of each node, by name.
    pub types: HashMap<String, String>,
    /// The nodes that continue after an error, with items that stand for it.
    pub continuing: HashSet<String>,
    /// Of each node that leads to others: which of its outputs do.
    pub connected: HashMap<String, Vec<bool>>,
    /// Its picture, as far as the table keeps it.
    pub graph: Graph,
}

impl Workflow {
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>) -> Result<Self, ReadError> {
        let mut workflow = Self::default();
        cursor.object(|cursor, member| match member {
            "name" => {
                workflow.name = cursor.name()?;
                Ok(())
            }
            "nodes" => {
                (workflow.nodes, workflow.types, workflow.continuing) = (0, HashMap::new(), HashSet::new());
                workflow.graph.clear_nodes();
                cursor.array(|cursor, _| workflow.read_node(cursor)).map(drop)
            }
            "connections" => {
                workflow.connected.clear();
                workflow.graph.clear_links();
                cursor
                    .object(|cursor, node| {
                        let node = hold_name(node);
                        let outputs = read_connected(cursor, &node, &mut workflow.graph)?;
                        workflow.connected.insert(node, outputs);
                        Ok(())
                    })
                    .map(drop)
            }
            _ => cursor.skip(),
        })?;
        Ok(workflow)
    }

    /// Whether an item of its executions can stand for an error or come from a sub-workflow: a node continues after an
    /// error, or returns what another workflow returned.
    pub(super) fn may_have_marked_items(&self) -> bool {
        !self.continuing.is_empty() || self.types.values().any(|node_type| node_type == EXECUTE_WORKFLOW)
    }

    /// Whether this node returns what another workflow returned.
    pub(super) fn calls_workflow(&self, node: &str) -> bool {
        self.types.get(node).is_some_and(|node_type| node_type == EXECUTE_WORKFLOW)
    }

    fn read_node<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        let node = WorkflowNode::read(cursor, PARAMETER_BYTES)?;
        if node.node_type.as_deref() != Some(STICKY_NOTE) {
            self.nodes += 1;
            self.graph.add_node(&node);
        }
        let Some(name) = node.name else { return Ok(()) };
        if node.continues {
            self.continuing.insert(name.clone());
        }
        if let Some(node_type) = node.node_type {
            self.types.insert(name, node_type);
        }
        Ok(())
    }
}

/// Which `main` outputs of a node lead to another.
fn read_connected<R: Read>(cursor: &mut Cursor<R>, node: &str, graph: &mut Graph) -> Result<Vec<bool>, ReadError> {
    let mut connected = Vec::new();
    cursor.object(|cursor, connection| {
        let connection = connection.to_owned();
        let mut outputs = Vec::new();
        cursor.array(|cursor, output| {
            let mut leads_on = false;
            cursor.array(|cursor, _| {
                leads_on |= graph.read_link(cursor, node, &connection, output)?;
                Ok(())
            })?;
            if output < MAX_OUTPUTS as u64 {
                outputs.push(leads_on);
            }
            Ok(())
        })?;
        if connection == "main" {
            connected = outputs;
        }
        Ok(())
    })?;
    Ok(connected)
}

/// One node of a workflow.
#[derive(Debug, Default)]
pub(super) struct WorkflowNode {
    pub name: Option<String>,
    pub node_type: Option<String>,
    pub type_version: Option<f64>,
    pub position: Option<(f64, f64)>,
    pub disabled: bool,
    pub on_error: Option<String>,
    /// Whether the workflow continues after an error of this node.
    pub continues: bool,
    pub parameters: Option<Excerpt>,
}

impl WorkflowNode {
    /// Reads a node, and about `bytes` of its parameters.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, bytes: usize) -> Result<Self, ReadError> {
        let mut node = Self::default();
        // How n8n wrote it before version 1.
        let mut continue_on_fail = false;
        cursor.object(|cursor, member| {
            match member {
                "name" => node.name = cursor.name()?,
                "type" => node.node_type = cursor.text(TYPE_CHARS)?,
                "typeVersion" => node.type_version = cursor.number()?,
                "onError" => node.on_error = cursor.text(TYPE_CHARS)?,
                "continueOnFail" => continue_on_fail = cursor.is_true()?,
                "position" => node.position = graph::read_position(cursor)?,
                "disabled" => node.disabled = cursor.is_true()?,
                "parameters" => node.parameters = Some(cursor.excerpt(bytes)?),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        let on_error = node.on_error.as_deref();
        node.continues = continue_on_fail || on_error.is_some_and(|on_error| on_error.starts_with("continue"));
        Ok(node)
    }
}
