//! A workflow in one line, for lists.

use super::PublishedVersion;
use crate::json::{Cursor, Excerpt, Keep, Members, Projection, ReadError, members};

/// Bytes held of the tags: about a hundred of n8n's, whose names have at most 24 characters.
const TAGS_BYTES: usize = 16 * 1024;

/// Dates and ids are never longer.
const WORD_CHARS: usize = 100;

/// The outline of one workflow.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// n8n's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it is active.
    pub active: bool,
    /// The published version, compared with the saved one.
    pub published: PublishedVersion,
    /// n8n's id of the saved version.
    pub version: Option<String>,
    /// Nodes, sticky notes included.
    pub nodes: u64,
    /// n8n's tag objects.
    pub tags: Option<Excerpt>,
    /// ISO 8601.
    pub created_at: Option<String>,
    /// ISO 8601.
    pub updated_at: Option<String>,
    /// Names of the settings.
    pub settings: Vec<String>,
}

/// A page of outlines.
#[derive(Debug, Default)]
pub struct OutlinePage {
    /// In n8n's order.
    pub workflows: Vec<Outline>,
    /// Whether more follow.
    pub more: bool,
}

impl Outline {
    /// The names of the tags.
    pub fn tag_names(&self) -> impl Iterator<Item = Excerpt> {
        let tags = self.tags.iter().flat_map(Excerpt::elements);
        tags.filter_map(|tag| tag.member("name").cloned())
    }

    /// Tags in all.
    pub fn tags(&self) -> u64 {
        match self.tags {
            Some(Excerpt::Array { total, .. }) => total,
            _ => 0,
        }
    }
}

/// The members that are read of a workflow.
#[derive(Default)]
struct WorkflowMembers {
    outline: Outline,
    saved_version: Option<String>,
    published_version: Option<String>,
}

members!(WorkflowMembers, |workflow, cursor| match name {
    ("id", Keep::Whole) => workflow.outline.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
    ("name", Keep::Whole) => workflow.outline.name = cursor.name()?.unwrap_or_default(),
    ("active", Keep::Whole) => workflow.outline.active = cursor.is_true()?,
    ("versionId", Keep::Whole) => workflow.saved_version = cursor.text(WORD_CHARS)?,
    ("activeVersionId", Keep::Whole) => workflow.published_version = cursor.text(WORD_CHARS)?,
    ("tags", Keep::Whole) => workflow.outline.tags = Some(cursor.excerpt(TAGS_BYTES)?),
    ("createdAt", Keep::Whole) => workflow.outline.created_at = cursor.text(WORD_CHARS)?,
    ("updatedAt", Keep::Whole) => workflow.outline.updated_at = cursor.text(WORD_CHARS)?,
    ("nodes", Keep::Count) => workflow.outline.nodes = cursor.count()?,
    ("settings", Keep::EachMember(&Keep::Skip)) => workflow.outline.settings = read_names(cursor)?,
});

impl WorkflowMembers {
    /// The outline; `None` if the value is not a workflow.
    fn outline(self) -> Option<Outline> {
        let Self { mut outline, saved_version, published_version } = self;
        outline.published =
            PublishedVersion::new(outline.active, saved_version.as_deref(), published_version.as_deref());
        outline.version = saved_version;
        Some(outline).filter(|outline| !outline.id.is_empty())
    }
}

/// Reads the names of the members of an object.
fn read_names(cursor: &mut Cursor<'_>) -> Result<Vec<String>, ReadError> {
    let mut names = Vec::new();
    cursor.object(|cursor, name| {
        names.push(name.to_owned());
        cursor.skip()
    })?;
    Ok(names)
}

/// Reads the [`Outline`] of a workflow; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct OutlineProjection;

impl Projection for OutlineProjection {
    type View = Result<Option<Outline>, ReadError>;
    const KEEP: Keep = WorkflowMembers::KEEP;

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
        let workflow = WorkflowMembers::read_or_default(&mut cursor)?;
        cursor.finish()?;
        Ok(workflow.outline())
    }
}

/// The members that are read of a list of workflows.
#[derive(Default)]
struct ListMembers {
    /// `None` if there is no list.
    workflows: Option<Vec<Outline>>,
    more: bool,
}

members!(ListMembers, |list, cursor| match name {
    ("data", Keep::EachElement(&WorkflowMembers::KEEP)) => list.workflows = read_outlines(cursor)?,
    ("nextCursor", Keep::Whole) => list.more = cursor.skip_present()?,
});

fn read_outlines(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Outline>>, ReadError> {
    let mut outlines = Vec::new();
    let is_list = cursor.array(|cursor, _| {
        outlines.extend(WorkflowMembers::read_or_default(cursor)?.outline());
        Ok(())
    })?;
    Ok(is_list.then_some(outlines))
}

/// Reads an [`OutlinePage`]; `None` if the body is not a list.
#[derive(Clone, Copy, Debug)]
pub struct OutlinePageProjection;

impl Projection for OutlinePageProjection {
    type View = Result<Option<OutlinePage>, ReadError>;
    const KEEP: Keep = ListMembers::KEEP;

    fn read(&self, mut cursor: Cursor<'_>) -> Self::View {
        let ListMembers { workflows, more } = ListMembers::read_or_default(&mut cursor)?;
        cursor.finish()?;
        Ok(workflows.map(|workflows| OutlinePage { workflows, more }))
    }
}
