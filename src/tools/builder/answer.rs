//! The shape of the builder's answers: plain objects, with the workflow last, clipped if need be.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::budget::{Entry, Page};
use crate::json::{Cursor, Excerpt};
use crate::toolkit::answer::{DEFAULT_TOKENS, json, paged};
use crate::workflow::Document;

/// Bytes held of a workflow: more than any answer shows.
const WORKFLOW_BYTES: usize = 4 * 1024 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WithWorkflow<'a, T> {
    #[serde(flatten)]
    fields: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    workflow_data: Box<RawValue>,
}

/// An answer with these fields.
pub(super) fn plain(fields: &impl Serialize) -> String {
    // Keys are strings and no value can fail: there is nothing to report.
    serde_json::to_string(fields).unwrap_or_default()
}

/// An answer with these fields, a note, and as much of the workflow as fits. A workflow that is nested too deeply to
/// be shown is not an error: the edit was made.
pub(super) fn with_workflow(fields: &impl Serialize, note: Option<&str>, document: &Document) -> String {
    let text = document.text();
    let workflow = Cursor::unpruned(text.as_bytes()).excerpt(WORKFLOW_BYTES);
    let cut = workflow.as_ref().map_or(true, |workflow| workflow.cut_names() > 0);
    let workflow = workflow.unwrap_or_else(|_| Excerpt::null());
    let entry = [Entry { value: workflow, tag: None }];
    let write = |page: &Page| {
        let truncated = page.clipped > 0 || cut;
        plain(&WithWorkflow { fields, note, truncated, workflow_data: json(&page.text) })
    };
    paged(&entry, DEFAULT_TOKENS, write).text
}
