//! A bar with bytes, for downloads that take long enough to be noticed.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;

use crate::n8n::{Progress, Stage};
use crate::units::megabytes;

/// Shorter waits show nothing.
const NOTICED: Duration = Duration::from_millis(500);

/// A bar around a call; nothing where nobody looks.
pub(super) struct Bar(Option<watch::Receiver<Stage>>);

/// Progress and its bar.
pub(super) fn bar() -> (Progress, Bar) {
    if !std::io::stderr().is_terminal() {
        return (Progress::default(), Bar(None));
    }
    let (progress, stages) = Progress::watched();
    (progress, Bar(Some(stages)))
}

impl Bar {
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
    tokio::time::sleep(NOTICED).await;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let _cleared = Cleared(bar.clone());
    bar.enable_steady_tick(Duration::from_millis(100));
    loop {
        show(&bar, *stages.borrow_and_update());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The bar goes when its call is done.
struct Cleared(ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn show(bar: &ProgressBar, stage: Stage) {
    match stage {
        Stage::Started => bar.set_message("asking n8n"),
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
