//! Runs calls in the same way for every protocol: a panic or a shutdown ends a call with an error, and affects nothing else.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

/// Why a call has no result.
pub(super) enum Interrupted {
    /// It panicked. The panic was printed to standard error.
    Bug,
    /// The server is shutting down.
    Shutdown,
}

/// Runs a call until it ends, panics or is shut down.
///
/// # Errors
/// The reason for the interruption.
pub(super) async fn guarded<T>(
    call: impl Future<Output = T>,
    shutdown: impl Future<Output = ()>,
) -> Result<T, Interrupted> {
    tokio::select! {
        biased;
        result = AssertUnwindSafe(call).catch_unwind() => result.map_err(|_| Interrupted::Bug),
        () = shutdown => Err(Interrupted::Shutdown),
    }
}

/// The message about a call that panicked.
pub(super) fn bug(call: &str) -> String {
    format!("{call} failed because of a bug in n8n-lens.")
}

/// The same for MCP clients, whose users can see the log of the server that they configured.
pub(super) fn bug_to_report(call: &str) -> String {
    format!("{} Please report it with the log from standard error.", bug(call))
}
