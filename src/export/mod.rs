//! All executions of a store, for other programs: as rows (one JSON object per line), or as traces of OpenTelemetry.
//!
//! ```text
//! store -> Walk (batches, the oldest first) -> a projection -> rows or spans -> Piece -> standard output, Collector
//! ```
//!
//! | file | knows |
//! |---|---|
//! | `walk` | batches of executions, and which of them cannot be read |
//! | `lines` | the rows: their members and their order |
//! | `otlp` | spans, as n8n itself names them, in OTLP's JSON |
//! | `collector` | sending them to a collector |
//!
//! Nothing is written while the store is open: a slow reader must not hold up n8n.

mod collector;
mod lines;
mod otlp;
mod walk;

use std::io;
use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::collector::{Collector, Refusal};
use self::lines::{ExecutionLine, item_lines, run_lines};
use self::walk::{Read, Walk};
use crate::execution::rows::{ItemRowsProjection, RowSpace, RunRowsProjection};
use crate::execution::summary::SummaryProjection;
use crate::execution::{FailureFilter, StoredProjection};
use crate::n8n::{Progress, Stage};
use crate::store::{self, Query, Store};

/// A piece of lines is sent when it has this many bytes.
const PIECE: usize = 64 * 1024;

/// Memory for the rows of one of the executions that are read in one go.
const ROWS_IN_MEMORY: usize = 128 * 1024;

/// What is exported.
pub struct Export {
    /// Where the executions are.
    pub store: Store,
    /// Which of them; the limit and the order are the export's own.
    pub query: Query,
    /// Selects failed executions; all are exported if it is empty.
    pub failures: FailureFilter,
    /// Whether to end before the first execution that has not ended, so that nothing is missing before the last one.
    pub until_unfinished: bool,
    /// The form of the output.
    pub form: Form,
    /// Whether secrets in items are masked.
    pub masks: bool,
    /// Whether to show what n8n's redaction policy hides; each execution is logged then.
    pub reveal: bool,
    /// The folder for temporary files, if it is not the system's.
    pub spool: Option<PathBuf>,
}

/// The form of an execution in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A row.
    Executions,
    /// A row for each run of a node.
    Runs,
    /// A row for each item of each output.
    Items,
    /// A trace, in a line of its own, or in several if it is large.
    Traces,
    /// Traces, as many in one piece as a collector takes at once.
    Requests,
}

/// A piece of the output: whole lines, or one request for a collector.
#[derive(Debug)]
pub struct Piece {
    /// The text.
    pub text: Vec<u8>,
    /// The last execution that is complete with this piece.
    pub until: Option<String>,
}

/// What an export did.
#[derive(Debug, Default)]
pub struct Report {
    /// How many executions were exported.
    pub executions: u64,
    /// How many executions could not be read, and the first of them with the reason.
    pub unreadable: u64,
    /// See [`unreadable`](Self::unreadable).
    pub first_unreadable: Option<(String, String)>,
    /// How many items are larger than 1 MiB: their rows have no `json`.
    pub too_large: u64,
    /// How many executions have not ended, so that they are missing or will change, and the first of them.
    pub unfinished: u64,
    /// See [`unfinished`](Self::unfinished).
    pub first_unfinished: Option<String>,
}

/// Why an export ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The receiver of the pieces is gone.
    #[error("the output is closed")]
    Closed,
    /// The temporary file cannot be used.
    #[error("Rows could not be kept in a temporary file: {0}. Make room, or name another folder with --spool-dir.")]
    Spool(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::Spool(error) }
    }
}

impl Export {
    /// Reads the executions, and sends what it makes of them. Blocks.
    ///
    /// # Errors
    /// The store cannot be read, a temporary file cannot be written, or `pieces` is closed.
    pub fn run(
        &self,
        cancel: &CancellationToken,
        pieces: mpsc::Sender<Piece>,
        progress: &Progress,
    ) -> Result<Report, Error> {
        let space = RowSpace { in_memory: ROWS_IN_MEMORY, folder: self.spool.clone() };
        let mut out = Out::new(pieces);
        let mut report = match self.form {
            Form::Executions => self.each(&SummaryProjection, cancel, progress, &mut out, |out, read, _| {
                out.line(&ExecutionLine::new(&read.listed, read.bytes, read.view.as_ref().ok()))
            })?,
            Form::Runs => {
                let projection = RunRowsProjection { model_calls: false, space };
                self.each(&projection, cancel, progress, &mut out, |out, Read { listed, view, .. }, _| match view {
                    Ok(view) => run_lines(out, &listed, view),
                    Err(_) => Ok(()),
                })?
            }
            Form::Items => {
                let projection = ItemRowsProjection { masks: self.masks, space };
                self.each(&projection, cancel, progress, &mut out, |out, Read { listed, view, .. }, report| {
                    let Ok(view) = view else { return Ok(()) };
                    report.too_large += view.too_large;
                    item_lines(out, &listed, view)
                })?
            }
            Form::Traces | Form::Requests => {
                let projection = RunRowsProjection { model_calls: true, space };
                let is_line = self.form == Form::Traces;
                self.each(&projection, cancel, progress, &mut out, |out, Read { listed, view, .. }, _| match view {
                    Ok(_) if !otlp::has_ended(&listed) => Ok(()),
                    Ok(view) => otlp::spans(out, &listed, view, is_line),
                    Err(_) => Ok(()),
                })?
            }
        };
        out.flush()?;
        if self.query.status.is_none() && self.failures.is_empty() {
            self.add_unfinished(&mut report, out.until.as_deref(), cancel)?;
        }
        Ok(report)
    }

    /// Adds what has not ended. What was started after a certain time counts only before the last execution: what is after
    /// that comes with the next export.
    fn add_unfinished(
        &self,
        report: &mut Report,
        last: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<(), store::Error> {
        let last = last.and_then(|id| id.parse::<i64>().ok()).or(self.query.above).map_or(0, |id| id + 1);
        let below = if self.query.started_before.is_some() { Some(last) } else { self.query.below };
        let unfinished = Query { below, ..self.unfinished() };
        report.unfinished = self.store.count(&unfinished, cancel)?;
        report.first_unfinished = self.first_id(&unfinished, cancel)?;
        Ok(())
    }

    /// The executions that have not ended, the oldest first.
    fn unfinished(&self) -> Query {
        Query {
            unfinished: true,
            status: None,
            started_before: None,
            oldest_first: true,
            limit: 1,
            ..self.query.clone()
        }
    }

    fn first_id(&self, query: &Query, cancel: &CancellationToken) -> Result<Option<String>, store::Error> {
        Ok(self.store.list(query, cancel)?.first().map(|first| first.row.id().to_owned()))
    }

    /// Reads each execution, the oldest first, and passes it to `write`.
    fn each<P, V>(
        &self,
        projection: &P,
        cancel: &CancellationToken,
        progress: &Progress,
        out: &mut Out,
        mut write: impl FnMut(&mut Out, Read<V>, &mut Report) -> io::Result<()>,
    ) -> Result<Report, Error>
    where
        P: StoredProjection<View = Result<V, crate::execution::Error>>,
    {
        let (mut report, mut bytes) = (Report::default(), 0);
        progress.set(Stage::Reading { bytes, total: None });
        let mut query = self.query.clone();
        if self.until_unfinished
            && let Some(first) = self.first_id(&self.unfinished(), cancel)?.and_then(|id| id.parse().ok())
        {
            query.below = Some(query.below.map_or(first, |below| below.min(first)));
        }
        let mut walk = Walk::new(self, query, cancel);
        while let Some(batch) = walk.next(projection)? {
            for read in batch {
                let id = read.listed.row.id().to_owned();
                bytes += read.bytes.unwrap_or(0);
                progress.set(Stage::Reading { bytes, total: None });
                if let Err(reason) = &read.view {
                    report.unreadable += 1;
                    report.first_unreadable.get_or_insert_with(|| (id.clone(), reason.clone()));
                }
                report.executions += 1;
                write(out, read, &mut report)?;
                out.until = Some(id);
            }
        }
        Ok(report)
    }
}

/// Collects text, and sends it piece by piece.
struct Out {
    pieces: mpsc::Sender<Piece>,
    text: Vec<u8>,
    /// What ends the piece, if it has begun.
    end: &'static str,
    until: Option<String>,
}

impl Out {
    fn new(pieces: mpsc::Sender<Piece>) -> Self {
        Self { pieces, text: Vec::new(), end: "", until: None }
    }

    /// Adds a line.
    fn line(&mut self, row: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.text, row)?;
        self.text.push(b'\n');
        if self.text.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Adds an element to a piece that is one document of at most about `most` bytes: `begin`, elements, `end`.
    fn element(
        &mut self,
        element: &impl serde::Serialize,
        begin: &str,
        end: &'static str,
        most: usize,
    ) -> io::Result<()> {
        let before: &[u8] = if self.text.is_empty() { begin.as_bytes() } else { b"," };
        self.text.extend_from_slice(before);
        self.end = end;
        serde_json::to_writer(&mut self.text, element)?;
        if self.text.len() >= most { self.flush() } else { Ok(()) }
    }

    /// Sends what there is.
    fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.text);
        text.extend_from_slice(std::mem::take(&mut self.end).as_bytes());
        let piece = Piece { text, until: self.until.clone() };
        self.pieces.blocking_send(piece).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
