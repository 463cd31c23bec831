//! One node of a workflow in full, and the names of all nodes.

use std::io::Read;

use crate::json::{Cursor, Excerpt, Keep, Projection, ReadError, cut_name};

/// What is needed to find a node.
const KEEP: Keep =
    Keep::Members(&[("id", Keep::Whole), ("name", Keep::Whole), ("nodes", Keep::EachElement(&Keep::Whole))]);

/// Bytes held of a node: more than any answer shows.
const NODE_BYTES: usize = 1024 * 1024;

/// Ids are never longer.
const WORD_CHARS: usize = 200;

/// The result of looking for a node.
#[derive(Debug, Default)]
pub struct NodeLookup {
    /// n8n's id of the workflow.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The node, if there is one.
    pub node: Option<Excerpt>,
    /// The names of all nodes.
    pub names: Vec<String>,
}

/// Reads one node of a workflow; the view is `None` if the body is not a workflow.
#[derive(Clone, Debug)]
pub struct NodeProjection {
    /// The name or id.
    pub node: String,
}

impl Projection for NodeProjection {
    type View = Result<Option<NodeLookup>, ReadError>;
    const KEEP: Keep = KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        read(cursor, &self.node)
    }
}

/// Looks for the node with this name, else for the one with this id; `None` if the body is not a workflow.
fn read<R: Read>(mut cursor: Cursor<R>, wanted: &str) -> Result<Option<NodeLookup>, ReadError> {
    let mut found = NodeLookup::default();
    let mut by_id = None;
    cursor.object(|cursor, member| {
        match member {
            "id" => found.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
            "name" => found.name = cursor.name()?.unwrap_or_default(),
            "nodes" => {
                cursor.array(|cursor, _| {
                    let node = cursor.excerpt(NODE_BYTES)?;
                    let text = |member| node.member(member).and_then(Excerpt::text);
                    let (name, id) = (text("name"), text("id"));
                    found.names.extend(name.clone().map(cut_name));
                    if found.node.is_none() && name.as_deref() == Some(wanted) {
                        found.node = Some(node);
                    } else if by_id.is_none() && id.as_deref() == Some(wanted) {
                        by_id = Some(node);
                    }
                    Ok(())
                })?;
            }
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    found.node = found.node.or(by_id);
    Ok((!found.id.is_empty()).then_some(found))
}
