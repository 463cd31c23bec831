//! The items of a node as a file: all of them, as JSON lines or as a table.
//!
//! The execution is read once, and the items are kept in a temporary file if there are many: only then is it known that they are
//! complete, and which columns a table has. From there they are written one by one, as fast as they are taken.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use indexmap::IndexSet;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::execution::recording::{Incomplete, RecordedRun, Recording, RecordingProjection};
use crate::json::{Cursor, Detail, Excerpt, InOrder, ReadAt, Spool};
use crate::n8n::Progress;
use crate::secrets::redact;
use crate::tools::executions::{Read, execution};
use crate::tools::{Context, Error};

/// The most columns of a table.
const COLUMNS: usize = 4096;

/// Memory for one item, whose text has at most 1 MiB.
const ITEM_BYTES: usize = 64 * 1024 * 1024;

/// Which items are wanted, and in which form.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemsQuery {
    /// The execution.
    pub id: String,
    /// The node.
    pub node: String,
    /// One of its runs, from 0; otherwise all.
    pub run: Option<usize>,
    /// One of its outputs, from 0.
    #[serde(default)]
    pub output: usize,
    /// The form.
    pub format: Format,
    /// Whether to request data above n8n's display limit.
    #[serde(default)]
    pub ignore_data_size_limit: bool,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The `json` of each item in a line of its own.
    Jsonl,
    /// A table (RFC 4180) with the members of all items as columns; values that are not scalars are JSON.
    Csv,
}

/// Items that were read completely.
#[derive(Debug)]
pub struct ItemsFile {
    format: Format,
    redacts: bool,
    items: Spool,
    runs: Vec<Part>,
}

/// The items of a run.
#[derive(Debug)]
struct Part {
    /// Where they are.
    bytes: Range<u64>,
    /// Which of them belong to the output.
    wanted: Range<u64>,
}

impl Format {
    /// The extension of the file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }

    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/jsonl; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8; header=present",
        }
    }
}

/// Reads the items.
///
/// # Errors
/// There is no such execution or node, it cannot be read, or its items are not complete.
pub async fn items(query: &ItemsQuery, context: &Context, progress: &Progress) -> Result<ItemsFile, Error> {
    let projection = RecordingProjection::only(HashSet::from([query.node.clone()]));
    let request = execution(query.id.clone(), Some(query.ignore_data_size_limit));
    let Read { view, .. } = context.executions().read(&request, &projection, progress).await?;
    let mut recording = view?;
    if let Some(incomplete) = recording.incomplete {
        return Err(Error::FailedPrecondition(refusal(incomplete)));
    }
    let runs = parts(query, &recording)?;
    let items = recording.items.take().unwrap_or_else(|| Spool::new(0, None));
    Ok(ItemsFile { format: query.format, redacts: context.redact, items, runs })
}

fn refusal(incomplete: Incomplete) -> String {
    match incomplete {
        Incomplete::LargeItem => {
            "One of the items has more than 1 MiB, so that not all of them can be taken along. Copy the others one by one."
        }
        Incomplete::Runs => {
            "There are more than a million items, or more than 100,000 runs: that is more than can be taken along."
        }
        Incomplete::Items | Incomplete::Disk(_) => {
            "The items do not fit into the folder for temporary files. Make room there, or let TMPDIR name another one, and try again."
        }
    }
    .to_owned()
}

fn parts(query: &ItemsQuery, recording: &Recording) -> Result<Vec<Part>, Error> {
    let missing = || Error::FailedPrecondition("This node, or this run of it, is not in the execution.".to_owned());
    let node = recording.nodes.get(&query.node).ok_or_else(missing)?;
    let runs = match query.run {
        Some(run) => std::slice::from_ref(node.runs.get(run).ok_or_else(missing)?),
        None => &node.runs[..],
    };
    Ok(runs.iter().map(|run| Part { bytes: run.items.clone(), wanted: of_output(run, query.output) }).collect())
}

/// Which items of a run belong to an output: they are stored output by output.
fn of_output(run: &RecordedRun, output: usize) -> Range<u64> {
    let len = |at: usize| run.outputs.get(at).map_or(0, |output| output.hashes.len() as u64);
    let begin = (0..output.min(run.outputs.len())).map(len).sum();
    begin..begin + len(output)
}

impl ItemsFile {
    /// Writes all items.
    ///
    /// # Errors
    /// They cannot be read or written, or a table would have more than 4,096 columns.
    pub fn write(mut self, to: &mut impl Write) -> io::Result<()> {
        match self.format {
            Format::Jsonl => self.write_lines(to),
            Format::Csv => self.write_table(to),
        }
    }

    fn write_lines(&mut self, to: &mut impl Write) -> io::Result<()> {
        let redacts = self.redacts;
        self.each(|json| {
            if redacts {
                let (mut text, mut clipped) = (String::new(), 0);
                excerpt(json, true)?.write(Detail::WHOLE, &mut text, &mut clipped);
                to.write_all(text.as_bytes())?;
            } else {
                to.write_all(json.as_bytes())?;
            }
            to.write_all(b"\n")
        })
    }

    fn write_table(&mut self, to: &mut impl Write) -> io::Result<()> {
        let redacts = self.redacts;
        let mut columns: IndexSet<String> = IndexSet::new();
        self.each(|json| {
            columns.extend(excerpt(json, redacts)?.members().map(|(name, _)| name.to_owned()));
            if columns.len() <= COLUMNS { Ok(()) } else { Err(io::Error::other("too many columns for a table")) }
        })?;
        // Without this mark, spreadsheets read the file in the system's own character set.
        to.write_all("\u{feff}".as_bytes())?;
        write_row(to, columns.iter().map(|name| cell(&Excerpt::Text(name.clone().into()))))?;
        self.each(|json| {
            let item = excerpt(json, redacts)?;
            write_row(to, columns.iter().map(|name| item.member(name).map(cell).unwrap_or_default()))
        })
    }

    /// Calls `visit` with the `json` of each wanted item.
    fn each(&mut self, mut visit: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        #[derive(Deserialize)]
        struct Taken<'a> {
            /// `null` is not the same as none.
            #[serde(borrow, default, deserialize_with = "present")]
            json: Option<&'a RawValue>,
            /// What n8n leaves of an item that it redacted.
            #[serde(default)]
            redaction: Redaction,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Redaction {
            redacted: bool,
        }
        for Part { bytes, wanted } in &self.runs {
            let mut lines = InOrder::new(Section { whole: &mut self.items, begin: bytes.start, end: bytes.end });
            let mut line = String::new();
            for at in 0..wanted.end {
                line.clear();
                lines.read_line(&mut line)?;
                if at >= wanted.start {
                    let item: Taken<'_> = serde_json::from_str(&line)?;
                    if !item.redaction.redacted {
                        visit(item.json.map_or("{}", RawValue::get))?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A part of the bytes.
struct Section<'a> {
    whole: &'a mut Spool,
    begin: u64,
    end: u64,
}

impl ReadAt for Section<'_> {
    fn len(&self) -> u64 {
        self.end - self.begin
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.whole.read_at(self.begin + position, buffer)
    }
}

fn excerpt(json: &str, redacts: bool) -> io::Result<Excerpt> {
    let mut item = Cursor::unpruned(json.as_bytes()).excerpt(ITEM_BYTES).map_err(io::Error::other)?;
    if redacts {
        redact::item(&mut item);
    }
    Ok(item)
}

/// The text of a cell.
fn cell(value: &Excerpt) -> String {
    match value {
        Excerpt::Text(_) => plain(value.text().unwrap_or_default()),
        Excerpt::Scalar(scalar) if scalar == "null" => String::new(),
        other => {
            let (mut text, mut clipped) = (String::new(), 0);
            other.write(Detail::WHOLE, &mut text, &mut clipped);
            text
        }
    }
}

/// A text that no spreadsheet takes for a formula: with an apostrophe where it could be one. A number could not, but a telephone number
/// such as `+1-555-0100` is one: it would be calculated.
fn plain(text: String) -> String {
    let is_number = || text[1..].chars().all(|c| c.is_ascii_digit() || ".,".contains(c));
    let is_formula = match text.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') => !is_number(),
        _ => false,
    };
    if is_formula { format!("'{text}") } else { text }
}

fn write_row(to: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            to.write_all(b",")?;
        }
        if cell.contains(['"', ',', '\r', '\n']) {
            write!(to, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            to.write_all(cell.as_bytes())?;
        }
    }
    to.write_all(b"\r\n")
}
