//! Decides from an execution's metadata whether it may be kept, and whether it has changed since.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cache::Inspector;
use crate::json::{Cursor, Keep, Pruner, first_member};

/// The metadata of an execution that changes with it.
const MEMBERS: [&str; 10] = [
    "status",
    "mode",
    "finished",
    "startedAt",
    "stoppedAt",
    "retryOf",
    "retrySuccessId",
    "workflowId",
    "waitTill",
    "jsonSizeBytes",
];

/// What is kept of a body.
const KEEP: Keep = Keep::Members(&TABLE);

const TABLE: [(&str, Keep); MEMBERS.len() + 2] = Keep::extended(
    &Keep::Whole.of_each(MEMBERS),
    [("dataTooLargeToDisplay", Keep::Whole), ("data", Keep::Members(&[("redactionInfo", Keep::Whole)]))],
);

/// The statuses of executions that n8n does not change any more.
const FINAL: [&str; 4] = ["success", "error", "crashed", "canceled"];

/// The longest status, characters.
const STATUS_CHARS: usize = 20;

/// Far above n8n's metadata (less than 1 KB): a body with more is not kept.
const MAX_BYTES: usize = 16 * 1024;

/// The [`MEMBERS`] of an execution. One that is missing is the same as `null`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Stamp(Map<String, Value>);

impl Stamp {
    /// The stamp of an execution that n8n does not change any more, from its metadata; `None` for all others.
    pub(super) fn of(metadata: &[u8]) -> Option<Self> {
        let mut members: Map<String, Value> = serde_json::from_slice(metadata).ok()?;
        let stamp = MEMBERS.map(|name| (name.to_owned(), members.remove(name).unwrap_or_default()));
        let stamp = Self(stamp.into_iter().collect());
        stamp.0["status"].as_str().is_some_and(is_final).then_some(stamp)
    }

    /// The stamp as the cache notes it.
    pub(super) fn note(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}

/// Whether n8n does not change an execution with this status any more.
pub fn is_final(status: &str) -> bool {
    FINAL.contains(&status)
}

/// Reads the stamp out of a body.
pub(super) struct StampReader {
    pruner: Pruner,
    text: Vec<u8>,
    /// Whether the status has arrived.
    knows_status: bool,
}

impl StampReader {
    pub(super) fn new() -> Self {
        // The body's reader checks that it is UTF-8; if not, the copy is not kept.
        Self { pruner: Pruner::new(KEEP, 0..0).trusting_utf8(), text: Vec::new(), knows_status: false }
    }

    /// Whether the status has not arrived, or is final.
    fn may_be_final(&mut self) -> bool {
        match status_in(&self.text) {
            _ if self.knows_status => true,
            None => true,
            Some(status) => {
                self.knows_status = true;
                is_final(&status)
            }
        }
    }
}

impl Inspector for StampReader {
    fn feed(&mut self, bytes: &[u8]) -> bool {
        // The reader of a broken body reports what is wrong with it.
        let Ok(batch) = self.pruner.feed(bytes) else { return false };
        self.text.extend(batch.text);
        self.text.len() <= MAX_BYTES && self.may_be_final()
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        self.text.extend(self.pruner.finish().ok()?.text);
        let body: Value = serde_json::from_slice(&self.text).ok()?;
        let is_shortened = body["dataTooLargeToDisplay"] == true;
        // What n8n hides depends on the user and on the time.
        let is_redacted = !body["data"]["redactionInfo"].is_null();
        match body["data"].is_object() && !is_shortened && !is_redacted {
            true => Stamp::of(&self.text)?.note(),
            false => None,
        }
    }
}

/// The status, once it has arrived whole.
fn status_in(text: &[u8]) -> Option<String> {
    first_member(Cursor::pruned(text), "status", |cursor| cursor.text(STATUS_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(body: &str) -> Option<Vec<u8>> {
        let mut reader = StampReader::new();
        body.as_bytes().chunks(7).all(|piece| reader.feed(piece)).then(|| reader.finish()).flatten()
    }

    #[test]
    fn the_note_of_a_body_is_that_of_its_metadata() {
        let metadata = r#""id":"5","status":"success","stoppedAt":"2026-11-21T02:04:24.080Z","retryOf":null"#;
        let body = format!(r#"{{{metadata},"data":{{"resultData":{{"status":"running"}}}},"workflowData":{{}}}}"#);
        let stamp = Stamp::of(format!("{{{metadata}}}").as_bytes()).and_then(|stamp| stamp.note());
        assert!(stamp.is_some());
        assert_eq!(note(&body), stamp);
        let retried = metadata.replace(r#""retryOf":null"#, r#""retryOf":null,"retrySuccessId":"6""#);
        assert_ne!(Stamp::of(format!("{{{retried}}}").as_bytes()).and_then(|stamp| stamp.note()), stamp);
    }

    #[test]
    fn what_is_not_final_or_not_whole_has_no_note() {
        for status in ["running", "waiting", "new", "unknown"] {
            assert_eq!(note(&format!(r#"{{"status":"{status}","data":{{}}}}"#)), None, "{status}");
        }
        for status in FINAL {
            assert!(note(&format!(r#"{{"data":{{}},"status":"{status}"}}"#)).is_some(), "{status}");
        }
        for rest in [
            r#""data":{},"dataTooLargeToDisplay":true"#,
            r#""data":{"redactionInfo":{"isRedacted":true}}"#,
            r#""data":null"#,
            r#""workflowData":{}"#,
        ] {
            assert_eq!(note(&format!(r#"{{"status":"success",{rest}}}"#)), None, "{rest}");
        }
    }
}
