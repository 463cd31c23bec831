//! Reads and prunes at the same time, on two threads.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The size of a chunk, bytes: half of a typical second-level cache.
const CHUNK: usize = 256 * 1024;

/// How many chunks there are; each is reused after it was consumed.
const CHUNKS: usize = 3;

/// A reader whose body another thread reads ahead.
pub struct ReadAhead {
    filled: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl ReadAhead {
    /// Starts a thread that reads `body` ahead; it ends with the body, or when this reader is dropped.
    pub fn new(body: impl Read + Send + 'static) -> Self {
        let (sender, filled) = sync_channel(CHUNKS);
        let (empty, returned) = channel();
        for _ in 0..CHUNKS {
            // Cannot fail: the receiver still exists.
            let _ = empty.send(Vec::with_capacity(CHUNK));
        }
        std::thread::spawn(move || fill(body, &returned, &sender));
        Self { filled, empty, chunk: Vec::new(), at: 0 }
    }
}

/// Fills chunks until the body ends or fails, or the reader is dropped.
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
            // At the end of the body the channel is closed; an empty chunk says so.
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
