//! Decompresses a body chunk by chunk.

use std::io::Write;

use bytes::Bytes;
use flate2::write::GzDecoder;

use crate::json::{Batch, Pruner};

/// The maximum number of bytes that a body may decompress to: n8n cannot build one of more than 512 Mi UTF-16 code
/// units, at most three bytes each. Anything larger is not from n8n.
const MAX_DECOMPRESSED_BYTES: u64 = 3 << 29;

/// Decompresses into a pruner, and into a copy if one is wanted.
pub(super) struct Gunzip(GzDecoder<Decompressed>);

/// Feeds decompressed bytes to the pruner at once, so that none are held.
struct Decompressed {
    pruner: Pruner,
    batch: Batch,
    bytes: u64,
    copy: Option<Vec<u8>>,
}

impl Gunzip {
    pub(super) fn new(pruner: Pruner, is_copied: bool) -> Self {
        let copy = is_copied.then(Vec::new);
        Self(GzDecoder::new(Decompressed { pruner, batch: Batch::default(), bytes: 0, copy }))
    }

    /// What was decompressed since the last call, if it is copied.
    pub(super) fn copied(&mut self) -> Bytes {
        self.0.get_mut().copy.as_mut().map(std::mem::take).unwrap_or_default().into()
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> std::io::Result<Batch> {
        self.0.write_all(chunk)?;
        self.0.flush()?;
        Ok(std::mem::take(&mut self.0.get_mut().batch))
    }

    /// The end: what is left of the batch and of the copy.
    pub(super) fn finish(self) -> std::io::Result<(Batch, Bytes)> {
        let mut decompressed = self.0.finish()?;
        let last = decompressed.pruner.finish().map_err(std::io::Error::other)?;
        decompressed.batch.append(last);
        Ok((decompressed.batch, decompressed.copy.unwrap_or_default().into()))
    }
}

impl Write for Decompressed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_DECOMPRESSED_BYTES {
            return Err(std::io::Error::other("it decompresses to more than n8n can send"));
        }
        let batch = self.pruner.feed(bytes).map_err(std::io::Error::other)?;
        self.batch.append(batch);
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
