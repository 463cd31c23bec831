//! Workflows: lists and bodies, and the three ways to change one.
//!
//! Facts: `packages/cli/src/public-api/v1/handlers/workflows` of n8n, seen on 1.123 and 2.41.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use super::body::{BodyText, Kept};
use super::client::Client;
use super::error::Error;
use super::progress::{Progress, Stage};
use super::request::Request;
use super::turns::Turn;
use crate::json::{Cursor, Keep, shorten};

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
    /// Waits until nobody else here changes this workflow.
    pub async fn change_turn(&self, id: &str) -> Turn {
        self.changes().turn(id).await
    }

    /// Reads a page of workflows, in the order of their ids, with `read` on a blocking thread.
    ///
    /// # Errors
    /// [`Error`]; what `read` answers is only used when the body was whole.
    pub async fn read_workflows<T, F>(
        &self,
        query: &WorkflowQuery,
        keep: Keep,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Clone + Send + 'static,
    {
        let owned = query.pairs();
        let mut pairs: Vec<_> = owned.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.push(WITHOUT_PINNED_DATA);
        let request = Request::get(&["workflows"], &pairs, "workflow:list", LIST.to_owned());
        self.read(Request { expands: true, ..request }, keep, progress, read).await
    }

    /// Reads one workflow with `read` on a blocking thread; with its pinned data, which may be megabytes,
    /// only where somebody wants to know that there are any.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] when there is none.
    pub async fn read_workflow<T, F>(
        &self,
        id: &str,
        pinned: bool,
        keep: Keep,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Clone + Send + 'static,
    {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        let query: &[_] = if pinned { &[] } else { &query };
        let request = Request::get(&segments, query, "workflow:read", subject(id));
        self.read(Request { expands: true, ..request }, keep, progress, read).await
    }

    async fn read<T, F>(&self, request: Request<'_>, keep: Keep, progress: &Progress, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Clone + Send + 'static,
    {
        let _turn = self.turn(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        match self.read_body(self.ask(&request).await?, kept(keep), progress, read.clone()).await {
            Err(error) if error.is_broken_off() => {
                tracing::warn!(%error, "asking once more");
                progress.set(Stage::Waiting { stored: None });
                self.read_body(self.ask(&request).await?, kept(keep), progress, read).await
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
        let _turn = self.turn(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        self.collect(&Request::get(&segments, &query, "workflow:read", subject(id)), WORKFLOW_BYTES).await
    }

    /// Creates a workflow, and reads what n8n made of it.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Unsure`] where it may have been created all the same.
    pub async fn create_workflow<T, F>(
        &self,
        body: String,
        keep: Keep,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let body = Some(body.into());
        let request = Request::write(Method::POST, &["workflows"], body, "workflow:create", LIST.to_owned());
        self.change(&request, keep, progress, read).await
    }

    /// Replaces a workflow, and reads what n8n made of it.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Unsure`] where it may have been replaced all the same.
    pub async fn replace_workflow<T, F>(
        &self,
        id: &str,
        body: String,
        keep: Keep,
        progress: &Progress,
        read: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let segments = path(id)?;
        let request = Request::write(Method::PUT, &segments, Some(body.into()), UPDATE_SCOPE, subject(id));
        self.change(&request, keep, progress, read).await.map_err(saved_all_the_same)
    }

    /// Deletes a workflow.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Refused`] with 409 while it is active (n8n 2.41).
    pub async fn delete_workflow(&self, id: &str, progress: &Progress) -> Result<(), Error> {
        let segments = path(id)?;
        let request = Request::write(Method::DELETE, &segments, None, "workflow:delete", subject(id));
        self.change(&request, Keep::Skip, progress, drop).await
    }

    /// Sends a change, and reads the answer: the change was made, whatever becomes of that.
    async fn change<T, F>(&self, request: &Request<'_>, keep: Keep, progress: &Progress, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let _turn = self.turn(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let response = self.ask(request).await?;
        let changed = self.read_body(response, kept(keep), progress, read).await;
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

fn kept(keep: Keep) -> Kept {
    Kept { keep, window: 0..0 }
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
