//! n8n's own object, but for what is a copy or a secret of its own: a bounded copy of it.

use std::io::Read;

use crate::json::{Cursor, Excerpt, Keep, ReadError};

/// What is left out: the data of triggers, pinned items, and a second copy of the nodes.
pub const KEEP: Keep =
    Keep::Except(&[("staticData", Keep::Skip), ("pinData", Keep::Skip), ("activeVersion", Keep::Skip)]);

const LEFT_OUT: [&str; 3] = ["staticData", "pinData", "activeVersion"];

/// What is held of a workflow: more than any answer shows.
const MEMBER_BYTES: usize = 4 * 1024 * 1024;

/// A workflow, with all its members but those that are left out.
#[derive(Debug)]
pub struct RawWorkflow {
    /// The object.
    pub workflow: Excerpt,
    /// Members that are there and not shown.
    pub left_out: Vec<&'static str>,
}

/// Reads a workflow; `None` where the body is none.
///
/// # Errors
/// [`ReadError`].
pub fn read<R: Read>(mut cursor: Cursor<R>) -> Result<Option<RawWorkflow>, ReadError> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    cursor.object(|cursor, member| {
        match LEFT_OUT.into_iter().find(|name| *name == member) {
            Some(name) => left_out.extend(cursor.skip_present()?.then_some(name)),
            None => kept.push((member.to_owned(), cursor.excerpt(MEMBER_BYTES)?)),
        }
        Ok(())
    })?;
    cursor.finish()?;
    let is_workflow = kept.iter().any(|(member, _)| member == "id");
    let total = kept.len() as u64;
    Ok(is_workflow.then_some(RawWorkflow { workflow: Excerpt::Object { kept, total }, left_out }))
}
