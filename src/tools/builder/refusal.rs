//! Why an edit is refused, in words for the agent.

use crate::json::{CUT_NAME_CHARS, shorten};
use crate::toolkit::nearest;
use crate::tools::Error;
use crate::workflow;

/// The reason why an edit is not made.
pub(super) fn refused(error: &workflow::Error) -> Error {
    match error {
        workflow::Error::NoNode { wanted, names } => {
            let wanted = shorten(wanted, CUT_NAME_CHARS);
            Error::Argument(format!(
                "There is no node '{wanted}' in this workflow. {}",
                nearest("Nodes", &wanted, names)
            ))
        }
        error => Error::Argument(format!("This edit is not possible: {error}.")),
    }
}
