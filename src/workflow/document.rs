//! A workflow document. Unchanged values stay byte for byte as they were written, and keys keep their
//! order.
//!
//! ```
//! use n8n_lens::workflow::Document;
//!
//! let mut document = Document::parse(br#"{"name": "Orders", "nodes": [], "connections": {}, "x": 1.50}"#)?;
//! document.check()?;
//! document.set("name", "Invoices")?;
//! assert_eq!(document.text(), r#"{"name":"Invoices","nodes":[],"connections":{},"x":1.50}"#);
//! # Ok::<(), n8n_lens::workflow::Error>(())
//! ```

use std::borrow::Borrow;

use indexmap::IndexMap;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{Error, PublishedVersion};
use crate::json::markup;

/// The longest name that n8n accepts, in characters (Unicode code points).
pub const NAME_CHARS: usize = 128;

/// What nodes must be.
const NODES: &str = "a list of objects";

/// An object whose values are not parsed.
pub type Members = IndexMap<String, Box<RawValue>>;

/// The same, in the text that they are read from.
pub(super) type BorrowedMembers<'t> = IndexMap<String, &'t RawValue>;

/// A workflow as n8n's API and its editor write it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Document {
    members: Members,
}

impl PartialEq for Document {
    /// Whether both are written in the same way.
    fn eq(&self, other: &Self) -> bool {
        same_members(&self.members, &other.members)
    }
}

impl Document {
    /// Reads a workflow: an object with a list of nodes. Everything else is left to [`check`](Self::check).
    ///
    /// # Errors
    /// [`Error::NotJson`] with line and column if the text is not JSON; [`Error::NotWorkflow`] with the field if it is
    /// not an object, has no list of nodes, or has settings that are not an object.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        Self::new(serde_json::from_slice(text).map_err(|error| not_an_object(error, text))?)
    }

    /// Makes a workflow of these members.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if there is no list of nodes, or if the settings are not an object.
    pub fn of(members: &Map<String, Value>) -> Result<Self, Error> {
        let raw = members.iter().map(|(member, value)| Ok((member.clone(), raw(value)?)));
        Self::new(raw.collect::<Result<_, Error>>()?)
    }

    fn new(members: Members) -> Result<Self, Error> {
        let document = Self { members };
        read::<Vec<IndexMap<String, IgnoredAny>>>(document.member("nodes")?, "nodes", NODES)?;
        document.settings()?;
        Ok(document)
    }

    /// Checks that n8n could create a workflow from it.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] with the field, if the name is missing, empty or too long, a node lacks its name or
    /// type, or the connections are not an object.
    pub fn check(&self) -> Result<(), Error> {
        self.check_name()?;
        self.check_nodes()?;
        self.connections::<Members>().map(drop)
    }

    /// n8n itself accepts an empty name in a replacement, and some versions accept a long one.
    fn check_name(&self) -> Result<(), Error> {
        let name: String = read(self.member("name")?, "name", "a string")?;
        if name.is_empty() || name.chars().count() > NAME_CHARS {
            return Err(Error::NotWorkflow(format!("name must have 1 to {NAME_CHARS} characters")));
        }
        Ok(())
    }

    /// n8n 1.123 accepts nodes without a name or a type, and fails on them later.
    fn check_nodes(&self) -> Result<(), Error> {
        for (at, node) in self.nodes()?.iter().enumerate() {
            for member in ["name", "type"] {
                let what = format!("nodes[{at}].{member}");
                let value = node.get(member).ok_or_else(|| missing(&what))?;
                // It is not decoded: half a surrogate pair is a string for n8n, but not for Rust.
                if !value.get().starts_with('"') || value.get() == "\"\"" {
                    return Err(Error::NotWorkflow(format!("{what} must be a string that is not empty")));
                }
            }
        }
        Ok(())
    }

    /// Bytes of its text, without white space.
    pub fn bytes(&self) -> usize {
        self.members.iter().map(|(name, value)| name.len() + value.get().len()).sum()
    }

    /// Replaces members with the given ones; settings are merged by key.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] with the field, if a given member is not what n8n expects.
    pub fn merge(&mut self, given: &Map<String, Value>) -> Result<(), Error> {
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

    /// Whether the document says that the workflow is active.
    pub fn is_active(&self) -> bool {
        self.members.get("active").is_some_and(|active| active.get() == "true")
    }

    /// The published version, compared with this one, if the document has both.
    pub fn published(&self) -> PublishedVersion {
        let (saved, published) = (self.version(), self.active_version());
        PublishedVersion::new(self.is_active(), saved.as_deref(), published.as_deref())
    }

    /// n8n's id of this version, if the document has one.
    pub fn version(&self) -> Option<String> {
        text(&self.members, "versionId")
    }

    /// n8n's id of the workflow, if the document has one.
    pub fn id(&self) -> Option<String> {
        text(&self.members, "id")
    }

    /// n8n's id of the version that runs in production, if the document has one.
    pub fn active_version(&self) -> Option<String> {
        text(&self.members, "activeVersionId")
    }

    /// When n8n saved it, ISO 8601, if the document says so.
    pub fn updated_at(&self) -> Option<String> {
        text(&self.members, "updatedAt")
    }

    /// Whether another document has the same value of a member, written in the same way.
    pub fn has_same(&self, other: &Self, member: &str) -> bool {
        let written = |document: &Self| document.members.get(member).map(|value| value.get().to_owned());
        written(self) == written(other)
    }

    /// Takes over the nodes and connections of another document.
    pub fn take_nodes_of(&mut self, other: &Self) {
        for member in ["nodes", "connections"] {
            if let Some(value) = other.members.get(member) {
                self.members.insert(member.to_owned(), value.clone());
            }
        }
    }

    /// The nodes.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if they are not a list of objects.
    pub fn nodes(&self) -> Result<Vec<Members>, Error> {
        read(self.member("nodes")?, "nodes", NODES)
    }

    /// The nodes, in the text of this document.
    ///
    /// # Errors
    /// As [`nodes`](Self::nodes).
    pub(super) fn borrowed_nodes(&self) -> Result<Vec<BorrowedMembers<'_>>, Error> {
        read(self.member("nodes")?, "nodes", NODES)
    }

    /// The connections, as the type that the caller wants.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if they are missing, or cannot be read as that type.
    pub fn connections<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read(self.member("connections")?, "connections", "an object")
    }

    /// The settings; empty if there are none.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if they are not an object.
    pub fn settings(&self) -> Result<Members, Error> {
        match self.members.get("settings").filter(|settings| settings.get() != "null") {
            Some(settings) => read(settings, "settings", "an object"),
            None => Ok(Members::new()),
        }
    }

    /// Replaces the value of a member, or adds it as the last one.
    ///
    /// # Errors
    /// [`Error::NotWorkflow`] if the value cannot be written as JSON.
    pub fn set(&mut self, member: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.members.insert(member.to_owned(), raw(value)?);
        Ok(())
    }

    /// All members.
    pub(super) fn members(&self) -> &Members {
        &self.members
    }

    /// All members, so that some can be removed.
    pub(super) fn members_mut(&mut self) -> &mut Members {
        &mut self.members
    }

    /// Removes all members but these. n8n keeps its own value of any member that it does not receive.
    pub fn keep_only(&mut self, members: &[&str]) {
        self.members.retain(|member, _| members.contains(&member.as_str()));
    }

    /// The document as compact JSON, except that unchanged values keep their white space.
    pub fn text(&self) -> String {
        // Keys are strings and the values are JSON: there is nothing to report.
        serde_json::to_string(&self.members).unwrap_or_default()
    }

    fn member(&self, name: &str) -> Result<&RawValue, Error> {
        self.members.get(name).map(AsRef::as_ref).ok_or_else(|| missing(name))
    }
}

/// Whether two objects have the same members in the same order, written in the same way.
pub(super) fn same_members(one: &Members, other: &IndexMap<String, impl Borrow<RawValue>>) -> bool {
    let mut pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.all(|(one, other)| one.0 == other.0 && one.1.get() == other.1.borrow().get())
}

/// A string member of a node.
pub fn text(node: &Members, member: &str) -> Option<String> {
    serde_json::from_str(node.get(member)?.get()).ok()
}

fn raw(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::NotWorkflow(error.to_string()))
}

fn missing(what: &str) -> Error {
    Error::NotWorkflow(format!("{what} is missing"))
}

fn read<'t, T: Deserialize<'t>>(value: &'t RawValue, what: &str, is: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|_| Error::NotWorkflow(format!("{what} must be {is}")))
}

fn not_an_object(error: serde_json::Error, text: &[u8]) -> Error {
    use serde_json::error::Category;
    // Not an object: but is it valid JSON?
    let error = match (error.classify(), serde_json::from_slice::<IgnoredAny>(text)) {
        (Category::Data, Err(error)) => error,
        (Category::Data, Ok(_)) if text.trim_ascii_start().starts_with(b"[") => {
            return Error::NotWorkflow("it is a list; pass one workflow".to_owned());
        }
        (Category::Data, Ok(_)) => return Error::NotWorkflow("it is not an object".to_owned()),
        _ => error,
    };
    let what = error.to_string();
    let what = match markup(text) {
        Some(markup) => format!("it begins like {markup}, such as the page of a login or a proxy,"),
        None => what.split(" at line ").next().unwrap_or(&what).to_owned(),
    };
    Error::NotJson { what, line: error.line(), column: error.column() }
}
