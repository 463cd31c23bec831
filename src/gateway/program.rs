//! The program that a server runs, and n8n-lens's own program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform::find_program;

/// The gateway's own token, which no server needs.
const TOKEN: &str = "GATEWAY_TOKEN";

/// The variables that a program needs to run: those that the official MCP SDKs pass on to a server
/// (`DEFAULT_INHERITED_ENV_VARS`), language, time zone and temporary folder.
#[cfg(not(windows))]
const INHERITED: [&str; 17] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// The same on Windows, with those that locate `.cmd` files and installed programs.
#[cfg(windows)]
const INHERITED: [&str; 21] = [
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// How a child process is started.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: PathBuf,
    pub(super) args: Vec<String>,
    /// Added to the inherited variables.
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
}

impl Program {
    /// Whether it is n8n-lens itself, as for a built-in server.
    pub(super) fn is_own(&self) -> bool {
        self.command == own_program()
    }

    /// The file to run.
    pub(super) fn file(&self) -> PathBuf {
        find_program(&self.command)
    }

    /// The gateway's variables that it inherits. A built-in server gets the gateway's settings, but not its token; any
    /// other server gets only what a program needs to run, and its configuration names the rest.
    pub(super) fn inherited(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let is_own = self.is_own();
        std::env::vars_os().filter(move |(name, _)| {
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            if is_own { !is(TOKEN) } else { INHERITED.into_iter().any(is) }
        })
    }
}

/// The path of the running program. On Linux it stays valid after the file on disk has been replaced.
pub(super) fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("n8n-lens"))
}
