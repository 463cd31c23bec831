//! What can go wrong between n8n-lens and n8n, worded for the reader of a tool's answer. No message
//! contains a key or a URL with secrets.

use std::time::Duration;

use crate::json::{Fault, FaultKind};

/// Why a request to n8n failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the settings nor the request has an API key.
    #[error("There is no API key for n8n: set N8N_API_KEY, or send the header X-N8N-API-KEY with each request.")]
    NoKey,
    /// n8n refused the key (401).
    #[error("n8n refused the API key (401). Check N8N_API_KEY.")]
    Unauthorized,
    /// The key lacks a scope (403).
    #[error("n8n returned 403{}: the API key lacks the scope {scope}. Give it that scope in n8n under Settings > n8n API, or use another key.", said(.message))]
    Forbidden {
        /// The scope that the request needs.
        scope: &'static str,
        /// n8n's message, if any.
        message: String,
    },
    /// There is no such resource (404); the text names it.
    #[error("{0} not found.")]
    NotFound(String),
    /// 400 and other statuses that a retry does not change.
    #[error("n8n returned {status}{}.", said(.message))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// n8n's message, if any.
        message: String,
    },
    /// n8n saves no deprecated node that is new or changed (400, since 2.42.6). Its message names each: type, name, and what
    /// replaces it.
    #[error(
        "n8n returned 400{}. Workflows that have such nodes keep running until n8n 3.0. Replace or remove these nodes, or leave them exactly as they are; N8N_DEPRECATED_NODES_BLOCK=false in n8n allows them, before 3.0.",
        said(.message)
    )]
    DeprecatedNodes {
        /// n8n's message.
        message: String,
    },
    /// The change was saved, but its new version was not activated.
    #[error(
        "n8n saved the change but could not activate it ({message}). Add a trigger to the workflow, and check in n8n whether it is active."
    )]
    NotActivated {
        /// n8n's message, if any.
        message: String,
    },
    /// This n8n publishes whatever it saves of an active workflow.
    #[error("This n8n publishes every change of an active workflow: only 2.35 and newer can save one as a draft.")]
    NoDrafts,
    /// The request's body is too large for n8n (413).
    #[error("The workflow is too large for n8n (413). Make it smaller, or raise N8N_PAYLOAD_SIZE_MAX in n8n.")]
    BodyTooLarge,
    /// 429 or 5xx on every attempt.
    #[error("n8n returned {status}{} {} in {}. Try again later, or check n8n's log.", said(.message), times(*.attempts), seconds(*.after))]
    Unavailable {
        /// The last HTTP status.
        status: u16,
        /// n8n's message, if any.
        message: String,
        /// How many attempts were made.
        attempts: u32,
        /// Time since the first attempt.
        after: Duration,
    },
    /// 500 for an execution that n8n cannot serialise.
    #[error("n8n returned {status} for this execution{}: it cannot send bodies above about 512 million characters. Open the execution in n8n's editor, or make the workflow keep less data.", stored_size(*.stored))]
    TooLarge {
        /// The HTTP status.
        status: u16,
        /// Size in n8n's database, bytes, if known.
        stored: Option<u64>,
    },
    /// A change that n8n did not confirm: it may have been made.
    #[error("n8n did not confirm the change{}: it may have been made. Check the workflow before you try again.", why(*.status, .cause))]
    Unsure {
        /// The HTTP status, if there was one.
        status: Option<u16>,
        /// n8n's message or the network's error.
        cause: String,
    },
    /// A call of a production URL without an answer: the workflow may have run.
    #[error(
        "n8n did not answer the call ({cause}): the workflow may have run. Look for the execution with list_executions before you try again."
    )]
    UnsureRun {
        /// The network's error.
        cause: String,
    },
    /// No connection, on every attempt.
    #[error("n8n at {host} could not be reached ({cause}), {} in {}. Check N8N_URL and whether n8n is running.", times(*.attempts), seconds(*.after))]
    Unreachable {
        /// Scheme, host and port.
        host: String,
        /// The network's error.
        cause: String,
        /// How many attempts were made.
        attempts: u32,
        /// Time since the first attempt.
        after: Duration,
    },
    /// A redirect to another host, which must not receive the key.
    #[error("{host} redirects to {target}, where the API key must not follow. Set N8N_URL to n8n's actual address.")]
    Redirected {
        /// Where the request was sent.
        host: String,
        /// Where n8n redirected it.
        target: String,
    },
    /// A redirect of a change to another path of n8n.
    #[error(
        "{host} redirects changes to {target}; a change is never redirected, since it could be made twice. Set N8N_URL to n8n's actual address."
    )]
    RedirectedChange {
        /// Where the request was sent.
        host: String,
        /// The path to which n8n redirected it.
        target: String,
    },
    /// n8n did not send the first byte in time.
    #[error("n8n sent nothing within {}. n8n needs a long time to build a large execution; allow more with --first-byte-timeout (seconds).", seconds(*.0))]
    FirstByte(Duration),
    /// The body stalled.
    #[error("{}. Try again, or allow more with --idle-timeout (seconds).", self.fact())]
    Idle {
        /// Bytes received before.
        offset: u64,
        /// How long n8n-lens waited.
        after: Duration,
    },
    /// The connection ended before the body did.
    #[error("{}. It is incomplete, so none of it is shown; try again.", self.fact())]
    BrokenOff {
        /// Bytes received before.
        offset: u64,
        /// Bytes announced, if they were.
        total: Option<u64>,
        /// The network's error.
        cause: String,
    },
    /// The response is not JSON, such as HTML from a proxy.
    #[error(
        "n8n responded with {content_type} instead of JSON, at byte 0: {beginning:?}. N8N_URL may point to a proxy, its login page or n8n's editor; set it to the address where /api/v1 responds."
    )]
    NotJson {
        /// The media type.
        content_type: String,
        /// The beginning of the body.
        beginning: String,
    },
    /// The body is about something other than what was requested.
    #[error("{}. None of it is shown; try again, and check for a proxy that mixes up or caches responses.", self.fact())]
    OtherId {
        /// The id in the request.
        requested: String,
        /// The id in the response.
        received: String,
    },
    /// The body is incomplete or invalid JSON.
    #[error("{}. None of it is shown; try again, and check for a proxy that alters responses.", self.fact())]
    Fault(#[from] Fault),
    /// The compressed body is broken.
    #[error("n8n's compressed response cannot be decompressed at byte {offset}: {cause}.")]
    Gzip {
        /// Compressed bytes before the fault.
        offset: u64,
        /// The decoder's error.
        cause: String,
    },
    /// The path of a trigger is not one that a URL can have; the text is the path.
    #[error(
        "The URL path {0:?} of this workflow's trigger leads elsewhere, so it was not called. Remove '.', '..', tabs and line breaks from the trigger's path."
    )]
    UnusablePath(String),
    /// The HTTP client could not be created.
    #[error("The HTTP client could not be created: {0}.")]
    Client(String),
    /// The execution is not in the cache, and n8n is not to be asked; the text is its id.
    #[error(
        "Execution '{0}' is not in the cache, and with --offline n8n is not asked for it. Start n8n-lens without --offline."
    )]
    NotCached(String),
    /// Another process has been changing this workflow for too long.
    #[error("The workflow cannot be changed now: {0}.")]
    Locked(String),
    /// One question about many executions may request no more from n8n.
    #[error("This call may request no more executions of n8n. Continue with another call.")]
    AllowanceUsedUp,
    /// A body that is too large for a question about many executions.
    #[error("The execution is too large to be one of many. Ask about it alone.")]
    BodyLetGo,
    /// The server is shutting down.
    #[error("The request was cancelled because the server is shutting down.")]
    Stopped,
}

impl Error {
    /// A change that n8n did not confirm, without a status.
    pub(super) fn unsure(cause: &str) -> Self {
        Self::Unsure { status: None, cause: cause.to_owned() }
    }

    /// What happened, without what to do next.
    pub(super) fn fact(&self) -> String {
        match self {
            Self::Idle { offset, after } => {
                format!("n8n's response stalled: nothing arrived for {} after byte {offset}", seconds(*after))
            }
            Self::BrokenOff { offset, total, cause } => {
                format!("n8n's response broke off at byte {offset}{} ({cause})", of(*total))
            }
            Self::OtherId { requested, received } => {
                format!("n8n's response is about '{received}', but '{requested}' was requested")
            }
            Self::Fault(fault) => format!("n8n's response is incomplete or not valid JSON: {fault}"),
            other => other.to_string(),
        }
    }

    /// Whether the body broke off midway, so that requesting it again may help.
    pub(super) fn is_broken_off(&self) -> bool {
        matches!(self, Self::BrokenOff { .. } | Self::Fault(Fault { kind: FaultKind::EndedEarly, .. }))
    }
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

fn why(status: Option<u16>, cause: &str) -> String {
    match status {
        Some(status) => format!(" but returned {status}{}", said(cause)),
        None => said(cause),
    }
}

fn times(attempts: u32) -> String {
    if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") }
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
