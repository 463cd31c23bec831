//! Reads a pipe line by line, one JSON-RPC message per line (MCP's stdio transport). Of a line that is too long, only
//! the id of its message is kept.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::json::{Cursor, Detail, Keep, Pruner};

/// What is kept of a message that cannot be read: its id.
const ID: Keep = Keep::Members(&[("id", Keep::Whole)]);

/// The longest id that is found, in characters.
const ID_CHARS: usize = 1000;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A buffer above this capacity is released once it is no longer needed.
const RETAINED_BYTES: usize = 1024 * 1024;

/// A line without its newline.
pub(crate) enum Line {
    Complete(BytesMut),
    TooLong {
        /// The id of its message, as JSON.
        id: Option<String>,
    },
}

/// Reads lines. Dropping a read loses nothing.
pub(crate) struct LineReader<R> {
    pipe: R,
    max_bytes: usize,
    /// Read but not yet returned; there is no newline in the first `searched` bytes.
    buffer: BytesMut,
    searched: usize,
    too_long: Option<TooLongLine>,
}

/// A line that is being skipped.
struct TooLongLine {
    pruner: Option<Pruner>,
    kept: Vec<u8>,
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
                self.too_long.get_or_insert_with(TooLongLine::new).feed(&chunk);
            }
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + at + 1);
        line.truncate(self.searched + at);
        self.searched = 0;
        match self.too_long.take() {
            Some(mut too_long) => {
                too_long.feed(&line);
                Some(Line::TooLong { id: id_in(&too_long.kept) })
            }
            None if line.len() > self.max_bytes => Some(Line::TooLong { id: message_id(&line) }),
            None => Some(Line::Complete(line)),
        }
    }
}

impl TooLongLine {
    fn new() -> Self {
        Self { pruner: Some(Pruner::new(ID, 0..0)), kept: Vec::new() }
    }

    fn feed(&mut self, chunk: &[u8]) {
        // What was kept before a syntax error may still hold the id.
        match self.pruner.as_mut().map(|pruner| pruner.feed(chunk)) {
            Some(Ok(mut batch)) => self.kept.append(&mut batch.text),
            Some(Err(_)) => self.pruner = None,
            None => {}
        }
    }
}

/// The id of a message that cannot be parsed, as JSON.
pub(crate) fn message_id(text: &[u8]) -> Option<String> {
    id_in(&Pruner::new(ID, 0..0).feed(text).ok()?.text)
}

/// The id in what [`ID`] keeps of a message.
fn id_in(kept: &[u8]) -> Option<String> {
    let mut id = None;
    // An error after the id does not matter.
    let _ = Cursor::unpruned(kept).object(|json, name| match name {
        "id" => {
            let excerpt = json.excerpt(ID_CHARS)?;
            excerpt.write(Detail::WHOLE, id.insert(String::new()), &mut 0);
            Ok(())
        }
        _ => json.skip(),
    });
    id
}
