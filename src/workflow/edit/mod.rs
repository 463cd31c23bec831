//! Edits of a workflow's text. Each changes only what it names, or fails and changes nothing; the rest stays byte for byte
//! as it was written.
//!
//! ```
//! use n8n_lens::workflow::Layout;
//! use n8n_lens::workflow::edit::{Editor, Operation};
//!
//! let text = r#"{"name": "Orders", "nodes": [{"name": "Get", "parameters": {"url": "a", "limit": 1.50}}], "connections": {}}"#;
//! let layout = Layout::of(text.as_bytes());
//! let mut editor = Editor::open(text, &layout)?;
//! let set = Operation::SetNodeParameter { node_name: "Get".to_owned(), path: "/url".to_owned(), value: "b".into() };
//! editor.apply(&set, &|_| None)?;
//! assert_eq!(editor.finish()?, text.replace(r#""a""#, r#""b""#));
//! # Ok::<(), n8n_lens::workflow::Error>(())
//! ```

mod add;
mod between;
mod changed;
mod left;
mod level;
mod lone_surrogates;
mod node;
mod operation;
mod parameters;
mod path;
mod remove;
mod rename;
mod replace;
pub mod resolve;
mod settings;
mod sought;
mod string;
mod wiring;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use serde_json::Value;

pub use self::add::NewNode;
pub use self::between::{changes_between, other_changes_between};
pub use self::changed::{Changed, Held};
use self::left::Left;
use self::level::{Level, Style};
use self::lone_surrogates::LoneSurrogates;
pub use self::operation::{ConnectionRequest, Operation, Patch};
pub use self::replace::{Replaced, Replacement};
pub(super) use self::resolve::labelled_outputs;
use self::sought::AsciiSet;
use self::string::decoded;
use super::Error;
use super::catalogue::NodeType;
use super::connections::Connections;
use super::document::Members;
use super::layout::Layout;
use super::parsed::NOTE;
use super::written::Written;
use crate::json::{CUT_NAME_CHARS, quoted_name};

/// Looks a type up in the catalogue.
pub type NodeTypes<'a> = &'a dyn Fn(&str) -> Option<&'a NodeType>;

/// A workflow that is being edited. Its nodes and connections are opened once, however many edits there are.
#[derive(Debug)]
pub struct Editor<'t> {
    /// The white space before and after the workflow.
    around: [&'t str; 2],
    top: Level<'t>,
    nodes: Level<'t>,
    heads: Vec<Head>,
    /// Before and after; read by the first edit that concerns them.
    connections: Option<(Connections, Connections)>,
    /// The names in the connections whose written form differs from what was read.
    lone_surrogates: LoneSurrogates,
    /// Nodes that were renamed: their connections stay where they are.
    renamed: Vec<(String, String)>,
    /// Names that no node has any longer.
    left: Vec<Left>,
    notes: Vec<String>,
}

/// What names a node, and what is known of its text.
#[derive(Clone, Debug, Default)]
struct Head {
    id: Option<String>,
    name: Option<String>,
    /// Whether it is a sticky note, which no connection or expression means.
    is_note: bool,
    /// The characters that are escaped in it, once that was asked.
    escaped: OnceCell<AsciiSet>,
}

impl Head {
    fn of(node: &Level<'_>) -> Self {
        let text = |member| node.get(member).and_then(decoded);
        let is_note = text("type").is_some_and(|node_type: String| node_type == NOTE);
        Self { id: text("id"), name: text("name"), is_note, escaped: OnceCell::new() }
    }
}

/// The type in the text of a node, and its version.
fn type_in(node: &Level<'_>) -> (String, f64) {
    let node_type = node.get("type").and_then(decoded).unwrap_or_default();
    (node_type, node.get("typeVersion").and_then(decoded).unwrap_or(1.0))
}

/// Edits a workflow; returns the result of `edit`, and the new workflow.
///
/// # Errors
/// As [`Editor::open`], `edit` and [`Editor::finish`].
pub fn edited<T>(
    before: &Written,
    edit: impl FnOnce(&mut Editor<'_>) -> Result<T, Error>,
) -> Result<(T, Written), Error> {
    let layout = Layout::of(before.text.as_bytes());
    let mut editor = Editor::open(&before.text, &layout)?;
    let value = edit(&mut editor)?;
    Ok((value, Written::parse(editor.finish()?)?))
}

impl<'t> Editor<'t> {
    /// Opens a workflow that [`Document::parse`](super::Document::parse) accepts; new values are laid out like this.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if there is no list of nodes.
    pub fn open(text: &'t str, layout: &'t Layout) -> Result<Self, Error> {
        let no_nodes = || Error::NotWorkflow("nodes must be a list of objects".to_owned());
        let top = Level::open(text, Style { layout, depth: 0 }).filter(Level::is_object).ok_or_else(no_nodes)?;
        let written = top.find("nodes").map(|at| top.written(at)).ok_or_else(no_nodes)?;
        let nodes = Level::open(written, top.inner()).filter(|nodes| !nodes.is_object()).ok_or_else(no_nodes)?;
        let head = |node| Level::open(node, nodes.inner()).filter(Level::is_object).map(|node| Head::of(&node));
        let heads = nodes.values().map(head).collect::<Option<_>>().ok_or_else(no_nodes)?;
        let after = &text[text.trim_ascii_end().len()..];
        let around = [&text[..text.len() - text.trim_ascii_start().len()], after];
        Ok(Self {
            around,
            top,
            nodes,
            heads,
            connections: None,
            lone_surrogates: LoneSurrogates::default(),
            renamed: Vec::new(),
            left: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// What the caller of the edits should also know.
    pub fn notes(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.left_names()).collect()
    }

    /// The names of all nodes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.heads.iter().filter_map(|head| head.name.as_deref())
    }

    /// The edited text.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if there are connections to write and no object to write them into.
    pub fn finish(mut self) -> Result<String, Error> {
        self.write_connections()?;
        if let Some(at) = self.top.find("nodes") {
            self.top.replace(at, self.nodes.to_string());
        }
        let [before, after] = self.around;
        Ok(format!("{before}{}{after}", self.top))
    }

    /// The index of the node with this name, rather than of a sticky note, or else of the one with this id.
    ///
    /// # Errors
    /// [`Error::NoNode`] if there is neither.
    pub fn find(&self, wanted: &str) -> Result<usize, Error> {
        let named = || (0..self.heads.len()).filter(|at| self.heads[*at].name.as_deref() == Some(wanted));
        let with_id = || self.heads.iter().position(|head| head.id.as_deref() == Some(wanted));
        let found = named().find(|at| !self.heads[*at].is_note).or_else(|| named().next());
        found.or_else(with_id).ok_or_else(|| self.no_node(wanted))
    }

    /// The same for an edit of a node itself, which must be the only one with its name.
    fn find_only(&self, wanted: &str) -> Result<usize, Error> {
        let at = self.find(wanted)?;
        if self.heads[at].name.as_deref() != Some(wanted) || !self.has_namesake(at) {
            return Ok(at);
        }
        let named = self.heads.iter().filter(|head| head.name.as_deref() == Some(wanted) && !head.is_note);
        let ids: Vec<_> = named.map(|head| head.id.as_deref()).collect();
        let known: Vec<_> = ids.iter().copied().flatten().collect();
        let how = match known.as_slice() {
            [] => "give each an id first, which n8n's editor does when it saves the workflow".to_owned(),
            known => format!("name one by its id: {}", known.join(", ")),
        };
        let wanted = quoted_name(wanted, CUT_NAME_CHARS);
        Err(Error::Edit(format!("{} nodes are called {wanted}; {how}", ids.len())))
    }

    /// Whether another node, not a sticky note, has the name of this one: connections, pinned data and expressions mean that one.
    fn has_namesake(&self, at: usize) -> bool {
        let is_other = |(other, head): (usize, &Head)| {
            other != at && !head.is_note && head.name.is_some() && head.name == self.heads[at].name
        };
        self.heads.iter().enumerate().any(is_other)
    }

    fn note_namesake(&mut self, name: &str) {
        let name = quoted_name(name, CUT_NAME_CHARS);
        self.notes.push(format!(
            "Another node is called {name}, too: connections, pinned data and expressions stay with it."
        ));
    }

    /// The index of the node with this id, or else of the one with this name.
    ///
    /// # Errors
    /// [`Error::NoNode`] if there is neither.
    pub fn find_by_id(&self, wanted: &str) -> Result<usize, Error> {
        let by_id = self.heads.iter().position(|head| head.id.as_deref() == Some(wanted));
        by_id.map_or_else(|| self.find(wanted), Ok)
    }

    fn no_node(&self, wanted: &str) -> Error {
        Error::NoNode { wanted: wanted.to_owned(), names: self.names().map(str::to_owned).collect() }
    }

    fn name(&self, at: usize) -> String {
        self.heads[at].name.clone().unwrap_or_default()
    }

    /// The name of a node that is to be connected.
    fn connected_name(&self, at: usize) -> Result<String, Error> {
        self.heads[at].name.clone().ok_or_else(|| {
            let id = self.heads[at].id.as_deref().unwrap_or_default();
            Error::Edit(format!(
                "the node with the id '{id}' has no name, by which connections know it; renameNode assigns one"
            ))
        })
    }

    /// A node, opened.
    fn node(&self, at: usize) -> Result<Level<'_>, Error> {
        let node = Level::open(self.nodes.value(at), self.nodes.inner());
        node.ok_or_else(|| Error::NotWorkflow(format!("nodes[{at}] must be an object")))
    }

    /// The members of a node, with U+FFFD in place of lone surrogates: for reading, not for writing.
    fn members(&self, at: usize) -> Members {
        decoded(self.nodes.value(at)).unwrap_or_default()
    }

    /// Edits a node.
    fn edit_node<T>(&mut self, at: usize, edit: impl FnOnce(&mut Level<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut node = self.node(at)?;
        let done = edit(&mut node)?;
        let (head, text) = (Head::of(&node), node.to_string());
        self.heads[at] = head;
        self.nodes.replace(at, text);
        Ok(done)
    }

    /// Edits a member of the workflow that is an object or a list; `None` if it is neither, or missing.
    fn edit_member<T>(&mut self, member: &str, edit: impl FnOnce(&mut Level<'_>) -> T) -> Option<T> {
        self.top.inside(self.top.find(member)?, edit)
    }

    fn push_node(&mut self, node: &Value) {
        let text = |member: &str| node[member].as_str().map(str::to_owned);
        let is_note = node["type"] == NOTE;
        self.heads.push(Head { id: text("id"), name: text("name"), is_note, escaped: OnceCell::new() });
        self.nodes.push(None, node);
    }

    fn remove_node(&mut self, at: usize) {
        self.heads.remove(at);
        self.nodes.remove(at);
        self.left.iter_mut().for_each(|left| left.node_was_removed(at));
    }

    /// The names of the nodes as raw text.
    fn name_texts(&self) -> impl Iterator<Item = &str> {
        // Only a name that was read with U+FFFD can be written in another way.
        let named = self.heads.iter().map(|head| head.name.as_deref().unwrap_or_default()).enumerate();
        named.filter(|(_, name)| name.contains('\u{fffd}')).filter_map(move |(at, _)| {
            let node = Level::open(self.nodes.value(at), self.nodes.inner())?;
            node.find("name").map(|name| node.written(name))
        })
    }

    /// The connections, for changing.
    fn connections(&mut self) -> Result<&mut Connections, Error> {
        if self.connections.is_none() {
            let read: Connections = match self.top.get("connections").filter(|text| *text != "null") {
                Some(text) => {
                    self.lone_surrogates = LoneSurrogates::of(self.name_texts().chain([text]))?;
                    decoded(text).ok_or_else(|| Error::NotWorkflow("connections must be an object".to_owned()))?
                }
                None => Connections::default(),
            };
            self.connections = Some((read.clone(), read));
        }
        // They exist now.
        Ok(&mut self.connections.get_or_insert_default().1)
    }

    /// Writes the connections of the sources whose connections have changed.
    fn write_connections(&mut self) -> Result<(), Error> {
        let Some((before, after)) = self.connections.take().filter(|(before, after)| before != after) else {
            return Ok(());
        };
        if self.top.get("connections").is_none_or(|text| text == "null") {
            self.top.set_member("connections", &serde_json::json!(after));
            return Ok(());
        }
        let (renamed, lone_surrogates) = (std::mem::take(&mut self.renamed), std::mem::take(&mut self.lone_surrogates));
        let was = |name: &str| {
            let mut from = renamed.iter().rev().filter(|(old, _)| before.of(old).is_some());
            from.find(|(_, new)| new == name).map_or(name.to_owned(), |(old, _)| old.clone())
        };
        let written = self.edit_member("connections", |level| {
            // All at once, since names can be swapped or reused.
            level.rename_all(|name| {
                let new = renamed.iter().filter(|(old, _)| old == name).map(|(_, new)| new.as_str());
                let is_it = |new: &&str| after.of(new).is_some() && was(new) == name;
                new.chain([name]).find(is_it).map(str::to_owned)
            });
            for (name, outputs) in after.sources() {
                if before.of(&was(name)) != Some(outputs) || level.find(name).is_none() {
                    level.merge_member(name, outputs);
                    level.restore_member(name, &lone_surrogates);
                }
            }
        });
        written.ok_or_else(|| Error::NotWorkflow("connections must be an object".to_owned()))
    }
}
