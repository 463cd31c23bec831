//! Workflows: listing, reading, creating, replacing and deleting them.
//!
//! Facts: `packages/cli/src/public-api/v1/handlers/workflows` in n8n, verified on 1.123 and 2.41.

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

/// Pinned data can be megabytes, and no tool shows it.
const WITHOUT_PINNED_DATA: (&str, &str) = ("excludePinnedData", "true");

/// Saves an active workflow without publishing it; n8n 2.35 and newer.
const AS_DRAFT: (&str, &str) = ("publishIfActive", "false");

/// n8n accepts workflows of up to 16 MiB by default (`N8N_PAYLOAD_SIZE_MAX`).
const MAX_WORKFLOW_BYTES: usize = 64 * 1024 * 1024;

/// n8n reactivates an active workflow when it is changed.
const UPDATE_SCOPE: &str =
    "workflow:update (and workflow:activate for an active workflow, whose change is saved in any case)";

/// What was not found if there is no API at the address.
const LIST: &str = "Check N8N_URL: n8n's list of workflows was";

/// The longest id that is sent: n8n's own have 16 characters, imported ones at most 36.
const MAX_ID_BYTES: usize = 1000;

/// Characters shown of an id in an error.
const ID_CHARS: usize = 200;

/// Which workflows to list.
#[derive(Clone, Debug, Default)]
pub struct WorkflowQuery {
    /// Only active (`true`) or inactive (`false`) ones.
    pub active: Option<bool>,
    /// Only those with these tags, by name: all of them in n8n 2, any of them in n8n 1.
    pub tags: Vec<String>,
    /// Only those whose name contains this text.
    pub name: Option<String>,
    /// At most this many, 1 to 250.
    pub limit: u64,
    /// How many to skip.
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
    /// Locks a workflow against changes by other calls on this machine; waits for earlier ones.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process has been changing it for more than 10 s.
    pub async fn lock_workflow(&self, id: &str) -> Result<Lock, Error> {
        self.workflow_locks().lock(id).await
    }

    /// Reads a page of workflows, in the order of their ids.
    ///
    /// # Errors
    /// When n8n cannot be reached or refuses the request, or its response is incomplete or broken.
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
        self.read(Request { accepts_gzip: true, ..request }, projection, progress).await
    }

    /// Reads one workflow. `pinned` includes its pinned data, which can be megabytes.
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
        let request = Request::get(&segments, query, "workflow:read", subject(id)).about(id);
        self.read(Request { accepts_gzip: true, ..request }, projection, progress).await
    }

    async fn read<P: Projection>(
        &self,
        request: Request<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        match self.read_once(&request, projection, progress).await {
            Err(error) if error.is_broken_off() => {
                tracing::info!(%error, "requesting it once more");
                self.read_once(&request, projection, progress).await
            }
            done => done,
        }
    }

    pub(super) async fn read_once<P: Projection>(
        &self,
        request: &Request<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let slot = self.slots().small.enter(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let body = self.begin(self.send(request).await?).await?;
        let _slot = slot.read(progress).await?;
        self.read_body(body, request.id, projection, progress, None).await
    }

    /// Reads one workflow as n8n sends it, byte for byte. `pinned` includes its pinned data, which can be megabytes.
    ///
    /// # Errors
    /// As [`read_workflow`](Self::read_workflow); also when the body exceeds 64 MiB.
    pub async fn workflow_text(&self, id: &str, pinned: bool, progress: &Progress) -> Result<Vec<u8>, Error> {
        let (segments, query) = (path(id)?, [WITHOUT_PINNED_DATA]);
        let query: &[_] = if pinned { &[] } else { &query };
        let request = Request::get(&segments, query, "workflow:read", subject(id)).about(id);
        self.collect(&request, MAX_WORKFLOW_BYTES, progress).await
    }

    /// Reads an earlier version of a workflow as n8n sends it: its nodes and connections. n8n has this since 1.123, and keeps
    /// as many versions as its settings say.
    ///
    /// # Errors
    /// As [`workflow_text`](Self::workflow_text).
    pub async fn workflow_version_text(&self, id: &str, version: &str, progress: &Progress) -> Result<Vec<u8>, Error> {
        let [workflows, workflow] = path(id)?;
        let segments = [workflows, workflow, version];
        let subject = format!("Version '{}' of workflow '{}'", shorten(version, ID_CHARS), shorten(id, ID_CHARS));
        let request = Request::get(&segments, &[], "workflow:read", subject).about(id);
        self.collect(&request, MAX_WORKFLOW_BYTES, progress).await
    }

    /// Creates a workflow, and reads n8n's response, the created workflow.
    ///
    /// # Errors
    /// [`Error::Unsure`] if it may have been created; with any other error nothing was created.
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

    /// Replaces a workflow, and reads n8n's response, the stored workflow. n8n publishes the new content of an active
    /// workflow, unless it is to be saved `as_draft`.
    ///
    /// # Errors
    /// [`Error::NoDrafts`] if it was to be saved as a draft, which n8n before 2.35 cannot do; [`Error::Unsure`] if it may have been replaced; [`Error::NotActivated`] if it was replaced but its new version
    /// was not activated; with any other error nothing was changed.
    pub async fn replace_workflow<P: Projection>(
        &self,
        id: &str,
        body: String,
        as_draft: bool,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let (segments, query): (_, &[_]) = (path(id)?, if as_draft { &[AS_DRAFT] } else { &[] });
        let request = Request::write(Method::PUT, &segments, Some(body.into()), UPDATE_SCOPE, subject(id)).about(id);
        self.change(&Request { query, ..request }, projection, progress).await.map_err(not_as_requested)
    }

    /// Activates or deactivates a workflow, which n8n 2 calls publishing and unpublishing, and reads its new state.
    /// Activating an active workflow publishes the changes that were only saved. The paths exist in all versions; n8n
    /// 2.33 and newer call them deprecated aliases of `publish` and `unpublish`.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such workflow, [`Error::Refused`] with n8n's own words if it cannot be
    /// activated, and [`Error::Unsure`] if it may have been done although n8n's response is missing or unusable.
    pub async fn set_workflow_active<P: Projection>(
        &self,
        id: &str,
        active: bool,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let (action, scope) =
            if active { ("activate", "workflow:activate") } else { ("deactivate", "workflow:deactivate") };
        let [workflows, id] = path(id)?;
        let segments = [workflows, id, action];
        // No options: n8n publishes what is saved.
        let request = Request::write(Method::POST, &segments, Some("{}".into()), scope, subject(id)).about(id);
        self.change(&request, projection, progress).await
    }

    /// Deletes a workflow.
    ///
    /// # Errors
    /// [`Error::Refused`] with status 409 while it is active (n8n 2.41); [`Error::Unsure`] if it may have been deleted;
    /// with any other error it was not deleted.
    pub async fn delete_workflow(&self, id: &str, progress: &Progress) -> Result<(), Error> {
        let segments = path(id)?;
        let request = Request::write(Method::DELETE, &segments, None, "workflow:delete", subject(id)).about(id);
        self.change(&request, &Nothing, progress).await
    }

    /// Sends a change and reads the response. If the response cannot be read, the change may have been made, so its error
    /// must not advise to try again.
    pub(super) async fn change<P: Projection>(
        &self,
        request: &Request<'_>,
        projection: &P,
        progress: &Progress,
    ) -> Result<P::View, Error> {
        let slot = self.slots().small.enter(progress).await?;
        progress.set(Stage::Waiting { stored: None });
        let response = self.send(request).await?;
        let changed = async {
            let body = self.begin(response).await?;
            let _slot = slot.read(progress).await?;
            self.read_body(body, request.id, projection, progress, None).await
        };
        changed.await.map_err(|error| Error::unsure(&error.fact()))
    }
}

/// What a refused replacement means. n8n checks the query before it does anything, and versions that cannot save a draft
/// refuse a parameter that they do not know. n8n saves a change to an active workflow before it activates it, and refuses
/// to activate one without a trigger: n8n 1 then deactivates the workflow, n8n 2 keeps the old version active.
fn not_as_requested(error: Error) -> Error {
    match error {
        Error::Refused { status: 400, message } if message.contains(AS_DRAFT.0) => Error::NoDrafts,
        Error::Refused { status: 400, message }
            if message.contains("cannot be activated") || message.contains("to start the workflow") =>
        {
            Error::NotActivated { message }
        }
        error => error,
    }
}

/// Reads a response; only the id matters.
#[derive(Clone)]
struct Nothing;

impl Projection for Nothing {
    type View = ();
    const KEEP: Keep = Keep::Members(&[("id", Keep::Whole)]);

    fn read(&self, _cursor: Cursor<'_>) {}
}

fn subject(id: &str) -> String {
    format!("Workflow '{}'", shorten(id, ID_CHARS))
}

/// The path of a workflow.
fn path(id: &str) -> Result<[&str; 2], Error> {
    let is_id = !id.is_empty() && id.len() <= MAX_ID_BYTES;
    if is_id { Ok(["workflows", id]) } else { Err(Error::NotFound(subject(id))) }
}
