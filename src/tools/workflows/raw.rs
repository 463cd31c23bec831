//! n8n's own object as an answer: as much of it as the budget allows, and what was left out.

use serde_json::value::RawValue;

use super::MAX_RAW_TOKENS;
use crate::budget::{Entry, Page};
use crate::json::Excerpt;
use crate::toolkit::answer::{self, LeftOut, Success, Truncated, paged};
use crate::workflow::raw::RawWorkflow;

/// The answer that shows a whole workflow.
pub(super) fn answer(message: &str, raw: &RawWorkflow) -> String {
    show(message, &raw.workflow, &raw.left_out, "get_workflow with node shows one node")
}

/// The answer that shows one of n8n's objects, without the members that were `left_out`; `hint` says what to do
/// if it is clipped.
pub(super) fn show(message: &str, object: &Excerpt, left_out: &[&'static str], hint: &str) -> String {
    let entry = [Entry { value: object.clone(), tag: None }];
    let cut_names = object.cut_names();
    let write = |page: &Page| {
        let data: Box<RawValue> = answer::json(&page.text);
        let clipped = page.clipped + cut_names;
        let left_out = (!left_out.is_empty()).then(|| LeftOut::new(left_out, clipped));
        Success::new(message, &data).left_out(left_out).truncated(truncated(clipped, hint)).text()
    };
    paged(&entry, MAX_RAW_TOKENS, write).text
}

/// What a reader must know about an object that does not fit.
fn truncated(clipped: u64, hint: &str) -> Option<Truncated> {
    let reason = format!("values are clipped: never write this object back; {hint}");
    (clipped > 0).then_some(Truncated { reason, next_offset: None, clipped_values: Some(clipped) })
}
