//! What an execution says about itself, beside its data.

use std::io::Read;

use jiff::Timestamp;

use crate::json::{Cursor, ReadError};

/// Identifiers, dates and n8n's words are never longer; what is longer is cut.
const WORD_CHARS: usize = 60;

/// The metadata of an execution. Dates are ISO 8601 as n8n sent them.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The execution's id, a number in digits.
    pub id: Option<String>,
    /// The id of the executed workflow.
    pub workflow_id: Option<String>,
    /// n8n's own word: `success`, `error`, `crashed`, …
    pub status: Option<String>,
    /// How it was started: `webhook`, `manual`, …
    pub mode: Option<String>,
    /// When it started; absent while it is queued.
    pub started_at: Option<String>,
    /// When it stopped; absent while it is running.
    pub stopped_at: Option<String>,
    /// The size in n8n's database, from n8n 2.27 on. 0 is unknown.
    pub json_size_bytes: Option<u64>,
    /// n8n 2.28 and newer leave the data out above 100 MiB and say so here.
    pub data_too_large: bool,
}

impl Header {
    /// Reads the member `name` of an execution, if it is one of these; gives whether it was.
    pub(super) fn read<R: Read>(&mut self, cursor: &mut Cursor<R>, name: &str) -> Result<bool, ReadError> {
        match name {
            "id" => self.id = cursor.text(WORD_CHARS)?,
            "workflowId" => self.workflow_id = cursor.text(WORD_CHARS)?,
            "status" => self.status = cursor.text(WORD_CHARS)?,
            "mode" => self.mode = cursor.text(WORD_CHARS)?,
            "startedAt" => self.started_at = cursor.text(WORD_CHARS)?,
            "stoppedAt" => self.stopped_at = cursor.text(WORD_CHARS)?,
            "jsonSizeBytes" => self.json_size_bytes = cursor.number()?,
            "dataTooLargeToDisplay" => self.data_too_large = cursor.is_true()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// From start to stop, ms; `None` while it is running.
    pub fn duration(&self) -> Option<i64> {
        duration(self.started_at.as_deref()?, self.stopped_at.as_deref()?)
    }
}

/// From one ISO 8601 date to another, ms.
pub fn duration(from: &str, to: &str) -> Option<i64> {
    let (from, to): (Timestamp, Timestamp) = (from.parse().ok()?, to.parse().ok()?);
    Some(to.as_millisecond() - from.as_millisecond())
}
