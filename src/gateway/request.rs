//! A call as it is asked for, checked before anything is built of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::{Error, clip};
use super::limits::{self, INPUT_BYTES, INPUT_DEPTH};
use crate::json;

/// A call.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
}

/// The members that a body has; what else it holds is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(borrow)]
    server: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

impl Request {
    /// Reads `{"server", "toolName", "input"}`. Without `checks`, only what no call could be made of is refused.
    ///
    /// # Errors
    /// [`Error::Validation`].
    pub(super) fn read(body: &[u8], checks: bool) -> Result<Self, Error> {
        let refused = |why: &str| {
            let message = format!("The body must be {{\"server\", \"toolName\", \"input\"}} in JSON: {why}.");
            Error::field("body", message, Value::Null)
        };
        // Structs would be read from arrays, too.
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(refused("it is no object"));
        }
        let body: Body<'_> = serde_json::from_slice(body).map_err(|error| refused(&error.to_string()))?;
        Ok(Self {
            server: name("server", body.server, limits::SERVER_CHARS, checks)?,
            tool: name("toolName", body.tool_name, limits::TOOL_CHARS, checks)?,
            input: input(body.input.map(RawValue::get), checks)?,
        })
    }

    /// Takes the names from elsewhere, and `body` as the input.
    ///
    /// # Errors
    /// [`Error::Validation`].
    pub(super) fn of_input(server: &str, tool: &str, body: &[u8], checks: bool) -> Result<Self, Error> {
        let named = |field, text: &str, chars| check_name(field, text, chars, checks).map(|()| text.to_owned());
        let text = std::str::from_utf8(body).map_err(|_| not_an_object("text that is not UTF-8"))?;
        Ok(Self {
            server: named("server", server, limits::SERVER_CHARS)?,
            tool: named("toolName", tool, limits::TOOL_CHARS)?,
            input: input(Some(text.trim_ascii()), checks)?,
        })
    }
}

fn name(field: &str, given: Option<&RawValue>, chars: usize, checks: bool) -> Result<String, Error> {
    let Some(raw) = given else {
        return Err(Error::field(field, format!("{field} is missing."), json!({"pattern": limits::NAME_PATTERN})));
    };
    let name = serde_json::from_str::<String>(raw.get())
        .map_err(|_| Error::field(field, format!("{field} must be a string."), json!({"value": clip(raw.get())})))?;
    check_name(field, &name, chars, checks)?;
    Ok(name)
}

fn check_name(field: &str, name: &str, chars: usize, checks: bool) -> Result<(), Error> {
    let given = name.chars().count();
    if !checks || limits::is_name(name, chars) {
        return Ok(());
    }
    if given > chars {
        let details = json!({"value": clip(name), "size": given, "max": chars});
        return Err(Error::field(field, format!("{field} is longer than {chars} characters."), details));
    }
    let message = format!("{field} may have letters, digits, - and _ only, and at least one.");
    Err(Error::field(field, message, json!({"value": clip(name), "pattern": limits::NAME_PATTERN})))
}

fn input(given: Option<&str>, checks: bool) -> Result<Map<String, Value>, Error> {
    let text = given.ok_or_else(|| Error::field("input", "input is missing; {} is an empty one.", Value::Null))?;
    if checks {
        check_input(text)?;
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(_) => Err(not_an_object(text)),
        Err(error) => {
            let message = format!("input cannot be read: {error}.");
            Err(Error::field("input", message, json!({"value": clip(text)})))
        }
    }
}

fn not_an_object(given: &str) -> Error {
    Error::field("input", "input must be an object.", json!({"value": clip(given)}))
}

fn check_input(text: &str) -> Result<(), Error> {
    if text.len() > INPUT_BYTES {
        let message = format!("input is larger than {INPUT_BYTES} bytes.");
        return Err(Error::field("input", message, json!({"size": text.len(), "max": INPUT_BYTES})));
    }
    let depth = json::depth(text);
    if depth > INPUT_DEPTH {
        let message = format!("input nests deeper than {INPUT_DEPTH} levels.");
        return Err(Error::field("input", message, json!({"size": depth, "max": INPUT_DEPTH})));
    }
    Ok(())
}
