//! Reads a pipe line by line. Of a line that is too long, only the id of its message is kept.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::unreadable::UnreadableMessage;

/// The longest line that is held, in bytes: three times the largest answer, since a line may hold the answer twice,
/// as text and as structured content, and escaped.
pub(super) const LINE_BYTES: usize = 3 * super::limits::ANSWER_BYTES;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A buffer above this capacity is released once it is no longer needed.
const RETAINED_BYTES: usize = 1024 * 1024;

/// A line without its newline.
pub(super) enum Line {
    Complete(BytesMut),
    /// What is left of one that was not held.
    TooLong(Box<UnreadableMessage>),
}

/// Reads lines. Dropping a read loses nothing.
pub(super) struct LineReader<R> {
    pipe: R,
    /// Read but not yet returned; there is no newline in the first `searched` bytes.
    buffer: BytesMut,
    searched: usize,
    /// A line that is being skipped.
    too_long: Option<UnreadableMessage>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(pipe: R) -> Self {
        Self { pipe, buffer: BytesMut::new(), searched: 0, too_long: None }
    }

    /// The next line; `None` at the end of the pipe. A last line without a newline is dropped.
    ///
    /// Adds the bytes that arrive to `bytes_read`.
    pub(super) async fn next(&mut self, bytes_read: &AtomicU64) -> Option<Line> {
        loop {
            if let Some(line) = self.take_line() {
                return Some(line);
            }
            let _ = match self.fill().await {
                Ok(0) | Err(_) => return None,
                Ok(bytes) => bytes_read.fetch_add(bytes as u64, Relaxed),
            };
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        // The memory of one large answer is not kept forever.
        if self.buffer.len() < CHUNK_BYTES && self.buffer.capacity() > RETAINED_BYTES {
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        self.buffer.reserve(CHUNK_BYTES);
        self.pipe.read_buf(&mut self.buffer).await
    }

    /// The first line in the buffer, if it is complete.
    fn take_line(&mut self) -> Option<Line> {
        let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            if self.searched > LINE_BYTES || self.too_long.is_some() {
                let chunk = std::mem::take(&mut self.buffer);
                self.searched = 0;
                self.too_long.get_or_insert_with(UnreadableMessage::new).feed(&chunk);
            }
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + at + 1);
        line.truncate(self.searched + at);
        self.searched = 0;
        match self.too_long.take() {
            Some(mut too_long) => {
                too_long.feed(&line);
                Some(Line::TooLong(Box::new(too_long)))
            }
            None => Some(Line::Complete(line)),
        }
    }
}
