//! Where a workflow is: a file, n8n, or the memory of this process.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Map;

use super::edited::{EditRequest, Edited, check_version};
use super::memory_store::MemoryStore;
use super::refusal::refused;
use super::{Publishing, Target, Writing};
use crate::blocking::blocking;
use crate::json::{CUT_NAME_CHARS, quoted_name, shorten};
use crate::n8n::{self, Progress};
use crate::tools::{Context, Error};
use crate::workflow::document::{Members, text};
use crate::workflow::{Document, EditedFile, FileEdit, WorkflowEdit, Written, file};

/// The members that an edit sends to n8n; n8n keeps its own values of the rest.
const EDITED: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// Members that are sent only if the edit changed them: few versions of n8n accept them.
const EDITED_RARELY: [&str; 2] = ["description", "pinData"];

/// Where a workflow is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) enum WorkflowLocation {
    File(String),
    N8n(String),
    Memory(String),
}

/// Whether a `workflowId` names a file.
pub fn is_workflow_file(id: &str) -> bool {
    id.ends_with(".json") || id.contains(['/', std::path::MAIN_SEPARATOR])
}

impl WorkflowLocation {
    /// The location that a `workflowId` names.
    pub(in crate::tools) fn of(id: &str) -> Self {
        if MemoryStore::is_id(id) {
            Self::Memory(id.to_owned())
        } else if is_workflow_file(id) {
            Self::File(id.to_owned())
        } else {
            Self::N8n(id.to_owned())
        }
    }

    /// Reads the workflow.
    ///
    /// # Errors
    /// [`Error`] if there is no such workflow, if it cannot be read, or if it is not a workflow.
    pub(in crate::tools) async fn load(&self, context: &Context, progress: &Progress) -> Result<Document, Error> {
        match self {
            Self::Memory(id) => context.memory.get(id),
            Self::N8n(id) => parse(id, &context.n8n()?.workflow_text(id, false, progress).await?),
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

    /// The workflow that a complete one was derived from, if it can have members that n8n does not know: one in a file or in
    /// memory. The caller's `source` may name a workflow that does not exist.
    pub(in crate::tools) async fn source(&self, context: &Context, progress: &Progress) -> Option<Document> {
        match self {
            Self::N8n(_) => None,
            Self::File(_) | Self::Memory(_) => self.load(context, progress).await.ok(),
        }
    }

    /// The workflow as an answer shows it. Members that only n8n writes hold the names and addresses of people,
    /// and a second copy of all nodes.
    pub(in crate::tools) fn shown(&self, document: Document) -> Document {
        match self {
            Self::N8n(_) => document.without_read_only(),
            Self::File(_) | Self::Memory(_) => document,
        }
    }

    /// Edits the workflow in place.
    ///
    /// # Errors
    /// As [`load`](Self::load); [`Error::Argument`] if the edit is not possible; [`Error`] if the workflow has another version
    /// than expected, or cannot be written.
    pub(in crate::tools) async fn edit<T: Send + 'static>(
        &self,
        context: &Context,
        request: &EditRequest,
        progress: &Progress,
        edit: impl WorkflowEdit<T> + Send + 'static,
    ) -> Result<Edited<T>, Error> {
        match self {
            Self::Memory(id) => context.memory.edit(id, request, edit),
            Self::File(path) => {
                let (files, file, request) = (context.files.clone(), path.clone(), request.of_file());
                let work = move || files.edit(&file, &request, edit).map(edited_file).map_err(of_file);
                context.write_file(path, work).await
            }
            Self::N8n(id) => {
                let _lock = context.n8n()?.lock_workflow(id).await?;
                edit_in_n8n(id, context, request, progress, edit).await
            }
        }
    }

    /// Returns the workflow to an earlier version.
    ///
    /// # Errors
    /// As [`edit`](Self::edit); [`Error`] if there is no such version.
    pub(in crate::tools) async fn restore(
        &self,
        context: &Context,
        request: &EditRequest,
        progress: &Progress,
        version: &str,
    ) -> Result<Edited<()>, Error> {
        match self {
            Self::Memory(_) => Err(Error::FailedPrecondition(
                "A workflow in memory has no earlier versions. Edit it back, or keep it in a file.".to_owned(),
            )),
            Self::File(path) => {
                let (files, file, request) = (context.files.clone(), path.clone(), request.of_file());
                let version = version.to_owned();
                let work = move || files.restore(&file, &request, &version).map(edited_file).map_err(of_file);
                context.write_file(path, work).await
            }
            Self::N8n(id) => {
                let _lock = context.n8n()?.lock_workflow(id).await?;
                let earlier = context.n8n()?.workflow_version_text(id, version, progress).await?;
                let earlier = parse(id, &earlier)?;
                let edit = move |before: &Written| {
                    let mut document = Document::clone(&before.document);
                    document.take_nodes_of(&earlier);
                    Ok(((), document.into()))
                };
                edit_in_n8n(id, context, request, progress, edit).await
            }
        }
    }
}

impl EditRequest {
    fn of_file(&self) -> FileEdit {
        FileEdit { expected: self.expected.clone(), writes: self.writes }
    }
}

fn edited_file<T>(edited: EditedFile<T>) -> Edited<T> {
    let EditedFile { value, before, after, versions, is_kept } = edited;
    Edited { value, before, after, versions: versions.map(Some), outcome: None, left_out: Vec::new(), is_kept }
}

/// Edits a workflow in n8n, whose lock the caller holds.
async fn edit_in_n8n<T>(
    id: &str,
    context: &Context,
    request: &EditRequest,
    progress: &Progress,
    edit: impl WorkflowEdit<T>,
) -> Result<Edited<T>, Error> {
    let text = context.n8n()?.workflow_text(id, request.with_pinned, progress).await?;
    let before = parse(id, &text)?;
    check_version(request, before.version(), before.updated_at())?;
    let text = String::from_utf8(text)
        .map_err(|_| Error::FailedPrecondition(format!("n8n's workflow '{id}' is not UTF-8.")))?;
    let before = Written { document: Arc::new(before), text };
    let (value, Written { document: after, .. }) = edit(&before).map_err(|error| refused(&error))?;
    let before = before.document;
    let previous = before.version();
    let changes_nothing = after == before && request.publish != Some(true);
    if !request.writes || changes_nothing {
        let versions = [previous.clone(), previous.filter(|_| request.writes)];
        return Ok(Edited { value, before, after, versions, outcome: None, left_out: Vec::new(), is_kept: true });
    }
    let publishing = Publishing { before: before.published(), wanted: request.publish };
    let mut sent = Document::clone(&after);
    let changed: Vec<_> = EDITED_RARELY.into_iter().filter(|member| !after.has_same(&before, member)).collect();
    sent.keep_only(&[EDITED.as_slice(), &changed].concat());
    let (target, given) = (Target::Existing { id, publishing }, Map::new());
    let writing = Writing { context, target, document: sent, given, progress, raw: false };
    let written = writing.send().await.map_err(|error| naming_untouched(error, &before, &after))?;
    let versions = [previous, written.version().map(str::to_owned)];
    let (outcome, left_out) = (Some(written.outcome), written.left_out);
    Ok(Edited { value, before, after, versions, outcome, left_out, is_kept: true })
}

/// n8n refuses a workflow for any of its nodes, such as a deprecated one (since 2.42.6). Adds to the error which of the nodes
/// named in it were there before.
fn naming_untouched(error: Error, before: &Document, after: &Document) -> Error {
    let (message, is_exact) = match &error {
        Error::N8n(n8n::Error::Refused { status: 400, message }) => (message, false),
        Error::N8n(n8n::Error::DeprecatedNodes { message }) => (message, true),
        _ => return error,
    };
    let (Ok(before), Ok(after)) = (before.nodes(), after.nodes()) else { return error };
    let written = |node: &Members| serde_json::to_string(node).unwrap_or_default();
    let after: HashSet<_> = after.iter().map(written).collect();
    let is_named = |node: &&Members| {
        let named = |member| text(node, member).filter(|name| !name.is_empty());
        match is_exact {
            // The message also names the type, but other nodes can have it.
            true => named("name").is_some_and(|name| message.contains(&format!("(\"{name}\")"))),
            false => ["name", "type"].into_iter().filter_map(named).any(|name| message.contains(&name)),
        }
    };
    let untouched = before.iter().filter(is_named).filter(|node| after.contains(&written(node)));
    let names: Vec<_> = untouched.filter_map(|node| text(node, "name")).collect();
    if names.is_empty() {
        return error;
    }
    let names = names.iter().map(|name| quoted_name(name, CUT_NAME_CHARS)).collect::<Vec<_>>().join(", ");
    Error::FailedPrecondition(format!(
        "{error} Not because of this edit: {names} was in the workflow before, and is unchanged."
    ))
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
