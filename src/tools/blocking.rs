//! Work that waits for the disk, or counts tokens: on a thread that may.

/// Runs `work` on a blocking thread; a panic in it goes on here.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
