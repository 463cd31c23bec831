//! Reads a body ahead, on a thread of its own.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The size of a chunk, bytes. Each chunk wakes the other thread, which takes as long as expanding about 100 KiB of a cached
/// body: chunks of 256 KiB cost a third of the speed.
const CHUNK: usize = 1024 * 1024;

/// How many chunks there are; each is reused after it was consumed.
const CHUNKS: usize = 3;

/// A reader whose body another thread reads ahead.
pub struct ReadAhead {
    filled: Receiver<io::Result<Chunk>>,
    empty: Sender<Chunk>,
    chunk: Chunk,
    at: usize,
    /// Why the beginning could not be read, if no read has reported it yet.
    failure: Option<io::Error>,
}

/// A part of a body. Its buffer is initialized once: `read_to_end` would clear it again before each read of a reader that,
/// like a decompressor, only has `read`.
#[derive(Default)]
struct Chunk {
    buffer: Box<[u8]>,
    len: usize,
}

impl Chunk {
    fn new() -> Self {
        Self { buffer: vec![0; CHUNK].into(), len: 0 }
    }

    /// Reads until the chunk is full or the body ends.
    fn fill(&mut self, body: &mut impl Read) -> io::Result<()> {
        self.len = 0;
        while self.len < self.buffer.len() {
            match body.read(&mut self.buffer[self.len..]) {
                Ok(0) => break,
                Ok(read) => self.len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAhead {
    /// Starts a thread that reads `body` ahead; it ends with the body, or when this reader is dropped.
    pub fn new(body: impl Read + Send + 'static) -> Self {
        let (sender, filled) = sync_channel(CHUNKS);
        let (empty, returned) = channel();
        for _ in 0..CHUNKS {
            // Cannot fail: the receiver still exists.
            let _ = empty.send(Chunk::new());
        }
        std::thread::spawn(move || fill(body, &returned, &sender));
        Self { filled, empty, chunk: Chunk::default(), at: 0, failure: None }
    }

    /// The next bytes, which stay unread: none at the end of the body, or if they cannot be read, which the next read reports.
    pub fn peek(&mut self) -> &[u8] {
        if let Err(error) = self.refill() {
            self.failure = Some(error);
        }
        self.unread()
    }

    /// Waits for a chunk if all of the present one was read.
    fn refill(&mut self) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if self.at < self.chunk.len {
            return Ok(());
        }
        // At the end of the body the channel is closed; an empty chunk says so.
        let next = self.filled.recv().unwrap_or_else(|_| Ok(Chunk::default()))?;
        let used = std::mem::replace(&mut self.chunk, next);
        self.at = 0;
        // The first one has no buffer.
        if !used.buffer.is_empty() {
            let _ = self.empty.send(used);
        }
        Ok(())
    }

    fn unread(&self) -> &[u8] {
        &self.chunk.buffer[self.at..self.chunk.len]
    }
}

/// Fills chunks until the body ends or fails, or the reader is dropped.
fn fill(mut body: impl Read, empty: &Receiver<Chunk>, filled: &SyncSender<io::Result<Chunk>>) {
    for mut chunk in empty {
        let read = chunk.fill(&mut body);
        let ended = read.is_err() || chunk.len == 0;
        if filled.send(read.map(|()| chunk)).is_err() || ended {
            return;
        }
    }
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.refill()?;
        Ok(self.unread())
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
