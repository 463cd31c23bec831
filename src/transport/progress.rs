//! Progress notifications: strictly increasing, with a message, often enough that no client gives up
//! and never so often that they cost time.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::n8n::Stage;
use crate::units::megabytes;

/// While nothing moves: many clients give up after a minute without a sign.
const PATIENCE: Duration = Duration::from_secs(5);

/// While bytes come: at most four a second.
const PACE: Duration = Duration::from_millis(250);

/// Reports until the call is dropped or its progress ends; never finishes before.
pub(super) async fn report(peer: Peer<RoleServer>, token: ProgressToken, mut stages: watch::Receiver<Stage>) {
    let mut sent = Sent::default();
    let mut due = Instant::now() + PATIENCE;
    loop {
        let mut patient = true;
        let stage = tokio::select! {
            () = sleep_until(due) => {
                patient = false;
                *stages.borrow_and_update()
            }
            changed = stages.changed() => {
                if changed.is_err() {
                    // The call is about to answer.
                    std::future::pending::<()>().await;
                }
                *stages.borrow_and_update()
            }
        };
        // That n8n builds a body is only worth a word when it takes long.
        if patient && matches!(stage, Stage::Waiting { .. }) {
            continue;
        }
        if let Some(note) = sent.next(stage, &token) {
            let _ = peer.notify_progress(note).await;
        }
        due = Instant::now() + PATIENCE;
        tokio::time::sleep(PACE).await;
    }
}

/// The last value, since the next one must be larger.
#[derive(Default)]
struct Sent {
    progress: f64,
}

impl Sent {
    fn next(&mut self, stage: Stage, token: &ProgressToken) -> Option<ProgressNotificationParam> {
        let (progress, total, message) = match stage {
            Stage::Started => return None,
            Stage::Queued => (self.progress + 1.0, None, "waiting for other downloads".to_owned()),
            Stage::Waiting { stored: Some(stored) } => {
                (self.progress + 1.0, None, format!("waiting for n8n, {} stored", megabytes(stored)))
            }
            Stage::Waiting { stored: None } => (self.progress + 1.0, None, "waiting for n8n".to_owned()),
            Stage::Reading { bytes, total } => {
                let message = format!("reading, {}", megabytes(bytes));
                (bytes as f64, total.map(|total| total as f64), message)
            }
        };
        if progress <= self.progress {
            return None;
        }
        self.progress = progress;
        let note = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        Some(match total {
            Some(total) => note.with_total(total),
            None => note,
        })
    }
}
