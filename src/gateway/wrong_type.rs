//! Names the field of a configuration whose value has the wrong type. The YAML parser reports line and column only.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};

/// Describes a type error as `servers.foo.timeoutMs: expected a whole number of milliseconds, found a string at line 4,
/// column 16`. The value itself is not shown: it may be a secret. `None` if `error` is not about a type.
pub(super) fn describe(text: &str, error: &Error) -> Option<String> {
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
    let document: Spanned<Node> = serde_saphyr::from_str(text).ok()?;
    let mut path = Vec::new();
    let mut found = find(&document, location, &mut path)?.kind(error);
    if let ([.., Step::Key("env" | "headers"), _], NULL) = (&path[..], found) {
        // In `env: { SECRET }` the name is the secret.
        path.pop();
        found = "a name without a value";
    }
    let field = if path.is_empty() { String::new() } else { format!("{}: ", dotted(&path)) };
    let (expected, line, column) = (expected(&path), location.line(), location.column());
    Some(format!("{field}expected {expected}, found {found} at line {line}, column {column}"))
}

/// What the field at `path` must be.
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

/// The node at `location`; its path is appended to `path`.
fn find<'a>(node: &'a Spanned<Node>, location: Location, path: &mut Vec<Step<'a>>) -> Option<&'a Node> {
    let is_here = |place: &Location| (place.line(), place.column()) == (location.line(), location.column());
    if is_here(&node.referenced) || is_here(&node.defined) {
        return Some(&node.value);
    }
    let children: Vec<(Step<'a>, &'a Spanned<Node>)> = match &node.value {
        Node::Mapping(entries) => entries.iter().map(|(key, value)| (Step::Key(key), value)).collect(),
        Node::List(items) => items.iter().enumerate().map(|(index, item)| (Step::Index(index), item)).collect(),
        _ => return None,
    };
    for (step, child) in children {
        path.push(step);
        if let Some(found) = find(child, location, path) {
            return Some(found);
        }
        path.pop();
    }
    None
}

/// A value of any type, of which only the type is kept.
enum Node {
    Null,
    Boolean,
    Integer,
    NegativeInteger,
    Decimal,
    String,
    List(Vec<Spanned<Node>>),
    Mapping(Vec<(String, Spanned<Node>)>),
}

const NULL: &str = "null";

impl Node {
    fn kind(&self, error: &Error) -> &'static str {
        // Only the value of a scalar can be invalid; otherwise a list or a mapping was expected.
        let is_invalid = matches!(error, Error::InvalidScalar { .. });
        match self {
            Self::Null => NULL,
            Self::Boolean => "a boolean",
            Self::Integer if is_invalid => "a number out of range",
            Self::NegativeInteger if is_invalid => "a negative number",
            Self::Decimal if is_invalid => "a decimal number",
            Self::Integer | Self::NegativeInteger | Self::Decimal => "a number",
            Self::String => "a string",
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Boolean)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Integer)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Integer)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(if value < 0 { Node::NegativeInteger } else { Node::Integer })
    }

    fn visit_i128<E>(self, value: i128) -> Result<Node, E> {
        Ok(if value < 0 { Node::NegativeInteger } else { Node::Integer })
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Decimal)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = items.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            nodes.push(entry);
        }
        Ok(Node::Mapping(nodes))
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
