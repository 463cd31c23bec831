//! How the published version of a workflow relates to the saved one.
//!
//! n8n 2 keeps two versions of the nodes and connections: the saved one, which its editor shows (`versionId`), and the
//! published one, which runs in production (`activeVersionId`). A name and settings have no versions: they apply at once.

use serde::Serialize;

/// The published version, compared with the saved one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PublishedVersion {
    /// The saved version is published.
    Same,
    /// It is older: changes saved since are a draft.
    Older,
    /// None: the workflow is not active.
    #[default]
    None,
}

impl PublishedVersion {
    /// From n8n's `active`, `versionId` and `activeVersionId`. n8n 1 publishes what it saves, most of its versions without
    /// an `activeVersionId`.
    pub fn new(active: bool, saved: Option<&str>, published: Option<&str>) -> Self {
        match (saved, published) {
            (Some(saved), Some(published)) if saved != published => Self::Older,
            (_, None) if !active => Self::None,
            _ => Self::Same,
        }
    }
}
