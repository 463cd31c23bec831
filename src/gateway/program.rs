//! Which program a server runs, and the program that n8n-lens itself is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::platform::find_program;

/// Secrets of the gateway. Third-party servers do not inherit them; the configuration can still pass them on.
const OWN_SECRETS: [&str; 4] = ["GATEWAY_TOKEN", "N8N_API_KEY", "N8N_LENS_AUTH_TOKEN", "N8N_LENS_DB"];

/// How a child process is started.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: PathBuf,
    pub(super) args: Vec<String>,
    /// Added to the gateway's own environment.
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
}

impl Program {
    /// Whether it is n8n-lens itself, as a built-in server is.
    pub(super) fn is_own(&self) -> bool {
        self.command == own_program()
    }

    /// The file to run.
    pub(super) fn file(&self) -> PathBuf {
        find_program(&self.command)
    }

    /// Environment variables that it does not inherit. Built-in servers need all but the gateway's token.
    pub(super) fn withheld_variables(&self) -> &'static [&'static str] {
        if self.is_own() { &OWN_SECRETS[..1] } else { &OWN_SECRETS }
    }
}

/// The path of the running program. On Linux it stays valid after the file on disk has been replaced.
pub(super) fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("n8n-lens"))
}
