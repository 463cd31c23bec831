//! Reads a pipe line by line, one JSON-RPC message per line (MCP's stdio transport). Of a line that is too long, only
//! the id of its message is kept.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::unreadable::UnreadableMessage;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A buffer above this capacity is released once it is no longer needed.
const RETAINED_BYTES: usize = 1024 * 1024;

/// A line without its newline.
pub(crate) enum Line {
    Complete(BytesMut),
    /// What is left of one that was not held.
    TooLong(Box<UnreadableMessage>),
}

/// Reads lines. Dropping a read loses nothing.
pub(crate) struct LineReader<R> {
    pipe: R,
    max_bytes: usize,
    /// Read but not yet returned; there is no newline in the first `searched` bytes.
    buffer: BytesMut,
    searched: usize,
    /// A line that is being skipped.
    too_long: Option<UnreadableMessage>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of up to `max_bytes`.
    pub(crate) fn new(pipe: R, max_bytes: usize) -> Self {
        Self { pipe, max_bytes, buffer: BytesMut::new(), searched: 0, too_long: None }
    }

    /// The next line; `None` at the end of the pipe. A last line without a newline is dropped.
    ///
    /// Calls `arrived` with the number of bytes of each read.
    pub(crate) async fn next(&mut self, mut arrived: impl FnMut(usize)) -> Option<Line> {
        loop {
            if let Some(line) = self.take_line() {
                return Some(line);
            }
            match self.fill().await {
                Ok(0) | Err(_) => return None,
                Ok(bytes) => arrived(bytes),
            }
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
            if self.searched > self.max_bytes || self.too_long.is_some() {
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
            None if line.len() > self.max_bytes => Some(Line::TooLong(Box::new(UnreadableMessage::of(&line)))),
            None => Some(Line::Complete(line)),
        }
    }
}
