//! Copies in n8n: created, run once, read, and removed in every case.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::played::Carried;
use crate::execution::compare::first_places;
use crate::execution::recording::{Recording, RecordingProjection};
use crate::execution::search::SearchProjection;
use crate::execution::trace::{ItemsProjection, ItemsView, Place};
use crate::n8n::{self, Client, ExecutionRequest, ListQuery, Progress, Stage, WorkflowQuery};
use crate::tools::executions::{Read, SavedExecutions, Source, StoredExecutions};
use crate::tools::proof::recorded::failure;
use crate::tools::proof::revisions::Revisions;
use crate::tools::{Context, Error};
use crate::undo::{self, Undo};
use crate::workflow::outline::{Outline, OutlinePageProjection, OutlineProjection};
use crate::workflow::replay::{self, Copy};

/// The scopes that a key needs to create a copy and to remove it again.
const SCOPES: [&str; 8] = [
    "execution:read",
    "execution:list",
    "workflow:read",
    "workflow:list",
    "workflow:create",
    "workflow:activate",
    "workflow:deactivate",
    "workflow:delete",
];

/// The pause between two polls of n8n.
const PAUSE: Duration = Duration::from_millis(200);

/// How long n8n may take to end a copy beyond its own limit.
const GRACE: Duration = Duration::from_secs(10);

/// How long a copy whose creation was not confirmed may take to appear.
const FOUND_WITHIN: Duration = Duration::from_secs(5);

/// How long n8n may take to unpublish a copy before it can be deleted.
const REMOVED_WITHIN: Duration = Duration::from_secs(15);

/// Copies older than this were left behind by a killed process.
const LEFT_BEHIND: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);

/// Runs copies.
pub(super) struct CopyRunner<'a> {
    n8n: &'a Client,
    /// n8n's own store, if it is known.
    store: Option<StoredExecutions>,
    /// How long each may run.
    timeout: Duration,
    /// The progress of the call.
    progress: &'a Progress,
    /// The furthest of the [`STEPS`] that a copy has reached.
    reached: AtomicUsize,
    /// The progress of requests for a copy, which nobody watches: two copies run at once.
    unwatched: Progress,
    writes: Writes,
    left: Left,
}

/// The steps that a copy reports as progress.
const STEPS: [&str; 3] = ["created", "running", "comparing"];

/// Held for each write: n8n 1.x on SQLite refuses two at the same time.
type Writes = Arc<Mutex<()>>;

/// The ids of copies that could not be removed.
type Left = Arc<std::sync::Mutex<Vec<String>>>;

/// What a copy did.
pub(super) struct Replayed {
    pub recording: Recording,
    /// How often each expected value occurs.
    pub hits: Vec<u64>,
    /// The first item of each node that differs from the recording.
    pub differing: Differing,
}

/// What is read of a copy's execution in addition to its recording.
#[derive(Default)]
pub(super) struct Looks<'a> {
    /// Values to count, if their node exists.
    pub searches: &'a [Option<SearchProjection>],
    /// The execution whose data it ran with, and what the copy calls a node of it, if values are compared.
    pub recorded: Option<(&'a Recording, &'a Revisions)>,
}

/// Items that differ: where they are in both executions, the copy's first, and their content in the copy's.
#[derive(Default)]
pub(super) struct Differing {
    pub places: Vec<[Place; 2]>,
    pub items: ItemsView,
}

impl<'a> CopyRunner<'a> {
    pub(super) fn new(context: &'a Context, timeout: Duration, progress: &'a Progress) -> Result<Self, Error> {
        let (n8n, store) = (context.n8n()?, context.executions().store);
        let (reached, unwatched, writes, left) = Default::default();
        Ok(Self { n8n, store, timeout, progress, reached, unwatched, writes, left })
    }

    /// The ids of the copies so far that could not be removed.
    pub(super) fn left(&self) -> Vec<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that a copy has reached one of the [`STEPS`].
    fn reach(&self, step: usize) {
        if step >= self.reached.fetch_max(step, Ordering::Relaxed) {
            self.progress.set(Stage::Step(STEPS[step]));
        }
    }

    /// Refuses if the key could not remove what it creates.
    pub(super) async fn check_scopes(&self) -> Result<(), Error> {
        // n8n before 2.20 does not report the scopes of a key.
        let missing = self.n8n.missing_scopes(&SCOPES).await.unwrap_or_default();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::FailedPrecondition(format!(
            "The API key lacks what a proof needs: {}. Nothing was created. Give it these scopes in n8n under Settings > n8n API, or use \
             another key.",
            missing.join(", ")
        )))
    }

    /// Removes copies that were left behind.
    pub(super) async fn sweep(&self) {
        let query = WorkflowQuery { name: Some(replay::NAME.to_owned()), limit: 100, ..WorkflowQuery::default() };
        let Ok(Ok(Some(page))) = self.n8n.read_workflows(&query, &OutlinePageProjection, self.progress).await else {
            return;
        };
        let before = jiff::Timestamp::now() - LEFT_BEHIND;
        let is_old = |copy: &Outline| {
            copy.created_at.as_deref().and_then(|at| at.parse().ok()).is_some_and(|at: jiff::Timestamp| at < before)
        };
        for copy in page.workflows.iter().filter(|copy| copy.name.starts_with(replay::NAME) && is_old(copy)) {
            if self.is_copy(&copy.id).await {
                tracing::info!(workflow = copy.id, "removing a copy that was left behind");
                remove(self.n8n, &copy.id).await;
            }
        }
    }

    /// Whether a workflow has the node that only copies have.
    async fn is_copy(&self, id: &str) -> bool {
        let text = self.n8n.workflow_text(id, false, self.progress).await.unwrap_or_default();
        let document = crate::workflow::Document::parse(&text).ok();
        let nodes = document.and_then(|document| document.nodes().ok()).unwrap_or_default();
        nodes.iter().any(|node| crate::workflow::document::text(node, "name").as_deref() == Some(replay::START))
    }

    /// Creates a copy, runs it with the recorded items, reads what it did, and removes it.
    pub(super) async fn replay(&self, copy: &Copy, carried: &Carried, looks: &Looks<'_>) -> Result<Replayed, Error> {
        let (writes, left) = (self.writes.clone(), self.left.clone());
        let creating = create(self.n8n.clone(), copy.clone(), self.unwatched.clone(), writes, left);
        let (id, removal) = undo::whole(creating).await.unwrap_or_else(|| {
            Err(Error::FailedPrecondition("The copy was not created because of a bug in n8n-lens.".to_owned()))
        })?;
        self.reach(0);
        let started = self.start(&id, copy, carried).await;
        self.reach(1);
        let replayed = match started {
            Ok(()) => self.read(&id, looks).await,
            Err(error) => Err(error),
        };
        removal.now().await;
        replayed
    }

    /// Publishes a copy, which starts it, or registers the webhook that starts it.
    async fn start(&self, id: &str, copy: &Copy, carried: &Carried) -> Result<(), Error> {
        let writing = self.writes.lock().await;
        let activated = self.n8n.set_workflow_active(id, true, &OutlineProjection, &self.unwatched).await;
        drop(writing);
        match activated {
            Ok(_) | Err(n8n::Error::Unsure { .. }) => {}
            Err(error) => {
                return Err(Error::FailedPrecondition(format!("n8n did not start the copy: {error}")));
            }
        }
        let Some(path) = copy.webhook() else { return Ok(()) };
        match self.n8n.send_files(path, carried.files()).await {
            Ok(response) if response.status < 400 => Ok(()),
            // It may have been started.
            Err(n8n::Error::UnsureRun { .. } | n8n::Error::BrokenOff { .. } | n8n::Error::Idle { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(response) => Err(Error::FailedPrecondition(format!(
                "n8n did not take the recorded items, which are too many for the copy itself: a call of its webhook answered with HTTP {}. \
                 Webhooks must be reachable at the address of n8n that n8n-lens uses.",
                response.status
            ))),
        }
    }

    /// The result of running a copy, once it has ended.
    async fn read(&self, id: &str, looks: &Looks<'_>) -> Result<Replayed, Error> {
        let execution = self.ended(id).await?;
        let request = ExecutionRequest { id: execution, ignore_size_limit: true };
        self.reach(2);
        let (source, recording) = self.recording(id, &request).await?;
        check_end(&recording)?;
        let mut hits = Vec::new();
        for search in looks.searches {
            hits.push(match search {
                Some(search) => source.read(&request, search, &self.unwatched).await?.view?.total,
                None => 0,
            });
        }
        let places = looks.recorded.map(|(recorded, revisions)| {
            // In the order of the recording; the copy comes first in each pair.
            let places = first_places(recorded, &recording, |name| revisions.name_now(name));
            places.into_iter().map(|[then, now]| [now, then]).collect::<Vec<_>>()
        });
        let places = places.unwrap_or_default();
        let projection =
            ItemsProjection { places: places.iter().map(|[now, _]| now.clone()).collect(), redacts: false };
        let items = match places.is_empty() {
            true => ItemsView::default(),
            false => source.read(&request, &projection, &self.unwatched).await?.view?,
        };
        Ok(Replayed { recording, hits, differing: Differing { places, items } })
    }

    /// What the copy with this id did, and where that was read: in the store, if there is one, since n8n takes longer to build a large
    /// execution for an answer than to run it.
    async fn recording(&self, copy: &str, request: &ExecutionRequest) -> Result<(Source, Recording), Error> {
        let projection = RecordingProjection::of_items();
        let source = |store| Source { api: Some(self.n8n.clone()), store, saved: SavedExecutions::default() };
        // A store can be that of another n8n, or lag behind.
        let is_its = |recording: &Recording| {
            recording.header.workflow_id.as_deref() == Some(copy) && check_end(recording).is_ok()
        };
        if let Some(store) = self.store.clone() {
            let stored = source(Some(store));
            match stored.read(request, &projection, &self.unwatched).await {
                Ok(Read { view: Ok(recording), .. }) if is_its(&recording) => return Ok((stored, recording)),
                _ => {}
            }
        }
        let api = source(None);
        let recording = api.read(request, &projection, &self.unwatched).await?.view?;
        Ok((api, recording))
    }

    /// The id of the copy's execution, once it has ended.
    async fn ended(&self, workflow: &str) -> Result<String, Error> {
        let (begun, mut is_stopped) = (Instant::now(), false);
        let query = ListQuery { workflow_id: Some(workflow.to_owned()), limit: 1, ..ListQuery::default() };
        loop {
            // This list leaves out running executions.
            let listing = self.n8n.list_executions(&query).await?;
            let status = listing.data.first().and_then(|one| one["status"].as_str());
            if let Some(id) = listing.newest_id().filter(|_| status.is_some_and(n8n::is_final)) {
                return Ok(id);
            }
            if begun.elapsed() > self.timeout && !is_stopped {
                is_stopped = true;
                self.stop_running(workflow).await;
            }
            if begun.elapsed() > self.timeout + GRACE {
                return Err(Error::FailedPrecondition(format!(
                    "The copy did not end within {} s, so nothing is proven. Allow more with timeoutSeconds.",
                    self.timeout.as_secs()
                )));
            }
            sleep(PAUSE).await;
        }
    }

    async fn stop_running(&self, workflow: &str) {
        let status = Some("running".to_owned());
        let query = ListQuery { workflow_id: Some(workflow.to_owned()), status, limit: 1, ..ListQuery::default() };
        let Ok(listing) = self.n8n.list_executions(&query).await else { return };
        if let Some(id) = listing.newest_id() {
            // It may have ended in the meantime.
            drop(self.n8n.stop_execution(&id, &crate::execution::HeaderProjection, &self.unwatched).await);
        }
    }
}

/// Refuses what a copy did that did not come to its own end: it says nothing about the workflow.
fn check_end(recording: &Recording) -> Result<(), Error> {
    let status = recording.header.status.as_deref().unwrap_or_default();
    match status {
        "success" => Ok(()),
        "error" if failure(recording).is_some() => Ok(()),
        _ => Err(Error::FailedPrecondition(format!(
            "The copy ended as {status}, and not at a node, so nothing is proven. If it took too long, allow more with timeoutSeconds."
        ))),
    }
}

/// Creates a copy, which is removed as soon as the second value is let go. A call that is cancelled meanwhile leaves none behind.
async fn create(
    n8n: Client,
    copy: Copy,
    progress: Progress,
    writes: Writes,
    left: Left,
) -> Result<(String, Undo), Error> {
    let writing = writes.lock().await;
    let made = n8n.create_workflow(copy.body().to_owned(), &OutlineProjection, &progress).await;
    let id = match made {
        Ok(Ok(Some(outline))) => outline.id,
        // It may have been created: look for its name instead of sending it again.
        Ok(_) | Err(n8n::Error::Unsure { .. }) => find(&n8n, copy.name(), &progress).await?,
        Err(error) => return Err(error.into()),
    };
    drop(writing);
    let removed = id.clone();
    let removal = async move {
        let _writing = writes.lock().await;
        if !remove(&n8n, &removed).await {
            left.lock().unwrap_or_else(PoisonError::into_inner).push(removed);
        }
    };
    Ok((id, Undo::later(removal)))
}

/// The id of the copy with this name, which n8n may still be creating.
async fn find(n8n: &Client, name: &str, progress: &Progress) -> Result<String, Error> {
    let (begun, query) =
        (Instant::now(), WorkflowQuery { name: Some(name.to_owned()), limit: 10, ..WorkflowQuery::default() });
    loop {
        let page = n8n.read_workflows(&query, &OutlinePageProjection, progress).await;
        let is_late = begun.elapsed() > FOUND_WITHIN;
        match page {
            Ok(Ok(Some(page))) => {
                if let Some(copy) = page.workflows.into_iter().find(|copy| copy.name == name) {
                    return Ok(copy.id);
                }
            }
            Err(error) if is_late => return Err(error.into()),
            _ => {}
        }
        if is_late {
            return Err(Error::FailedPrecondition(
                "n8n did not confirm that it created a copy, and has none. Nothing was run; try again.".to_owned(),
            ));
        }
        sleep(PAUSE).await;
    }
}

/// Deactivates and deletes a copy; returns whether it is gone. n8n refuses to delete a workflow that it is still unpublishing. Both are
/// repeated, also if n8n may have done them: a copy that stays active is worse.
async fn remove(n8n: &Client, id: &str) -> bool {
    let (begun, progress, mut is_inactive) = (Instant::now(), Progress::default(), false);
    while begun.elapsed() < REMOVED_WITHIN {
        if !is_inactive {
            is_inactive = n8n.set_workflow_active(id, false, &OutlineProjection, &progress).await.is_ok();
        }
        match n8n.delete_workflow(id, &progress).await {
            Ok(()) | Err(n8n::Error::NotFound(_)) => return true,
            Err(n8n::Error::Refused { status: 409, .. }) => is_inactive = false,
            Err(error) if may_pass(&error) => {}
            Err(error) => {
                tracing::warn!(workflow = id, %error, "a copy was not removed; a later proof removes it");
                return false;
            }
        }
        sleep(PAUSE).await;
    }
    tracing::warn!(workflow = id, "a copy was not removed in time; a later proof removes it");
    false
}

/// Whether the same request can succeed a moment later.
fn may_pass(error: &n8n::Error) -> bool {
    use n8n::Error::{BrokenOff, Idle, Unavailable, Unreachable, Unsure};
    matches!(error, BrokenOff { .. } | Idle { .. } | Unavailable { .. } | Unreachable { .. } | Unsure { .. })
}
