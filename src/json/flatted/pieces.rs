//! A pass over a whole text, at the speed of memory, without parsing it.

use std::io;

use super::text::Flatted;
use super::unescape::unescape;

/// Bytes that are searched together.
const PIECE: u64 = 256 * 1024;

impl Flatted<'_> {
    /// Whether `look` returns true for a piece of the text, which is shown from its beginning to its end, without the escapes
    /// of a JSON string around it. Each piece begins with the last `overlap` bytes of the one before it; `look` also
    /// receives whether it is the last one.
    ///
    /// ```
    /// use n8n_lens::json::flatted::Flatted;
    ///
    /// let mut text = Flatted::escaped(Box::new(&br#"[{\"name\":\"1\"},\"Ann \\\"B.\\\"\"]"#[..]));
    /// assert!(text.any_piece(8, |piece, is_last| is_last && piece.ends_with(br#""Ann \"B.\""]"#))?);
    /// # Ok::<_, std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn any_piece(&mut self, overlap: usize, mut look: impl FnMut(&[u8], bool) -> bool) -> io::Result<bool> {
        let is_escaped = self.is_escaped();
        let source = self.source();
        source.expect_all();
        let (mut position, end, mut in_escape) = (0, source.len(), false);
        let mut piece = Vec::with_capacity(end.min(PIECE + overlap as u64) as usize);
        while position < end {
            piece.drain(..piece.len().saturating_sub(overlap));
            let repeated = piece.len();
            piece.resize(repeated + (end - position).min(PIECE) as usize, 0);
            source.read_at(position, &mut piece[repeated..])?;
            position += (piece.len() - repeated) as u64;
            if is_escaped {
                let mut fresh = piece.split_off(repeated);
                let ends_in_escape = ends_in_escape(&fresh, in_escape);
                unescape(&mut fresh, in_escape);
                in_escape = ends_in_escape;
                piece.append(&mut fresh);
            }
            if look(&piece, position == end) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the byte after these is the second one of an escape.
fn ends_in_escape(bytes: &[u8], in_escape: bool) -> bool {
    let trailing = bytes.iter().rev().take_while(|byte| **byte == b'\\').count();
    let before = usize::from(in_escape && trailing == bytes.len());
    (trailing + before) % 2 == 1
}
