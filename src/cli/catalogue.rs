//! `n8n-lens catalogue update`: builds the catalogue of n8n's node types from the packages that describe them.
//!
//! The packages' licence does not allow shipping their text in this binary, so the catalogue is built where it is
//! used.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process;

use flate2::read::GzDecoder;

use clap::Subcommand;

use super::Error;
use super::terminal::print;
use crate::config::CatalogueOptions;
use crate::platform::find_program;
use crate::secrets;
use crate::units::{counted, megabytes};
use crate::workflow::catalogue::build;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Build it from n8n's packages: from npm, or from a folder
    Update {
        /// A folder where n8n is installed, or one with its two packages: as folders, or as npm packs them (.tgz)
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,

        #[command(flatten)]
        to: CatalogueOptions,
    },
}

/// The packages, as npm names them.
const PACKAGES: [&str; 2] = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"];

/// The file of a package that describes its node types.
const NODES: &str = "dist/types/nodes.json";

/// Where the packages of an installed n8n can be, below its folder.
const INSTALLED: [&str; 4] = ["", "node_modules", "n8n/node_modules", "lib/node_modules/n8n/node_modules"];

/// Where package folders with other names can be, as in n8n's repository.
const UNINSTALLED: [&str; 4] = ["", "@n8n", "packages", "packages/@n8n"];

/// The node types of one package.
struct Package {
    name: &'static str,
    version: String,
    nodes: Vec<u8>,
}

impl Command {
    pub(super) fn run(self) -> Result<(), Error> {
        let Self::Update { from, to } = self;
        update(from.as_deref(), to.path())
    }
}

/// Builds the catalogue from the packages in a folder, or from packages that npm downloads, and writes it.
fn update(from: Option<&Path>, to: Option<PathBuf>) -> Result<(), Error> {
    let to =
        to.ok_or_else(|| Error::Input("This system has no data folder: name the file with --catalogue.".to_owned()))?;
    let packages = match from {
        Some(folder) => PACKAGES.iter().map(|name| in_folder(folder, name)).collect::<Result<Vec<_>, _>>()?,
        None => packed()?,
    };
    let sources: Vec<_> =
        packages.iter().map(|package| (package.name, package.version.as_str(), package.nodes.as_slice())).collect();
    let catalogue = build(&sources).map_err(|error| Error::Input(error.to_string()))?;
    let text = catalogue.to_bytes().map_err(|error| Error::Input(error.to_string()))?;
    write(&to, &text).map_err(|error| Error::Input(format!("{} cannot be written: {error}.", to.display())))?;
    let (count, size) = (catalogue.nodes().len(), megabytes(text.len() as u64));
    print(&format!(
        "{} of {}, {size}, in {}.",
        counted(count, "node type", "node types"),
        catalogue.source(),
        to.display()
    ))
}

fn write(to: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Running servers can read it at any time.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text)?;
    file.persist(to).map(drop).map_err(|error| error.error)
}

/// A package in a folder: of the n8n that is installed there, or on its own.
fn in_folder(folder: &Path, name: &'static str) -> Result<Package, Error> {
    let installed = INSTALLED.iter().map(|below| folder.join(below).join(name));
    let found = installed.chain(unpacked(folder, name)).find(|package| package.join(NODES).is_file());
    match found {
        Some(package) => read(&package, name),
        None if archive(folder, name).is_some() => unpack(folder, name),
        None => Err(Error::Input(format!(
            "There is no {name} in {}. Name a folder in which n8n is installed, or one with this package as a folder or as a .tgz; without --from, npm downloads it.",
            folder.display()
        ))),
    }
}

/// The folders below this one that claim to be this package.
fn unpacked(folder: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let folders = UNINSTALLED.iter().filter_map(|below| std::fs::read_dir(folder.join(below)).ok());
    let folders = folders.flatten().filter_map(Result::ok).map(|entry| entry.path());
    folders.filter(move |folder| manifest(folder).is_some_and(|manifest| manifest["name"] == name))
}

fn manifest(package: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&std::fs::read(package.join("package.json")).ok()?).ok()
}

fn read(package: &Path, name: &'static str) -> Result<Package, Error> {
    let file = package.join(NODES);
    let nodes =
        std::fs::read(&file).map_err(|error| Error::Input(format!("{} cannot be read: {error}.", file.display())))?;
    let version = manifest(package).and_then(|manifest| Some(manifest["version"].as_str()?.to_owned()));
    Ok(Package { name, version: version.unwrap_or_else(|| "of an unknown version".to_owned()), nodes })
}

/// The packages from the registry that npm is configured for.
fn packed() -> Result<Vec<Package>, Error> {
    let folder =
        tempfile::tempdir().map_err(|error| Error::Input(format!("A temporary folder cannot be created: {error}.")))?;
    let mut command = process::Command::new(find_program(Path::new("npm")));
    command.args(["pack", "--silent", "--pack-destination"]).arg(folder.path()).args(PACKAGES);
    secrets::withhold(&mut command);
    let output = command.output().map_err(|error| {
        Error::Input(format!(
            "npm cannot be run ({error}). Install it, or name a folder in which n8n is installed with --from."
        ))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().last().unwrap_or("it gave no reason").trim();
        return Err(Error::Input(format!("npm could not download n8n's packages: {said}.")));
    }
    PACKAGES.iter().map(|name| unpack(folder.path(), name)).collect()
}

/// The archive of a package in the folder that npm packed it to, such as `n8n-nodes-base-2.41.2.tgz`, and its version.
fn archive(folder: &Path, name: &str) -> Option<(PathBuf, String)> {
    let prefix = format!("{}-", name.trim_start_matches('@').replace('/', "-"));
    std::fs::read_dir(folder).ok()?.filter_map(Result::ok).find_map(|file| {
        let file_name = file.file_name().into_string().ok()?;
        let version = file_name.strip_prefix(&prefix)?.strip_suffix(".tgz")?.to_owned();
        version.starts_with(|char: char| char.is_ascii_digit()).then(|| (file.path(), version))
    })
}

/// One package from the folder that npm packed it to.
fn unpack(folder: &Path, name: &'static str) -> Result<Package, Error> {
    let broken = |why: &str| Error::Input(format!("npm's package {name} cannot be used: {why}."));
    let (path, version) = archive(folder, name).ok_or_else(|| broken("npm did not write it"))?;
    let nodes = nodes_of(&path).map_err(|error| broken(&error.to_string()))?;
    Ok(Package { name, version, nodes: nodes.ok_or_else(|| broken("it describes no node types"))? })
}

/// The node types in a package: one of about 30,000 files; the others are skipped.
fn nodes_of(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.path()?.ends_with(NODES) {
            let mut nodes = Vec::new();
            entry.read_to_end(&mut nodes)?;
            return Ok(Some(nodes));
        }
    }
    Ok(None)
}
