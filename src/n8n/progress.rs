//! The progress of a request.

use tokio::sync::watch;

/// The stage of a request to n8n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No request was sent yet.
    #[default]
    Started,
    /// Waiting for a download permit, because other bodies are being read.
    Queued,
    /// n8n is building the body. It sends nothing before the whole body is built.
    Waiting {
        /// Size of the execution in n8n's database, bytes, if known.
        stored: Option<u64>,
    },
    /// The body is arriving.
    Reading {
        /// Bytes received so far.
        bytes: u64,
        /// Bytes in total, if n8n announced them.
        total: Option<u64>,
    },
    /// A step of a call that consists of many requests, such as `running`.
    Step(&'static str),
}

/// Reports the [`Stage`] of a request to a watcher, if there is one. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<watch::Sender<Stage>>);

impl Progress {
    /// Progress with a watcher.
    pub fn watched() -> (Self, watch::Receiver<Stage>) {
        let (sender, receiver) = watch::channel(Stage::default());
        (Self(Some(sender)), receiver)
    }

    /// Progress that may be [followed](Self::following) later.
    pub(crate) fn unwatched() -> Self {
        Self::watched().0
    }

    /// Waits for `work`, whose progress is `common`, and reports it to this watcher.
    pub(crate) async fn following<T>(&self, common: &Self, work: impl Future<Output = T>) -> T {
        let watched = common.0.as_ref().filter(|_| self.is_watched()).map(watch::Sender::subscribe);
        let Some(mut stages) = watched else { return work.await };
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Ok(()) = stages.changed() => self.set(*stages.borrow_and_update()),
            }
        }
    }

    /// Whether there is a watcher.
    pub(super) fn is_watched(&self) -> bool {
        self.0.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    pub(crate) fn set(&self, stage: Stage) {
        if let Some(sender) = &self.0 {
            sender.send_replace(stage);
        }
    }
}
