//! Work that waits for the disk, or counts tokens: on a thread that may.

/// Runs `work` on a blocking thread; a panic in it goes on here.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // It was not begun, since the process ends; so does whoever waits here.
        Err(Err(_)) => std::future::pending().await,
    }
}
