//! The inside of an element: names, references, numbers and literals, and the pieces of strings.

use memchr::memchr2;

use super::text::Flatted;
use crate::json::scalar::{SCALAR_BYTES, is_scalar};
use crate::json::utf8::Utf8;
use crate::json::word::digits;
use crate::json::{FaultKind, ReadError};

/// The longest reference: two quotes and the digits of the largest index.
const REFERENCE_BYTES: usize = 22;

/// A value as it stands inside an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementValue {
    /// The index of an element.
    Reference(u64),
    /// A number or a literal: where it is, and how many bytes it has.
    Scalar { position: u64, len: usize },
}

/// The part of a string that was read.
#[derive(Default)]
pub(super) struct StringState {
    /// Whether the next byte is escaped by a backslash before it.
    escaped: bool,
    utf8: Utf8,
}

impl Flatted<'_> {
    /// The value that begins at a position, and the position after it.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn value(&mut self, position: u64) -> Result<(ElementValue, u64), ReadError> {
        match self.byte(position)? {
            b'"' => {
                let (index, len) =
                    reference(self.bytes(position, REFERENCE_BYTES)?).ok_or_else(|| FaultKind::Index.at(position))?;
                Ok((ElementValue::Reference(index), position + len as u64))
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                let bytes = self.bytes(position, SCALAR_BYTES + 1)?;
                let len = bytes.iter().take_while(|byte| is_scalar(**byte)).count();
                if len > SCALAR_BYTES {
                    return Err(FaultKind::Scalar.at(position).into());
                }
                Ok((ElementValue::Scalar { position, len }, position + len as u64))
            }
            byte => Err(FaultKind::Unexpected(byte).at(position).into()),
        }
    }

    /// Passes over up to `most` of the values in an array, from a position before a comma or, if there is no value
    /// `before`, after the opening bracket. Returns how many there were, and the position after them.
    ///
    /// # Errors
    /// When the array is broken.
    pub(super) fn pass_over(&mut self, from: u64, before: bool, most: u64) -> Result<(u64, u64), ReadError> {
        let (mut position, mut count, mut before) = (from, 0, before);
        while count < most {
            let room = usize::try_from(most - count).unwrap_or(usize::MAX);
            let (references, len) = references(self.piece(position)?, before, room);
            (count, position, before) = (count + references as u64, position + len as u64, before || references > 0);
            if count == most {
                break;
            }
            // A number, a literal, the end, or a reference in two chunks.
            match self.byte(position)? {
                b']' => break,
                b',' if before => position += 1,
                byte if before => return Err(FaultKind::Unexpected(byte).at(position).into()),
                _ => {}
            }
            let (value, after) = self.value(position)?;
            self.check(value)?;
            (count, position, before) = (count + 1, after, true);
        }
        self.work(position - from, position)?;
        Ok((count, position))
    }

    /// Checks a value that is not shown.
    fn check(&mut self, value: ElementValue) -> Result<(), ReadError> {
        let ElementValue::Scalar { position, len } = value else { return Ok(()) };
        serde_json::from_slice::<serde::de::IgnoredAny>(&self.bytes(position, len)?[..len])
            .map_err(|_| FaultKind::Scalar.at(position))?;
        Ok(())
    }

    /// The next piece of a string, and whether it is the last one; the closing quote follows it. At least one byte, or
    /// the last piece.
    ///
    /// # Errors
    /// When the string is not UTF-8, holds a control character, or does not end.
    pub(super) fn string_piece(&mut self, position: u64, state: &mut StringState) -> Result<(&[u8], bool), ReadError> {
        let bytes = self.piece(position)?;
        let quote = state.closing_quote(bytes);
        let checked = &bytes[..quote.map_or(bytes.len(), |quote| quote + 1)];
        if let Err(at) = state.utf8.check(checked) {
            return Err(FaultKind::Utf8.at(position + at as u64).into());
        }
        // Without a branch for each byte.
        let has_control = checked.iter().fold(false, |found, byte| found | (*byte < b' '));
        if has_control && let Some(at) = checked.iter().position(|byte| *byte < b' ') {
            return Err(FaultKind::Control.at(position + at as u64).into());
        }
        Ok((&bytes[..quote.unwrap_or(bytes.len())], quote.is_some()))
    }

    /// Checks that an element ends before a position.
    ///
    /// # Errors
    /// When something other than the next element or the end of the text follows.
    pub(super) fn end_element(&mut self, position: u64) -> Result<(), ReadError> {
        match self.byte(position)? {
            b',' => Ok(()),
            b']' if self.ends_before(position + 1)? => Ok(()),
            byte => Err(FaultKind::Unexpected(byte).at(position).into()),
        }
    }
}

impl StringState {
    /// The offset of the closing quote.
    fn closing_quote(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = usize::from(std::mem::take(&mut self.escaped));
        while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..)?) {
            at += found;
            if bytes[at] == b'"' {
                return Some(at);
            }
            at += 2;
            self.escaped = at > bytes.len();
        }
        None
    }
}

/// The index that a reference names, and the length of the reference; `None` if it is not in decimal as `flatted`
/// writes it.
fn reference(bytes: &[u8]) -> Option<(u64, usize)> {
    let digits = digits(bytes.get(1..)?);
    let is_canonical = digits == 1 || (digits > 1 && bytes[1] != b'0');
    if !is_canonical || bytes.get(1 + digits) != Some(&b'"') {
        return None;
    }
    let index = bytes[1..=digits]
        .iter()
        .try_fold(0_u64, |index, digit| index.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    Some((index, digits + 2))
}

/// Passes over references that lie in these bytes, at most `most`, each but the first one after a comma, and that one
/// too if there is a value `before`. Returns how many there were, and the bytes up to their end.
fn references(bytes: &[u8], mut before: bool, most: usize) -> (usize, usize) {
    let (mut count, mut end) = (0, 0);
    while count < most {
        let mut at = end;
        if before {
            if bytes.get(at) != Some(&b',') {
                break;
            }
            at += 1;
        }
        let (Some(b'"'), Some(first)) = (bytes.get(at), bytes.get(at + 1)) else { break };
        let digits = digits(&bytes[at + 1..]);
        at += 1 + digits;
        // Anything unusual is left to the careful reader.
        let is_usual = (1..19).contains(&digits) && (digits == 1 || *first != b'0');
        if !is_usual || bytes.get(at) != Some(&b'"') {
            break;
        }
        (count, end, before) = (count + 1, at + 1, true);
    }
    (count, end)
}
