//! Decompression of gzip bodies, with errors that name the byte offset.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// Decompresses a body of one or more gzip members.
pub(super) struct GzipReader<R: Read>(MultiGzDecoder<BufReader<Counted<R>>>);

/// A reader that counts its bytes.
struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: Read> GzipReader<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(MultiGzDecoder::new(BufReader::with_capacity(64 * 1024, Counted { reader, bytes: 0 })))
    }

    /// Compressed bytes that the decoder has consumed.
    fn offset(&self) -> u64 {
        let buffered = self.0.get_ref();
        buffered.get_ref().bytes - buffered.buffer().len() as u64
    }
}

impl<R: Read> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let what = format!("the gzip data cannot be decompressed at byte {}: {error}", self.offset());
            io::Error::new(error.kind(), what)
        })
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
