//! The items that the runs of an execution output.

use std::io::Read;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{RowSpace, RowWriter, Rows, read_name};
use crate::execution::Error;
use crate::execution::header::Header;
use crate::execution::items::read_binary;
use crate::execution::runs::{self, ITEM_BYTES, Item, ItemPlace, ItemText, Parts, RunHead, RunObserver, Side};
use crate::json::{Cursor, Detail, Excerpt, Keep, Projection, ReadError};
use crate::secrets::redact;

/// Enough for the copy of any item that is read: it is bounded by its text.
const COPY_BYTES: usize = 1 << 30;

/// Reads [`ExecutionItems`]: the items of all outputs, without those of runs that a retry has copied.
///
/// ```
/// use n8n_lens::execution::rows::{ItemRowsProjection, RowSpace};
/// use n8n_lens::json::Projection;
///
/// let body = br#"{"id":"7","data":{"resultData":{"runData":{"Read":[{"data":{"main":[[{"json":{"order":4711}}]]}}]}}}}"#;
/// let projection = ItemRowsProjection { masks: false, space: RowSpace::default() };
/// let mut items = projection.read_from(&body[..])?;
/// items.rows.each(|node, item| {
///     assert_eq!((node, item.run, item.output, item.item), ("Read", 0, 0, 0));
///     assert_eq!(item.json.unwrap().get(), r#"{"order":4711}"#);
///     Ok(())
/// }).unwrap();
/// # Ok::<_, n8n_lens::execution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ItemRowsProjection {
    /// Whether the values of known secret members are masked.
    pub masks: bool,
    /// Where the rows are.
    pub space: RowSpace,
}

/// What was read.
#[derive(Debug)]
pub struct ExecutionItems {
    /// The execution's metadata.
    pub header: Header,
    /// The workflow's name at the time of the execution.
    pub workflow_name: Option<String>,
    /// The items.
    pub rows: Rows<ItemRow>,
    /// How many of them have more than 1 MiB: their rows have no `json`.
    pub too_large: u64,
}

/// An item.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemRow {
    /// Which of the node's runs, from 0.
    pub run: u64,
    /// Which of its outputs, counted across all types of connections, from 0.
    pub output: u64,
    /// Which item of this output, from 0.
    pub item: u64,
    /// Its `json`; `None` if it has none, or is larger than 1 MiB.
    pub json: Option<Box<RawValue>>,
    /// What is known of its files, by their names; never their data.
    pub binary: Option<Box<RawValue>>,
    /// The items that it came from, as n8n wrote them.
    pub paired_item: Option<Box<RawValue>>,
}

impl Projection for ItemRowsProjection {
    type View = Result<ExecutionItems, Error>;
    const KEEP: Keep = Keep::Members(&runs::keep::<Reader>(Keep::Members(&[("name", Keep::Whole)])));

    fn window(&self) -> Range<u64> {
        0..u64::MAX
    }

    fn read<R: Read>(&self, cursor: Cursor<R>) -> Self::View {
        let execution = runs::read(cursor, |header| Reader::new(self, header), read_name)?;
        let Reader { rows, too_large, .. } = execution.runs;
        let (header, workflow_name) = (execution.header, execution.workflow);
        Ok(ExecutionItems { header, workflow_name, rows: rows.finish(), too_large })
    }
}

struct Reader {
    masks: bool,
    own_start: Option<i64>,
    rows: RowWriter,
    too_large: u64,
}

impl Reader {
    fn new(projection: &ItemRowsProjection, header: &Header) -> Self {
        let (own_start, rows) = (header.own_start_ms(), RowWriter::new(&projection.space));
        Self { masks: projection.masks, own_start, rows, too_large: 0 }
    }

    /// Reads an item; of several members with the same name, the last one counts.
    fn row(&self, place: ItemPlace, text: &[u8]) -> Result<ItemRow, ReadError> {
        let ItemPlace { run, output, item, .. } = place;
        let mut row = ItemRow { run, output, item, json: None, binary: None, paired_item: None };
        Cursor::unpruned(text).object(|cursor, member| {
            match member {
                "json" if self.masks => {
                    let mut json = cursor.excerpt(COPY_BYTES)?;
                    redact::item(&mut json);
                    row.json = raw_excerpt(&json);
                }
                "json" => row.json = cursor.json(ITEM_BYTES)?.and_then(raw),
                "binary" => row.binary = read_binary(cursor, ITEM_BYTES)?.as_ref().and_then(raw_excerpt),
                "pairedItem" => row.paired_item = cursor.json(ITEM_BYTES)?.and_then(raw),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(row)
    }
}

impl RunObserver for Reader {
    const PARTS: Parts = Parts::START.and(Parts::OUTPUTS);

    fn begin_node(&mut self, _: &str) {
        self.rows.begin_node();
    }

    fn begin_lists(&mut self, _: u64, _: Side) {
        self.rows.begin_run();
    }

    fn item<R: Read>(&mut self, place: ItemPlace, item: Item<'_, R>) -> Result<(), ReadError> {
        let row = match item.text()? {
            ItemText::Json(text) => self.row(place, &text)?,
            // The window holds every item.
            ItemText::Omitted => return Ok(()),
            ItemText::TooLarge => {
                self.too_large += 1;
                self.row(place, b"{}")?
            }
        };
        self.rows.add(&row);
        Ok(())
    }

    fn end_run(&mut self, run: RunHead) -> Result<(), ReadError> {
        self.rows.end_run(!run.is_copied(self.own_start));
        Ok(())
    }

    fn end_node(&mut self, name: String) {
        self.rows.end_node(name);
    }
}

fn raw(json: Vec<u8>) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8(json).ok()?).ok()
}

fn raw_excerpt(excerpt: &Excerpt) -> Option<Box<RawValue>> {
    let mut json = String::new();
    excerpt.write(Detail::WHOLE, &mut json, &mut 0);
    RawValue::from_string(json).ok()
}
