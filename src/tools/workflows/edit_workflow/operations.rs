//! The operations of a call. Unknown or missing members are refused, never ignored.

use serde_json::Value;

use crate::json::{CUT_NAME_CHARS, is_clipped, quoted_name};
use crate::toolkit::nearest;
use crate::tools::{CatalogueCache, Error};
use crate::workflow::edit::Operation;

/// The members of operations whose values become part of the workflow.
const VALUES: [&str; 6] = ["value", "parameters", "node", "patches", "settings", "description"];

/// What the members of operations are, whichever operation has them. serde's own message does not name the member.
const TEXTS: [&str; 9] = ["nodeName", "path", "oldName", "newName", "source", "target", "after", "name", "description"];
const SWITCHES: [&str; 2] = ["replace", "reconnect"];
const OBJECTS: [&str; 3] = ["parameters", "settings", "node"];

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
        None if !given["type"].is_null() => return Err(Error::arguments("its 'type' must be a text.")),
        None => return Err(Error::arguments(format!("its type is missing. {}.", nearest("Types", "", &names())))),
        Some(name) if !Operation::NAMES.contains(&name) => {
            let wanted = quoted_name(name, CUT_NAME_CHARS);
            let nearest = nearest("Operations", name, &names());
            return Err(Error::arguments(format!("{wanted} is not an operation. {nearest}.")));
        }
        Some(_) => {}
    }
    check_types(&given).map_err(Error::arguments)?;
    let mut operation: Operation =
        serde_json::from_value(given).map_err(|error| Error::arguments(format!("{}.", plain(&error.to_string()))))?;
    if let Operation::AddNode { node, .. } = &mut operation {
        node.node_type = catalogue.node_type(&node.node_type)?;
    }
    Ok(operation)
}

/// Checks that each member has the type that it has in all operations; `null` stands for a member that is left out.
fn check_types(given: &Value) -> Result<(), String> {
    let check = |at: &Value, member: &str, is_it: fn(&Value) -> bool, must: &str| match at.get(member) {
        Some(value) if !value.is_null() && !is_it(value) => Err(format!("'{member}' must be {must}.")),
        _ => Ok(()),
    };
    TEXTS.iter().try_for_each(|member| check(given, member, Value::is_string, "a text"))?;
    SWITCHES.iter().try_for_each(|member| check(given, member, Value::is_boolean, "true or false"))?;
    OBJECTS.iter().try_for_each(|member| check(given, member, Value::is_object, "an object"))?;
    let is_list = |value: &Value| value.as_array().is_some_and(|patches| patches.iter().all(Value::is_object));
    check(given, "patches", is_list, "a list of objects {find, replace}")?;
    for patch in given["patches"].as_array().into_iter().flatten() {
        ["find", "replace"].iter().try_for_each(|member| check(patch, member, Value::is_string, "a text"))?;
        check(patch, "replaceAll", Value::is_boolean, "true or false")?;
    }
    let node = &given["node"];
    ["name", "type"].iter().try_for_each(|member| check(node, member, Value::is_string, "a text"))?;
    check(node, "typeVersion", Value::is_number, "a number")?;
    check(node, "parameters", Value::is_object, "an object")?;
    let is_point =
        |value: &Value| value.as_array().is_some_and(|point| point.len() == 2 && point.iter().all(Value::is_number));
    check(node, "position", is_point, "a list of two numbers, such as [240, 300]")
}

/// serde's message in our words.
fn plain(error: &str) -> String {
    error.replace('`', "'").replace("field", "member")
}
