//! A workflow document. Values that nobody changes stay as they are written, byte by byte, and keys stay
//! in their order.

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Error;

/// The longest name that n8n takes, in characters (Unicode code points).
pub const NAME_CHARS: usize = 128;

/// An object whose values are not looked into.
pub type Members = IndexMap<String, Box<RawValue>>;

/// A workflow as n8n's API and its editor write it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Document {
    members: Members,
}

impl Document {
    /// Reads a workflow: an object with a list of nodes; what else it holds is not
    /// [checked](Self::check).
    ///
    /// # Errors
    /// [`Error`], which names the line and column, or the field.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        Self::new(serde_json::from_slice(text).map_err(|error| not_an_object(error, text))?)
    }

    /// A workflow of these members.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn of(members: &Map<String, Value>) -> Result<Self, Error> {
        let raw = members.iter().map(|(member, value)| Ok((member.clone(), raw(value)?)));
        Self::new(raw.collect::<Result<_, Error>>()?)
    }

    fn new(members: Members) -> Result<Self, Error> {
        let document = Self { members };
        document.nodes()?;
        document.settings()?;
        Ok(document)
    }

    /// Whether n8n could make a workflow of it.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`], which names the field.
    pub fn check(&self) -> Result<(), Error> {
        self.check_name()?;
        self.check_nodes()?;
        self.connections::<Members>().map(drop)
    }

    /// n8n itself takes an empty name in a replacement, and some versions a long one.
    fn check_name(&self) -> Result<(), Error> {
        let name: String = read(self.member("name")?, "name", "a string")?;
        if name.is_empty() || name.chars().count() > NAME_CHARS {
            return Err(Error::NotWorkflow(format!("name must have 1 to {NAME_CHARS} characters")));
        }
        Ok(())
    }

    /// n8n 1.123 takes nodes without a name or a type, and breaks on them later.
    fn check_nodes(&self) -> Result<(), Error> {
        for (at, node) in self.nodes()?.iter().enumerate() {
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
            if member == "settings" {
                let mut settings = self.settings()?;
                settings.extend(read::<Members>(&raw(value)?, "settings", "an object")?);
                self.set("settings", &settings)?;
            } else {
                self.set(member, value)?;
            }
            match member.as_str() {
                "name" => self.check_name()?,
                "nodes" => self.check_nodes()?,
                "connections" => self.connections::<Members>().map(drop)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether its triggers are on, as far as it says.
    pub fn is_active(&self) -> bool {
        self.members.get("active").is_some_and(|active| active.get() == "true")
    }

    /// The nodes.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn nodes(&self) -> Result<Vec<Members>, Error> {
        read(self.member("nodes")?, "nodes", "a list of objects")
    }

    /// The connections, in the shape that is wanted.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn connections<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read(self.member("connections")?, "connections", "an object")
    }

    /// The settings; none where there are none.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`].
    pub fn settings(&self) -> Result<Members, Error> {
        match self.members.get("settings").filter(|settings| settings.get() != "null") {
            Some(settings) => read(settings, "settings", "an object"),
            None => Ok(Members::new()),
        }
    }

    /// Puts a value in the place of a member, or behind the last one.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`], for a value that is no JSON.
    pub fn set(&mut self, member: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.members.insert(member.to_owned(), raw(value)?);
        Ok(())
    }

    /// All members, to take some out.
    pub(super) fn members_mut(&mut self) -> &mut Members {
        &mut self.members
    }

    /// Takes out all members but these: what n8n is not told stays as it is.
    pub fn keep_only(&mut self, members: &[&str]) {
        self.members.retain(|member, _| members.contains(&member.as_str()));
    }

    /// The document as compact JSON; unchanged values keep their white space.
    pub fn text(&self) -> String {
        // Keys are strings and the values are JSON: there is nothing to report.
        serde_json::to_string(&self.members).unwrap_or_default()
    }

    fn member(&self, name: &str) -> Result<&RawValue, Error> {
        self.members.get(name).map(AsRef::as_ref).ok_or_else(|| missing(name))
    }
}

fn raw(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::NotWorkflow(error.to_string()))
}

fn missing(what: &str) -> Error {
    Error::NotWorkflow(format!("{what} is missing"))
}

fn read<T: DeserializeOwned>(value: &RawValue, what: &str, is: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|_| Error::NotWorkflow(format!("{what} must be {is}")))
}

fn not_an_object(error: serde_json::Error, text: &[u8]) -> Error {
    use serde_json::error::Category;
    // Of another type: but is it whole?
    let error = match (error.classify(), serde_json::from_slice::<IgnoredAny>(text)) {
        (Category::Data, Err(error)) => error,
        (Category::Data, Ok(_)) if text.trim_ascii_start().starts_with(b"[") => {
            return Error::NotWorkflow("it is a list; give one workflow".to_owned());
        }
        (Category::Data, Ok(_)) => return Error::NotWorkflow("it is not an object".to_owned()),
        _ => error,
    };
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
    Error::NotJson { what, line: error.line(), column: error.column() }
}
