//! Why an edit is refused, in words for the agent.

use crate::json::{CUT_NAME_CHARS, quoted_name};
use crate::toolkit::nearest;
use crate::tools::Error;
use crate::workflow;

/// The reason why an edit is not made.
pub(super) fn refused(error: &workflow::Error) -> Error {
    match error {
        workflow::Error::NoNode { wanted, names } => Error::arguments(format!(
            "There is no node {} in this workflow. {}",
            quoted_name(wanted, CUT_NAME_CHARS),
            nearest("Nodes", wanted, names)
        )),
        error => Error::arguments(format!("This edit is not possible: {error}.")),
    }
}
