//! The metadata of an execution.

use std::io::Read;

use jiff::Timestamp;

use crate::json::{Cursor, Keep, Members, Projection, ReadError, members};

/// Ids, dates and enum values of n8n are never longer; anything longer is cut.
const VALUE_CHARS: usize = 60;

/// The metadata of an execution. Dates are ISO 8601 as n8n sent them.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The execution's id, a number in digits.
    pub id: Option<String>,
    /// The id of the executed workflow.
    pub workflow_id: Option<String>,
    /// n8n's status: `success`, `error`, `crashed`, …
    pub status: Option<String>,
    /// How it was started: `webhook`, `manual`, …
    pub mode: Option<String>,
    /// The execution that this one retries.
    pub retry_of: Option<String>,
    /// The execution that retried this one successfully.
    pub retry_success_id: Option<String>,
    /// When it started; absent while it is queued.
    pub started_at: Option<String>,
    /// When it stopped; absent while it is running.
    pub stopped_at: Option<String>,
    /// Until when it waits, if it does.
    pub wait_till: Option<String>,
    /// Size in n8n's database, bytes (n8n 2.27 and newer); 0 if unknown.
    pub json_size_bytes: Option<u64>,
    /// The version of the workflow that was executed (n8n 2.11 and newer).
    pub workflow_version: Option<String>,
    /// Whether n8n left out the data because it is larger than 100 MiB (n8n 2.28 and newer).
    pub data_too_large: bool,
    /// Whether it was running when n8n ended. Only a store knows that; the member is its own, not n8n's.
    pub abandoned: bool,
}

members!(Header, |header, cursor| match name {
    ("id", Keep::Whole) => header.id = cursor.text(VALUE_CHARS)?,
    ("workflowId", Keep::Whole) => header.workflow_id = cursor.text(VALUE_CHARS)?,
    ("status", Keep::Whole) => header.status = cursor.text(VALUE_CHARS)?,
    ("mode", Keep::Whole) => header.mode = cursor.text(VALUE_CHARS)?,
    ("retryOf", Keep::Whole) => header.retry_of = cursor.text(VALUE_CHARS)?,
    ("retrySuccessId", Keep::Whole) => header.retry_success_id = cursor.text(VALUE_CHARS)?,
    ("startedAt", Keep::Whole) => header.started_at = cursor.text(VALUE_CHARS)?,
    ("stoppedAt", Keep::Whole) => header.stopped_at = cursor.text(VALUE_CHARS)?,
    ("waitTill", Keep::Whole) => header.wait_till = cursor.text(VALUE_CHARS)?,
    ("jsonSizeBytes", Keep::Whole) => header.json_size_bytes = cursor.number()?,
    ("workflowVersionId", Keep::Whole) => header.workflow_version = cursor.text(VALUE_CHARS)?,
    ("dataTooLargeToDisplay", Keep::Whole) => header.data_too_large = cursor.is_true()?,
    ("abandoned", Keep::Whole) => header.abandoned = cursor.is_true()?,
});

impl Header {
    /// When a retry began, milliseconds since 1970; `None` if this is not a retry. What ran before was copied: a retry
    /// begins with the runs of the execution that it retries, except for those of the node that failed
    /// (`packages/cli/src/executions/execution.service.ts`, `retry`).
    pub fn own_start_ms(&self) -> Option<i64> {
        self.retry_of.as_ref()?;
        let start: Timestamp = self.started_at.as_deref()?.parse().ok()?;
        Some(start.as_millisecond())
    }

    /// Whether it waits for a call, however long: n8n then writes the year 3000
    /// (`WAIT_INDEFINITELY` in `packages/workflow/src/constants.ts`).
    pub fn waits_for_call(&self) -> bool {
        self.wait_till.as_deref().is_some_and(|till| till.starts_with("3000-01-01"))
    }

    /// Time from start to stop, ms; `None` while the execution is running.
    pub fn duration(&self) -> Option<i64> {
        duration(self.started_at.as_deref()?, self.stopped_at.as_deref()?)
    }
}

/// Reads only the metadata of an execution.
#[derive(Clone, Copy, Debug)]
pub struct HeaderProjection;

impl Projection for HeaderProjection {
    type View = Result<Header, ReadError>;
    const KEEP: Keep = Header::KEEP;

    fn read<R: Read>(&self, mut cursor: Cursor<R>) -> Self::View {
        let header = Header::read_object(&mut cursor)?.unwrap_or_default();
        cursor.finish()?;
        Ok(header)
    }
}

/// Time from one ISO 8601 date to another, ms; `None` if either is not a date.
pub fn duration(from: &str, to: &str) -> Option<i64> {
    let (from, to): (Timestamp, Timestamp) = (from.parse().ok()?, to.parse().ok()?);
    Some(to.as_millisecond() - from.as_millisecond())
}
