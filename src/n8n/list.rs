//! Lists of executions, without their data, and the names of workflows.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::error::Error;
use super::identity::Identity;
use super::progress::Progress;
use super::request::Request;
use crate::json::{Cursor, Fault, Keep, Pruner, first_member};

/// A list of 250 executions is about 75 KB; anything above this limit is not a list.
const LIST_BYTES: usize = 16 * 1024 * 1024;

/// Which executions to list.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Only executions of this workflow.
    pub workflow_id: Option<String>,
    /// Only executions with this status.
    pub status: Option<String>,
    /// Only executions started at this time or later, ISO 8601 (n8n 2.37 and newer).
    pub started_after: Option<String>,
    /// Only executions started at this time or earlier, ISO 8601 (n8n 2.37 and newer).
    pub started_before: Option<String>,
    /// At most this many. 0 is sent as 1, because n8n reads 0 as no limit.
    pub limit: u64,
    /// Where to continue. Unlike the cursors of our tools, it does not include the filters.
    pub cursor: Option<ListCursor>,
}

/// Where a list of executions continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListCursor {
    /// After the execution with this id.
    After(String),
    /// n8n's own cursor, in a form that n8n-lens does not recognise.
    Opaque(String),
}

impl ListCursor {
    /// n8n's own cursor is the last id and the limit, as JSON in base64
    /// (`packages/cli/src/public-api/v1/shared/services/pagination.service.ts`).
    fn parse(cursor: String) -> Self {
        let json = STANDARD.decode(&cursor).ok().and_then(|json| serde_json::from_slice::<Value>(&json).ok());
        match json.as_ref().and_then(|json| json["lastId"].as_str()) {
            Some(last_id) => Self::After(last_id.to_owned()),
            None => Self::Opaque(cursor),
        }
    }

    fn encode(&self, limit: u64) -> String {
        match self {
            Self::After(last_id) => STANDARD.encode(json!({"lastId": last_id, "limit": limit}).to_string()),
            Self::Opaque(cursor) => cursor.clone(),
        }
    }
}

/// A page of executions, newest first.
#[derive(Debug)]
pub struct Listing {
    /// The executions, as n8n sent them.
    pub data: Vec<Value>,
    /// Where the next page begins; `None` on the last page.
    pub next_cursor: Option<ListCursor>,
}

impl Listing {
    /// The id of the first one: the newest.
    pub fn newest_id(&self) -> Option<String> {
        match &self.data.first()?["id"] {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        }
    }
}

/// The page as n8n sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    data: Vec<Value>,
    next_cursor: Option<String>,
}

impl Client {
    /// Reads one page of the list.
    ///
    /// # Errors
    /// When n8n cannot be reached or refuses the request, or its response is incomplete or not a list.
    pub async fn list_executions(&self, query: &ListQuery) -> Result<Listing, Error> {
        let limit = query.limit.max(1).to_string();
        let cursor = query.cursor.as_ref().map(|cursor| cursor.encode(query.limit.max(1)));
        let optional = [
            ("workflowId", &query.workflow_id),
            ("status", &query.status),
            ("startedAfter", &query.started_after),
            ("startedBefore", &query.started_before),
            ("cursor", &cursor),
        ];
        let mut pairs = vec![("limit", limit.as_str())];
        pairs.extend(optional.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
        let subject = "Check N8N_URL: n8n's list of executions was".to_owned();
        let request = Request::get(&["executions"], &pairs, "execution:list", subject);
        let body = self.collect(&request, LIST_BYTES, &Progress::default()).await?;
        let response = serde_json::from_slice::<Response>(&body).map_err(|_| match fault_in(&body) {
            // A body that begins like a list was damaged on its way.
            Some(fault) if body.trim_ascii_start().starts_with(b"{") => fault.into(),
            _ => Error::NotJson {
                content_type: "something other than a list of executions".to_owned(),
                beginning: self.clean(&String::from_utf8_lossy(&body[..body.len().min(100)])),
            },
        })?;
        Ok(Listing { data: response.data, next_cursor: response.next_cursor.map(ListCursor::parse) })
    }

    /// The name of a workflow; the rest of its body is not downloaded. `None` if the body has no name or breaks off
    /// before it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the workflow was deleted; otherwise when n8n cannot be reached or refuses the request,
    /// or the body is not JSON.
    pub async fn workflow_name(&self, id: &str) -> Result<Option<String>, Error> {
        // Only the beginning of the body is read, so this is not a projection.
        const KEEP: Keep = Keep::Members(&[("id", Keep::Whole), ("name", Keep::Whole)]);
        let segments = ["workflows", id];
        let request = Request::get(&segments, &[], "workflow:read", format!("Workflow '{id}'"));
        let progress = Progress::default();
        let slot = self.slots().small.enter(&progress).await?;
        let Ok(mut body) = self.begin(self.send(&request).await?).await else { return Ok(None) };
        let _slot = slot.read(&progress).await?;
        let (mut pruner, mut identity) = (Pruner::new(KEEP, 0..0), Identity::new(id));
        let mut text = Vec::new();
        while let Ok(Some(chunk)) = self.chunk(&mut body, text.len() as u64).await {
            let kept = pruner.feed(&chunk)?.text;
            identity.check(&kept)?;
            text.extend(kept);
            if let Some(name) = name_in(&text) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

/// Why a body is not JSON.
fn fault_in(body: &[u8]) -> Option<Fault> {
    let mut pruner = Pruner::new(Keep::Whole, 0..0);
    pruner.feed(body).and_then(|_| pruner.finish()).err()
}

/// The workflow's name, as soon as it has arrived.
fn name_in(text: &[u8]) -> Option<String> {
    first_member(Cursor::pruned(text), "name", Cursor::name)
}
