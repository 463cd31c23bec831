//! The request for an edit of a workflow, and its result.

use std::sync::Arc;

use super::Outcome;
use crate::tools::Error;
use crate::workflow::Document;

/// How a workflow is edited.
#[derive(Clone, Debug)]
pub(in crate::tools) struct EditRequest {
    /// In n8n: what the call says about publishing.
    pub publish: Option<bool>,
    /// The version that the workflow must have.
    pub expected: Option<String>,
    /// Whether it is written; otherwise the edit is only tried.
    pub writes: bool,
    /// Whether the edit also concerns pinned data, which can be several megabytes.
    pub with_pinned: bool,
}

/// A workflow after an edit.
pub(in crate::tools) struct Edited<T> {
    /// What the edit returned.
    pub value: T,
    pub before: Arc<Document>,
    pub after: Arc<Document>,
    /// The version before, and the version now.
    pub versions: [Option<String>; 2],
    /// In n8n: what the change did to production.
    pub outcome: Option<Outcome>,
    /// Names of keys that were not sent to n8n.
    pub left_out: Vec<String>,
    /// Whether the edit can be undone.
    pub is_kept: bool,
}

impl Default for EditRequest {
    fn default() -> Self {
        Self { publish: None, expected: None, writes: true, with_pinned: false }
    }
}

impl<T> Edited<T> {
    /// The same with another value.
    pub(in crate::tools) fn with<U>(self, value: U) -> Edited<U> {
        let Self { before, after, versions, outcome, left_out, is_kept, .. } = self;
        Edited { value, before, after, versions, outcome, left_out, is_kept }
    }

    /// What the caller should know about a change in n8n.
    pub(in crate::tools) fn note(&self) -> Option<String> {
        let outcome = self.outcome.and_then(Outcome::note);
        let notes: Vec<_> = outcome.into_iter().chain(self.left_out_note()).collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    /// A sentence about keys that were not sent to n8n.
    pub(in crate::tools) fn left_out_note(&self) -> Option<String> {
        let names = (!self.left_out.is_empty()).then(|| self.left_out.join(", "))?;
        Some(format!("n8n does not accept these, so they were not sent: {names}."))
    }
}

/// Checks that nobody has edited the workflow since the caller read it; `updated_at` is when it was saved, if that is known.
///
/// # Errors
/// [`Error::FailedPrecondition`] if it has another version.
pub(super) fn check_version(
    request: &EditRequest,
    version: Option<String>,
    updated_at: Option<String>,
) -> Result<(), Error> {
    if request.expected.is_none() || request.expected == version {
        return Ok(());
    }
    let at = updated_at.map(|at| format!(" by an edit at {at}")).unwrap_or_default();
    let now = version.map(|version| format!(" Its version is now {version}.")).unwrap_or_default();
    Err(Error::FailedPrecondition(format!(
        "This workflow has changed since{at}.{now} Nothing was changed. Read it again before you edit it."
    )))
}
