//! How far a request is.

use tokio::sync::watch;

/// Where a request to n8n stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was asked yet.
    #[default]
    Begun,
    /// Other bodies are being read; this one waits for its turn.
    Queued,
    /// n8n is building the body. It sends nothing until it has built all of it.
    Waiting {
        /// Bytes that the execution has in n8n's database, where known.
        stored: Option<u64>,
    },
    /// The body is coming.
    Reading {
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all, where n8n said so.
        total: Option<u64>,
    },
}

/// Tells whoever wants to know. Cheap to clone; most requests are watched by nobody.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<watch::Sender<Stage>>);

impl Progress {
    /// Progress that is watched.
    pub fn watched() -> (Self, watch::Receiver<Stage>) {
        let (sender, receiver) = watch::channel(Stage::default());
        (Self(Some(sender)), receiver)
    }

    /// Whether anybody wants to know.
    pub(super) fn is_watched(&self) -> bool {
        self.0.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    pub(super) fn set(&self, stage: Stage) {
        if let Some(sender) = &self.0 {
            sender.send_replace(stage);
        }
    }
}
