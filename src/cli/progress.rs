//! A progress bar, for downloads long enough to notice.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;

use crate::n8n::{Progress, Stage};
use crate::units::megabytes;

/// Shorter downloads show no bar.
const DELAY: Duration = Duration::from_millis(500);

/// A progress bar; none if standard error is not a terminal.
pub(super) struct Bar(Option<watch::Receiver<Stage>>);

/// Creates the progress of a call, and the bar that shows it.
pub(super) fn bar() -> (Progress, Bar) {
    if !std::io::stderr().is_terminal() {
        return (Progress::default(), Bar(None));
    }
    let (progress, stages) = Progress::watched();
    (progress, Bar(Some(stages)))
}

impl Bar {
    /// Shows the bar until `call` is done.
    pub(super) async fn around<T>(self, call: impl Future<Output = T>) -> T {
        let Some(stages) = self.0 else {
            return call.await;
        };
        tokio::select! {
            done = call => done,
            never = draw(stages) => match never {},
        }
    }
}

async fn draw(mut stages: watch::Receiver<Stage>) -> std::convert::Infallible {
    tokio::time::sleep(DELAY).await;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let _clear = ClearOnDrop(bar.clone());
    bar.enable_steady_tick(Duration::from_millis(100));
    loop {
        show(&bar, *stages.borrow_and_update());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Removes the bar when its call is done.
struct ClearOnDrop(ProgressBar);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn show(bar: &ProgressBar, stage: Stage) {
    match stage {
        Stage::Started => bar.set_message("connecting to n8n"),
        Stage::Queued => bar.set_message("waiting for other downloads"),
        Stage::Waiting { stored: Some(stored) } => {
            bar.set_message(format!("waiting for n8n, {} stored", megabytes(stored)))
        }
        Stage::Waiting { stored: None } => bar.set_message("waiting for n8n"),
        Stage::Reading { bytes, total } => {
            let template = match total {
                Some(_) => "{bar:40} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
                None => "{spinner} {decimal_bytes} {decimal_bytes_per_sec}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(bytes);
        }
    }
}
