//! What an edit changed.

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
        /// As it was; `None` if there was none.
        before: Option<Held>,
        /// As it is; `None` if there is none.
        after: Option<Held>,
    },
    /// A node that is new.
    Added {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Its type and version, if the caller did not choose the version.
        chosen: Option<String>,
        /// What leads to it, such as `Get[main:0]`.
        source: Option<String>,
        /// The nodes that it feeds.
        targets: Vec<String>,
    },
    /// A node that is gone.
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
        /// How many expressions and codes followed.
        followed: usize,
        /// In how many nodes.
        nodes: usize,
    },
    /// A connection that is new, or was there already.
    Connected {
        /// The connection.
        connection: Connection,
        /// Whether it is new.
        is_new: bool,
    },
    /// A connection that is gone.
    Disconnected(Connection),
}

/// A value and what holds it: whether it is a secret can depend on its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The JSON text of the object or the list.
    pub container: String,
    /// The name of the member, or the index of the element.
    pub name: String,
}

impl Held {
    /// A value that has no neighbours.
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
