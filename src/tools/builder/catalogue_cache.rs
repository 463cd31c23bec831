//! The catalogue of node types on this machine, read when it is first needed.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::json::{CUT_NAME_CHARS, shorten};
use crate::tools::Error;
use crate::workflow::catalogue::Catalogue;

/// What to do if there is no catalogue.
pub(super) const HOW_TO_BUILD: &str =
    "There is no catalogue of node types on this machine: `n8n-lens catalogue update` builds one from n8n's packages.";

/// The packages in the catalogue. Types of other packages are community nodes, which are not in it.
const PACKAGES: [&str; 2] = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"];

/// How many types an error suggests.
const MAX_PROPOSED: usize = 5;

/// The catalogue of a file, read once; clones share it.
#[derive(Clone, Debug, Default)]
pub struct CatalogueCache {
    file: Option<PathBuf>,
    read: Arc<OnceLock<Result<Option<Arc<Catalogue>>, String>>>,
}

impl CatalogueCache {
    /// The catalogue in this file, which may not exist.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file, read: Arc::default() }
    }

    /// The catalogue, if there is one.
    ///
    /// # Errors
    /// [`Error::FailedPrecondition`] if the file exists and cannot be read, or is not a catalogue.
    pub(in crate::tools) fn catalogue(&self) -> Result<Option<Arc<Catalogue>>, Error> {
        self.read.get_or_init(|| self.open()).clone().map_err(Error::FailedPrecondition)
    }

    fn open(&self) -> Result<Option<Arc<Catalogue>>, String> {
        let Some(file) = &self.file else { return Ok(None) };
        match std::fs::read(file) {
            Ok(text) => Ok(Some(Arc::new(Catalogue::read(&text).map_err(|error| error.to_string())?))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("The catalogue {} cannot be read: {error}.", file.display())),
        }
    }

    /// The full name of the node type with this name, or of the only type with this display name.
    ///
    /// # Errors
    /// [`Error::Argument`] if n8n has no such type, with the nearest ones, or if several types share the display
    /// name; [`Error::FailedPrecondition`] as [`catalogue`](Self::catalogue).
    pub(in crate::tools) fn node_type(&self, wanted: &str) -> Result<String, Error> {
        let shown = shorten(wanted, CUT_NAME_CHARS);
        let Some(catalogue) = self.catalogue()? else {
            return if parts(wanted).is_some() {
                Ok(wanted.to_owned())
            } else {
                Err(Error::arguments(format!(
                    "'{shown}' is not a full node type, such as n8n-nodes-base.httpRequest. {HOW_TO_BUILD}"
                )))
            };
        };
        let found = catalogue.find(wanted).map_or_else(|| catalogue.with_display_name(wanted), |found| vec![found]);
        match found.as_slice() {
            [known] => Ok(known.node_type.clone()),
            [] if is_community(wanted) && !is_slip(wanted, &catalogue) => Ok(wanted.to_owned()),
            [] => {
                let nearest = quoted(catalogue.nearest(wanted, MAX_PROPOSED));
                let nearest = if nearest.is_empty() { nearest } else { format!(" Nearest: {nearest}.") };
                Err(Error::arguments(format!(
                    "n8n has no node type '{shown}'.{nearest} node_search finds types by what they do."
                )))
            }
            several => {
                let types = quoted(several.iter().map(|known| known.node_type.as_str()).collect());
                Err(Error::arguments(format!("Several node types are called '{shown}': pass one of {types}.")))
            }
        }
    }
}

/// The package and the name of a full node type.
fn parts(node_type: &str) -> Option<(&str, &str)> {
    node_type.rsplit_once('.').filter(|(package, name)| !package.is_empty() && !name.is_empty())
}

/// Whether it is of a package that n8n can install (`n8n-nodes-…`, also in a scope), or of a folder of custom nodes.
fn is_community(node_type: &str) -> bool {
    let Some((package, _)) = parts(node_type) else { return false };
    let name = package.rsplit('/').next().unwrap_or(package);
    package == "CUSTOM" || (name.starts_with("n8n-nodes-") && !PACKAGES.contains(&package))
}

/// Whether n8n has the type in a package that is almost called the same.
fn is_slip(node_type: &str, catalogue: &Catalogue) -> bool {
    const SLIPS: usize = 2;
    let Some((package, name)) = parts(node_type) else { return false };
    let is_near = |own: &str| strsim::damerau_levenshtein(package, own) <= SLIPS;
    PACKAGES.iter().any(|own| is_near(own) && catalogue.find(&format!("{own}.{name}")).is_some())
}

fn quoted(names: Vec<&str>) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
