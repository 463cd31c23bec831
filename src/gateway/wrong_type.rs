//! Finds the field of a configuration whose value has the wrong type. The YAML parser reports only line and column.

use serde::Deserialize;
use serde_json::Value;
use serde_path_to_error::{Path, Segment, Track};
use serde_saphyr::Error;

/// Describes a type error as `servers.foo.timeoutMs: expected a whole number of milliseconds, found a string at line 4,
/// column 16`. The value itself is not shown: it may be a secret. `None` if the error of reading `text` as a `T` is not about
/// a type.
pub(super) fn describe<'de, T: Deserialize<'de>>(text: &'de str, error: &Error) -> Option<String> {
    let error = error.without_snippet();
    let is_type_error = matches!(
        error,
        Error::InvalidScalar { .. }
            | Error::Unexpected { .. }
            | Error::NullIntoString { .. }
            | Error::SerdeInvalidType { .. }
            | Error::SerdeInvalidValue { .. }
    );
    let location = error.location().filter(|_| is_type_error)?;
    let path = path_of_error::<T>(text);
    let mut path: Vec<_> = path.iter().map(step).collect::<Option<_>>()?;
    let document: Value = serde_saphyr::from_str(text).ok()?;
    let value = path.iter().try_fold(&document, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })?;
    let mut found = kind(value, error);
    if let ([.., Step::Key("env" | "headers"), _], Value::Null) = (&path[..], value) {
        // In `env: { SECRET }` the name is the secret.
        path.pop();
        found = "a name without a value";
    }
    let field = if path.is_empty() { String::new() } else { format!("{}: ", dotted(&path)) };
    let (expected, line, column) = (expected(&path), location.line(), location.column());
    Some(format!("{field}expected {expected}, found {found} at line {line}, column {column}"))
}

/// Where a text fails to parse as a `T`.
fn path_of_error<'de, T: Deserialize<'de>>(text: &'de str) -> Path {
    let mut track = Track::new();
    // Its error is known; only the path is new.
    let _ = serde_saphyr::with_deserializer_from_str(text, |document| {
        T::deserialize(serde_path_to_error::Deserializer::new(document, &mut track)).map(drop)
    });
    track.path()
}

/// The expected value of the field at `path`.
fn expected(path: &[Step<'_>]) -> &'static str {
    match path {
        [] | [_, Step::Key(_)] => "a mapping",
        [Step::Key("port")] => "a port number from 0 to 65535",
        [Step::Key("timeoutMs")] | [_, _, Step::Key("timeoutMs")] => "a whole number of milliseconds",
        [Step::Key("servers" | "mcpServers")] => "a mapping of names to servers",
        [_, _, Step::Key("args")] => "a list of strings",
        [_, _, Step::Key("env" | "headers")] => "a mapping of names to strings",
        [_, _, Step::Key("disabled")] => "true or false",
        _ => "a string",
    }
}

/// One step from a node to one of its children.
#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn step(segment: &Segment) -> Option<Step<'_>> {
    match segment {
        Segment::Map { key } => Some(Step::Key(key)),
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

fn dotted(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&super::error::clip(key));
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// The kind of a value, as YAML calls it.
fn kind(value: &Value, error: &Error) -> &'static str {
    // Only the value of a scalar can be invalid; otherwise a list or a mapping was expected.
    let is_invalid = matches!(error, Error::InvalidScalar { .. });
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if is_invalid && number.is_u64() => "a number out of range",
        Value::Number(number) if is_invalid && number.is_i64() => "a negative number",
        Value::Number(_) if is_invalid => "a decimal number",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use crate::gateway::Config;

    fn error_of(text: &str) -> String {
        match Config::parse(text, |_| None) {
            Ok(_) => panic!("{text} is accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_field_is_named_with_what_it_must_be_and_what_it_is() {
        for (text, says) in [
            ("[x]", ": expected a mapping, found a list at line 1, column 1"),
            ("port: [1]", "port: expected a port number from 0 to 65535, found a list at line 1, column 7"),
            ("port: 99999", "port: expected a port number from 0 to 65535, found a number out of range"),
            ("timeoutMs: -5", "timeoutMs: expected a whole number of milliseconds, found a negative number"),
            ("timeoutMs: 1.5", "timeoutMs: expected a whole number of milliseconds, found a decimal number"),
            ("timeoutMs: true", "timeoutMs: expected a whole number of milliseconds, found a boolean"),
            ("servers: x", "servers: expected a mapping of names to servers, found a string"),
            ("servers: {a: 5}", "servers.a: expected a mapping, found a number"),
            ("servers: {a: {command: {b: c}}}", "servers.a.command: expected a string, found a mapping"),
            ("servers: {a: {command: x, args: z}}", "servers.a.args: expected a list of strings, found a string"),
            ("servers: {a: {command: x, args: [z, ~]}}", "servers.a.args[1]: expected a string, found null"),
            (
                "servers: {a: {url: x, headers: [z]}}",
                "servers.a.headers: expected a mapping of names to strings, found a list",
            ),
            ("servers: {a: {command: x, disabled: z}}", "servers.a.disabled: expected true or false, found a string"),
            (
                "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"cwd\": []}}}",
                "mcpServers.a.cwd: expected a string, found a list at line 3",
            ),
        ] {
            assert!(error_of(text).contains(says), "{text}: {}", error_of(text));
        }
    }

    #[test]
    fn a_name_without_a_value_is_not_shown() {
        for text in ["servers: {a: {command: x, env: {hunter2}}}", "servers: {a: {url: x, headers: {X: z, hunter2: }}}"]
        {
            let error = error_of(text);
            assert!(error.contains("found a name without a value") && !error.contains("hunter2"), "{text}: {error}");
        }
    }
}
