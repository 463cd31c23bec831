//! Applies changes of the configuration file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::{Config, Gateway};

/// How often the file is read. Its modification time is not enough: editors, links and network drives update it in
/// different ways.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Polls the file forever, starting from the text that is in use. A change is applied once two polls in a row read the
/// same text, so a half-written file is never applied. An unusable file changes nothing, and is logged once.
pub async fn watch(gateway: Arc<Gateway>, file: PathBuf, text_in_use: Vec<u8>) {
    let (mut in_use, mut last_read) = (text_in_use.clone(), text_in_use);
    let mut readable = true;
    let mut polls = interval(POLL_INTERVAL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        polls.tick().await;
        let path = file.clone();
        let Ok(Ok(text)) = tokio::task::spawn_blocking(move || std::fs::read(path)).await else {
            if std::mem::replace(&mut readable, false) {
                tracing::error!(file = %file.display(), "The configuration cannot be read. The old configuration stays in use.");
            }
            continue;
        };
        readable = true;
        let settled = text == last_read;
        if settled && text != in_use {
            apply(&gateway, &file, &text, &in_use);
            in_use.clone_from(&text);
        }
        last_read = text;
    }
}

fn apply(gateway: &Gateway, file: &Path, text: &[u8], before: &[u8]) {
    match Config::from_bytes(text) {
        Ok(config) => {
            gateway.apply(&config);
            tracing::info!(file = %file.display(), "The new configuration is in use.");
            let has_moved = |before: Config| (before.host, before.port) != (config.host, config.port);
            if Config::from_bytes(before).is_ok_and(has_moved) {
                tracing::warn!("The new host or port takes effect after a restart.");
            }
        }
        Err(error) => tracing::error!("The old configuration stays in use. {error}"),
    }
}
