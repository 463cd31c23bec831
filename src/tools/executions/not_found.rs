//! Nodes and runs that an execution does not have.

use super::no_data::no_data;
use crate::execution::Header;
use crate::json::{CUT_NAME_CHARS, is_name, quoted_name};
use crate::toolkit::{Locale, nearest};
use crate::tools::Error;
use crate::units::counted;

/// Refuses a node whose name is not in this list.
pub(super) fn check_node(requested: &str, names: &[String], header: &Header, id: Option<&str>) -> Result<(), Error> {
    if names.iter().any(|name| name == requested || is_name(requested, name)) {
        return Ok(());
    }
    Err(Error::FailedPrecondition(no_node(requested, names, header, id)))
}

/// The message that no node has this name, with the names that exist.
pub(super) fn no_node(requested: &str, names: &[String], header: &Header, id: Option<&str>) -> String {
    let (name, id) = (quoted_name(requested, CUT_NAME_CHARS), header.id.as_deref().or(id).unwrap_or("?"));
    let why = match names.is_empty() {
        true => no_data(header, Locale::En),
        false => nearest("Nodes", requested, names),
    };
    format!("Node {name} not found in execution '{id}'. {why}")
}

/// The message that a node with this many runs does not have the requested one.
pub(super) fn no_run(node: &str, runs: u64, requested: u64, id: &str) -> String {
    let name = quoted_name(node, CUT_NAME_CHARS);
    match runs.checked_sub(1) {
        None => format!("Node {name} has no runs in execution '{id}'. Look at another node."),
        Some(last) => {
            let runs = counted(runs, "run", "runs");
            format!("Node {name} has {runs} in execution '{id}': runIndex {requested} must be {}.", from_0(last))
        }
    }
}

/// The existing indexes up to `last`: `0`, or `from 0 to 4`.
pub(super) fn from_0(last: u64) -> String {
    if last == 0 { "0".to_owned() } else { format!("from 0 to {last}") }
}
