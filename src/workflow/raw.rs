//! n8n's own object as a bounded copy, without data that is duplicated or can hold secrets.

use super::PublishedVersion;
use crate::json::{Cursor, Excerpt, Keep, Projection, ReadError};

/// The data of triggers, pinned items, and the second copy of the nodes.
const LEFT_OUT: [&str; 3] = ["staticData", "pinData", "activeVersion"];

/// Bytes held of each member: more than any answer shows.
const MEMBER_BYTES: usize = 4 * 1024 * 1024;

/// A workflow without the members that are left out.
#[derive(Debug)]
pub struct RawWorkflow {
    /// The object.
    pub workflow: Excerpt,
    /// The members of the workflow that are not in the copy.
    pub left_out: Vec<&'static str>,
}

impl RawWorkflow {
    /// Whether it is active.
    pub fn is_active(&self) -> bool {
        matches!(self.workflow.member("active"), Some(Excerpt::Scalar(active)) if active == "true")
    }

    /// The published version, compared with the saved one.
    pub fn published(&self) -> PublishedVersion {
        let version = |member| self.workflow.member(member).and_then(Excerpt::text);
        let (saved, published) = (version("versionId"), version("activeVersionId"));
        PublishedVersion::new(self.is_active(), saved.as_deref(), published.as_deref())
    }
}

/// Reads a workflow as n8n's own object; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct RawProjection;

impl Projection for RawProjection {
    type View = Result<Option<RawWorkflow>, ReadError>;
    const KEEP: Keep = Keep::Except(&Keep::Skip.of_each(LEFT_OUT));

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
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
}
