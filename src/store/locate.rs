//! Where n8n's store is: what `--store` names.

use std::path::{Path, PathBuf};

#[cfg(feature = "postgres")]
use super::postgres;
use super::variables::Variables;
use super::{Backend, ReadSettings, bundle, sqlite};

/// The name of n8n's SQLite file.
const DATABASE: &str = "database.sqlite";

/// The folders in which n8n keeps bundles, below its own folder.
const STORAGE: [&str; 2] = ["storage", "binaryData"];

/// What is found at a place, and where bundles may be.
pub(super) struct Found {
    pub backend: Backend,
    /// Folders that contain bundles, in the order in which they are tried.
    pub storage: Vec<PathBuf>,
}

/// Finds what `name` means: `auto`, a folder, a file, or a `postgres://` URL.
///
/// # Errors
/// A sentence for the person who starts n8n-lens: there is nothing, or a variable is malformed.
pub(super) fn find(name: &str, variables: &Variables, reading: ReadSettings) -> Result<Found, String> {
    if name == "auto" {
        return auto(variables, reading);
    }
    if let Some((scheme, rest)) = name.split_once("://") {
        let url = match scheme.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" => format!("postgres://{rest}"),
            "mysql" | "mariadb" => return Err(mysql()),
            _ => {
                return Err(
                    "--store has an unknown scheme; it must be auto, a folder, a file, or postgres://….".to_owned()
                );
            }
        };
        let backend = on_server(Some(&url), variables, reading)?;
        return Ok(Found { backend, storage: storage(&variables.n8n_folder()?, variables)? });
    }
    at_path(Path::new(name), variables, reading)
}

/// The place that n8n's own variables name.
fn auto(variables: &Variables, reading: ReadSettings) -> Result<Found, String> {
    let folder = variables.n8n_folder()?;
    let backend = match variables.get("DB_TYPE")?.as_deref().unwrap_or("sqlite") {
        "sqlite" => {
            let file = variables.get("DB_SQLITE_DATABASE")?.unwrap_or_else(|| DATABASE.to_owned());
            Backend::Sqlite(sqlite::Database::new(existing(folder.join(file))?, reading))
        }
        "postgresdb" => on_server(None, variables, reading)?,
        "mysqldb" | "mariadb" => return Err(mysql()),
        other => return Err(format!("DB_TYPE is {other:?}; it must be sqlite or postgresdb.")),
    };
    Ok(Found { backend, storage: storage(&folder, variables)? })
}

/// The database on a PostgreSQL server that `url` or n8n's own variables name.
#[cfg(feature = "postgres")]
fn on_server(url: Option<&str>, variables: &Variables, reading: ReadSettings) -> Result<Backend, String> {
    let address = match url {
        Some(url) => postgres::Address::parse(url, variables)?,
        None => postgres::Address::from_variables(variables)?,
    };
    Ok(Backend::Postgres(Box::new(postgres::Database::new(address, reading))))
}

#[cfg(not(feature = "postgres"))]
fn on_server(_url: Option<&str>, _variables: &Variables, _reading: ReadSettings) -> Result<Backend, String> {
    Err("This n8n-lens was built without PostgreSQL. Build it with the feature `postgres`, or use n8n's API, without --store."
        .to_owned())
}

fn mysql() -> String {
    "MySQL and MariaDB (n8n 1.x only) are not supported as a store: use n8n's API, without --store.".to_owned()
}

fn at_path(path: &Path, variables: &Variables, reading: ReadSettings) -> Result<Found, String> {
    let path = expanded(path, variables);
    let metadata = std::fs::metadata(&path).map_err(|error| missing(&path, &error))?;
    if metadata.is_dir() {
        let file = variables.get("DB_SQLITE_DATABASE")?.unwrap_or_else(|| DATABASE.to_owned());
        let folders = [path.clone(), path.join(".n8n")];
        let Some(folder) = folders.iter().find(|folder| folder.join(&file).exists()) else {
            return Err(format!(
                "{} contains no {file}. --store must name n8n's folder (~/.n8n, or where its volume is mounted) or its parent.",
                path.display()
            ));
        };
        let backend = Backend::Sqlite(sqlite::Database::new(folder.join(&file), reading));
        return Ok(Found { backend, storage: storage(folder, variables)? });
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        let ids = path.canonicalize().ok().and_then(|path| bundle::ids(&path));
        return Ok(Found { backend: Backend::Bundle { file: path, ids }, storage: Vec::new() });
    }
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    let storage = storage(&folder, variables)?;
    Ok(Found { backend: Backend::Sqlite(sqlite::Database::new(path, reading)), storage })
}

/// The folders in which bundles may be: the configured one, or else the ones that n8n uses by default.
fn storage(folder: &Path, variables: &Variables) -> Result<Vec<PathBuf>, String> {
    Ok(match variables.get("N8N_STORAGE_PATH")? {
        Some(path) => vec![path.into()],
        None => STORAGE.iter().map(|name| folder.join(name)).collect(),
    })
}

fn existing(file: PathBuf) -> Result<PathBuf, String> {
    match std::fs::metadata(&file) {
        Ok(_) => Ok(file),
        Err(error) => Err(missing(&file, &error)),
    }
}

fn missing(path: &Path, error: &std::io::Error) -> String {
    format!(
        "n8n's store {} cannot be opened: {error}. Check --store: auto, n8n's folder (such as ~/.n8n), its database.sqlite, a bundle.json, or postgres://user@host/name.",
        path.display()
    )
}

/// A leading `~` is the home folder: no shell expands the arguments in an MCP client's configuration.
fn expanded(path: &Path, variables: &Variables) -> PathBuf {
    match (path.strip_prefix("~"), variables.plain("HOME")) {
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
}
