//! The second check of a finished copy, which knows nothing about how it was made.

use super::rules::{is_listed, runs_for_real};
use super::{start, stub};
use crate::workflow::Document;
use crate::workflow::parsed::Parsed;

/// Members with which a node could reach outside, or be reached.
const FORBIDDEN: [&str; 3] = ["credentials", "webhookId", "webhookDescription"];

/// Settings with which a copy could start something else, or be started.
const ALLOWED_SETTINGS: [&str; 5] =
    ["executionOrder", "timezone", "executionTimeout", "saveDataSuccessExecution", "saveDataErrorExecution"];

/// Checks a copy.
///
/// # Errors
/// The problem.
pub(super) fn check(body: &str) -> Result<(), String> {
    let document = Document::parse(body.as_bytes()).map_err(|error| error.to_string())?;
    let settings = document.settings().map_err(|error| error.to_string())?;
    if let Some(name) = settings.keys().find(|name| !ALLOWED_SETTINGS.contains(&name.as_str())) {
        return Err(format!("it has the setting {name}"));
    }
    for node in Parsed::of(&document).map_err(|error| error.to_string())?.nodes {
        if node.raw("credentials").is_none() && start::is_start(&node) {
            continue;
        }
        if let Some(member) = FORBIDDEN.iter().find(|member| node.raw(member).is_some()) {
            return Err(format!("the node '{}' has {member}", node.name));
        }
        let is_stub = node.is("n8n-nodes-base.code") && node.parameter("jsCode").is_some_and(stub::is_code);
        let runs = is_stub || (is_listed(&node.node_type) && runs_for_real(&node));
        // Parameters that cannot be read have not been checked.
        let is_read = node.raw("parameters").is_none_or(|written| written.get() == "{}" || !node.parameters.is_empty());
        if !runs || !is_read {
            return Err(format!("the node '{}' is a {}, which may reach outside", node.name, node.node_type));
        }
    }
    Ok(())
}
