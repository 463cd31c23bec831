//! An execution as n8n stores it, and the entry through which the projections read it.
//!
//! In n8n's database an execution is a row of columns, its workflow as JSON, and its run data as
//! [`flatted`](crate::json::flatted) text. The public API's body is built from them
//! (`packages/cli/src/executions/execution-persistence.ts`, `findSingleExecution`): the columns are its header, the run data is expanded
//! and redacted, and cycles are cut. Here the run data is expanded on the way to the same projection, so that there is
//! only one way to read an execution:
//!
//! ```text
//! header ----\
//! run data ---> Expansion -> Batch -> Cursor -> Projection::read
//! workflow --/
//! ```
//!
//! Unlike a body, the text can be read at any position. [`NodeProjection`] makes use of that: it finds out which run is
//! shown and where its inputs come from before it reads an item. [`SummaryProjection`] reads the workflow first: if
//! an item can stand for an error, it checks most items only for one, and otherwise counts them.

use std::io::Read;

use serde::de::IgnoredAny;

use super::Error;
use super::compare::DigestProjection;
use super::describe::DescribeProjection;
use super::edits::{Edits, Needed, Runs};
use super::fields::FieldsProjection;
use super::lookup::{LookupProjection, RunsProjection};
use super::node::{NodeProjection, NodeRunProjection};
use super::node_runs::NodeRunsProjection;
use super::recording::RecordingProjection;
use super::redaction::{self, Reason};
use super::rows::{ItemRowsProjection, RunRowsProjection};
use super::search::{SearchProjection, SearchView, StoredFilter};
use super::summary::{Counting, SummaryProjection};
use super::talk::TalkProjection;
use super::timeline::TimelineProjection;
use super::trace::{ItemsProjection, LineageProjection, StoredLineageProjection};
use super::workflow::Workflow;
use crate::json::flatted::{Expansion, Flatted};
use crate::json::{Cursor, InOrder, Map, Members, Projection, PrunedReader, Pruner, ReadAt, ReadError, check};

/// An execution as n8n stores it.
pub struct StoredExecution<'a> {
    /// The other members of the public API's body, as one JSON object: `id`, `status`, `mode`, `startedAt`, …; neither
    /// `data` nor `workflowData`.
    pub header: &'a [u8],
    /// The workflow that was executed, as JSON.
    pub workflow: Box<dyn ReadAt + 'a>,
    /// The run data; `[]` for an execution without data. It is released as soon as it was read.
    pub data: Flatted<'a>,
    /// Whether to show what n8n's redaction policy hides.
    pub reveal: bool,
}

impl StoredExecution<'_> {
    /// The same execution, borrowed for a projection that reads it first.
    pub fn by_ref(&mut self) -> StoredExecution<'_> {
        let Self { header, workflow, data, reveal } = self;
        StoredExecution { header, workflow: Box::new(workflow), data: data.by_ref(), reveal: *reveal }
    }
}

/// A projection that also reads an execution as n8n stores it, with the same view as for the public API's body.
///
/// ```
/// use n8n_lens::execution::summary::SummaryProjection;
/// use n8n_lens::execution::{StoredExecution, StoredProjection};
/// use n8n_lens::json::flatted::Flatted;
///
/// let data = &br#"[{"resultData":"1"},{"runData":"2"},{"Start":"3"},["4"],{"data":"5"},{"main":"6"},["7"],["8","8"],{}]"#[..];
/// let stored = StoredExecution {
///     header: br#"{"id":"7","status":"success"}"#,
///     workflow: Box::new(&br#"{"name":"Orders","nodes":[{"name":"Start"}]}"#[..]),
///     data: Flatted::new(Box::new(data)),
///     reveal: false,
/// };
/// let summary = SummaryProjection.read_stored(stored)?;
/// assert_eq!((summary.workflow_name.as_deref(), summary.nodes[0].items), (Some("Orders"), 2));
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
pub trait StoredProjection: Projection {
    /// Reads a stored execution.
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View;
}

impl StoredProjection for SummaryProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        Opened::new(execution)?.read_summary(self)
    }
}

impl StoredProjection for TimelineProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        Opened::new(execution)?.read_summary(self)
    }
}

/// Projections that read all that their tables name.
macro_rules! read_all {
    ($open:ident: $($projection:ty),*) => {
        $(impl StoredProjection for $projection {
            fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
                Opened::$open(execution)?.read(self, Needed::All)
            }
        })*
    };
}
read_all!(whole: SearchProjection, FieldsProjection, DescribeProjection, DigestProjection, TalkProjection);
read_all!(whole: ItemRowsProjection, RecordingProjection);
read_all!(new: RunsProjection, NodeRunsProjection, RunRowsProjection);

impl StoredProjection for NodeProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        let mut opened = Opened::whole(execution)?;
        let found = opened.read(&NodeRunProjection(self.clone()), Needed::Runs(&Runs::runs_of(self)))?;
        match Runs::items_of(self, &found) {
            Some(runs) => opened.read(self, Needed::Runs(&runs)),
            // There is nothing more to show.
            None => Ok(found),
        }
    }
}

impl StoredProjection for LineageProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        Opened::whole(execution)?.read(&StoredLineageProjection, Needed::All)
    }
}

impl StoredProjection for ItemsProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        let runs = self.places.iter().map(|place| (place.node.clone(), place.run)).collect();
        Opened::whole(execution)?.read(self, Needed::Runs(&Runs::only(runs)))
    }
}

impl StoredProjection for LookupProjection {
    fn read_stored(&self, execution: StoredExecution<'_>) -> Self::View {
        Opened::whole(execution)?.read(self, Needed::Looked(self.plan()))
    }
}

impl<P, T, F> StoredProjection for Map<P, F>
where
    P: StoredProjection,
    T: Send + 'static,
    F: Fn(P::View) -> T + Clone + Send + 'static,
{
    fn read_stored(&self, execution: StoredExecution<'_>) -> T {
        self.apply(self.inner().read_stored(execution))
    }
}

/// What a search of one of many stored executions found.
#[derive(Debug)]
pub enum Searched {
    /// n8n stored no run data.
    NoData,
    /// n8n's redaction policy hides its data: whether it has a match is not reported.
    Redacted,
    /// Its text cannot have a match, so that it was not parsed.
    Nothing,
    /// This, with or without a match: what could not be searched is counted either way.
    Read(Box<SearchView>),
}

/// A search of many stored executions: the filter that each text must pass first is made once.
#[derive(Debug)]
pub struct StoredSearch {
    projection: SearchProjection,
    filter: Option<StoredFilter>,
}

impl StoredSearch {
    /// Searches as this projection does.
    pub fn new(projection: SearchProjection) -> Self {
        Self { filter: StoredFilter::of(&projection.query, projection.redacts), projection }
    }

    /// Every stored execution with a match contains at least one of these texts. Empty if no such texts are known.
    pub fn texts(&self) -> Vec<String> {
        self.projection.query.stored_texts(self.projection.redacts)
    }

    /// Searches an execution: nothing of it is parsed if its text cannot have a match.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn search(&self, execution: StoredExecution<'_>) -> Result<Searched, Error> {
        let unreadable = |error| Error::Read(ReadError::Io(error));
        let mut opened = Opened::new(execution)?;
        if opened.is_empty()? {
            return Ok(Searched::NoData);
        }
        if opened.redaction.is_some() {
            return Ok(Searched::Redacted);
        }
        if let Some(filter) = &self.filter
            && !filter.may_match(&mut opened.text).map_err(unreadable)?
        {
            return match opened.text.is_closed().map_err(unreadable)? {
                true => Ok(Searched::Nothing),
                false => Err(Error::StoredData(ReadError::Syntax("it ends early".to_owned()))),
            };
        }
        Ok(Searched::Read(Box::new(opened.read(&self.projection, Needed::All)?)))
    }
}

/// A stored execution whose parts were checked.
struct Opened<'a> {
    /// The header without its closing bracket, and with a comma if a member can follow.
    header: Vec<u8>,
    workflow: Box<dyn ReadAt + 'a>,
    text: Flatted<'a>,
    redaction: Option<Reason>,
}

impl<'a> Opened<'a> {
    /// To be read to the end, or almost.
    fn whole(mut execution: StoredExecution<'a>) -> Result<Self, Error> {
        execution.data.source().expect_all();
        Self::new(execution)
    }

    fn new(execution: StoredExecution<'a>) -> Result<Self, Error> {
        let StoredExecution { header, mut workflow, data: mut text, reveal } = execution;
        check_form(&mut text)?;
        check(InOrder::new(&mut workflow)).map_err(Error::StoredWorkflow)?;
        let mut opened =
            Self { header: open_object(header).map_err(Error::StoredHeader)?, workflow, text, redaction: None };
        if !opened.is_empty()? {
            let workflow = InOrder::new(&mut opened.workflow);
            let redaction = redaction::reason(&mut opened.text, header, workflow);
            opened.redaction = opened.named(redaction)?;
        }
        if reveal && opened.redaction.take().is_some() {
            let id = redaction::id(header).unwrap_or_default();
            tracing::warn!(execution = id, "shown with --reveal: n8n redacts it");
        }
        Ok(opened)
    }

    /// Whether n8n stored no run data.
    fn is_empty(&mut self) -> Result<bool, Error> {
        let empty = self.text.is_undefined();
        self.named(empty.map_err(Error::Read))
    }

    /// What a summary needs of the workflow.
    fn workflow(&mut self) -> Result<Workflow, Error> {
        let text = InOrder::new(&mut self.workflow);
        let text = PrunedReader::new(text, Pruner::new(Workflow::KEEP, 0..0));
        Workflow::read_or_default(&mut Cursor::over(text)).map_err(Error::StoredWorkflow)
    }

    /// Reads a summary. The only items it reads are those which may stand for an error or come from a sub-workflow, if any can.
    fn read_summary<P, V>(&mut self, projection: &P) -> Result<V, Error>
    where
        P: Projection<View = Result<V, Error>>,
        V: Send + 'static,
    {
        let workflow = self.workflow()?;
        if !workflow.may_have_marked_items() {
            return self.read(&Counting(projection.clone()), Needed::All);
        }
        self.read(projection, Needed::Marked(&workflow))
    }

    /// Reads the body that n8n would send.
    fn read<P, V>(&mut self, projection: &P, needed: Needed<'_>) -> Result<V, Error>
    where
        P: Projection<View = Result<V, Error>>,
    {
        let is_empty = self.is_empty()?;
        let workflow = (&br#""workflowData":"#[..]).chain(InOrder::new(&mut self.workflow)).chain(&b"}"[..]);
        if is_empty {
            let body = (&self.header[..]).chain(workflow);
            return projection.read(Cursor::over(PrunedReader::new(body, projection.pruner())));
        }
        let before = [&self.header[..], br#""data":"#];
        let mut after = (&b","[..]).chain(workflow);
        let edits = Edits { redaction: self.redaction, needed };
        let expansion = Expansion::edited(&mut self.text, projection.pruner(), edits).within(&before, &mut after);
        let view = projection.read(Cursor::over(expansion));
        self.named(view)
    }

    /// Translates an error into what it means in a store.
    fn named<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| match error {
            _ if self.text.is_too_expensive() => Error::StoredTooExpensive,
            Error::Read(ReadError::Io(error)) => Error::Store(error),
            Error::Read(error) => Error::StoredData(error),
            error => error,
        })
    }
}

/// Checks that the run data is flatted text, which begins with a bracket.
fn check_form(text: &mut Flatted<'_>) -> Result<(), Error> {
    let prefix = text.prefix().map_err(Error::Store)?;
    match prefix.first() {
        Some(b'[') => Ok(()),
        Some(_) => Err(Error::StoredForm(String::from_utf8_lossy(&prefix).escape_debug().to_string())),
        None => Err(Error::StoredData(ReadError::Syntax("it is empty".to_owned()))),
    }
}

/// An object without its closing bracket, to which members can be added: with a comma if it has any.
fn open_object(text: &[u8]) -> Result<Vec<u8>, ReadError> {
    serde_json::from_slice::<IgnoredAny>(text).map_err(|error| ReadError::Syntax(error.to_string()))?;
    let inside = text.trim_ascii().strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}"));
    let inside = inside.ok_or_else(|| ReadError::Syntax("it is not an object".to_owned()))?;
    let comma: &[u8] = if inside.trim_ascii().is_empty() { b"" } else { b"," };
    Ok([b"{", inside, comma].concat())
}
