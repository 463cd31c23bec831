//! n8n's own store as the source of executions, through the real binary.

use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::fixtures;
use crate::support::binary;

/// Who may use a store, and with which tools.
mod access;
/// Bundles on disk.
mod bundles;
/// `n8n-lens check --store`.
mod check;
/// The same answers as from n8n's API.
mod equality;
/// Texts whose references are out of order, or multiply.
mod expensive;
/// Failures of a store.
mod faults;
/// Servers that are silent or send too much.
mod hostile_postgres;
/// Database files forged to look like n8n's.
mod hostile_sqlite;
/// Lists, filters and searches.
mod list;
/// Where a store is.
mod location;
/// Journal modes, and files next to the database.
#[cfg(target_os = "linux")]
mod modes;
/// PostgreSQL.
#[cfg(unix)]
mod postgres;
/// Large executions, and many of them.
#[cfg(target_os = "linux")]
mod scale;
/// n8n at the same time.
#[cfg(target_os = "linux")]
mod undisturbed;
/// A walk over many executions.
mod walk;

/// The binary with a store, and no other access to n8n.
fn lens(store: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).arg("--store").arg(store).env_clear().env("N8N_LENS_LOCALE", "en");
    command
}

/// The answer of a command that must succeed.
fn answer(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The message of a command that must fail; it prints nothing to standard output.
fn complaint(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_ne!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!said.contains("panicked") && !said.contains("password="), "{said}");
    said
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A real execution, with another id.
fn execution(name: &str, id: u64) -> Value {
    let mut body = fixtures::parse(&fixtures::execution(name));
    body["id"] = json!(id.to_string());
    body
}
