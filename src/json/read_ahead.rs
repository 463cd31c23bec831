//! Reading and looking at what was read, at the same time.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Bytes that are read at once: half of what a second-level cache holds.
const CHUNK: usize = 256 * 1024;

/// Chunks on their way; they come back to be filled again.
const CHUNKS: usize = 3;

/// A body that another thread reads ahead of us.
pub struct ReadAhead {
    filled: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl ReadAhead {
    /// Begins to read.
    pub fn new(body: impl Read + Send + 'static) -> Self {
        let (sender, filled) = sync_channel(CHUNKS);
        let (empty, returned) = channel();
        for _ in 0..CHUNKS {
            // The receiver is at hand.
            let _ = empty.send(Vec::with_capacity(CHUNK));
        }
        std::thread::spawn(move || fill(body, &returned, &sender));
        Self { filled, empty, chunk: Vec::new(), at: 0 }
    }
}

/// Fills chunks until the body ends, fails, or nobody wants more.
fn fill(mut body: impl Read, empty: &Receiver<Vec<u8>>, filled: &SyncSender<io::Result<Vec<u8>>>) {
    for mut chunk in empty {
        chunk.clear();
        let read = body.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
        let ended = !matches!(read, Ok(1..));
        if filled.send(read.map(|_| chunk)).is_err() || ended {
            return;
        }
    }
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() {
            // After the end there is nothing more to receive.
            let next = self.filled.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            let used = std::mem::replace(&mut self.chunk, next);
            self.at = 0;
            let _ = self.empty.send(used);
        }
        Ok(&self.chunk[self.at..])
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
