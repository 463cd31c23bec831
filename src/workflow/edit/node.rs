//! Dispatches operations, and edits the members of a node.

use serde_json::Value;

use super::{Changed, Editor, NodeTypes, Operation};
use crate::workflow::Error;

impl Editor<'_> {
    /// Makes an edit; returns its changes. If it fails, the editor must not be [finished](Editor::finish).
    ///
    /// # Errors
    /// [`Error::NoNode`] if there is no such node; [`Error::Edit`] with the possible alternatives; [`Error::NotWorkflow`] if a part
    /// of the document is not what it should be.
    pub fn apply(&mut self, operation: &Operation, types: NodeTypes<'_>) -> Result<Vec<Changed>, Error> {
        use Operation as Do;
        match operation {
            Do::SetNodeParameter { node_name, path, value } => self.set_parameter(node_name, path, value),
            Do::RemoveNodeParameter { node_name, path } => self.remove_parameter(node_name, path),
            Do::UpdateNodeParameters { node_name, parameters, replace } => {
                self.update_parameters(node_name, parameters, *replace)
            }
            Do::PatchNodeParameter { node_name, path, patches } => self.patch_parameter(node_name, path, patches),
            Do::SetNodeSettings { node_name, settings } => self.set_node_settings(node_name, settings, types),
            Do::AddNode { after: None, source_output: Some(_), .. } => Err(Error::Edit(
                "sourceOutput is an output of the node in 'after', which is missing; pass both".to_owned(),
            )),
            Do::AddNode { node, after, source_output } => {
                self.add(node, after.as_deref().map(|after| (after, source_output.as_deref())), types)
            }
            Do::RemoveNode { node_name, reconnect } => self.remove(node_name, *reconnect),
            Do::RenameNode { old_name, new_name } => self.rename(old_name, new_name),
            Do::AddConnection(request) => self.connect(request, types),
            Do::RemoveConnection { source, target, source_output, target_input } => {
                self.disconnect(source, target.as_deref(), [source_output.as_deref(), target_input.as_deref()], types)
            }
            Do::SetWorkflowSettings { settings } => self.set_settings(settings),
            Do::SetWorkflowMetadata { name, description } => self.set_metadata(name.as_deref(), description.as_deref()),
            Do::RestoreVersion { .. } => Err(Error::Edit("a version is restored by itself".to_owned())),
        }
    }

    /// Makes all of these edits, or fails.
    ///
    /// # Errors
    /// [`Error::Operation`] with the number of the edit that is not possible, and why.
    pub fn apply_all(&mut self, operations: &[Operation], types: NodeTypes<'_>) -> Result<Vec<Changed>, Error> {
        let mut changes = Vec::new();
        for (at, operation) in operations.iter().enumerate() {
            let made = self.apply(operation, types).map_err(|error| Error::Operation {
                number: at + 1,
                name: operation.name(),
                error: Box::new(error),
            })?;
            changes.extend(made);
        }
        Ok(changes)
    }

    /// Replaces a member of a node, or adds it; `None` removes it. Returns its JSON text before.
    pub(super) fn set_node_member(
        &mut self,
        at: usize,
        member: &str,
        value: Option<&Value>,
    ) -> Result<Option<String>, Error> {
        self.edit_node(at, |node| {
            let before = node.get(member).map(str::to_owned);
            match value {
                Some(value) => node.set_member(member, value),
                None => node.remove_member(member),
            }
            Ok(before)
        })
    }
}
