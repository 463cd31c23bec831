//! Lists of executions, without their data, and the names of workflows.

use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::client::Client;
use super::error::Error;
use super::request::Request;
use crate::json::{Cursor, Fault, Keep, Pruner};

/// A list of 250 executions is about 75 KB. What is larger is not a list.
const LIST_BYTES: usize = 16 * 1024 * 1024;

/// What is asked of n8n. `limit` is never 0, which n8n takes for no limit.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Only this workflow's.
    pub workflow_id: Option<String>,
    /// Only those with this status.
    pub status: Option<String>,
    /// Started at this time or later, ISO 8601 (n8n 2.37 and newer).
    pub started_after: Option<String>,
    /// Started at this time or before.
    pub started_before: Option<String>,
    /// At most so many.
    pub limit: u64,
    /// n8n's own cursor. It does not carry the filters.
    pub cursor: Option<String>,
}

/// A page of executions, newest first.
#[derive(Debug, Deserialize)]
pub struct Listing {
    /// n8n's own objects.
    pub data: Vec<Value>,
    /// n8n's cursor for the next page.
    #[serde(rename = "nextCursor")]
    pub next_cursor: Option<String>,
}

impl Client {
    /// One page of the list.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn list_executions(&self, query: &ListQuery) -> Result<Listing, Error> {
        let limit = query.limit.max(1).to_string();
        let optional = [
            ("workflowId", &query.workflow_id),
            ("status", &query.status),
            ("startedAfter", &query.started_after),
            ("startedBefore", &query.started_before),
            ("cursor", &query.cursor),
        ];
        let mut pairs = vec![("limit", limit.as_str())];
        pairs.extend(optional.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
        let subject = "The list of executions (is N8N_URL right?)".to_owned();
        let body = self.collect(&Request::get(&["executions"], &pairs, "execution:list", subject), LIST_BYTES).await?;
        serde_json::from_slice(&body).map_err(|_| match fault_in(&body) {
            // What begins as it should is a list that was broken on its way.
            Some(fault) if body.trim_ascii_start().starts_with(b"{") => fault.into(),
            _ => Error::NotJson {
                content_type: "something that is no list of executions".to_owned(),
                beginning: self.clean(&String::from_utf8_lossy(&body[..body.len().min(100)])),
            },
        })
    }

    /// The name of a workflow, reading its body only as far as that.
    ///
    /// # Errors
    /// [`Error`]; [`Error::NotFound`] when it was deleted.
    pub async fn workflow_name(&self, id: &str) -> Result<Option<String>, Error> {
        const KEEP: Keep = Keep::Members(&[("name", Keep::Whole)]);
        let segments = ["workflows", id];
        let request = Request::get(&segments, &[], "workflow:read", format!("Workflow '{id}'"));
        let mut response = self.ask(&request).await?;
        let mut pruner = Pruner::new(KEEP, 0..0);
        let mut text = Vec::new();
        while let Ok(Ok(Some(chunk))) = timeout(self.settings().idle_timeout, response.chunk()).await {
            text.extend(pruner.feed(&chunk)?.text);
            if let Some(name) = name_in(&text) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

/// Why a body is no JSON.
fn fault_in(body: &[u8]) -> Option<Fault> {
    let mut pruner = Pruner::new(Keep::Whole, 0..0);
    pruner.feed(body).and_then(|_| pruner.finish()).err()
}

/// The workflow's name, as soon as it is there.
fn name_in(text: &[u8]) -> Option<String> {
    let mut name = None;
    // The text ends in the middle: that is no error here.
    let _ = Cursor::unpruned(text).object(|cursor, member| match member {
        "name" if name.is_none() => {
            name = cursor.name()?;
            Ok(())
        }
        _ => cursor.skip(),
    });
    name
}
