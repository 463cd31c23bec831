//! Progress notifications: strictly increasing, with a message, frequent enough that no client gives up, and rare
//! enough to cost no time.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::n8n::Stage;
use crate::units::megabytes;

/// The longest silence: many clients give up after a minute without a notification.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// The shortest interval: at most four notifications a second.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// Sends notifications; never returns, and ends when it is dropped.
pub(super) async fn report(peer: Peer<RoleServer>, token: ProgressToken, mut stages: watch::Receiver<Stage>) {
    let mut last = LastProgress::default();
    let mut due = Instant::now() + MAX_SILENCE;
    loop {
        let mut is_due = false;
        let stage = tokio::select! {
            () = sleep_until(due) => {
                is_due = true;
                *stages.borrow_and_update()
            }
            changed = stages.changed() => {
                if changed.is_err() {
                    // The call is about to return its answer.
                    std::future::pending::<()>().await;
                }
                *stages.borrow_and_update()
            }
        };
        // Waiting for n8n is only worth a notification if it takes long.
        if !is_due && matches!(stage, Stage::Waiting { .. }) {
            continue;
        }
        if let Some(notification) = last.next(stage, &token) {
            let _ = peer.notify_progress(notification).await;
        }
        due = Instant::now() + MAX_SILENCE;
        tokio::time::sleep(MIN_INTERVAL).await;
    }
}

/// The value of the last notification: the next one must be larger.
#[derive(Default)]
struct LastProgress {
    progress: f64,
    /// The bytes of the body that is being read.
    bytes: u64,
    /// The progress when that body began: a call may read several bodies, or one again.
    before: f64,
}

impl LastProgress {
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
                if bytes < self.bytes {
                    self.before = self.progress;
                }
                self.bytes = bytes;
                (self.before + bytes as f64, total.map(|total| self.before + total as f64), message)
            }
            Stage::Step(step) => (self.progress + 1.0, None, step.to_owned()),
        };
        if progress <= self.progress {
            return None;
        }
        self.progress = progress;
        let notification = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        Some(match total {
            Some(total) => notification.with_total(total),
            None => notification,
        })
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{NumberOrString, ProgressToken};

    use super::LastProgress;
    use crate::n8n::Stage;

    #[test]
    fn progress_grows_when_a_second_body_is_read() {
        let (mut last, token) = (LastProgress::default(), ProgressToken(NumberOrString::Number(1)));
        let mut next = |bytes, total| {
            let sent = last.next(Stage::Reading { bytes, total }, &token)?;
            Some((sent.progress as u64, sent.total.map(|total| total as u64)))
        };
        assert_eq!(next(100, Some(300)), Some((100, Some(300))));
        assert_eq!(next(300, Some(300)), Some((300, Some(300))));
        assert_eq!(next(300, Some(300)), None);
        assert_eq!(next(50, Some(200)), Some((350, Some(500))));
        assert_eq!(next(200, Some(200)), Some((500, Some(500))));
        assert_eq!(next(10, None), Some((510, None)));
    }
}
