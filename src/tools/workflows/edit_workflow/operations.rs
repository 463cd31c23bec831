//! The operations of a call. Unknown or missing members are refused, never ignored.

use serde_json::Value;

use crate::json::{CUT_NAME_CHARS, is_clipped, quoted_name};
use crate::toolkit::nearest;
use crate::tools::{CatalogueCache, Error};
use crate::workflow::edit::Operation;

/// The members of operations whose values become part of the workflow.
const VALUES: [&str; 3] = ["value", "parameters", "node"];

/// Why a value is refused.
const CLIPPED: &str = "a value is from a clipped answer and not complete. Change a part of it with patchNodeParameter.";

/// Reads the operations of a call.
///
/// # Errors
/// [`Error::Argument`] with the number of the operation, from 1, and what it must be.
pub(super) fn operations(given: Vec<Value>, catalogue: &CatalogueCache) -> Result<Vec<Operation>, Error> {
    let total = given.len();
    let operations = given.into_iter().enumerate().map(|(at, given)| {
        let refused = |why: String| Error::arguments(format!("Operation {}: {why} Nothing was changed.", at + 1));
        if VALUES.iter().any(|member| is_clipped(&given[member].to_string())) {
            return Err(refused(CLIPPED.to_owned()));
        }
        let operation = operation(given, catalogue).map_err(|error| match error {
            Error::Argument(error) => refused(error.to_string()),
            error => error,
        })?;
        match operation {
            Operation::RestoreVersion { .. } if total > 1 => {
                Err(refused("restoreVersion must be the only operation.".to_owned()))
            }
            operation => Ok(operation),
        }
    });
    operations.collect()
}

fn operation(given: Value, catalogue: &CatalogueCache) -> Result<Operation, Error> {
    let names = || Operation::NAMES.map(str::to_owned);
    match given["type"].as_str() {
        None => return Err(Error::arguments(format!("its type is missing. {}.", nearest("Types", "", &names())))),
        Some(name) if !Operation::NAMES.contains(&name) => {
            let wanted = quoted_name(name, CUT_NAME_CHARS);
            let nearest = nearest("Operations", name, &names());
            return Err(Error::arguments(format!("{wanted} is not an operation. {nearest}.")));
        }
        Some(_) => {}
    }
    let mut operation: Operation =
        serde_json::from_value(given).map_err(|error| Error::arguments(format!("{}.", plain(&error.to_string()))))?;
    if let Operation::AddNode { node, .. } = &mut operation {
        node.node_type = catalogue.node_type(&node.node_type)?;
    }
    Ok(operation)
}

/// serde's message in our words. It does not say where a value is; the only pair of numbers is a position.
fn plain(error: &str) -> String {
    if error.contains("tuple of size 2") || error.contains("2 elements in sequence") {
        return "'position' must be a list of two numbers, such as [240, 300]".to_owned();
    }
    let plain = error.replace('`', "'").replace("field", "member");
    let plain = plain.replace("invalid type: sequence,", "invalid type: list,");
    plain.replace("invalid type: map,", "invalid type: object,").replace("expected a map", "expected an object")
}
