//! A look at a small value before it is expanded.

use super::text::Flatted;
use super::token::{ElementValue, StringState};
use crate::json::{FaultKind, ReadError};

/// The longest string that a look returns, in bytes of its JSON.
const TEXT_BYTES: usize = 1024;

/// A value that is about to be expanded.
pub struct Peek<'p, 't> {
    text: &'p mut Flatted<'t>,
    value: ElementValue,
}

impl<'p, 't> Peek<'p, 't> {
    pub(super) fn new(text: &'p mut Flatted<'t>, value: ElementValue) -> Self {
        Self { text, value }
    }

    /// Whether it is an object.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn is_object(&mut self) -> Result<bool, ReadError> {
        Ok(self.position()?.map(|at| self.text.byte(at)).transpose()? == Some(b'{'))
    }

    /// The JSON text of a number, a literal, or a string of up to 1,024 bytes; `None` for anything else.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn json(&mut self) -> Result<Option<String>, ReadError> {
        let bytes = match self.value {
            ElementValue::Scalar { position, len } => self.text.bytes(position, len)?[..len].to_vec(),
            ElementValue::Reference(index) => {
                let Some(position) = self.text.element(index)? else { return Ok(None) };
                if self.text.byte(position)? != b'"' {
                    return Ok(None);
                }
                let mut json = vec![b'"'];
                let after = self.text.each_piece(position + 1, |piece| {
                    let room = (TEXT_BYTES + 1).saturating_sub(json.len());
                    json.extend_from_slice(&piece[..piece.len().min(room)]);
                    Ok(())
                })?;
                self.text.value_work(after - position, position)?;
                if json.len() > TEXT_BYTES {
                    return Ok(None);
                }
                json.push(b'"');
                json
            }
        };
        Ok(String::from_utf8(bytes).ok())
    }

    /// The member with this name, if the value is an object that has one. The name is plain ASCII.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn member(&mut self, name: &str) -> Result<Option<Peek<'_, 't>>, ReadError> {
        let found = match self.position()? {
            Some(position) => self.text.find_member(position, name)?,
            None => None,
        };
        Ok(found.map(|value| Peek::new(self.text, value)))
    }

    /// Where the element is; `None` for a number, a literal or nothing.
    fn position(&mut self) -> Result<Option<u64>, ReadError> {
        match self.value {
            ElementValue::Reference(index) => self.text.element(index),
            ElementValue::Scalar { .. } => Ok(None),
        }
    }
}

impl Flatted<'_> {
    /// Passes the inside of a string on, piece by piece. Returns the position after its closing quote.
    ///
    /// # Errors
    /// When the string is broken, or `piece` refuses it.
    pub(super) fn each_piece(
        &mut self,
        from: u64,
        mut piece: impl FnMut(&[u8]) -> Result<(), FaultKind>,
    ) -> Result<u64, ReadError> {
        let (mut position, mut state) = (from, StringState::default());
        loop {
            let (bytes, is_last) = self.string_piece(position, &mut state)?;
            piece(bytes).map_err(|kind| kind.at(position))?;
            position += bytes.len() as u64;
            if is_last {
                return Ok(position + 1);
            }
        }
    }

    /// The value of the member with this name, if there is an object at the position.
    fn find_member(&mut self, object: u64, name: &str) -> Result<Option<ElementValue>, ReadError> {
        if self.byte(object)? != b'{' {
            return Ok(None);
        }
        let mut position = object + 1;
        while self.byte(position)? == b'"' {
            let member = position;
            let (mut at, mut same) = (0, true);
            let wanted = name.as_bytes();
            position = self.each_piece(position + 1, |piece| {
                same &= wanted.get(at..at + piece.len()) == Some(piece);
                at += piece.len();
                Ok(())
            })?;
            same &= at == wanted.len();
            self.expect(position, b':')?;
            let (value, after) = self.value(position + 1)?;
            if same {
                return Ok(Some(value));
            }
            self.value_work(after - member, after)?;
            position = after + u64::from(self.byte(after)? == b',');
        }
        Ok(None)
    }

    /// Checks the byte at a position.
    ///
    /// # Errors
    /// When it is another one.
    pub(super) fn expect(&mut self, position: u64, wanted: u8) -> Result<(), ReadError> {
        match self.byte(position)? {
            byte if byte == wanted => Ok(()),
            byte => Err(FaultKind::Unexpected(byte).at(position).into()),
        }
    }
}
