//! Moves work that waits for the disk, or counts tokens, to a blocking thread.

use tokio::task::{JoinError, JoinHandle};

/// Runs `work` on a blocking thread; a panic in it resumes here.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match joined(tokio::task::spawn_blocking(work)).await {
        Some(done) => done,
        // The runtime is shutting down and never started the work; the caller ends with it.
        None => std::future::pending().await,
    }
}

/// Waits for work on another thread; `None` if it was cancelled. A panic in it resumes here, and the transport
/// turns it into an error.
pub(crate) async fn joined<T>(work: JoinHandle<T>) -> Option<T> {
    match work.await.map_err(JoinError::try_into_panic) {
        Ok(done) => Some(done),
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}
