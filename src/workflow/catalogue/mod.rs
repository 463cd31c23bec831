//! n8n's node types: names, parameters, inputs and outputs, and a search over all of them.
//!
//! n8n describes its nodes in the `nodes.json` of two npm packages, whose licence does not allow shipping their
//! text with this program. So the index is built on the user's machine ([`build()`]), written to a file
//! ([`Catalogue::to_bytes`]) and read from there ([`Catalogue::read`]).
//!
//! ```
//! use n8n_lens::workflow::catalogue::{Query, build};
//!
//! let nodes = br#"[{"name": "httpRequest", "displayName": "HTTP Request", "version": [4, 4.2],
//!     "description": "Makes an HTTP request", "inputs": ["main"], "outputs": ["main"]}]"#;
//! let catalogue = build(&[("n8n-nodes-base", "2.41.2", nodes)])?;
//! let found = catalogue.search(&Query::keyword("http"));
//! assert_eq!(found[0].node_type, "n8n-nodes-base.httpRequest");
//! # Ok::<(), n8n_lens::workflow::catalogue::Error>(())
//! ```

mod build;
mod computed_ports;
mod declaration;
mod lexicon;
mod node_type;
mod parameters;
mod ports;
#[cfg(test)]
mod samples;
mod search;
mod search_entry;
mod vocabulary;

use std::sync::OnceLock;

use search_entry::is_offered;
use serde::{Deserialize, Serialize};

pub use crate::node_outputs::NodeState;
pub use build::build;
pub use node_type::{NodeType, ParameterType};
pub use ports::{NodePort, NodePorts};
pub use search::Query;

/// The format of the index. An index of another format is rebuilt, not converted.
const FORMAT: u64 = 1;

/// All node types of one version of n8n.
#[derive(Debug, Serialize, Deserialize)]
pub struct Catalogue {
    format: u64,
    source: String,
    nodes: Vec<NodeType>,
    /// Built by the first search, so that reading the catalogue stays cheap.
    #[serde(skip)]
    index: OnceLock<search::Index>,
    /// Built by the first lookup of a type that n8n derives from another.
    #[serde(skip)]
    twins: OnceLock<Vec<NodeType>>,
}

/// Why there is no catalogue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index is damaged.
    #[error("the node catalogue cannot be read ({0}); run `n8n-lens catalogue update`")]
    Damaged(#[source] serde_json::Error),
    /// The index was written by another version of this program.
    #[error("the node catalogue has format {found}, not {FORMAT}; run `n8n-lens catalogue update`")]
    Format {
        /// Its format.
        found: u64,
    },
    /// The index cannot be serialised.
    #[error("the node catalogue cannot be written: {0}")]
    Unwritten(#[source] serde_json::Error),
    /// A package's `nodes.json` does not have the expected shape.
    #[error("nodes.json of {package} cannot be read: {source}")]
    Package {
        /// The npm package.
        package: String,
        /// What the parser found.
        source: serde_json::Error,
    },
    /// A package's `nodes.json` is an empty list.
    #[error("nodes.json of {package} describes no nodes")]
    NoNodes {
        /// The npm package.
        package: String,
    },
}

/// The part of an index that shows its format, whatever the rest looks like.
#[derive(Deserialize)]
struct Header {
    format: u64,
}

impl Catalogue {
    fn new(source: String, nodes: Vec<NodeType>) -> Self {
        Self { format: FORMAT, source, nodes, index: OnceLock::new(), twins: OnceLock::new() }
    }

    /// Reads an index that [`Catalogue::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Damaged`] if it is not an index, [`Error::Format`] if it has the format of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let header: Header = serde_json::from_slice(bytes).map_err(Error::Damaged)?;
        if header.format != FORMAT {
            return Err(Error::Format { found: header.format });
        }
        serde_json::from_slice(bytes).map_err(Error::Damaged)
    }

    /// The index as compact JSON.
    ///
    /// # Errors
    /// [`Error::Unwritten`] if the catalogue cannot be serialised.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(Error::Unwritten)
    }

    /// The packages that it was built from, with their versions.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// All types, including the ones that n8n hides.
    pub fn nodes(&self) -> &[NodeType] {
        &self.nodes
    }

    /// The node type with this full name (`n8n-nodes-base.httpRequest`), including hidden types and the twins that n8n
    /// derives for AI agents (`n8n-nodes-base.httpRequestTool`).
    pub fn find(&self, node_type: &str) -> Option<&NodeType> {
        let named = |node: &&NodeType| node.node_type == node_type;
        let declared = self.nodes.iter().find(named);
        let may_be_twin = declared.is_none() && node_type.ends_with(node_type::TOOL);
        declared.or_else(|| may_be_twin.then(|| self.twins().iter().find(named)).flatten())
    }

    /// The node types that the editor offers under this display name (`HTTP Request`), ignoring case.
    pub fn with_display_name(&self, name: &str) -> Vec<&NodeType> {
        let named = |node: &&NodeType| node.display_name.eq_ignore_ascii_case(name.trim()) && is_offered(node);
        self.nodes.iter().filter(named).collect()
    }

    /// At most `most` full types that could be meant by one unknown to [`Catalogue::find`], nearest first.
    pub fn nearest(&self, node_type: &str, most: usize) -> Vec<&str> {
        self.index().nearest(&self.nodes, node_type, most)
    }

    /// All types that match, best first.
    pub fn search(&self, query: &Query) -> Vec<&NodeType> {
        self.index().search(&self.nodes, query)
    }

    fn index(&self) -> &search::Index {
        self.index.get_or_init(|| search::Index::new(&self.nodes))
    }

    fn twins(&self) -> &[NodeType] {
        self.twins.get_or_init(|| self.nodes.iter().flat_map(NodeType::twins).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_as_it_was_written() {
        let written = samples::catalogue();
        let bytes = written.to_bytes().unwrap();
        let read = Catalogue::read(&bytes).unwrap();
        assert_eq!(read.nodes(), written.nodes());
        assert_eq!(read.source(), "base 2.0.0, @acme/ai 2.1.0");
        assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn an_unusable_index_says_what_to_do() {
        for bytes in [&br#"{"format":9,"shape":"new"}"#[..], br#"{"format":1,"source":"x","nodes":[{}]}"#, b"{\"form"] {
            let error = Catalogue::read(bytes).unwrap_err().to_string();
            assert!(error.contains("run `n8n-lens catalogue update`"), "{error}");
        }
        assert!(matches!(Catalogue::read(br#"{"format":9}"#), Err(Error::Format { found: 9 })));
    }

    #[test]
    fn hidden_types_and_twins_are_found_by_their_full_name_only() {
        let catalogue = samples::catalogue();
        assert!(catalogue.find("base.oldTimer").is_some_and(|node| node.hidden));
        assert!(catalogue.find("chatter").is_none());
        let twin = catalogue.find("base.chatterTool").unwrap();
        assert_eq!((twin.display_name.as_str(), twin.usable_as_tool), ("Chatter Tool", false));
        assert!(catalogue.find("base.chatterHitlTool").is_some());
        assert!(catalogue.find("base.ifTool").is_none(), "not usable as a tool");
        assert!(catalogue.find("base.mailerHitlTool").is_none(), "has nothing to wait for");
    }

    #[test]
    fn a_display_name_finds_the_types_that_the_editor_offers() {
        let catalogue = samples::catalogue();
        let types = |name| catalogue.with_display_name(name).iter().map(|node| &node.node_type).collect::<Vec<_>>();
        assert_eq!(types("http request"), ["base.httpRequest"]);
        assert_eq!(types(" Switch "), ["base.switch"], "the versions of a type are one type");
        assert!(types("Old Timer").is_empty(), "hidden");
        assert!(types("Http").is_empty());
    }

    #[test]
    fn an_unknown_type_has_nearest_types() {
        let catalogue = samples::catalogue();
        assert_eq!(catalogue.nearest("base.chater", 1), ["base.chatter"]);
        assert_eq!(catalogue.nearest("switch", 1), ["base.switch"]);
        assert_eq!(catalogue.nearest("base.webCaller", 3).first(), Some(&"base.httpRequest"));
        assert_eq!(catalogue.nearest("base.oldTimr", 3), Vec::<&str>::new(), "a hidden type is not proposed");
        assert!(catalogue.nearest("", 3).is_empty());
    }
}
