//! Where a workflow is: a file, n8n, or the memory of this process.

use serde_json::Map;

use super::memory_store::MemoryStore;
use super::refusal::refused;
use crate::blocking::blocking;
use crate::json::{CUT_NAME_CHARS, shorten};
use crate::n8n::Progress;
use crate::tools::workflows::{Publishing, Target, Writing};
use crate::tools::{Context, Error};
use crate::workflow::{self, Document, file};

/// The members that an edit sends to n8n; everything else stays as n8n has it.
const EDITED: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// Where a workflow is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WorkflowLocation {
    File(String),
    N8n(String),
    Memory(String),
}

/// A workflow after an edit.
pub(super) struct Edited<T> {
    /// What the edit returned.
    pub value: T,
    /// The workflow as an answer shows it.
    pub shown: Document,
    /// What the caller should know about the change.
    pub note: Option<String>,
}

impl WorkflowLocation {
    /// The location that a `workflowId` names.
    pub(super) fn of(id: &str) -> Self {
        if MemoryStore::is_id(id) {
            Self::Memory(id.to_owned())
        } else if id.ends_with(".json") || id.contains(['/', std::path::MAIN_SEPARATOR]) {
            Self::File(id.to_owned())
        } else {
            Self::N8n(id.to_owned())
        }
    }

    /// Reads the workflow.
    ///
    /// # Errors
    /// [`Error`] if there is no such workflow, if it cannot be read, or if it is not a workflow.
    pub(super) async fn load(&self, context: &Context, progress: &Progress) -> Result<Document, Error> {
        match self {
            Self::Memory(id) => context.memory.get(id),
            Self::N8n(id) => parse(id, &context.n8n()?.workflow_text(id, progress).await?),
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

    /// The workflow that a complete one was made of, if it can have members that n8n does not know: those of a file or in
    /// memory. A caller need not name a workflow that is there.
    pub(super) async fn source(&self, context: &Context, progress: &Progress) -> Option<Document> {
        match self {
            Self::N8n(_) => None,
            Self::File(_) | Self::Memory(_) => self.load(context, progress).await.ok(),
        }
    }

    /// The workflow as an answer shows it. Members that n8n only sends hold the names and addresses of people,
    /// and a second copy of all nodes.
    pub(super) fn shown(&self, document: Document) -> Document {
        match self {
            Self::N8n(_) => document.without_read_only(),
            Self::File(_) | Self::Memory(_) => document,
        }
    }

    /// Edits the workflow where it is. In n8n, `publish` is what the call says about that.
    ///
    /// # Errors
    /// As [`load`](Self::load); [`Error::Argument`] if the edit is not possible; [`Error`] if the workflow cannot
    /// be written.
    pub(super) async fn edit<T, F>(
        &self,
        context: &Context,
        publish: Option<bool>,
        progress: &Progress,
        edit: F,
    ) -> Result<Edited<T>, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Document) -> Result<T, workflow::Error> + Send + 'static,
    {
        let (value, shown) = match self {
            Self::Memory(id) => context.memory.edit(id, edit)?,
            Self::File(path) => {
                let (files, file) = (context.files.clone(), path.clone());
                context.write_file(path, move || files.edit(&file, edit).map_err(of_file)).await?
            }
            Self::N8n(id) => return self.edit_in_n8n(id, context, publish, progress, edit).await,
        };
        Ok(Edited { value, shown, note: None })
    }

    async fn edit_in_n8n<T>(
        &self,
        id: &str,
        context: &Context,
        publish: Option<bool>,
        progress: &Progress,
        edit: impl FnOnce(&mut Document) -> Result<T, workflow::Error>,
    ) -> Result<Edited<T>, Error> {
        let _lock = context.n8n()?.lock_workflow(id).await?;
        let mut document = parse(id, &context.n8n()?.workflow_text(id, progress).await?)?;
        let publishing = Publishing { before: document.published(), wanted: publish };
        let value = edit(&mut document).map_err(|error| refused(&error))?;
        let mut sent = document.clone();
        sent.keep_only(&EDITED);
        let (target, given) = (Target::Existing { id, publishing }, Map::new());
        let written = Writing { context, target, document: sent, given, progress, raw: false }.send().await?;
        let mut notes: Vec<_> = written.outcome.note().into_iter().collect();
        if !written.left_out.is_empty() {
            notes.push(format!("n8n does not accept, and was not sent: {}.", written.left_out.join(", ")));
        }
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        Ok(Edited { value, shown: self.shown(document), note })
    }
}

fn parse(id: &str, text: &[u8]) -> Result<Document, Error> {
    let id = shorten(id, CUT_NAME_CHARS);
    Document::parse(text)
        .map_err(|error| Error::FailedPrecondition(format!("n8n's workflow '{id}' cannot be used: {error}.")))
}

fn of_file(error: file::Error) -> Error {
    match error {
        file::Error::Edit(error) => refused(&error),
        error => error.into(),
    }
}
