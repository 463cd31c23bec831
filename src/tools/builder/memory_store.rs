//! Workflows that live as long as this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::refusal::refused;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::tools::Error;
use crate::workflow::{self, Document};

/// How many workflows are held; the oldest makes room for a new one.
const MAX_HELD: usize = 100;

/// How the ids of workflows in memory begin.
const PREFIX: &str = "mem-";

/// Workflows in memory, by id; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<IndexMap<String, Document>>>);

impl MemoryStore {
    /// Whether an id can only belong to a workflow in memory.
    pub(super) fn is_id(id: &str) -> bool {
        id.starts_with(PREFIX) && !id.ends_with(".json")
    }

    /// Holds a workflow and returns its id.
    pub(super) fn insert(&self, document: Document) -> String {
        let mut held = self.lock();
        if held.len() >= MAX_HELD {
            held.shift_remove_index(0);
        }
        let id = format!("{PREFIX}{}", uuid::Uuid::new_v4());
        held.insert(id.clone(), document);
        id
    }

    /// A copy of a workflow.
    ///
    /// # Errors
    /// [`Error::NotThere`] if this process does not hold it.
    pub(super) fn get(&self, id: &str) -> Result<Document, Error> {
        self.lock().get(id).cloned().ok_or_else(|| not_held(id))
    }

    /// Edits a workflow, and returns the result of `edit` with the edited workflow. If `edit` fails, the workflow
    /// stays as it was.
    ///
    /// # Errors
    /// [`Error::NotThere`] if this process does not hold it, [`Error::Argument`] if the edit is not possible.
    pub(super) fn edit<T>(
        &self,
        id: &str,
        edit: impl FnOnce(&mut Document) -> Result<T, workflow::Error>,
    ) -> Result<(T, Document), Error> {
        let mut held = self.lock();
        let current = held.get_mut(id).ok_or_else(|| not_held(id))?;
        let mut document = current.clone();
        let done = edit(&mut document).map_err(|error| refused(&error))?;
        *current = document.clone();
        Ok((done, document))
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_held(id: &str) -> Error {
    Error::NotThere(format!(
        "Workflow '{}' is not in memory: another process created it, newer ones replaced it, or it never existed. Create it \
         with workflow_create.",
        shorten(id, CUT_NAME_CHARS)
    ))
}
