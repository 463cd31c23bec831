//! What people should know about an execution, as sentences: the page and the terminal show the same ones.

mod cause;
mod flow;
mod outlier;
mod sentence;
mod wording;

use serde::Serialize;

pub(super) use self::cause::Asked;
pub(super) use self::flow::{empty_runs, is_filter, of_flow};
pub(super) use self::sentence::Sentence;
pub(super) use self::wording::Wording;

/// The largest stored execution, in bytes, that n8n may be asked for again unprompted: each question makes n8n send all of it.
pub(super) const SENT_AGAIN: u64 = 50_000_000;

/// Findings that need more than the summary. Each part may be missing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cause {
    /// For a failed node: its HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sentence>,
    /// The answer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Sentence>,
    /// The item that the node was working on, and its outliers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Sentence>,
    /// Whether the workflow was edited since the last good run, or since the one that it retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<Sentence>,
    /// Of a success: outliers, and how the items of a node differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<Sentence>,
    /// Of a success: that nothing was found, if so, and what was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<Sentence>,
    /// What was not looked at, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Sentence>,
}

impl Cause {
    /// What was found, with the sentences about the flow of the items, in the order in which it is read; and what was not
    /// looked at.
    pub(super) fn with(self, flow: Vec<Sentence>) -> (Vec<Sentence>, Option<Sentence>) {
        let Self { request, answered, items, edited, odd, nothing, unseen } = self;
        let nothing = nothing.filter(|_| flow.is_empty());
        let cause = request.into_iter().chain(answered).chain(items).chain(edited);
        (cause.chain(flow).chain(odd).chain(nothing).collect(), unseen)
    }
}
