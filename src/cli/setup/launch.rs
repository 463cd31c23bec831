//! How a client starts n8n-lens, and in which language.

use std::env;
use std::path::PathBuf;

use crate::toolkit::Locale;

/// A command with its arguments.
pub(super) struct Launch {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
}

impl Launch {
    /// The command that starts this n8n-lens again: through the launcher that started it, or by its path.
    pub(super) fn of_this_process() -> Result<Self, String> {
        let words: &[&str] = match env::var("N8N_LENS_LAUNCHER").as_deref() {
            // On Windows, npx is a script, which clients cannot start.
            Ok("npx") if cfg!(windows) => &["cmd", "/c", "npx", "-y", "n8n-lens"],
            Ok("npx") => &["npx", "-y", "n8n-lens"],
            Ok("uvx") => &["uvx", "n8n-lens"],
            _ => return Ok(Self { command: program()?, arguments: Vec::new() }),
        };
        let mut words = words.iter().map(|word| (*word).to_owned());
        Ok(Self { command: words.next().unwrap_or_default(), arguments: words.collect() })
    }
}

/// The path of this program: the one in `PATH` if it leads here, since an update can move its target.
fn program() -> Result<String, String> {
    let unknown = |error| format!("The path of n8n-lens is unknown: {error}. Edit the client's file by hand.");
    let this = env::current_exe().map_err(unknown)?;
    let name = this.file_name().unwrap_or_default().to_owned();
    let folders: Vec<PathBuf> = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let in_path = folders.into_iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    let target = this.canonicalize().map_err(unknown)?;
    let found = in_path.into_iter().find(|path| path.canonicalize().is_ok_and(|found| found == target));
    let path = found.unwrap_or(this);
    let text = path.to_str().ok_or("The path of n8n-lens is not UTF-8. Move the binary, or edit the file by hand.")?;
    Ok(text.to_owned())
}

/// The language of the user's messages, from the POSIX variables.
pub(super) fn locale_of_user() -> Locale {
    let languages = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| env::var(name).ok());
    let language = languages.into_iter().find(|language| !language.is_empty());
    match language.is_some_and(|language| language.to_ascii_lowercase().starts_with("ja")) {
        true => Locale::Ja,
        false => Locale::En,
    }
}

/// Whether the user has a token for an n8n-lens that serves HTTP.
pub(super) fn has_token() -> bool {
    env::var_os("N8N_LENS_AUTH_TOKEN").is_some_and(|token| !token.is_empty())
}
