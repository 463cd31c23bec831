//! Workflows that live as long as this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::edited::{EditRequest, Edited, check_version};
use super::refusal::refused;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::tools::Error;
use crate::workflow::file::FILE_BYTES;
use crate::workflow::{Document, WorkflowEdit, Written, version_of};

/// How many workflows are held; a new one displaces the oldest.
const MAX_HELD: usize = 100;

/// Bytes of all workflows that are held; a new or growing one displaces the oldest.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Bytes of one workflow, the same as for a file.
const MAX_WORKFLOW_BYTES: usize = FILE_BYTES as usize;

/// How the ids of workflows in memory begin.
const PREFIX: &str = "mem-";

/// Workflows in memory, by id; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<IndexMap<String, Document>>>);

impl MemoryStore {
    /// Whether an id can only belong to a workflow in memory.
    pub(in crate::tools) fn is_id(id: &str) -> bool {
        id.starts_with(PREFIX) && !id.ends_with(".json")
    }

    /// Holds a workflow and returns its id.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is too large.
    pub(in crate::tools) fn insert(&self, document: Document) -> Result<String, Error> {
        check_size(&document)?;
        let mut held = self.lock();
        let id = format!("{PREFIX}{}", uuid::Uuid::new_v4());
        held.insert(id.clone(), document);
        make_room(&mut held, &id);
        Ok(id)
    }

    /// A copy of a workflow.
    ///
    /// # Errors
    /// [`Error::FailedPrecondition`] if this process does not hold it.
    pub(in crate::tools) fn get(&self, id: &str) -> Result<Document, Error> {
        self.lock().get(id).cloned().ok_or_else(|| not_held(id))
    }

    /// Edits a workflow. If `edit` fails, the workflow is unchanged.
    ///
    /// # Errors
    /// [`Error::FailedPrecondition`] if this process does not hold it, or holds another version; [`Error::Argument`] if the edit
    /// is not possible or makes it too large.
    pub(in crate::tools) fn edit<T>(
        &self,
        id: &str,
        request: &EditRequest,
        edit: impl WorkflowEdit<T>,
    ) -> Result<Edited<T>, Error> {
        let mut held = self.lock();
        let current = held.get_mut(id).ok_or_else(|| not_held(id))?;
        let before = Written::from(current.clone());
        let version = version_of(before.text.as_bytes());
        check_version(request, Some(version.clone()), None)?;
        let (value, after) = edit(&before).map_err(|error| refused(&error))?;
        let versions = [version, version_of(after.text.as_bytes())].map(Some);
        let (before, after) = (before.document, after.document);
        check_size(&after)?;
        if request.writes {
            current.clone_from(&after);
            make_room(&mut held, id);
        }
        Ok(Edited { value, before, after, versions, outcome: None, left_out: Vec::new(), is_kept: false })
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the oldest workflows, but not `latest`, until the others fit.
fn make_room(held: &mut IndexMap<String, Document>, latest: &str) {
    let mut bytes: usize = held.values().map(Document::bytes).sum();
    while held.len() > MAX_HELD || bytes > MAX_BYTES {
        let Some(oldest) = held.keys().position(|id| id != latest) else { return };
        if let Some((_, removed)) = held.shift_remove_index(oldest) {
            bytes -= removed.bytes();
        }
    }
}

fn check_size(document: &Document) -> Result<(), Error> {
    if document.bytes() <= MAX_WORKFLOW_BYTES {
        return Ok(());
    }
    Err(Error::arguments("The workflow would be larger than 64 MiB, which n8n does not accept. Make it smaller."))
}

fn not_held(id: &str) -> Error {
    Error::FailedPrecondition(format!(
        "Workflow '{}' is not in memory: another process created it, newer ones replaced it, or it never existed. Create it \
         with workflow_create.",
        shorten(id, CUT_NAME_CHARS)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(bytes: usize) -> Document {
        let members = json!({"name": "W", "nodes": [], "connections": {}, "settings": {"text": "x".repeat(bytes)}});
        Document::of(members.as_object().unwrap()).unwrap()
    }

    #[test]
    fn workflows_are_limited_by_their_bytes() {
        const LARGE: usize = 40 << 20;
        let store = MemoryStore::default();
        // Six fit.
        let ids: Vec<_> = (0..8).map(|_| store.insert(document(LARGE)).unwrap()).collect();
        let held = |id: &String| store.get(id).is_ok();
        assert_eq!(ids.iter().map(held).collect::<Vec<_>>(), [vec![false; 2], vec![true; 6]].concat());
        // A growing workflow displaces the oldest of the others.
        store
            .edit(&ids[2], &EditRequest::default(), |_: &Written| Ok(((), document(LARGE + (20 << 20)).into())))
            .unwrap();
        assert!(held(&ids[2]) && !held(&ids[3]) && held(&ids[4]));
    }

    #[test]
    fn a_workflow_that_is_too_large_is_refused_and_stays_as_it_was() {
        let store = MemoryStore::default();
        assert!(matches!(store.insert(document(MAX_WORKFLOW_BYTES)), Err(Error::Argument(_))));
        let id = store.insert(document(1)).unwrap();
        let grow = |_: &Written| Ok(((), document(MAX_WORKFLOW_BYTES).into()));
        assert!(matches!(store.edit(&id, &EditRequest::default(), grow), Err(Error::Argument(_))));
        assert!(store.get(&id).unwrap().bytes() < 100);
    }
}
