//! Why an edit is refused, in words for the agent.

use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::toolkit::nearest;
use crate::tools::Error;
use crate::workflow;

/// The reason why an edit is not made.
pub(in crate::tools) fn refused(error: &workflow::Error) -> Error {
    match error {
        workflow::Error::NoNode { .. } => Error::arguments(no_node(error)),
        workflow::Error::Operation { number, name, error } => {
            Error::arguments(format!("Operation {number} ({name}): {}. Nothing was changed.", no_node(error)))
        }
        workflow::Error::NotWorkflow(why) => Error::arguments(format!("The workflow cannot be used: {why}.")),
        error => Error::arguments(format!("This edit is not possible: {error}.")),
    }
}

/// A reason, with the nearest names if there is no such node.
fn no_node(error: &workflow::Error) -> String {
    match error {
        workflow::Error::NoNode { wanted, names } => format!(
            "There is no node {} in this workflow. {}",
            quoted_name(wanted, CUT_NAME_CHARS),
            nearest("Nodes", wanted, names)
        ),
        error => error.to_string(),
    }
}
