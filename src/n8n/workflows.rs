//! Workflows: lists and bodies, and the three ways to change one.
//!
//! Facts: `packages/cli/src/public-api/v1/handlers/workflows` of n8n, seen on 1.123 and 2.41.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, Response};
use serde_json::json;

use super::body::{BodyText, Kept};
use super::client::Client;
use super::error::Error;
use super::progress::Progress;
use super::request::Request;
use crate::json::{Cursor, Keep};

/// Pinned data may be megabytes, and no tool shows it.
const WITHOUT_PINNED_DATA: (&str, &str) = ("excludePinnedData", "true");

/// n8n takes workflows of up to 16 MiB (`N8N_PAYLOAD_SIZE_MAX`), unless it is told otherwise.
const WORKFLOW_BYTES: usize = 64 * 1024 * 1024;

/// An active workflow is activated anew with its change.
const UPDATE_SCOPE: &str =
    "workflow:update (and workflow:activate for an active workflow, whose change is saved all the same)";

/// Which workflows are listed.
#[derive(Clone, Debug, Default)]
pub struct WorkflowQuery {
    /// Only those that are (or are not) active.
    pub active: Option<bool>,
    /// Only those that have all of these tags, by name.
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
    /// Reads a page of workflows, oldest first, with `read` on a blocking thread.
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
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let owned = query.pairs();
        let mut pairs: Vec<_> = owned.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pairs.push(WITHOUT_PINNED_DATA);
        let subject = "The list of workflows (is N8N_URL right?)".to_owned();
        let request = Request { expands: true, ..Request::get(&["workflows"], &pairs, "workflow:list", subject) };
        let _turn = self.turn(progress).await?;
        let response = self.ask(&request).await?;
        self.read_body(response, kept(keep), progress, read).await
    }

    /// Reads one workflow with `read` on a blocking thread.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] when there is none.
    pub async fn read_workflow<T, F>(&self, id: &str, keep: Keep, progress: &Progress, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        let request = Request { expands: true, ..Request::get(&segments, &query, "workflow:read", subject(id)) };
        let _turn = self.turn(progress).await?;
        let response = self.ask(&request).await?;
        self.read_body(response, kept(keep), progress, read).await
    }

    /// One workflow as n8n sends it, byte for byte, without its pinned data.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] when there is none.
    pub async fn workflow_text(&self, id: &str) -> Result<Vec<u8>, Error> {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        self.collect(&Request::get(&segments, &query, "workflow:read", subject(id)), WORKFLOW_BYTES).await
    }

    /// Creates a workflow, and reads what n8n made of it.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Unsure`] where it may have been created all the same.
    pub async fn create_workflow<T, F>(&self, body: String, keep: Keep, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let subject = "The list of workflows (is N8N_URL right?)".to_owned();
        let request = Request::write(Method::POST, &["workflows"], Some(body), "workflow:create", subject);
        self.read_change(self.ask(&request).await?, keep, read).await
    }

    /// Replaces a workflow, and reads what n8n made of it.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Unsure`] where it may have been replaced all the same.
    pub async fn replace_workflow<T, F>(&self, id: &str, body: String, keep: Keep, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let segments = path(id)?;
        let request = Request::write(Method::PUT, &segments, Some(body), UPDATE_SCOPE, subject(id));
        let response = self.ask(&request).await.map_err(saved_all_the_same)?;
        self.read_change(response, keep, read).await
    }

    /// Deletes a workflow.
    ///
    /// # Errors
    /// [`Error`]; [`Error::Refused`] with 409 while it is active (n8n 2.41).
    pub async fn delete_workflow(&self, id: &str) -> Result<(), Error> {
        let segments = path(id)?;
        let request = Request::write(Method::DELETE, &segments, None, "workflow:delete", subject(id));
        self.ask(&request).await.map(drop)
    }

    /// The answer to a change: it was made, whatever becomes of the answer.
    async fn read_change<T, F>(&self, response: Response, keep: Keep, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(Cursor<BodyText>) -> T + Send + 'static,
    {
        let changed = self.read_body(response, kept(keep), &Progress::default(), read).await;
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
    format!("Workflow '{id}'")
}

/// A URL cannot name `.` or `..` as a resource: it would name another one.
fn path(id: &str) -> Result<[&str; 2], Error> {
    match id {
        "" | "." | ".." => Err(Error::NotFound(subject(id))),
        id => Ok(["workflows", id]),
    }
}
