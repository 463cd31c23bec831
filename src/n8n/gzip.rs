//! Decompresses a body chunk by chunk.

use std::io::Write;

use flate2::write::GzDecoder;

use crate::json::{Batch, Pruner};

/// The most bytes that a body may decompress to: n8n cannot build one of more than 512 Mi UTF-16 code
/// units, at most three bytes each. Anything larger is not from n8n.
const MAX_DECOMPRESSED_BYTES: u64 = 3 << 29;

/// Decompresses into a pruner.
pub(super) struct Gunzip(GzDecoder<Decompressed>);

/// Feeds decompressed bytes to the pruner at once, so that none are held.
struct Decompressed {
    pruner: Pruner,
    batch: Batch,
    bytes: u64,
}

impl Gunzip {
    pub(super) fn new(pruner: Pruner) -> Self {
        Self(GzDecoder::new(Decompressed { pruner, batch: Batch::default(), bytes: 0 }))
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> std::io::Result<Batch> {
        self.0.write_all(chunk)?;
        self.0.flush()?;
        Ok(std::mem::take(&mut self.0.get_mut().batch))
    }

    pub(super) fn finish(self) -> std::io::Result<Batch> {
        let mut decompressed = self.0.finish()?;
        let last = decompressed.pruner.finish().map_err(std::io::Error::other)?;
        decompressed.batch.append(last);
        Ok(decompressed.batch)
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
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
