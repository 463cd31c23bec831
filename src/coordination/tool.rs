//! A tool of the coordination server: its declaration is the toolkit's, its handler a rule over a unit of work.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::caller::Concern;
use super::store::{Scope, Work};
use super::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{self, ArgumentError, Arguments, FromArguments};

/// A tool of the coordination server.
pub type Tool = toolkit::Tool<Handler>;

/// Who may call a tool, and how it runs.
pub struct Handler {
    /// Who may call it over HTTP, in addition to administrators; empty for the administrator's own tools.
    pub scopes: &'static [Scope],
    /// Whether another tool has replaced it.
    pub deprecated: bool,
    pub(super) run: Run,
}

/// The arguments of a call, and what it does with them in one unit of work.
pub(super) trait Rule<T = Value>: Send {
    /// The subjects of the call. A tool that does not state them is not available to callers that act for one agent.
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Everything]
    }

    /// How many entries of the list in the answer are skipped.
    fn offset(&self) -> u64 {
        0
    }

    /// Returns the answer and makes the changes, all in one transaction. It can run more than once.
    fn run(&self, work: &mut Work<'_>, policy: &SessionPolicy) -> Result<T, Error>;
}

/// The arguments of a call that takes several units of work, or works slowly outside the transaction.
pub(super) trait ToolCall: FromArguments + Send + 'static {
    /// Returns the answer.
    fn run(
        self,
        coordinator: Arc<Coordinator>,
        caller: Caller,
    ) -> impl Future<Output = Result<Value, Error>> + Send + 'static;
}

/// Reads the arguments of a rule.
pub(super) type ReadRule<T = Value> = fn(Arguments) -> Result<Box<dyn Rule<T>>, ArgumentError>;

/// The future of a call.
pub(super) type Call = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;

/// How a tool runs.
#[derive(Clone, Copy)]
pub(super) enum Run {
    Read(ReadRule),
    Write(ReadRule),
    Call(fn(Arguments, Arc<Coordinator>, Caller) -> Result<Call, ArgumentError>),
}

/// The rule of a call with these arguments.
pub(super) fn rule<A: Rule<T> + FromArguments + 'static, T>(
    arguments: Arguments,
) -> Result<Box<dyn Rule<T>>, ArgumentError> {
    Ok(Box::new(A::read(arguments)?))
}

/// The longest text argument, in bytes. It is small enough for a task with all of its context to fit an
/// agent's context.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The longest text argument of an administrator, in bytes: descriptions and system prompts are longer.
pub(super) const MAX_ADMIN_TEXT_BYTES: usize = 32 * 1024;

impl Handler {
    /// Runs as one read-only unit of work.
    pub(super) const fn read<A: Rule + FromArguments + 'static>(scopes: &'static [Scope]) -> Self {
        Self { scopes, deprecated: false, run: Run::Read(rule::<A, Value>) }
    }

    /// Runs as one unit of work.
    pub(super) const fn write<A: Rule + FromArguments + 'static>(scopes: &'static [Scope]) -> Self {
        Self { scopes, deprecated: false, run: Run::Write(rule::<A, Value>) }
    }

    /// Runs as several units of work, or with slow work outside the transaction.
    pub(super) const fn call<A: ToolCall>(scopes: &'static [Scope]) -> Self {
        let call: fn(_, _, _) -> Result<Call, _> =
            |arguments, coordinator, caller| Ok(Box::pin(A::read(arguments)?.run(coordinator, caller)));
        Self { scopes, deprecated: false, run: Run::Call(call) }
    }

    /// The same, replaced by another tool.
    pub(super) const fn deprecated(self) -> Self {
        Self { deprecated: true, ..self }
    }
}

impl Tool {
    /// Checks the arguments of a call.
    pub(super) fn check(&self, arguments: Map<String, Value>) -> Result<Arguments, ArgumentError> {
        // Tools without a scope are the administrator's.
        let max_bytes = if self.handler.scopes.is_empty() { MAX_ADMIN_TEXT_BYTES } else { MAX_TEXT_BYTES };
        for (name, value) in &arguments {
            let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            texts.iter().filter_map(Value::as_str).try_for_each(|text| check_text(name, text, max_bytes))?;
        }
        Arguments::check(self.parameters, &[], arguments)
    }
}

/// Refuses a text that is too long, or that PostgreSQL cannot store.
pub(super) fn check_text(name: &str, text: &str, max_bytes: usize) -> Result<(), ArgumentError> {
    if text.len() > max_bytes {
        let problem = format!(
            "has {} bytes; at most {max_bytes} are allowed. Put longer text in a file and give its path.",
            text.len()
        );
        return Err(ArgumentError::new(name, problem));
    }
    if text.contains('\0') {
        return Err(ArgumentError::new(name, "contains U+0000, which cannot be stored. Remove it."));
    }
    Ok(())
}
