//! Where executions come from: n8n's API, n8n's own store with the API as a fallback, or a file.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::listed::text;
use super::{SavedExecution, SavedExecutions, stored_list};
use crate::blocking::blocking;
use crate::execution::{self, Header, StoredExecution, StoredProjection};
use crate::n8n::{Client, ExecutionRequest, ListCursor, ListQuery, Progress, Reading};
use crate::store::{self, Store};
use crate::toolkit::answer::extended;
use crate::tools::Error;
use crate::workflow::file::Files;

/// How many tokens [`Origin::mark`] adds at most. Every answer about an execution leaves room for them, so that it is
/// the same from every source.
pub const MARK_TOKENS: usize = 16;

/// Where one execution came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The only source.
    Only,
    /// n8n's API, because the store does not have the execution.
    Api,
    /// The cache, without asking n8n whether the execution has changed.
    Cache {
        /// Seconds since n8n sent it.
        age: u64,
    },
    /// n8n's store.
    Store {
        /// Whether n8n has soft-deleted the execution.
        deleted: bool,
    },
}

impl Origin {
    /// The answer, a JSON object, with `source` added as its last member if there are several sources.
    pub fn mark(self, answer: String) -> String {
        match self {
            Self::Only => answer,
            Self::Api => extended(&answer, r#""source":"api""#),
            Self::Cache { age } => extended(&answer, &format!(r#""source":"cache","ageSeconds":{age}"#)),
            Self::Store { deleted: false } => extended(&answer, r#""source":"store""#),
            Self::Store { deleted: true } => extended(&answer, r#""source":"store","deleted":true"#),
        }
    }
}

/// The view of an execution, and where it came from.
#[derive(Debug)]
pub struct Read<V> {
    /// The view of the projection.
    pub view: V,
    /// Where it came from.
    pub origin: Origin,
}

/// Executions in n8n's store. Cheap to clone.
#[derive(Clone)]
pub struct StoredExecutions {
    store: Store,
    /// Whether to show what n8n's redaction policy hides.
    reveal: bool,
    slots: Arc<Semaphore>,
}

impl StoredExecutions {
    /// Executions of a store; at most `at_once` are read at a time.
    pub fn new(store: Store, reveal: bool, at_once: usize) -> Self {
        Self { store, reveal, slots: Arc::new(Semaphore::new(at_once.max(1))) }
    }

    /// Reads an execution; the projection's reader runs on a blocking thread. Dropping the future ends it soon.
    async fn read<P: StoredProjection>(&self, id: &str, projection: &P) -> Result<Read<P::View>, store::Error> {
        let (projection, id, reveal) = (projection.clone(), id.to_owned(), self.reveal);
        let read = move |execution: store::Execution<'_>| {
            let store::Execution { row, header, workflow, data } = execution;
            let origin = Origin::Store { deleted: row.is_deleted() };
            Read { view: projection.read_stored(StoredExecution { header, workflow, data, reveal }), origin }
        };
        self.ask(move |store, cancel| store.read(&id, cancel, read)).await
    }

    /// Runs `work` on a blocking thread, in a slot. Dropping the future cancels it.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &CancellationToken) -> Result<T, store::Error> + Send + 'static,
    ) -> Result<T, store::Error> {
        let Ok(_slot) = self.slots.acquire().await else { return Err(store::Error::Cancelled) };
        let (store, cancel) = (self.store.clone(), CancellationToken::new());
        let _guard = cancel.clone().drop_guard();
        blocking(move || work(&store, &cancel)).await
    }

    /// Whether data that n8n's redaction policy hides is shown.
    pub(super) fn reveals(&self) -> bool {
        self.reveal
    }
}

/// The sources of executions.
#[derive(Clone)]
pub struct Source {
    /// n8n's API.
    pub api: Option<Client>,
    /// n8n's own store, which is read first.
    pub store: Option<StoredExecutions>,
    /// Saved executions, which are in neither of the two.
    pub saved: SavedExecutions,
}

impl Source {
    /// Reads an execution from its file, from the store, or else from the API.
    ///
    /// # Errors
    /// No source has it, or it cannot be read.
    pub async fn read<P: StoredProjection>(
        &self,
        request: &ExecutionRequest,
        projection: &P,
        progress: &Progress,
    ) -> Result<Read<P::View>, Error> {
        if let Some(saved) = self.saved.get(&request.id) {
            return Ok(Read { view: saved.read(projection, progress).await?, origin: Origin::Only });
        }
        let from_store = match &self.store {
            Some(store) => Some(store.read(&request.id, projection).await),
            None => None,
        };
        let origin = match (from_store, &self.api) {
            (Some(Err(error)), Some(_)) if error.is_elsewhere() => Origin::Api,
            (Some(read), _) => return Ok(read?),
            (None, _) => Origin::Only,
        };
        let Some(api) = &self.api else { return Err(store::Error::NotFound(request.id.clone()).into()) };
        let Reading { view, age } = api.read_execution(request, projection, progress).await?;
        Ok(Read { view, origin: age.map_or(origin, |age| Origin::Cache { age: age.as_secs() }) })
    }

    /// The same sources, and if `id` is the path of a file rather than an id, that file below the root of `files`.
    pub(in crate::tools) fn with_file(mut self, id: &str, files: &Files) -> Self {
        let is_id = id.bytes().all(|byte| byte.is_ascii_digit()) || uuid::Uuid::try_parse(id).is_ok();
        if !is_id && !self.is_saved(id) {
            self.saved = [(id.to_owned(), SavedExecution::below(files, id))].into_iter().collect();
        }
        self
    }

    /// Whether the execution with this id was saved.
    pub(super) fn is_saved(&self, id: &str) -> bool {
        self.saved.get(id).is_some()
    }

    /// The id, unless it stands for a saved execution, which has no id of its own here.
    pub(in crate::tools) fn own_id(&self, id: &str) -> Option<String> {
        (!self.is_saved(id)).then(|| id.to_owned())
    }

    /// Whether the execution with this id can be read only once.
    pub(in crate::tools) fn is_read_once(&self, id: &str) -> bool {
        self.saved.get(id).is_some_and(SavedExecution::is_read_once)
    }

    /// The answer that `compose` makes of a view and the requested id, if it is an id, marked with its source. Counting
    /// tokens takes time, so it stays on the thread that reads.
    ///
    /// # Errors
    /// No source has the execution, it cannot be read, or `compose` refuses it.
    pub(super) async fn answer<V, P>(
        &self,
        request: &ExecutionRequest,
        projection: P,
        progress: &Progress,
        compose: impl Fn(V, Option<&str>) -> Result<String, Error> + Clone + Send + 'static,
    ) -> Result<String, Error>
    where
        P: StoredProjection<View = Result<V, execution::Error>>,
    {
        let compose = move |view, id: Option<&str>| Ok(((), compose(view, id)?));
        self.answer_and(request, projection, progress, compose).await.map(|((), answer)| answer)
    }

    /// The same, and what else `compose` says of the view.
    ///
    /// # Errors
    /// As for [`answer`](Self::answer).
    pub(super) async fn answer_and<V, T, P>(
        &self,
        request: &ExecutionRequest,
        projection: P,
        progress: &Progress,
        compose: impl Fn(V, Option<&str>) -> Result<(T, String), Error> + Clone + Send + 'static,
    ) -> Result<(T, String), Error>
    where
        T: Send + 'static,
        P: StoredProjection<View = Result<V, execution::Error>>,
    {
        let id = self.own_id(&request.id);
        let projection = projection.map(move |view| compose(view?, id.as_deref()));
        let read = self.read(request, &projection, progress).await?;
        let (said, answer) = read.view?;
        Ok((said, read.origin.mark(answer)))
    }

    /// The id of the newest successful execution of the same workflow before this one, from the source of this one.
    ///
    /// # Errors
    /// No such execution exists, or the list cannot be read.
    pub(in crate::tools) async fn last_success_before(
        &self,
        id: &str,
        header: &Header,
        origin: Origin,
    ) -> Result<String, Error> {
        let Some(workflow) = &header.workflow_id else {
            let refusal =
                format!("Execution '{id}' names no workflow: pass the id of another execution (argument: with).");
            return Err(Error::FailedPrecondition(refusal));
        };
        let query = ListQuery {
            workflow_id: Some(workflow.clone()),
            status: Some("success".to_owned()),
            limit: 1,
            cursor: Some(ListCursor::After(id.to_owned())),
            ..ListQuery::default()
        };
        let listing = match (origin, &self.store, &self.api) {
            (Origin::Store { .. }, Some(store), _) => {
                store.ask(move |store, cancel| stored_list::list(store, cancel, &query)).await?.0
            }
            (_, _, Some(api)) => api.list_executions(&query).await?,
            (_, _, None) => return Err(store::Error::NotFound(id.to_owned()).into()),
        };
        let mut ids = listing.data.iter().filter_map(|execution| text(execution, "id"));
        let found = ids.find(|found| found != id);
        found.ok_or_else(|| {
            Error::FailedPrecondition(format!(
                "No successful execution of workflow '{workflow}' before execution '{id}' is stored: pass the \
                 id of another execution (argument: with)."
            ))
        })
    }
}
