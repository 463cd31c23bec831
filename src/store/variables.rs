//! n8n's own environment variables, read as n8n reads them (`packages/@n8n/config/src/decorators.ts`).

use std::collections::HashMap;
use std::path::PathBuf;

#[cfg(feature = "postgres")]
use crate::secrets::Secret;

/// The variables that say where n8n keeps its executions. Empty ones count as unset.
#[derive(Clone, Default)]
pub struct Variables(HashMap<String, String>);

impl Variables {
    /// The variables of this process.
    pub fn of_this_process() -> Self {
        Self::new(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// These variables.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// A variable of this process, verbatim, without `_FILE`.
    pub(super) fn plain(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A variable of n8n: its value, or the trimmed content of the file that `NAME_FILE` names. One pair of quotes around
    /// it is removed.
    ///
    /// # Errors
    /// The file cannot be read; the message names the variable.
    pub(super) fn get(&self, name: &str) -> Result<Option<String>, String> {
        if let Some(value) = self.plain(name) {
            return Ok(Some(without_quotes(value).to_owned()));
        }
        let of_file = format!("{name}_FILE");
        let Some(file) = self.plain(&of_file) else { return Ok(None) };
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("The file that {of_file} names cannot be read: {error}. Check {of_file}."))?;
        Ok(Some(without_quotes(text.trim()).to_owned()).filter(|value| !value.is_empty()))
    }

    /// A secret among n8n's variables.
    #[cfg(feature = "postgres")]
    pub(super) fn secret(&self, name: &str) -> Result<Option<Secret>, String> {
        Ok(self.get(name)?.map(Secret::new))
    }

    /// Whether a variable of n8n is on; `default` if it is not set.
    #[cfg(feature = "postgres")]
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, String> {
        Ok(match self.get(name)?.map(|value| value.to_ascii_lowercase()).as_deref() {
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            _ => default,
        })
    }

    /// n8n's folder: `.n8n` below `N8N_USER_FOLDER`, or below the home folder.
    pub(super) fn n8n_folder(&self) -> Result<PathBuf, String> {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let parent = self.get("N8N_USER_FOLDER")?.or_else(|| self.plain(home).map(str::to_owned));
        Ok(PathBuf::from(parent.unwrap_or_else(|| ".".to_owned())).join(".n8n"))
    }

    /// The prefix of n8n's tables.
    pub(super) fn table_prefix(&self) -> Result<String, String> {
        Ok(self.get("DB_TABLE_PREFIX")?.unwrap_or_default())
    }
}

fn without_quotes(value: &str) -> &str {
    let unquoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value)
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Variables(…)")
    }
}
