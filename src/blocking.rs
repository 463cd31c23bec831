//! Work that waits for the disk, or counts tokens: on a thread that may.

use tokio::task::{JoinError, JoinHandle};

/// Runs `work` on a blocking thread; a panic in it goes on here.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match joined(tokio::task::spawn_blocking(work)).await {
        Some(done) => done,
        // It was not begun, since the process ends; so does whoever waits here.
        None => std::future::pending().await,
    }
}

/// Waits for work on another thread; `None` if it was stopped. A panic goes on here: the door turns it into an
/// answer.
pub(crate) async fn joined<T>(work: JoinHandle<T>) -> Option<T> {
    match work.await.map_err(JoinError::try_into_panic) {
        Ok(done) => Some(done),
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}
