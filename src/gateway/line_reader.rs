//! Lines of a pipe, held up to a limit; of a longer one only the id is.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::json::{Keep, Pruner};

/// The longest line that is held, bytes: three times what an answer may have, since an answer may stand in it
/// twice, as text and structured, and escaped.
pub(super) const LINE_BYTES: usize = 3 * super::limits::ANSWER_BYTES;

/// What is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Room above this is given back.
const LARGE: usize = 1024 * 1024;

/// A line without its end.
pub(super) enum Line {
    Whole(BytesMut),
    /// What [`Pruner`] left of it.
    TooLong(Vec<u8>),
}

/// Reads lines. A read that is dropped loses nothing.
pub(super) struct Lines<R> {
    pipe: R,
    /// What was read and not yet given; the first `seen` bytes have no line end.
    held: BytesMut,
    seen: usize,
    too_long: Option<TooLong>,
}

/// A line that is passed by.
struct TooLong {
    pruner: Option<Pruner>,
    left: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(pipe: R) -> Self {
        Self { pipe, held: BytesMut::new(), seen: 0, too_long: None }
    }

    /// The next line; `None` at the end, also when the last line has no end.
    ///
    /// `moved` counts the bytes that come.
    pub(super) async fn next(&mut self, moved: &AtomicU64) -> Option<Line> {
        loop {
            if let Some(line) = self.take() {
                return Some(line);
            }
            let _ = match self.fill().await {
                Ok(0) | Err(_) => return None,
                Ok(bytes) => moved.fetch_add(bytes as u64, Relaxed),
            };
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        // The room of one large answer is not kept for ever.
        if self.held.len() < CHUNK_BYTES && self.held.capacity() > LARGE {
            self.held = BytesMut::from(&self.held[..]);
        }
        self.held.reserve(CHUNK_BYTES);
        self.pipe.read_buf(&mut self.held).await
    }

    /// The first line, if all of it is there.
    fn take(&mut self) -> Option<Line> {
        let Some(at) = memchr::memchr(b'\n', &self.held[self.seen..]) else {
            self.seen = self.held.len();
            if self.seen > LINE_BYTES || self.too_long.is_some() {
                let held = std::mem::take(&mut self.held);
                self.seen = 0;
                self.too_long.get_or_insert_with(TooLong::new).feed(&held);
            }
            return None;
        };
        let mut line = self.held.split_to(self.seen + at + 1);
        line.truncate(self.seen + at);
        self.seen = 0;
        match self.too_long.take() {
            Some(mut too_long) => {
                too_long.feed(&line);
                Some(Line::TooLong(too_long.left))
            }
            None => Some(Line::Whole(line)),
        }
    }
}

impl TooLong {
    fn new() -> Self {
        let pruner = Pruner::new(Keep::Members(&[("id", Keep::Whole)]), 0..0);
        Self { pruner: Some(pruner), left: Vec::new() }
    }

    fn feed(&mut self, chunk: &[u8]) {
        // After a fault, what came before it may still hold the id.
        match self.pruner.as_mut().map(|pruner| pruner.feed(chunk)) {
            Some(Ok(mut batch)) => self.left.append(&mut batch.text),
            Some(Err(_)) => self.pruner = None,
            None => {}
        }
    }
}
