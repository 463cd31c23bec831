//! The progress of a download that takes long enough to notice.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tokio::sync::watch;

use crate::n8n::{Progress, Stage};
use crate::units::megabytes;

/// Shorter downloads show no progress.
const DELAY: Duration = Duration::from_millis(500);

/// How often the progress is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The progress of a call; nothing is shown if standard error is not a terminal.
#[derive(Default)]
pub(super) struct Bar(Option<watch::Receiver<Stage>>);

/// Creates the progress of a call, and the bar that shows it.
pub(super) fn bar() -> (Progress, Bar) {
    if !std::io::stderr().is_terminal() {
        return Default::default();
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
    let mut shown = ProgressLine {
        bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(DELAY),
        look: None,
    };
    // Drawn by another thread from here on, so the line must have its style by then.
    shown.update(*stages.borrow_and_update());
    shown.bar.enable_steady_tick(TICK);
    loop {
        shown.update(*stages.borrow_and_update());
        tokio::time::sleep(TICK).await;
    }
}

/// The parts of the line on the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Before the first byte: a spinner, a message, and the elapsed time.
    Waiting,
    /// Bytes of a known total: a bar, the rate, and an estimate.
    Bar,
    /// Bytes of an unknown total.
    Count,
}

impl Look {
    fn of(stage: Stage) -> Self {
        match stage {
            Stage::Started | Stage::Queued | Stage::Waiting { .. } | Stage::Step(_) => Self::Waiting,
            Stage::Reading { total: Some(_), .. } => Self::Bar,
            Stage::Reading { total: None, .. } => Self::Count,
        }
    }

    /// The style; indicatif's own if the template is not valid.
    fn style(self) -> ProgressStyle {
        let template = match self {
            Self::Waiting => "{spinner} {msg} · {seconds}",
            Self::Bar => "{wide_bar} {decimal_bytes}/{decimal_total_bytes} · {decimal_bytes_per_sec} · {eta} left",
            Self::Count => "{spinner} {decimal_bytes} · {decimal_bytes_per_sec} · {seconds}",
        };
        let seconds = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{} s", state.elapsed().as_secs());
        };
        ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_spinner())
            .with_key("seconds", seconds)
    }
}

/// The line on the terminal. Dropping it, when its call is done, removes the line.
struct ProgressLine {
    bar: ProgressBar,
    look: Option<Look>,
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl ProgressLine {
    fn update(&mut self, stage: Stage) {
        let look = Look::of(stage);
        let is_new = self.look.replace(look) != Some(look);
        if is_new {
            self.bar.set_style(look.style());
        }
        if let Stage::Reading { bytes, total } = stage {
            match total {
                Some(total) => self.bar.set_length(total),
                None => self.bar.unset_length(),
            }
            self.bar.set_position(bytes);
            if is_new {
                // The rate is measured from the first byte.
                self.bar.reset_eta();
            }
        }
        if let Some(message) = message(stage) {
            self.bar.set_message(message);
        }
    }
}

/// What the call is waiting for.
fn message(stage: Stage) -> Option<String> {
    Some(match stage {
        Stage::Started => "connecting to n8n".to_owned(),
        Stage::Queued => "waiting for other downloads".to_owned(),
        Stage::Waiting { stored: Some(stored) } => format!("waiting for n8n, {} stored", megabytes(stored)),
        Stage::Waiting { stored: None } => "waiting for n8n".to_owned(),
        Stage::Step(step) => step.to_owned(),
        Stage::Reading { .. } => return None,
    })
}
