//! What a tool is here: its declaration, and its rule.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::store::{Scope, Work};
use super::{Coordinator, Error, Terms};
use crate::toolkit::{Arguments, Effect, Parameter, schema};

/// A tool of the coordination server.
pub struct Tool {
    /// The name that clients call.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it does and when to use it, for an agent.
    pub description: &'static str,
    /// Its arguments.
    pub parameters: &'static [Parameter],
    /// Who may call it over HTTP, beside administrators.
    pub scopes: &'static [Scope],
    /// What it does to the database.
    pub effect: Effect,
    /// Whether another tool has taken its place.
    pub deprecated: bool,
    /// Runs it.
    pub(super) run: Run,
}

/// A rule: what a call is answered, and what it writes, in one transaction.
pub(super) type Rule = fn(&mut Work<'_>, &Arguments, &Terms) -> Result<Value, Error>;

/// A call under way.
pub(super) type Call = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;

/// How a tool is run.
pub(super) enum Run {
    /// A unit of work that changes nothing.
    Read(Rule),
    /// A unit of work.
    Write(Rule),
    /// More than one unit, or something slow beside it.
    Call(fn(Arc<Coordinator>, Arguments) -> Call),
}

/// The largest text that is taken, bytes: a task with all that was noted about it fits the
/// context of the model that reads it.
const TEXT_BYTES: usize = 8 * 1024;

/// The largest that is taken of an administrator, bytes: descriptions and system prompts.
pub(super) const ADMIN_TEXT_BYTES: usize = 32 * 1024;

impl Tool {
    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema(self.parameters)
    }

    /// Whether the database stays as it is.
    pub fn reads_only(&self) -> bool {
        self.effect == Effect::Read
    }

    /// Checks the arguments of a call.
    pub(super) fn check(&self, given: Map<String, Value>) -> Result<Arguments, Error> {
        // The administrator's are those that no scope names.
        let most = if self.scopes.is_empty() { ADMIN_TEXT_BYTES } else { TEXT_BYTES };
        for (name, value) in &given {
            let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            texts.iter().filter_map(Value::as_str).try_for_each(|text| check_text(name, text, most))?;
        }
        Arguments::check(self.parameters, &[], given).map_err(|error| Error::refused(error.to_string()))
    }
}

/// Refuses a text that is too long, or that PostgreSQL could not store.
pub(super) fn check_text(name: &str, text: &str, most: usize) -> Result<(), Error> {
    if text.len() > most {
        return Err(Error::refused(format!(
            "Argument '{name}' has {} bytes; at most {most} are taken. Keep what is longer in a file, and name that.",
            text.len()
        )));
    }
    if text.contains('\0') {
        return Err(Error::refused(format!("Argument '{name}' holds U+0000, which cannot be stored. Leave it out.")));
    }
    Ok(())
}

/// An argument that was checked to be there.
pub(super) fn given(arguments: &Arguments, name: &str) -> String {
    arguments.text(name).unwrap_or_default()
}
