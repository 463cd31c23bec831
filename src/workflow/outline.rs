//! A workflow in one line, for lists.

use std::io::Read;

use super::PublishedVersion;
use crate::json::{Cursor, Excerpt, Keep, Projection, ReadError};

/// What the outline needs of a workflow.
const KEEP: Keep = Keep::Members(&MEMBERS);

/// What a list of outlines needs.
const KEEP_LIST: Keep = Keep::Members(&[("data", Keep::EachElement(&KEEP)), ("nextCursor", Keep::Whole)]);

const MEMBERS: [(&str, Keep); 10] = [
    ("id", Keep::Whole),
    ("name", Keep::Whole),
    ("active", Keep::Whole),
    ("versionId", Keep::Whole),
    ("activeVersionId", Keep::Whole),
    ("tags", Keep::Whole),
    ("createdAt", Keep::Whole),
    ("updatedAt", Keep::Whole),
    ("nodes", Keep::Count),
    ("settings", Keep::EachMember(&Keep::Skip)),
];

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
    /// The published version, compared with what is saved.
    pub published: PublishedVersion,
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

    /// Reads one workflow; `None` if the value is not one.
    fn read_from<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<Self>, ReadError> {
        let (mut outline, mut saved, mut published) = (Self::default(), None, None);
        cursor.object(|cursor, member| {
            match member {
                "id" => outline.id = cursor.text(WORD_CHARS)?.unwrap_or_default(),
                "name" => outline.name = cursor.name()?.unwrap_or_default(),
                "active" => outline.active = cursor.is_true()?,
                "versionId" => saved = cursor.text(WORD_CHARS)?,
                "activeVersionId" => published = cursor.text(WORD_CHARS)?,
                "tags" => outline.tags = Some(cursor.excerpt(TAGS_BYTES)?),
                "createdAt" => outline.created_at = cursor.text(WORD_CHARS)?,
                "updatedAt" => outline.updated_at = cursor.text(WORD_CHARS)?,
                "nodes" => outline.nodes = cursor.count()?,
                "settings" => {
                    cursor.object(|cursor, setting| {
                        outline.settings.push(setting.to_owned());
                        cursor.skip()
                    })?;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        outline.published = PublishedVersion::new(outline.active, saved.as_deref(), published.as_deref());
        Ok((!outline.id.is_empty()).then_some(outline))
    }
}

/// Reads the [`Outline`] of a workflow; `None` if the body is not a workflow.
#[derive(Clone, Copy, Debug)]
pub struct OutlineProjection;

impl Projection for OutlineProjection {
    type View = Result<Option<Outline>, ReadError>;
    const KEEP: Keep = KEEP;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        read(cursor)
    }
}

/// Reads one workflow; `None` if the body is not a workflow.
fn read<R: Read>(mut cursor: Cursor<R>) -> Result<Option<Outline>, ReadError> {
    let outline = Outline::read_from(&mut cursor)?;
    cursor.finish()?;
    Ok(outline)
}

/// Reads an [`OutlinePage`]; `None` if the body is not a list.
#[derive(Clone, Copy, Debug)]
pub struct OutlinePageProjection;

impl Projection for OutlinePageProjection {
    type View = Result<Option<OutlinePage>, ReadError>;
    const KEEP: Keep = KEEP_LIST;

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        read_list(cursor)
    }
}

/// Reads a list; `None` if the body contains no list.
fn read_list<R: Read>(mut cursor: Cursor<R>) -> Result<Option<OutlinePage>, ReadError> {
    let (mut page, mut is_list) = (OutlinePage::default(), false);
    cursor.object(|cursor, member| {
        match member {
            "data" => {
                is_list = cursor.array(|cursor, _| {
                    page.workflows.extend(Outline::read_from(cursor)?);
                    Ok(())
                })?;
            }
            "nextCursor" => page.more = cursor.skip_present()?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    cursor.finish()?;
    Ok(is_list.then_some(page))
}
