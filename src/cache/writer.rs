//! Writes a body while it arrives, on a thread of its own.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};

use super::claim::{Amount, Claim};
use super::entry::write_end;
use super::folder;
use crate::platform;

/// Chunks of a body that wait to be compressed.
const CHUNKS: usize = 4;

/// The fastest level that finds repetitions: level 3 leaves more of large bodies, in nearly twice the time.
const LEVEL: i32 = 1;

/// Looks back 2 MiB, where n8n's bodies repeat themselves, instead of the 512 KiB of this level.
const WINDOW_LOG: u32 = 21;

/// How often waiting readers learn how much was read.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Inspects a body while it is written, and decides whether to keep it.
pub trait Inspector: Send + 'static {
    /// Takes the next bytes; `false` if the body must not be kept.
    fn feed(&mut self, bytes: &[u8]) -> bool;

    /// After the last byte: the note to keep with the body; `None` if it is not kept.
    fn finish(self) -> Option<Vec<u8>>;
}

/// Writes one body. Dropping it before [`finish`](Self::finish) leaves nothing.
pub struct Writer {
    claim: Arc<Claim>,
    /// `None` once the body is known not to be kept.
    chunks: Option<Sender<Chunk>>,
    thread: JoinHandle<()>,
    reported: Option<Instant>,
}

enum Chunk {
    Bytes(Bytes),
    End,
}

impl Writer {
    /// Starts to write the body of a claim.
    pub fn start(claim: &Arc<Claim>, inspector: impl Inspector) -> Self {
        let (chunks, receiver) = channel(CHUNKS);
        let writing = claim.clone();
        let thread = spawn_blocking(move || match write(&writing, receiver, inspector) {
            Ok(true) => {}
            Ok(false) => writing.refuse(),
            Err(error) => {
                writing.cache.complain(&error);
                writing.refuse();
            }
        });
        Self { claim: claim.clone(), chunks: Some(chunks), thread, reported: None }
    }

    /// Writes the next bytes.
    pub async fn feed(&mut self, bytes: Bytes) {
        self.send(Chunk::Bytes(bytes)).await;
    }

    /// Reports to waiting processes how much of the body was read.
    pub fn report(&mut self, bytes: u64, total: Option<u64>) {
        if self.chunks.is_some() && self.reported.is_none_or(|last| last.elapsed() > REPORT_INTERVAL) {
            self.claim.report(Amount { bytes, total });
            self.reported = Some(Instant::now());
        }
    }

    /// Keeps the body, if it is complete and wanted, and waits until that is done, or everything was removed.
    pub async fn finish(mut self, is_whole: bool) {
        if is_whole {
            self.send(Chunk::End).await;
        }
        self.chunks = None;
        // A panic there only means that the body is not kept.
        let _ = self.thread.await;
    }

    async fn send(&mut self, chunk: Chunk) {
        let Some(chunks) = &self.chunks else { return };
        if chunks.send(chunk).await.is_err() {
            self.chunks = None;
        }
    }
}

/// Returns `false` if the body must not be kept, and `true` if it was kept or its caller gave up.
fn write(claim: &Claim, mut chunks: Receiver<Chunk>, mut inspector: impl Inspector) -> io::Result<bool> {
    let fetched = SystemTime::now();
    let max_bytes = claim.cache.settings().max_bytes;
    let mut part = Part::create(claim.part())?;
    let mut encoder = zstd::Encoder::new(&mut part.file, LEVEL)?;
    encoder.window_log(WINDOW_LOG)?;
    encoder.include_checksum(true)?;
    loop {
        match chunks.blocking_recv() {
            Some(Chunk::Bytes(bytes)) => {
                encoder.write_all(&bytes)?;
                if !inspector.feed(&bytes) || encoder.get_mut().stream_position()? > max_bytes {
                    return Ok(false);
                }
            }
            Some(Chunk::End) => break,
            None => return Ok(true),
        }
    }
    let Some(note) = inspector.finish() else { return Ok(false) };
    write_end(encoder.finish()?, fetched, &note)?;
    let bytes = part.file.stream_position()?;
    if bytes > max_bytes {
        return Ok(false);
    }
    claim.cache.make_room(bytes)?;
    part.rename(&claim.cache.entry_path(&claim.name))?;
    Ok(true)
}

/// A file that is removed unless it is renamed.
struct Part {
    file: File,
    path: PathBuf,
}

impl Part {
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut options = platform::private_options();
        options.create(true).truncate(true).write(true);
        platform::do_not_follow_links(&mut options);
        Ok(Self { file: options.open(&path)?, path })
    }

    fn rename(self, to: &std::path::Path) -> io::Result<()> {
        std::fs::rename(&self.path, to)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After it was renamed there is nothing to remove. If it cannot be removed, the next start tries again.
        let _ = folder::remove(&self.path);
    }
}
