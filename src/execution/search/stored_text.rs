//! Whether a stored text may have a match, before anything of it is parsed.
//!
//! n8n's text has every string and every name of a member as JSON, and numbers next to the names of their members: what a
//! prefilter finds in an item, it finds in the text of the whole execution. Indices of elements are digits in quotes, too:
//! a number can be found that no item has. A match is only a candidate, still to be read.

use std::io;

use super::ValueQuery;
use crate::json::flatted::Flatted;

/// Bytes that are looked at in one go.
const PIECE: usize = 256 * 1024;

/// Bytes that are looked at twice: a name with the beginning of its value is shorter.
const OVERLAP: usize = 4096;

impl ValueQuery {
    /// Whether a value of the execution with this text may match.
    ///
    /// # Errors
    /// The text cannot be read.
    pub(in crate::execution) fn may_match(&self, text: &mut Flatted<'_>) -> io::Result<bool> {
        let Some(prefilter) = self.prefilter().filter(|_| !text.is_escaped()) else { return Ok(true) };
        // Each character has six bytes at most, as an escape.
        let overlap = OVERLAP + 6 * self.text.as_ref().map_or(0, |text| text.literal_len());
        let source = text.source();
        source.expect_all();
        let (mut piece, mut position, end) = (Vec::new(), 0, source.len());
        while position < end {
            let kept = piece.len().min(overlap);
            piece.drain(..piece.len() - kept);
            let more = (end - position).min(PIECE as u64) as usize;
            piece.resize(kept + more, 0);
            source.read_at(position, &mut piece[kept..])?;
            position += more as u64;
            if prefilter.may_be_in(&piece) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
