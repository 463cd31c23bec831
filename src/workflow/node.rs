//! One node of a workflow in full, and the names of all nodes.

use crate::json::{Cursor, Excerpt, Keep, Members, Projection, ReadError, cut_name, members};

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
pub struct NodeLookupProjection {
    /// The name or id.
    pub node: String,
}

impl Projection for NodeLookupProjection {
    type View = Result<Option<NodeLookup>, ReadError>;
    const KEEP: Keep = Finder::KEEP;

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
        let mut finder = Finder { wanted: self.node.clone(), ..Finder::default() };
        finder.read_members(&mut cursor)?;
        cursor.finish()?;
        let Finder { mut found, by_id, .. } = finder;
        found.node = found.node.or(by_id);
        Ok((!found.id.is_empty()).then_some(found))
    }
}

/// Looks for the node with the wanted name, else for the one with this id.
#[derive(Default)]
struct Finder {
    wanted: String,
    found: NodeLookup,
    by_id: Option<Excerpt>,
}

members!(Finder, |finder, cursor| match name {
    ("id", Keep::Whole) => finder.found.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
    ("name", Keep::Whole) => finder.found.name = cursor.name()?.unwrap_or_default(),
    ("nodes", Keep::EachElement(&Keep::Whole)) => finder.read_nodes(cursor)?,
});

impl Finder {
    fn read_nodes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        cursor.array(|cursor, _| {
            let node = cursor.excerpt(NODE_BYTES)?;
            let text = |member| node.member(member).and_then(Excerpt::text);
            let (name, id) = (text("name"), text("id"));
            self.found.names.extend(name.clone().map(cut_name));
            if self.found.node.is_none() && name.as_ref() == Some(&self.wanted) {
                self.found.node = Some(node);
            } else if self.by_id.is_none() && id.as_ref() == Some(&self.wanted) {
                self.by_id = Some(node);
            }
            Ok(())
        })?;
        Ok(())
    }
}
