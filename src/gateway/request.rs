//! A request for a call. Size and nesting are checked on the text, before any value is built.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::{Error, clip};
use super::limits::{self, INPUT_BYTES, INPUT_DEPTH};
use crate::json;

/// A requested call.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
}

/// The members of a body. Others are ignored.
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
    /// Parses `{"server", "toolName", "input"}`. Without `checks`, names, size and nesting are not checked.
    ///
    /// # Errors
    /// [`Error::Validation`] if the body is not such an object, or one of the three breaks a limit.
    pub(super) fn parse(body: &[u8], checks: bool) -> Result<Self, Error> {
        let invalid = |why: &str| {
            let message = format!("The body must be a JSON object with \"server\", \"toolName\" and \"input\": {why}.");
            Error::field("body", message, Value::Null)
        };
        // serde would accept an array as well.
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(invalid("it is not an object"));
        }
        let body: Body<'_> = serde_json::from_slice(body).map_err(|error| invalid(&error.to_string()))?;
        Ok(Self {
            server: name("server", body.server, limits::SERVER_CHARS, checks)?,
            tool: name("toolName", body.tool_name, limits::TOOL_CHARS, checks)?,
            input: input(body.input.map(RawValue::get), checks)?,
        })
    }

    /// A call of `tool` with `body` as its input.
    ///
    /// # Errors
    /// [`Error::Validation`] if the body is not a JSON object, or a name or the body breaks a limit.
    pub(super) fn with_input(server: &str, tool: &str, body: &[u8], checks: bool) -> Result<Self, Error> {
        let checked = |field, text: &str, chars| check_name(field, text, chars, checks).map(|()| text.to_owned());
        let text = std::str::from_utf8(body).map_err(|_| not_an_object("text that is not UTF-8"))?;
        Ok(Self {
            server: checked("server", server, limits::SERVER_CHARS)?,
            tool: checked("toolName", tool, limits::TOOL_CHARS)?,
            input: input(Some(text.trim_ascii()), checks)?,
        })
    }
}

fn name(field: &str, given: Option<&RawValue>, max_chars: usize, checks: bool) -> Result<String, Error> {
    let Some(raw) = given else {
        return Err(Error::field(field, format!("{field} is missing."), json!({"pattern": limits::NAME_PATTERN})));
    };
    let name = serde_json::from_str::<String>(raw.get())
        .map_err(|_| Error::field(field, format!("{field} must be a string."), json!({"value": clip(raw.get())})))?;
    check_name(field, &name, max_chars, checks)?;
    Ok(name)
}

fn check_name(field: &str, name: &str, max_chars: usize, checks: bool) -> Result<(), Error> {
    if !checks || limits::is_name(name, max_chars) {
        return Ok(());
    }
    let chars = name.chars().count();
    if chars > max_chars {
        let details = json!({"value": clip(name), "size": chars, "max": max_chars});
        return Err(Error::field(field, format!("{field} is longer than {max_chars} characters."), details));
    }
    let message = format!("{field} must consist of letters, digits, - and _, and must not be empty.");
    Err(Error::field(field, message, json!({"value": clip(name), "pattern": limits::NAME_PATTERN})))
}

fn input(given: Option<&str>, checks: bool) -> Result<Map<String, Value>, Error> {
    let text =
        given.ok_or_else(|| Error::field("input", "input is missing; send {} if the tool needs none.", Value::Null))?;
    if checks {
        check_input(text)?;
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(_) => Err(not_an_object(text)),
        Err(error) => {
            let message = format!("input is not valid JSON: {error}.");
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
    let depth = json::Extent::of(text.as_bytes()).depth;
    if depth > INPUT_DEPTH {
        let message = format!("input is nested more than {INPUT_DEPTH} levels deep.");
        return Err(Error::field("input", message, json!({"size": depth, "max": INPUT_DEPTH})));
    }
    Ok(())
}
