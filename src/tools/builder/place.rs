//! Where a document lives: a file, n8n, or this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use serde_json::Map;

use crate::blocking::blocking;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::n8n::Progress;
use crate::toolkit::nearest;
use crate::tools::workflows::{Target, Writing};
use crate::tools::{Context, Error};
use crate::workflow::{self, Document, file};

/// Workflows that this process holds at most; the oldest makes room for another.
const HELD: usize = 100;

/// How ids of workflows in memory begin.
const PREFIX: &str = "mem-";

/// What n8n is told of an edit; everything else stays as it is.
const EDITED: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// Workflows that live as long as this process, by id.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<IndexMap<String, Document>>>);

/// Where a document lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    File(String),
    N8n(String),
    Memory(String),
}

impl Place {
    /// What a `workflowId` means.
    pub(super) fn of(id: &str) -> Self {
        if id.starts_with(PREFIX) && !id.ends_with(".json") {
            Self::Memory(id.to_owned())
        } else if id.ends_with(".json") || id.contains(['/', std::path::MAIN_SEPARATOR]) {
            Self::File(id.to_owned())
        } else {
            Self::N8n(id.to_owned())
        }
    }

    /// Reads the document.
    pub(super) async fn load(&self, context: &Context, progress: &Progress) -> Result<Document, Error> {
        match self {
            Self::Memory(id) => context.memory.get(id),
            Self::N8n(id) => parse(id, &context.n8n.workflow_text(id, progress).await?),
            Self::File(path) => {
                let (files, path) = (context.files.clone(), path.clone());
                blocking(move || {
                    let text = files.read(&path)?;
                    Ok(Document::parse(&text).map_err(|error| file::Error::Unusable(path, error))?)
                })
                .await
            }
        }
    }

    /// Edits the document where it lives; gives what `edit` gave, and the document as it is then.
    pub(super) async fn edit<T, F>(
        &self,
        context: &Context,
        progress: &Progress,
        edit: F,
    ) -> Result<(T, Document), Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Document) -> Result<T, workflow::Error> + Send + 'static,
    {
        match self {
            Self::Memory(id) => context.memory.edit(id, edit),
            Self::File(path) => {
                let (files, path) = (context.files.clone(), path.clone());
                blocking(move || files.edit(&path, edit).map_err(of_file)).await
            }
            Self::N8n(id) => {
                let _turn = context.n8n.lock_workflow(id).await;
                let mut document = parse(id, &context.n8n.workflow_text(id, progress).await?)?;
                let done = edit(&mut document).map_err(|error| refused(&error))?;
                let mut sent = document.clone();
                sent.keep_only(&EDITED);
                let (target, given) = (Target::Existing(id), Map::new());
                Writing { context, target, document: sent, given, progress, raw: false }.send().await?;
                Ok((done, document))
            }
        }
    }
}

impl Memory {
    /// Holds a document; gives its id. The oldest makes room.
    pub(super) fn hold(&self, document: Document) -> String {
        let mut held = self.lock();
        if held.len() >= HELD {
            held.shift_remove_index(0);
        }
        let id = format!("{PREFIX}{}", uuid::Uuid::new_v4());
        held.insert(id.clone(), document);
        id
    }

    fn get(&self, id: &str) -> Result<Document, Error> {
        self.lock().get(id).cloned().ok_or_else(|| not_held(id))
    }

    fn edit<T>(
        &self,
        id: &str,
        edit: impl FnOnce(&mut Document) -> Result<T, workflow::Error>,
    ) -> Result<(T, Document), Error> {
        let mut held = self.lock();
        let place = held.get_mut(id).ok_or_else(|| not_held(id))?;
        // What fails midway must leave nothing behind.
        let mut document = place.clone();
        let done = edit(&mut document).map_err(|error| refused(&error))?;
        *place = document.clone();
        Ok((done, document))
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<String, Document>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse(id: &str, text: &[u8]) -> Result<Document, Error> {
    let id = shorten(id, CUT_NAME_CHARS);
    Document::parse(text).map_err(|error| Error::NotThere(format!("n8n's workflow '{id}' cannot be used: {error}.")))
}

fn of_file(error: file::Error) -> Error {
    match error {
        file::Error::Edit(error) => refused(&error),
        error => error.into(),
    }
}

/// Why an edit is not made.
pub(super) fn refused(error: &workflow::Error) -> Error {
    match error {
        workflow::Error::NoNode { wanted, names } => {
            let wanted = shorten(wanted, CUT_NAME_CHARS);
            Error::Argument(format!(
                "There is no node '{wanted}' in this workflow. {}",
                nearest("Nodes", &wanted, names)
            ))
        }
        error => Error::Argument(format!("This edit is not possible: {error}.")),
    }
}

fn not_held(id: &str) -> Error {
    Error::NotThere(format!(
        "Workflow '{}' is not in memory: it was made by another process, or never. Make it with workflow_create.",
        shorten(id, CUT_NAME_CHARS)
    ))
}
