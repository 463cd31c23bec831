//! What has to be undone, however a call ends: it returns, it is cancelled, or the process has to end.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a process that ends waits for what is to be undone.
const TIMEOUT: Duration = Duration::from_secs(15);

static TASKS: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);
static ENDING: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);

/// Work that begins when this is dropped.
#[derive(Debug)]
pub(crate) struct Undo {
    /// Dropping it begins the work.
    _held: oneshot::Sender<()>,
    done: JoinHandle<()>,
}

impl Undo {
    /// Does `work` when this is dropped, or when the process ends.
    pub(crate) fn later(work: impl Future<Output = ()> + Send + 'static) -> Self {
        let (held, let_go) = oneshot::channel();
        let done = TASKS.spawn(async move {
            tokio::select! {
                _ = let_go => {}
                () = ENDING.cancelled() => {}
            }
            work.await;
        });
        Self { _held: held, done }
    }

    /// Does the work now, and waits for its end.
    pub(crate) async fn now(self) {
        let Self { _held: held, done } = self;
        drop(held);
        // It cannot be cancelled, and a panic is reported where it happens.
        drop(done.await);
    }
}

/// Does `work` to its end, also if the caller is gone by then; `None` if it panicked.
pub(crate) async fn whole<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    TASKS.spawn(work).await.ok()
}

/// Begins whatever is still to be undone, and waits for it, for 15 s at most.
pub(crate) async fn finish() {
    ENDING.cancel();
    TASKS.close();
    if tokio::time::timeout(TIMEOUT, TASKS.wait()).await.is_err() {
        tracing::warn!("something in n8n was not undone in time; the next proof removes what is left");
    }
}
