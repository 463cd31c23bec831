//! A node that was not executed.

use super::no_data::no_data;
use crate::execution::Header;
use crate::json::{CUT_NAME_CHARS, is_name, shorten_name};
use crate::toolkit::nearest;
use crate::tools::Error;

/// Refuses a node that none of these names is.
pub(super) fn check_node(requested: &str, names: &[String], header: &Header, id: Option<&str>) -> Result<(), Error> {
    if names.iter().any(|name| name == requested || is_name(requested, name)) {
        return Ok(());
    }
    let (name, id) = (shorten_name(requested, CUT_NAME_CHARS), header.id.as_deref().or(id).unwrap_or("?"));
    let why = match names.is_empty() {
        true => no_data(header).unwrap_or_else(|| "It has no run data.".to_owned()),
        false => nearest("Nodes", requested, names),
    };
    Err(Error::FailedPrecondition(format!("Node '{name}' not found in execution '{id}'. {why}")))
}
