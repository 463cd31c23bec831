//! Whether a response is about what was requested: a proxy that mixes up responses, or a connection that carries a late
//! one, can deliver a sound body that belongs to another request.

use super::error::Error;
use crate::json::{Cursor, Keep, Pruner, first_member, shorten};

/// What is kept of a body.
const KEEP: Keep = Keep::Members(&[("id", Keep::Whole)]);

/// Characters of an id: those of n8n have at most 36.
const ID_CHARS: usize = 200;

/// The maximum bytes kept while no id comes.
const MAX_BYTES: usize = 64 * 1024;

/// n8n sends the id of an execution first, so that most bodies need no second look beyond these bytes.
const FIRST_BYTES: usize = 64;

/// Compares the `id` of a body with the requested one as soon as it arrives. A body without an id is not checked.
pub(super) struct Identity {
    requested: String,
    /// `None` once the id was compared, or will not come.
    pruner: Option<Pruner>,
    text: Vec<u8>,
}

impl Identity {
    /// Expects this id.
    pub(super) fn new(requested: &str) -> Self {
        Self { requested: requested.to_owned(), pruner: Some(Pruner::new(KEEP, 0..0)), text: Vec::new() }
    }

    /// Checks the next piece of the body, pruned or not.
    ///
    /// # Errors
    /// [`Error::OtherId`] if the id has arrived and is different.
    pub(super) fn check(&mut self, piece: &[u8]) -> Result<(), Error> {
        let (first, rest) = piece.split_at(piece.len().min(FIRST_BYTES));
        self.check_part(first)?;
        self.check_part(rest)
    }

    fn check_part(&mut self, piece: &[u8]) -> Result<(), Error> {
        let Some(pruner) = &mut self.pruner else { return Ok(()) };
        // The reader of a broken body reports what is wrong with it.
        if let Ok(batch) = pruner.feed(piece) {
            self.text.extend(batch.text);
        }
        match id_in(&self.text) {
            Some(received) if !is_same(&self.requested, &received) => {
                return Err(Error::OtherId { requested: shorten(&self.requested, ID_CHARS), received });
            }
            None if self.text.len() < MAX_BYTES => {}
            _ => self.pruner = None,
        }
        Ok(())
    }
}

/// The id, once it has arrived whole.
fn id_in(text: &[u8]) -> Option<String> {
    first_member(Cursor::pruned(text), "id", |cursor| cursor.text(ID_CHARS))
}

/// Whether two ids name the same. Ids of executions are numbers, which n8n sends as strings or as numbers and accepts
/// with leading zeros.
fn is_same(requested: &str, received: &str) -> bool {
    let number = |id: &str| {
        let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| id.trim_start_matches('0').to_owned())
    };
    // An id that does not fit is compared as it would be shown.
    let is_same_text = shorten(requested, ID_CHARS) == received;
    is_same_text || number(requested).is_some_and(|id| number(received) == Some(id))
}
