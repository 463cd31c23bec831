//! Workflows: lists and bodies, and the three ways to change one.
//!
//! Facts: `packages/cli/src/public-api/v1/handlers/workflows` of n8n, seen on 1.123 and 2.41.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use super::client::Client;
use super::error::Error;
use super::locks::Lock;
use super::progress::{Progress, Stage};
use super::request::Request;
use crate::json::{Cursor, Keep, Projection, shorten};

/// Pinned data may be megabytes, and no tool shows it.
const WITHOUT_PINNED_DATA: (&str, &str) = ("excludePinnedData", "true");

/// n8n takes workflows of up to 16 MiB (`N8N_PAYLOAD_SIZE_MAX`), unless it is told otherwise.
const WORKFLOW_BYTES: usize = 64 * 1024 * 1024;

/// An active workflow is activated anew with its change.
const UPDATE_SCOPE: &str =
    "workflow:update (and workflow:activate for an active workflow, whose change is saved all the same)";

/// What is not there when the API is not.
const LIST: &str = "The list of workflows (is N8N_URL right?)";

/// No id is longer: n8n's own have 16 characters, imported ones at most 36.
const ID_BYTES: usize = 1000;

/// Characters of an id in an error.
const ID_CHARS: usize = 200;

/// Which workflows are listed.
#[derive(Clone, Debug, Default)]
pub struct WorkflowQuery {
    /// Only those that are (or are not) active.
    pub active: Option<bool>,
    /// Only those that have these tags, by name: in n8n 2 all of them, in n8n 1 any.
    pub tags: Vec<String>,
    /// Only those whose name contains this.
    pub name: Option<String>,
    /// At most so many, 1 to 250.
    pub limit: u64,
    /// Skip so many.
    pub offset: u64,
}

impl WorkflowQuery {
    /// n8n's own cursor is the limit and the offset, as JSON in base64.
    fn cursor(&self) -> Option<String> {
        let cursor = || STANDARD.encode(json!({"limit": self.limit, "offset": self.offset}).to_string());
        (self.offset > 0).then(cursor)
    }

    fn pairs(&self) -> Vec<(&'static str, String)> {
        let optional = [
            ("active", self.active.map(|active| active.to_string())),
            ("tags", (!self.tags.is_empty()).then(|| self.tags.join(","))),
            ("name", self.name.clone()),
            ("cursor", self.cursor()),
        ];
        let mut pairs = vec![("limit", self.limit.max(1).to_string())];
        pairs.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
        pairs
    }
}

impl Client {
    /// Waits until no other call on this machine is changing this workflow.
    pub async fn lock_workflow(&self, id: &str) -> Lock {
        self.workflow_locks().lock(id).await
    }

    /// Reads a page of workflows, in the order of their ids.
    ///
    /// # Errors
    /// When n8n cannot be reached, refuses, or its body is incomplete or broken.
    pub async fn read_workflows<P: Projection>(
        &self,
        query: &WorkflowQuery,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let owned = query.pairs();
        let mut pairs: Vec<_> = owned.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.push(WITHOUT_PINNED_DATA);
        let request = Request::get(&["workflows"], &pairs, "workflow:list", LIST.to_owned());
        self.read(Request { expands: true, ..request }, projection, progress).await
    }

    /// Reads one workflow; with its pinned data, which may be megabytes, only if the caller reports whether there is
    /// any.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such workflow; otherwise as [`read_workflows`](Self::read_workflows).
    pub async fn read_workflow<P: Projection>(
        &self,
        id: &str,
        pinned: bool,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        let query: &[_] = if pinned { &[] } else { &query };
        let request = Request::get(&segments, query, "workflow:read", subject(id));
        self.read(Request { expands: true, ..request }, projection, progress).await
    }

    async fn read<P: Projection>(
        &self,
        request: Request<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let _permit = self.download_permit(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        match self.read_body(self.ask(&request).await?, projection, progress).await {
            Err(error) if error.is_broken_off() => {
                tracing::warn!(%error, "requesting it once more");
                progress.set(Stage::Waiting { stored: None });
                self.read_body(self.ask(&request).await?, projection, progress).await
            }
            done => done,
        }
    }

    /// One workflow as n8n sends it, byte for byte, without its pinned data.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] when there is none.
    pub async fn workflow_text(&self, id: &str, progress: &Progress) -> Result<Vec<u8>, Error> {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        let _permit = self.download_permit(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        self.collect(&Request::get(&segments, &query, "workflow:read", subject(id)), WORKFLOW_BYTES).await
    }

    /// Creates a workflow, and reads the one that n8n created.
    ///
    /// # Errors
    /// [`Error::Unsure`] if it may have been created nevertheless; otherwise n8n has created nothing.
    pub async fn create_workflow<P: Projection>(
        &self,
        body: String,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let body = Some(body.into());
        let request = Request::write(Method::POST, &["workflows"], body, "workflow:create", LIST.to_owned());
        self.change(&request, projection, progress).await
    }

    /// Replaces a workflow, and reads the one that n8n stored.
    ///
    /// # Errors
    /// [`Error::Unsure`] if it may have been replaced nevertheless; [`Error::NotActivated`] if it was saved but its
    /// new version was not activated.
    pub async fn replace_workflow<P: Projection>(
        &self,
        id: &str,
        body: String,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let segments = path(id)?;
        let request = Request::write(Method::PUT, &segments, Some(body.into()), UPDATE_SCOPE, subject(id));
        self.change(&request, projection, progress).await.map_err(saved_all_the_same)
    }

    /// Deletes a workflow.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Refused`] with 409 while it is active (n8n 2.41).
    pub async fn delete_workflow(&self, id: &str, progress: &Progress) -> Result<(), Error> {
        let segments = path(id)?;
        let request = Request::write(Method::DELETE, &segments, None, "workflow:delete", subject(id));
        self.change(&request, &Nothing, progress).await
    }

    /// Sends a change, and reads the answer: the change was made, whatever becomes of that.
    async fn change<P: Projection>(
        &self,
        request: &Request<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let _permit = self.download_permit(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let response = self.ask(request).await?;
        let changed = self.read_body(response, projection, progress).await;
        changed.map_err(|error| Error::unsure(&error.to_string()))
    }
}

/// n8n refuses to activate a change that it has saved: one without a trigger. n8n 1 deactivates the
/// workflow then, n8n 2 keeps the old version active.
fn saved_all_the_same(error: Error) -> Error {
    match error {
        Error::Refused { status: 400, message }
            if message.contains("cannot be activated") || message.contains("to start the workflow") =>
        {
            Error::NotActivated { message }
        }
        error => error,
    }
}

/// Reads a response whose content does not matter.
#[derive(Clone)]
struct Nothing;

impl Projection for Nothing {
    type View = ();
    const KEEP: Keep = Keep::Skip;

    fn read<R: Read>(&self, _cursor: Cursor<R>) {}
}

fn subject(id: &str) -> String {
    format!("Workflow '{}'", shorten(id, ID_CHARS))
}

/// A URL cannot name every text as a resource: `.` and `..` mean another one, and control characters are
/// left out of it.
fn path(id: &str) -> Result<[&str; 2], Error> {
    let named = !matches!(id, "" | "." | "..") && !id.chars().any(char::is_control) && id.len() <= ID_BYTES;
    if named { Ok(["workflows", id]) } else { Err(Error::NotFound(subject(id))) }
}
