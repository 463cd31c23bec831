//! One entry: the body as a frame of zstd, its note as another, and the length of the latter. Both frames end with
//! checksums.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_util::sync::{CancellationToken, DropGuard};

/// The length of the note's frame, at the end of the file.
const LENGTH_BYTES: u64 = 4;

/// The time at the beginning of a note.
const TIME_BYTES: usize = 8;

/// The largest frame of a note.
const MAX_NOTE_BYTES: u64 = 64 * 1024;

/// Compressed bytes that are read at once.
const BUFFER_BYTES: usize = 128 * 1024;

/// For a few hundred bytes, the level makes no difference.
const NOTE_LEVEL: i32 = 1;

/// An entry that was found.
pub struct Entry {
    file: File,
    /// Bytes of the body's frame.
    body_bytes: u64,
    fetched: SystemTime,
    note: Vec<u8>,
}

impl Entry {
    /// Opens an entry and reads its note.
    ///
    /// # Errors
    /// The body is missing, or its end is damaged.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Windows sets the time of the last use only through a handle that may write.
        let mut file = File::options().read(true).write(cfg!(windows)).open(path)?;
        let end = file.seek(SeekFrom::End(0))?;
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let length_at = end.checked_sub(LENGTH_BYTES).ok_or_else(damaged)?;
        let mut length = [0; LENGTH_BYTES as usize];
        file.seek(SeekFrom::Start(length_at))?;
        file.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        let body_bytes = length_at.checked_sub(length).filter(|_| length <= MAX_NOTE_BYTES).ok_or_else(damaged)?;
        file.seek(SeekFrom::Start(body_bytes))?;
        let mut text = Vec::new();
        zstd::Decoder::new((&file).take(length))?.take(MAX_NOTE_BYTES).read_to_end(&mut text)?;
        let (millis, note) = text.split_first_chunk::<TIME_BYTES>().ok_or_else(damaged)?;
        let fetched = UNIX_EPOCH.checked_add(Duration::from_millis(u64::from_le_bytes(*millis))).ok_or_else(damaged)?;
        Ok(Self { body_bytes, fetched, note: note.to_vec(), file })
    }

    /// The note of its writer.
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// How long ago the body was fetched; `None` if that is in the future.
    pub fn age(&self) -> Option<Duration> {
        self.fetched.elapsed().ok()
    }

    /// When the body was fetched.
    pub fn fetched(&self) -> SystemTime {
        self.fetched
    }

    /// Marks it as the most recently used entry.
    pub fn touch(&self) {
        // If that fails, it is removed earlier than it should be.
        let _ = self.file.set_modified(SystemTime::now());
    }

    /// The body, and how reading it ended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn body(&self) -> io::Result<(Body, Watch)> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        let frame = BufReader::with_capacity(BUFFER_BYTES, file.take(self.body_bytes));
        let decoder = zstd::Decoder::with_buffer(frame)?;
        let (is_whole, cancel) = (Arc::<AtomicBool>::default(), CancellationToken::new());
        let watch = Watch { is_whole: is_whole.clone(), _cancel: cancel.clone().drop_guard() };
        Ok((Body { decoder, is_whole, cancel }, watch))
    }
}

/// Writes the end of an entry after its body's frame.
pub(super) fn write_end(to: &mut File, fetched: SystemTime, note: &[u8]) -> io::Result<()> {
    let millis = fetched.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    let mut encoder = zstd::Encoder::new(Vec::new(), NOTE_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(&millis.to_le_bytes())?;
    encoder.write_all(note)?;
    let frame = encoder.finish()?;
    let length = u32::try_from(frame.len()).ok().filter(|length| u64::from(*length) <= MAX_NOTE_BYTES);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    to.write_all(&frame)?;
    to.write_all(&length.to_le_bytes())
}

/// The body of an entry, expanded while it is read.
pub struct Body {
    decoder: zstd::Decoder<'static, BufReader<Take<File>>>,
    is_whole: Arc<AtomicBool>,
    cancel: CancellationToken,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let read = self.decoder.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.is_whole.store(true, Relaxed);
        }
        Ok(read)
    }
}

/// Resolves to whether a body was read to its end, undamaged. Dropping it ends the reading.
pub struct Watch {
    is_whole: Arc<AtomicBool>,
    _cancel: DropGuard,
}

impl Watch {
    /// Whether everything was read, and its checksum was right.
    pub fn is_whole(&self) -> bool {
        self.is_whole.load(Relaxed)
    }
}
