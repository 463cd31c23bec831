//! Takes up changes of the configuration file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::{Config, Gateway};

/// How often the file is looked at. It is read, not only dated: editors, links and network drives differ in
/// what a change does to a date.
const LOOK: Duration = Duration::from_millis(500);

/// Looks at the file for ever. A change counts when two looks find the same text, so that a file that is
/// being written changes nothing; one that cannot be used changes nothing either, and is told of once.
pub async fn watch(gateway: Arc<Gateway>, file: PathBuf, taken: Vec<u8>) {
    let (mut taken, mut seen) = (taken.clone(), taken);
    let mut readable = true;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let path = file.clone();
        let Ok(Ok(text)) = tokio::task::spawn_blocking(move || std::fs::read(path)).await else {
            if std::mem::replace(&mut readable, false) {
                tracing::error!(file = %file.display(), "The configuration cannot be read; the old one stays in use.");
            }
            continue;
        };
        readable = true;
        let settled = text == seen;
        if settled && text != taken {
            take(&gateway, &file, &text);
            taken.clone_from(&text);
        }
        seen = text;
    }
}

fn take(gateway: &Gateway, file: &Path, text: &[u8]) {
    match Config::from_bytes(text) {
        Ok(config) => {
            gateway.apply(&config);
            tracing::info!(file = %file.display(), "The changed configuration is in use; another host or port needs a restart.");
        }
        Err(error) => tracing::error!("The old configuration stays in use. {error}"),
    }
}
