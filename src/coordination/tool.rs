//! A tool of the coordination server: its declaration is the toolkit's, its handler a rule over a unit of work.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::store::{Scope, Work};
use super::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{self, Arguments};

/// A tool of the coordination server.
pub type Tool = toolkit::Tool<Handler>;

/// Who may call a tool, and how it is run.
pub struct Handler {
    /// Who may call it over HTTP, besides administrators; empty for the administrator's own tools.
    pub scopes: &'static [Scope],
    /// Whether another tool has replaced it.
    pub deprecated: bool,
    pub(super) run: Run,
}

/// A rule: returns the answer to a call and makes its changes, all in one transaction.
pub(super) type Rule = fn(&mut Work<'_>, &Arguments, &SessionPolicy) -> Result<Value, Error>;

/// The future of a call.
pub(super) type Call = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;

/// How a tool is run.
pub(super) enum Run {
    Read(Rule),
    Write(Rule),
    Call(fn(Arc<Coordinator>, Arguments, Caller) -> Call),
}

/// The longest text argument, in bytes. It is small enough for a task with all of its context to fit an
/// agent's context.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The longest text argument of an administrator, in bytes: descriptions and system prompts are longer.
pub(super) const MAX_ADMIN_TEXT_BYTES: usize = 32 * 1024;

impl Handler {
    /// Runs as one read-only unit of work.
    pub(super) const fn read(scopes: &'static [Scope], rule: Rule) -> Self {
        Self { scopes, deprecated: false, run: Run::Read(rule) }
    }

    /// Runs as one unit of work.
    pub(super) const fn write(scopes: &'static [Scope], rule: Rule) -> Self {
        Self { scopes, deprecated: false, run: Run::Write(rule) }
    }

    /// Runs as several units of work, or with slow work outside of the transaction.
    pub(super) const fn call(scopes: &'static [Scope], call: fn(Arc<Coordinator>, Arguments, Caller) -> Call) -> Self {
        Self { scopes, deprecated: false, run: Run::Call(call) }
    }

    /// The same, replaced by another tool.
    pub(super) const fn deprecated(self) -> Self {
        Self { deprecated: true, ..self }
    }
}

impl Tool {
    /// Checks the arguments of a call.
    pub(super) fn check(&self, arguments: Map<String, Value>) -> Result<Arguments, Error> {
        // Tools without a scope are the administrator's.
        let max_bytes = if self.handler.scopes.is_empty() { MAX_ADMIN_TEXT_BYTES } else { MAX_TEXT_BYTES };
        for (name, value) in &arguments {
            let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            texts.iter().filter_map(Value::as_str).try_for_each(|text| check_text(name, text, max_bytes))?;
        }
        Arguments::check(self.parameters, &[], arguments).map_err(|error| Error::refused(error.to_string()))
    }
}

/// Refuses a text that is too long, or that PostgreSQL cannot store.
pub(super) fn check_text(name: &str, text: &str, max_bytes: usize) -> Result<(), Error> {
    if text.len() > max_bytes {
        return Err(Error::refused(format!(
            "Argument '{name}' has {} bytes; at most {max_bytes} are allowed. Put longer text in a file and give its path.",
            text.len()
        )));
    }
    if text.contains('\0') {
        return Err(Error::refused(format!("Argument '{name}' contains U+0000, which cannot be stored. Remove it.")));
    }
    Ok(())
}

/// The text of a required argument: [`Tool::check`] has made sure that it is present.
pub(super) fn required_text(arguments: &Arguments, name: &str) -> String {
    arguments.text(name).unwrap_or_default()
}
