//! A compressed body, expanded chunk by chunk.

use std::io::Write;

use flate2::write::GzDecoder;

use crate::json::{Batch, Pruner};

/// What a body may expand to, bytes: n8n cannot build one of more than 512 Mi UTF-16 units, which are
/// at most three bytes each. What is larger is not from n8n.
const EXPANDED_BYTES: u64 = 3 << 29;

/// Expands into a pruner.
pub(super) struct Gunzip(GzDecoder<Expanded>);

/// Where expanded bytes go: at once through the filter, so that none are kept.
struct Expanded {
    pruner: Pruner,
    batch: Batch,
    bytes: u64,
}

impl Gunzip {
    pub(super) fn new(pruner: Pruner) -> Self {
        Self(GzDecoder::new(Expanded { pruner, batch: Batch::default(), bytes: 0 }))
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> std::io::Result<Batch> {
        self.0.write_all(chunk)?;
        self.0.flush()?;
        Ok(std::mem::take(&mut self.0.get_mut().batch))
    }

    pub(super) fn finish(self) -> std::io::Result<Batch> {
        let mut expanded = self.0.finish()?;
        let last = expanded.pruner.finish().map_err(std::io::Error::other)?;
        expanded.batch.append(last);
        Ok(expanded.batch)
    }
}

impl Write for Expanded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if self.bytes > EXPANDED_BYTES {
            return Err(std::io::Error::other("it expands to more than n8n can send"));
        }
        let batch = self.pruner.feed(bytes).map_err(std::io::Error::other)?;
        self.batch.append(batch);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
