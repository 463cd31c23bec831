//! The catalogue of node types on this machine, read when it is first needed.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::json::{CUT_NAME_CHARS, shorten};
use crate::tools::Error;
use crate::workflow::catalogue::{Catalogue, NodeType};

/// What to do where there is no catalogue.
pub(super) const HOW_TO_BUILD: &str =
    "There is no catalogue of node types on this machine: `n8n-lens catalogue update` builds one from n8n's packages.";

/// Packages whose nodes the catalogue holds; others are community nodes, which it cannot know.
const PACKAGES: [&str; 2] = ["n8n-nodes-base.", "@n8n/n8n-nodes-langchain."];

/// Where the catalogue is.
#[derive(Clone, Debug, Default)]
pub struct CatalogueCache {
    file: Option<PathBuf>,
    read: Arc<OnceLock<Result<Option<Arc<Catalogue>>, String>>>,
}

impl CatalogueCache {
    /// A catalogue in this file, which need not be there.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file, read: Arc::default() }
    }

    /// The catalogue, if there is one.
    ///
    /// # Errors
    /// [`Error::NotThere`], for a file that is none.
    pub(super) fn catalogue(&self) -> Result<Option<Arc<Catalogue>>, Error> {
        self.read.get_or_init(|| self.open()).clone().map_err(Error::NotThere)
    }

    fn open(&self) -> Result<Option<Arc<Catalogue>>, String> {
        let Some(file) = &self.file else { return Ok(None) };
        match std::fs::read(file) {
            Ok(text) => Ok(Some(Arc::new(Catalogue::read(&text).map_err(|error| error.to_string())?))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("The catalogue {} cannot be read: {error}.", file.display())),
        }
    }

    /// What is known of a type that is to be used; `None` where nothing can be.
    ///
    /// # Errors
    /// [`Error::Argument`], with the nearest types, for one that n8n does not have.
    pub(super) fn known(&self, node_type: &str) -> Result<Option<NodeType>, Error> {
        let Some(catalogue) = self.catalogue()? else {
            return Ok(None);
        };
        if let Some(known) = catalogue.find(node_type) {
            return Ok(Some(known.clone()));
        }
        let community = node_type.contains('.') && !PACKAGES.iter().any(|package| node_type.starts_with(package));
        if community {
            return Ok(None);
        }
        const NEAREST: usize = 5;
        let nearest = catalogue.nearest(node_type, NEAREST);
        let quoted: Vec<_> = nearest.iter().map(|name| format!("'{name}'")).collect();
        let nearest =
            if quoted.is_empty() { String::new() } else { format!(" The nearest are {}.", quoted.join(", ")) };
        let asked = shorten(node_type, CUT_NAME_CHARS);
        Err(Error::Argument(format!(
            "n8n has no node type '{asked}'.{nearest} node_search finds types by what they do."
        )))
    }
}
