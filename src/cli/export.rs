//! `n8n-lens export`: the executions of n8n's store for other programs, as rows or as traces.

use std::io::{ErrorKind, IsTerminal, Write, stdout};

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::commands::PERIOD;
use super::spelling::Spelling;
use super::{Error, progress, terminal};
use crate::blocking::blocking;
use crate::config::StoreOptions;
use crate::execution::FailureFilter;
use crate::export::{self, Collector, Form, Piece, Refusal, Report};
use crate::n8n::Progress;
use crate::store::Query;
use crate::toolkit::{ArgumentError, Arguments, FromArguments, Parameter, Words};
use crate::tools;
use crate::tools::executions::list_executions::{self, ListExecutions};
use crate::units::counted;

/// The variable with headers for a collector, such as a token, in the format of OpenTelemetry's SDKs.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

#[derive(Args)]
pub(super) struct Export {
    #[command(flatten)]
    store: StoreOptions,

    /// What a row is: an execution, a run of a node, or an item of an output
    #[arg(long, value_enum, value_name = "ROWS")]
    rows: Option<Rows>,

    /// JSON lines (default), or traces of OpenTelemetry
    #[arg(long, value_enum, default_value_t = Format::Ndjson, hide_default_value = true, value_name = "FORMAT")]
    format: Format,

    /// With --format otlp: send traces to this collector, such as http://127.0.0.1:4318/v1/traces, instead of printing them
    #[arg(long, value_name = "URL")]
    to: Option<String>,

    /// With --format otlp: also executions whose trace n8n has sent itself
    #[arg(long)]
    with_traced: bool,

    #[command(flatten)]
    filter: Filter,

    /// Only executions after this one: the last one of the previous export
    #[arg(long, value_name = "ID")]
    after: Option<i64>,

    /// Only executions up to this one
    #[arg(long, value_name = "ID")]
    until_id: Option<i64>,

    /// Stop before the first execution that has not ended: a later export with --after misses nothing
    #[arg(long)]
    until_unfinished: bool,

    /// Mask the values of known secret keys in items, too
    #[arg(long)]
    redact: bool,
}

/// What one row represents.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    Executions,
    Runs,
    Items,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Ndjson,
    Otlp,
}

/// Which executions, as the list of a store is filtered.
struct Filter(Map<String, Value>);

static FILTER: [Parameter; 6] =
    Parameter::without(list_executions::STORE_TOOL.parameters, &["limit", "cursor", "raw", "maxTokens"]);

const SPELLING: Spelling = Spelling {
    help: &[
        PERIOD,
        &[
            ("status", "Only executions with this status; without it, running ones are left out"),
            ("error", "Only failed executions whose error contains this text, in upper or lower case"),
        ],
    ],
    ..Spelling::OPTIONS
};

impl Args for Filter {
    fn augment_args(command: Command) -> Command {
        command.args(FILTER.iter().map(|parameter| SPELLING.argument(parameter)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Filter {
    fn from_arg_matches(arguments: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(SPELLING.values(&FILTER, arguments)))
    }

    fn update_from_arg_matches(&mut self, arguments: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(arguments)?;
        Ok(())
    }
}

impl Filter {
    fn read(self) -> Result<ListExecutions, Error> {
        let read = Arguments::check(&FILTER, &[], self.0).and_then(ListExecutions::read);
        let refusal = |error: &ArgumentError| SPELLING.refusal(&FILTER, error).unwrap_or_else(|| error.to_string());
        read.map_err(|error| Error::Usage(refusal(&error)))
    }
}

/// The destination of the pieces.
enum Output {
    Standard,
    Collector(Box<Collector>),
}

impl Export {
    /// Exports until the end, or until nothing reads the output any more.
    pub(super) async fn run(self) -> Result<(), Error> {
        let form = self.form()?;
        let output = match &self.to {
            Some(to) => {
                let headers = std::env::var(HEADERS).ok();
                Output::Collector(Box::new(Collector::new(to, headers.as_deref()).map_err(Error::Usage)?))
            }
            None => Output::Standard,
        };
        let export = self.export(form)?;
        // On a terminal the rows would overwrite the bar.
        let is_shown = matches!(output, Output::Collector(_)) || !stdout().is_terminal();
        let (progress, bar) = if is_shown { progress::bar() } else { Default::default() };
        let report = bar.around(write(export, output, progress)).await?;
        if let Some(report) = report {
            notes(&report).iter().for_each(|note| terminal::report(note));
        }
        Ok(())
    }

    fn form(&self) -> Result<Form, Error> {
        let refusal = match (self.format, self.rows) {
            (Format::Ndjson, None) => "Say what a row is: --rows executions, --rows runs or --rows items.",
            (Format::Ndjson, _) if self.to.is_some() => {
                "--to needs --format otlp: only traces are sent to a collector."
            }
            (Format::Ndjson, _) if self.with_traced => "--with-traced needs --format otlp: rows have all executions.",
            (Format::Otlp, Some(_)) => "--format otlp has no rows: leave --rows out.",
            (Format::Ndjson, Some(Rows::Executions)) => return Ok(Form::Executions),
            (Format::Ndjson, Some(Rows::Runs)) => return Ok(Form::Runs),
            (Format::Ndjson, Some(Rows::Items)) => return Ok(Form::Items),
            (Format::Otlp, None) if self.to.is_some() => return Ok(Form::Requests),
            (Format::Otlp, None) => return Ok(Form::Traces),
        };
        Err(Error::Usage(refusal.to_owned()))
    }

    fn export(self, form: Form) -> Result<export::Export, Error> {
        let filter = self.filter.read()?;
        let store = self.store.find(None)?.ok_or_else(|| {
            let refusal = "An export reads n8n's own store: name it with --store (auto, n8n's folder, a database file, a bundle.json or postgres://…).";
            Error::Usage(refusal.to_owned())
        })?;
        let query = Query {
            workflow_id: filter.workflow_id,
            status: filter.status.map(|status| status.word().to_owned()),
            started_after: filter.started_after,
            started_before: filter.started_before,
            above: self.after,
            below: self.until_id.map(|id| id.saturating_add(1)),
            without_traced: self.format == Format::Otlp && !self.with_traced,
            ..Query::default()
        };
        let failures = FailureFilter { node: filter.failing_node, text: filter.error };
        let (masks, reveal, spool) = (self.redact, self.store.reveals(), self.store.spool());
        let until_unfinished = self.until_unfinished;
        Ok(export::Export { store, query, failures, until_unfinished, form, masks, reveal, spool })
    }
}

/// Reads on a blocking thread, and writes the pieces that it sends; `None` if nothing reads the output any more.
async fn write(export: export::Export, output: Output, progress: Progress) -> Result<Option<Report>, Error> {
    let (sender, pieces) = mpsc::channel(1);
    let cancel = CancellationToken::new();
    let _guard = cancel.clone().drop_guard();
    let reading = blocking(move || export.run(&cancel, sender, &progress));
    let (read, written) = tokio::join!(reading, deliver(pieces, output));
    written?;
    match read {
        Ok(report) => Ok(Some(report)),
        Err(export::Error::Closed) => Ok(None),
        Err(export::Error::Store(error)) => Err(tools::Error::from(error).into()),
        Err(error) => Err(Error::Input(error.to_string())),
    }
}

/// Writes the pieces. It returns early if nothing reads them any more, which ends the export.
async fn deliver(mut pieces: mpsc::Receiver<Piece>, output: Output) -> Result<(), Error> {
    let mut until = None;
    while let Some(piece) = pieces.recv().await {
        match &output {
            Output::Standard => {
                if !print(&piece.text)? {
                    break;
                }
            }
            Output::Collector(collector) => {
                collector.send(piece.text).await.map_err(|refusal| interrupted(&refusal, until.as_deref()))?;
            }
        }
        until = piece.until.or(until);
    }
    Ok(())
}

/// The executions that a collector did not accept, and how to continue.
fn interrupted(refusal: &Refusal, until: Option<&str>) -> Error {
    Error::Input(match until {
        Some(id) => format!("{refusal} All executions up to {id} were sent: continue with --after {id}."),
        None => format!("{refusal} No execution was sent completely."),
    })
}

/// Prints lines; returns whether anything still reads them.
fn print(text: &[u8]) -> Result<bool, Error> {
    let mut out = stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::Input(format!("Standard output: {error}."))),
    }
}

/// Remarks that are not in the rows.
fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((id, reason)) = &report.first_unreadable {
        let count = counted(report.unreadable, "execution", "executions");
        notes.push(format!("{count} could not be read, and have no runs and items here. The first is {id}: {reason}"));
    }
    if report.too_large > 0 {
        let count = counted(report.too_large, "item has", "items have");
        notes.push(format!("{count} more than 1 MiB: the json of such a row is null."));
    }
    if let Some(id) = &report.first_unfinished {
        let count = counted(report.unfinished, "execution has", "executions have");
        notes
            .push(format!("{count} not ended. The first is {id}: export what comes from it on again later (--after)."));
    }
    notes
}
