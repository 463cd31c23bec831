//! The executed workflow: a snapshot inside the execution, usually after its data.

use std::collections::HashMap;
use std::io::Read;

use crate::json::{Cursor, Excerpt, ReadError};

/// Sticky notes are stored as nodes, but never executed.
const STICKY_NOTE: &str = "n8n-nodes-base.stickyNote";

/// A longer node type is cut; real ones never are.
const TYPE_CHARS: usize = 200;

/// What the summary needs of `workflowData`.
#[derive(Debug, Default)]
pub(super) struct Workflow {
    pub name: Option<String>,
    /// How many nodes there are, without sticky notes.
    pub nodes: u64,
    /// The type of each node, by name.
    pub types: HashMap<String, String>,
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
                (workflow.nodes, workflow.types) = (0, HashMap::new());
                cursor.array(|cursor, _| workflow.read_node(cursor)).map(drop)
            }
            _ => cursor.skip(),
        })?;
        Ok(workflow)
    }

    fn read_node<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        let node = WorkflowNode::read(cursor, 0)?;
        if node.node_type.as_deref() != Some(STICKY_NOTE) {
            self.nodes += 1;
        }
        if let (Some(name), Some(node_type)) = (node.name, node.node_type) {
            self.types.insert(name, node_type);
        }
        Ok(())
    }
}

/// One node of a workflow.
#[derive(Debug, Default)]
pub(super) struct WorkflowNode {
    pub name: Option<String>,
    pub node_type: Option<String>,
    pub type_version: Option<f64>,
    pub on_error: Option<String>,
    pub parameters: Option<Excerpt>,
}

impl WorkflowNode {
    /// Reads a node, and about `bytes` of its parameters.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, bytes: usize) -> Result<Self, ReadError> {
        let mut node = Self::default();
        cursor.object(|cursor, member| {
            match member {
                "name" => node.name = cursor.name()?,
                "type" => node.node_type = cursor.text(TYPE_CHARS)?,
                "typeVersion" => node.type_version = cursor.number()?,
                "onError" => node.on_error = cursor.text(TYPE_CHARS)?,
                "parameters" if bytes > 0 => node.parameters = Some(cursor.excerpt(bytes)?),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(node)
    }
}
