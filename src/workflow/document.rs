//! A workflow on its way to n8n. Values that nobody changes stay as they are written, byte by byte.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Error;
use super::accepted::{Accepted, N8N_2, NEVER_IN_NODES, NOT_IN_NEW};

/// The longest name that n8n takes, in UTF-16 code units.
pub const NAME_CHARS: usize = 128;

/// An object whose values are not looked into.
type Members = IndexMap<String, Box<RawValue>>;

/// What becomes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new workflow.
    Create,
    /// Another content for one that is there.
    Replace,
}

/// A workflow as n8n's API writes it.
#[derive(Debug)]
pub struct Document {
    /// All members but those below, in their order.
    others: Members,
    nodes: Vec<Members>,
    settings: Members,
}

/// A body for n8n.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    others: &'a Members,
    nodes: &'a [Members],
    settings: &'a Members,
}

impl Document {
    /// Reads a workflow; what it holds is not [checked](Self::check).
    ///
    /// # Errors
    /// [`Error`], which names the line and column, or the field.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut others: Members = serde_json::from_slice(text).map_err(|error| not_an_object(&error, text))?;
        let nodes = match others.shift_remove("nodes") {
            Some(nodes) => read(&nodes, "nodes", "a list of objects")?,
            None => return Err(missing("nodes")),
        };
        let settings = match others.shift_remove("settings").filter(|settings| settings.get() != "null") {
            Some(settings) => read(&settings, "settings", "an object")?,
            None => Members::new(),
        };
        Ok(Self { others, nodes, settings })
    }

    /// A workflow of these members.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn of(members: &Map<String, Value>) -> Result<Self, Error> {
        Self::parse(Value::Object(members.clone()).to_string().as_bytes())
    }

    /// Whether n8n could make a workflow of it.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`], which names the field.
    pub fn check(&self) -> Result<(), Error> {
        self.check_name()?;
        self.check_nodes()?;
        self.check_connections()
    }

    /// n8n itself takes an empty name in a replacement, and some versions a long one.
    fn check_name(&self) -> Result<(), Error> {
        let name = self.others.get("name").ok_or_else(|| missing("name"))?;
        let name: String = read(name, "name", "a string")?;
        if name.is_empty() || name.encode_utf16().count() > NAME_CHARS {
            return Err(Error::NotWorkflow(format!("name must have 1 to {NAME_CHARS} characters")));
        }
        Ok(())
    }

    fn check_connections(&self) -> Result<(), Error> {
        let connections = self.others.get("connections").ok_or_else(|| missing("connections"))?;
        read::<Members>(connections, "connections", "an object").map(drop)
    }

    /// n8n 1.123 takes nodes without a name or a type, and breaks on them later.
    fn check_nodes(&self) -> Result<(), Error> {
        for (at, node) in self.nodes.iter().enumerate() {
            for member in ["name", "type"] {
                let what = format!("nodes[{at}].{member}");
                let value = node.get(member).ok_or_else(|| missing(&what))?;
                // It may hold half a character, which is a string all the same.
                if !value.get().starts_with('"') || value.get() == "\"\"" {
                    return Err(Error::NotWorkflow(format!("{what} must be a string that is not empty")));
                }
            }
        }
        Ok(())
    }

    /// Lays other values over this one's: settings one by one, everything else whole.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn lay_over(&mut self, given: &Map<String, Value>) -> Result<(), Error> {
        for (member, value) in given {
            let value = to_raw_value(value).map_err(|error| Error::NotWorkflow(error.to_string()))?;
            match member.as_str() {
                "nodes" => self.nodes = read(&value, "nodes", "a list of objects")?,
                "settings" => self.settings.extend(read::<Members>(&value, "settings", "an object")?),
                _ => drop(self.others.insert(member.clone(), value)),
            }
            match member.as_str() {
                "name" => self.check_name()?,
                "nodes" => self.check_nodes()?,
                "connections" => self.check_connections()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes out all members but these: what n8n is not told stays as it is.
    pub fn keep_only(&mut self, members: &[&str]) {
        self.others.retain(|member, _| members.contains(&member.as_str()));
    }

    /// Takes out what no n8n takes; gives its names.
    pub fn tidy(&mut self, change: Change) -> Vec<String> {
        let mut left_out = Vec::new();
        self.others.retain(|member, value| member != NOT_IN_NEW || value.get() != "null");
        self.others.retain(|member, _| {
            let kept = N8N_2.workflow.contains(&member.as_str()) && (change == Change::Replace || member != NOT_IN_NEW);
            note(&mut left_out, kept, || member.clone())
        });
        for node in &mut self.nodes {
            // n8n refuses `null`, which says no more than no member.
            node.retain(|_, value| value.get() != "null");
            node.retain(|member, _| {
                let kept = !NEVER_IN_NODES.contains(&member.as_str());
                note(&mut left_out, kept, || format!("nodes[].{member}"))
            });
        }
        // The editor writes "DEFAULT" for what is not set, and the API knows it for the timezone only.
        self.settings.retain(|member, value| match value.get() {
            "null" => false,
            "\"DEFAULT\"" => member == "timezone",
            _ => true,
        });
        left_out
    }

    /// Takes out what this n8n does not take; gives its names.
    pub fn narrow(&mut self, accepted: &Accepted) -> Vec<String> {
        let mut left_out = Vec::new();
        let known = |keys: &[&str], member: &str| keys.contains(&member);
        self.others.retain(|member, _| note(&mut left_out, known(accepted.workflow, member), || member.clone()));
        for node in &mut self.nodes {
            node.retain(|member, _| note(&mut left_out, known(accepted.node, member), || format!("nodes[].{member}")));
        }
        self.settings
            .retain(|member, _| note(&mut left_out, known(accepted.settings, member), || format!("settings.{member}")));
        left_out
    }

    /// The body for n8n.
    pub fn text(&self) -> String {
        let body = Body { others: &self.others, nodes: &self.nodes, settings: &self.settings };
        // Keys are strings and the values are JSON: there is nothing to report.
        serde_json::to_string(&body).unwrap_or_default()
    }
}

/// Notes the name of what is not kept, once.
fn note(left_out: &mut Vec<String>, kept: bool, name: impl Fn() -> String) -> bool {
    if !kept && !left_out.contains(&name()) {
        left_out.push(name());
    }
    kept
}

fn missing(what: &str) -> Error {
    Error::NotWorkflow(format!("{what} is missing"))
}

fn read<T: serde::de::DeserializeOwned>(value: &RawValue, what: &str, is: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|_| Error::NotWorkflow(format!("{what} must be {is}")))
}

fn not_an_object(error: &serde_json::Error, text: &[u8]) -> Error {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    match (error.classify(), first) {
        (serde_json::error::Category::Data, Some(b'[')) => {
            Error::NotWorkflow("it is a list; give one workflow".to_owned())
        }
        (serde_json::error::Category::Data, _) => Error::NotWorkflow("it is not an object".to_owned()),
        _ => {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
            Error::NotJson { what, line: error.line(), column: error.column() }
        }
    }
}
