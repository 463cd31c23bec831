//! n8n's own object as an answer: as much of it as a budget holds, and what is not in it.

use serde_json::value::RawValue;

use super::MAX_RAW_TOKENS;
use crate::budget::{Entry, Page};
use crate::json::Excerpt;
use crate::toolkit::answer::{self, Success, Truncated, paged};
use crate::workflow::whole::Whole;

/// The answer that shows a whole workflow.
pub(super) fn answer(message: &str, whole: &Whole) -> String {
    show(message, &whole.workflow, &whole.left_out, "get_workflow with node shows one node")
}

/// The answer that shows one of n8n's objects, of which members were `left_out`; `hint` says what to do where
/// it is not whole.
pub(super) fn show(message: &str, object: &Excerpt, left_out: &[&str], hint: &str) -> String {
    let entry = [Entry { value: object.clone(), tag: None }];
    let cut_names = object.cut_names();
    let write = |page: &Page| {
        let data: Box<RawValue> = answer::json(&page.text);
        Success::new(message, &data).truncated(truncated(page.clipped + cut_names, left_out, hint)).text()
    };
    paged(&entry, MAX_RAW_TOKENS, write).text
}

/// What is not in the answer, and what follows from it.
fn truncated(clipped: u64, left_out: &[&str], hint: &str) -> Option<Truncated> {
    let mut reasons = Vec::new();
    if !left_out.is_empty() {
        reasons.push(format!("left out: {}", left_out.join(", ")));
    }
    if clipped > 0 {
        reasons.push(format!("values are clipped: never write this object back; {hint}"));
    }
    let clipped_values = (clipped > 0).then_some(clipped);
    (!reasons.is_empty()).then(|| Truncated { reason: reasons.join("; "), next_offset: None, clipped_values })
}
