//! What went wrong between us and n8n, in words for the reader of a tool's answer. No text holds a key
//! or a URL.

use std::time::Duration;

use crate::json::{Fault, FaultKind};

/// Why n8n gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody gave a key.
    #[error("There is no API key for n8n: set N8N_API_KEY, or send the header X-N8N-API-KEY with each request.")]
    NoKey,
    /// 401.
    #[error("n8n refused the API key (401). Check N8N_API_KEY.")]
    Unauthorized,
    /// 403.
    #[error("The API key lacks the scope {scope} (403){}. Give it that scope in n8n under Settings > n8n API, or use another key.", said(.message))]
    Forbidden {
        /// The scope that the request needs.
        scope: &'static str,
        /// What n8n said.
        message: String,
    },
    /// 404.
    #[error("{0} not found.")]
    NotFound(String),
    /// 400 and other answers that trying again does not change.
    #[error("n8n answered {status}{}.", said(.message))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What n8n said.
        message: String,
    },
    /// A change that was saved, and not activated.
    #[error(
        "n8n saved the change, but could not activate it ({message}). Give the workflow a trigger, and look in n8n whether it is active."
    )]
    NotActivated {
        /// What n8n said.
        message: String,
    },
    /// 413.
    #[error("n8n takes no body of this size (413). Let the workflow keep less, or raise N8N_PAYLOAD_SIZE_MAX of n8n.")]
    TooMuch,
    /// 429 or 5xx, every time.
    #[error("n8n answered {status}{} {} in {}. Try again later, or look at n8n's log.", said(.message), times(*.tries), seconds(*.after))]
    Failing {
        /// The last HTTP status.
        status: u16,
        /// What n8n said.
        message: String,
        /// How often it was asked.
        tries: u32,
        /// Since the first try.
        after: Duration,
    },
    /// 500 for an execution that n8n cannot serialise.
    #[error("n8n answered {status} for this execution{}: it cannot send bodies above about 512 million characters. Look at it in n8n's editor, or let the workflow keep less data.", stored_size(*.stored))]
    TooLarge {
        /// The HTTP status.
        status: u16,
        /// Bytes in n8n's database, where known.
        stored: Option<u64>,
    },
    /// A change whose answer did not come: it may have been made.
    #[error("n8n did not confirm the change{}: it may have been made. Look at the workflow before you try again.", why(*.status, .cause))]
    Unsure {
        /// The HTTP status, if there was one.
        status: Option<u16>,
        /// What n8n or the network said.
        cause: String,
    },
    /// No connection, every time.
    #[error("n8n at {host} could not be reached ({cause}), {} in {}. Check N8N_URL and whether n8n is running.", times(*.tries), seconds(*.after))]
    Unreachable {
        /// Scheme, host and port.
        host: String,
        /// What the network said.
        cause: String,
        /// How often it was tried.
        tries: u32,
        /// Since the first try.
        after: Duration,
    },
    /// A redirect to another host, which must not get the key.
    #[error(
        "{host} redirects to {target}, and the API key must not follow. Set N8N_URL to the address that n8n really has."
    )]
    Redirected {
        /// Where we asked.
        host: String,
        /// Where we were sent.
        target: String,
    },
    /// n8n is still building the body.
    #[error("n8n sent nothing within {}. A large execution takes n8n a long time to build; allow more with --first-byte-timeout (seconds).", seconds(*.0))]
    FirstByte(Duration),
    /// The body stopped coming.
    #[error("n8n's answer stalled: after byte {offset} nothing came for {}. Try again, or allow more with --idle-timeout (seconds).", seconds(*.after))]
    Idle {
        /// Bytes before it.
        offset: u64,
        /// How long we waited.
        after: Duration,
    },
    /// The connection ended before the body did.
    #[error("n8n's answer broke off at byte {offset}{} ({cause}). Nothing of it is shown, since it is not whole; try again.", of(*.total))]
    BrokenOff {
        /// Bytes before it.
        offset: u64,
        /// Bytes announced.
        total: Option<u64>,
        /// What the network said.
        cause: String,
    },
    /// HTML from a proxy, or something else.
    #[error(
        "n8n responded with {content_type} instead of JSON: {beginning:?}. N8N_URL may point to a proxy or to n8n's editor; set it to the address where /api/v1 responds."
    )]
    NotJson {
        /// The media type.
        content_type: String,
        /// The first characters.
        beginning: String,
    },
    /// Not the JSON that it should be.
    #[error(
        "n8n's answer is not whole or not valid JSON: {0}. Nothing of it is shown; try again, and look for a proxy that changes answers."
    )]
    Fault(#[from] Fault),
    /// Compressed data that cannot be expanded.
    #[error("n8n's compressed answer cannot be expanded at byte {offset}: {cause}.")]
    Gzip {
        /// Compressed bytes before it.
        offset: u64,
        /// What is wrong.
        cause: String,
    },
    /// The HTTP client could not be made.
    #[error("The HTTP client could not be started: {0}.")]
    Client(String),
    /// The server is shutting down.
    #[error("The request was stopped.")]
    Stopped,
}

impl Error {
    /// A change whose answer did not come.
    pub(super) fn unsure(cause: &str) -> Self {
        Self::Unsure { status: None, cause: cause.to_owned() }
    }

    /// Whether the body broke off midway, so that asking once more may help.
    pub(super) fn is_broken_off(&self) -> bool {
        matches!(self, Self::BrokenOff { .. } | Self::Fault(Fault { kind: FaultKind::EndedEarly, .. }))
    }
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

fn why(status: Option<u16>, cause: &str) -> String {
    match status {
        Some(status) => format!(" but answered {status}{}", said(cause)),
        None => said(cause),
    }
}

fn times(tries: u32) -> String {
    if tries == 1 { "once".to_owned() } else { format!("{tries} times") }
}

fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

fn of(total: Option<u64>) -> String {
    total.map(|total| format!(" of {total}")).unwrap_or_default()
}

fn stored_size(bytes: Option<u64>) -> String {
    bytes.map(|bytes| format!(" (stored size {})", crate::units::megabytes(bytes))).unwrap_or_default()
}
