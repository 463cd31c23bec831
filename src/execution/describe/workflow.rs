//! The workflow that was executed, with the parameters of its nodes.

use indexmap::IndexMap;

use super::node::NodeSettings;
use crate::execution::workflow::{CONNECTIONS, Workflow};
use crate::execution::workflow_node::WorkflowNode;
use crate::json::{Cursor, Excerpt, Keep, ReadError, members};

/// Memory for the parameters of all nodes.
const PARAMETERS_BYTES: usize = 2 * 1024 * 1024;

/// Memory for the parameters of a node once the room is used up.
const MIN_BYTES: usize = 256;

/// The workflow with its nodes' settings.
#[derive(Debug, Default)]
pub(super) struct DescribedWorkflow {
    pub workflow: Workflow,
    /// The settings of the nodes without sticky notes, by name, in document order.
    pub settings: IndexMap<String, NodeSettings>,
    held: usize,
}

members!(DescribedWorkflow, |described, cursor| match name {
    ("name", Keep::Whole) => described.workflow.name = cursor.name()?,
    ("nodes", Keep::EachElement(&WorkflowNode::WHOLE)) => described.read_nodes(cursor)?,
    ("connections", CONNECTIONS) => described.read_connections(cursor)?,
});

impl DescribedWorkflow {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        (self.settings, self.held) = (IndexMap::new(), 0);
        self.workflow.read_nodes(cursor, |node| {
            let Some(name) = node.name.clone() else { return };
            let mut settings = NodeSettings::new(node);
            if let Some(parameters) = &mut settings.parameters {
                if self.held > PARAMETERS_BYTES {
                    parameters.shrink(MIN_BYTES);
                }
                self.held += parameters.bytes();
            }
            self.settings.insert(name, settings);
        })
    }

    fn read_connections(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        self.workflow.read_connections(cursor, |cursor, _| cursor.skip_present())
    }
}

impl NodeSettings {
    fn new(node: &WorkflowNode) -> Self {
        let labels = node.output_labels();
        Self {
            output_labels: labels.names().filter(|names| names.len() > 1).map(<[String]>::to_vec).unwrap_or_default(),
            on_error: node.continues().then(|| {
                let on_error = node.on_error.clone().filter(|on_error| on_error.starts_with("continue"));
                on_error.unwrap_or_else(|| "continueOnFail".to_owned())
            }),
            disabled: node.disabled,
            always_output_data: node.always_output_data,
            parameters: node.parameters.clone().filter(|value| matches!(value, Excerpt::Object { .. })),
        }
    }
}
