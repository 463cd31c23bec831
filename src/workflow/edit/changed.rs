//! The changes of an edit.

use crate::workflow::connections::Connection;

/// One change, for a reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Changed {
    /// A value.
    Value {
        /// The node that has it; `None` for the workflow itself.
        node: Option<String>,
        /// A JSON Pointer below the node's parameters, or the name of a setting.
        path: String,
        /// The value before; `None` if there was none.
        before: Option<Held>,
        /// The value after; `None` if there is none.
        after: Option<Held>,
    },
    /// A new node.
    Added {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Its type and version, if the caller did not choose the version.
        chosen: Option<String>,
        /// The output that leads to it, such as `Get[main:0]`.
        source: Option<String>,
        /// The nodes that it feeds.
        targets: Vec<String>,
    },
    /// A removed node.
    Removed {
        /// Its name.
        name: String,
        /// The connections that were made in its place.
        bridges: Vec<Connection>,
    },
    /// A node with another name.
    Renamed {
        /// Its name before.
        from: String,
        /// Its name.
        to: String,
        /// How many expressions and code texts were updated.
        followed: usize,
        /// In how many nodes.
        nodes: usize,
    },
    /// A connection that is new or already existed.
    Connected {
        /// The connection.
        connection: Connection,
        /// Whether it is new.
        is_new: bool,
    },
    /// A removed connection.
    Disconnected(Connection),
}

/// A value and its container: whether it is a secret can depend on its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The JSON text of the object or the list.
    pub container: String,
    /// The name of the member, or the index of the element.
    pub name: String,
}

impl Held {
    /// A value without neighbours.
    pub(super) fn alone(name: &str, json: &str) -> Self {
        Self { container: format!("{{{}:{json}}}", serde_json::Value::from(name)), name: name.to_owned() }
    }
}

impl Changed {
    /// The id of a node that is new.
    pub fn added_id(&self) -> Option<&str> {
        match self {
            Self::Added { id, .. } => Some(id),
            _ => None,
        }
    }
}
