//! The [`Pruner`]'s sibling: walks a flatted text from its root, and keeps what the table names.

mod batches;

use std::io::Read;

use super::edit::{Edit, Step, Unedited, Verdict};
use super::peek::Peek;
use super::text::Flatted;
use super::token::{ElementValue, StringState};
use crate::json::selection::Selection;
use crate::json::{Batch, FaultKind, Pruner, ReadError};

/// What n8n writes in place of a container that contains itself (`packages/workflow/src/utils.ts`).
const CIRCULAR: &[u8] = b"[Circular Reference]";

/// Expands a flatted text: an iterator of the [`Batch`]es that the pruner would leave of the expanded text.
///
/// After an error, which is a [`Fault`](crate::json::Fault) inside an [`io::Error`](std::io::Error) or the source's own, there are no more batches.
pub struct Expansion<'t, 's, E: Edit = Unedited> {
    text: &'t mut Flatted<'s>,
    /// `None` after the last batch.
    pruner: Option<Pruner>,
    edit: E,
    /// JSON texts that come before the value.
    before: &'t [&'t [u8]],
    /// The JSON text that comes after it.
    after: Option<&'t mut dyn Read>,
    begun: bool,
    /// Whether the value is complete.
    ended: bool,
    open: Vec<Open<E::Place>>,
    /// The string that is being read, and where.
    string: Option<(u64, StringState)>,
    left: Batch,
    left_bytes: usize,
}

/// A container that is being read.
struct Open<P> {
    /// The index of its element.
    index: u64,
    object: bool,
    /// The position after the opening bracket, or after a part.
    position: u64,
    /// How many parts were read.
    parts: u64,
    /// Whether a part was kept, so that the next one needs a comma.
    written: bool,
    /// `None` if nothing in it is edited.
    place: Option<P>,
    /// Members that are added at its end.
    added: String,
}

impl<'t, 's> Expansion<'t, 's> {
    /// Expands `text`, and keeps what the table of `pruner` names, which must be a new one.
    pub fn new(text: &'t mut Flatted<'s>, pruner: Pruner) -> Self {
        Self::edited(text, pruner, Unedited)
    }
}

impl<'t, 's, E: Edit> Expansion<'t, 's, E> {
    /// Like [`new`](Expansion::new), with changes.
    pub fn edited(text: &'t mut Flatted<'s>, pruner: Pruner, edit: E) -> Self {
        Self {
            text,
            pruner: Some(pruner),
            edit,
            before: &[],
            after: None,
            begun: false,
            ended: false,
            open: Vec::new(),
            string: None,
            left: Batch::default(),
            left_bytes: 0,
        }
    }

    /// Puts the expanded value inside a larger JSON text: the pieces of `before` end where a value is expected, and `after`,
    /// which is read a few kilobytes at a time, continues after it. The table is that of the larger text.
    #[must_use]
    pub fn within(self, before: &'t [&'t [u8]], after: &'t mut dyn Read) -> Self {
        Self { before, after: Some(after), ..self }
    }

    /// Reads the next member or element of the innermost container, or its end.
    fn part(&mut self, pruner: &mut Pruner) -> Result<(), ReadError> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let from = open.position;
        if !open.object && pruner.selection().silent() > 0 {
            let most = pruner.selection().silent();
            let (count, after) = self.text.pass_over(from, open.parts > 0, most)?;
            pruner.selection().count(count);
            open.parts += count;
            open.position = after;
            // Unless the array ends here, a wanted element follows.
        }
        let (object, first) = (open.object, open.parts == 0);
        let at = match self.text.byte(open.position)? {
            b'}' if object => return self.close(pruner),
            b']' if !object => return self.close(pruner),
            b',' if !first => open.position + 1,
            byte if !first => return Err(FaultKind::Unexpected(byte).at(open.position).into()),
            _ => open.position,
        };
        open.parts += 1;
        if object { self.member(pruner, at) } else { self.element(pruner, at) }
    }

    fn close(&mut self, pruner: &mut Pruner) -> Result<(), ReadError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        self.text.end_element(open.position + 1)?;
        if !open.added.is_empty() {
            self.insert(pruner, open.added.as_bytes(), Pruner::feed_members)?;
        }
        pruner.selection().close();
        Ok(())
    }

    fn element(&mut self, pruner: &mut Pruner, at: u64) -> Result<(), ReadError> {
        let (value, after) = self.text.value(at)?;
        self.text.value_work(after - at, at)?;
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let step = open.place.map_or(Step::Keep, |place| self.edit.element(place, open.parts - 1));
        open.position = after;
        if std::mem::replace(&mut open.written, true) {
            pruner.selection().comma();
        }
        match step {
            Step::Drop => self.expand(pruner, value, Step::Put("null")),
            step => self.expand(pruner, value, step),
        }
    }

    fn member(&mut self, pruner: &mut Pruner, at: u64) -> Result<(), ReadError> {
        self.text.expect(at, b'"')?;
        let selection = pruner.selection();
        selection.begin_name();
        let colon = self.text.each_piece(at + 1, |piece| selection.name_piece(piece))?;
        selection.end_name().map_err(|kind| kind.at(at))?;
        self.text.expect(colon, b':')?;
        let (value, after) = self.text.value(colon + 1)?;
        self.text.value_work(after - at, at)?;
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.position = after;
        let step = open.place.map_or(Step::Keep, |place| self.edit.member(place, &selection.name()));
        if let Step::Look { name: Some(name), .. } = step {
            selection.rename(name).map_err(|kind| kind.at(at))?;
        }
        let is_left_out = match (step, value) {
            (Step::Drop, _) => true,
            // A member that is `undefined` does not exist; one that is skipped looks the same either way to its reader.
            (_, ElementValue::Reference(index)) if !selection.skips() => self.text.element(index)?.is_none(),
            _ => false,
        };
        if is_left_out {
            return Ok(());
        }
        selection.put_name();
        self.expand(pruner, value, step)
    }

    fn expand(&mut self, pruner: &mut Pruner, value: ElementValue, step: Step<E::Place>) -> Result<(), ReadError> {
        match (value, step) {
            (_, Step::Put(json)) => self.insert(pruner, json.as_bytes(), Pruner::feed_value),
            (_, Step::Look { .. }) | (ElementValue::Reference(_), _) if pruner.selection().skips() => {
                pruner.selection().skip();
                Ok(())
            }
            (_, Step::Look { place, .. }) => match self.edit.look(place, &mut Peek::new(self.text, value))? {
                Verdict::Put(json) => self.insert(pruner, json.as_bytes(), Pruner::feed_value),
                Verdict::Count => {
                    pruner.selection().count(1);
                    Ok(())
                }
                Verdict::Extend(place, members) => {
                    let depth = self.open.len();
                    self.expand(pruner, value, Step::Enter(place))?;
                    if let Some(open) = self.open.get_mut(depth)
                        && open.object
                    {
                        open.added = members;
                    }
                    Ok(())
                }
            },
            (ElementValue::Scalar { position, len }, _) => {
                let scalar = &self.text.bytes(position, len)?[..len];
                Ok(pruner.selection().scalar(scalar).map_err(|kind| kind.at(position))?)
            }
            (ElementValue::Reference(index), step) => self.resolve(pruner, index, step),
        }
    }

    /// Begins the element with this index.
    fn resolve(&mut self, pruner: &mut Pruner, index: u64, step: Step<E::Place>) -> Result<(), ReadError> {
        let selection = pruner.selection();
        if self.open.iter().any(|open| open.index == index) {
            return Ok(put_string(selection, CIRCULAR).map_err(|kind| kind.at(0))?);
        }
        let Some(position) = self.text.element(index)? else {
            return Ok(selection.scalar(b"null").map_err(|kind| kind.at(0))?);
        };
        match self.text.byte(position)? {
            b'"' => {
                if selection.begin_string() {
                    self.string = Some((position + 1, StringState::default()));
                } else {
                    selection.end_value();
                }
            }
            bracket @ (b'{' | b'[') => {
                let object = bracket == b'{';
                if !selection.open(object) {
                    selection.end_value();
                    return Ok(());
                }
                let place = if let Step::Enter(place) = step { Some(place) } else { None };
                let (position, added) = (position + 1, String::new());
                self.open.push(Open { index, object, position, parts: 0, written: false, place, added });
            }
            _ => {
                let (value, after) = self.text.value(position)?;
                self.text.end_element(after)?;
                self.expand(pruner, value, Step::Keep)?;
            }
        }
        Ok(())
    }

    /// Reads the next piece of a string.
    fn string(&mut self, selection: &mut Selection) -> Result<(), ReadError> {
        let Some((position, mut state)) = self.string.take() else { return Ok(()) };
        let (piece, is_last) = self.text.string_piece(position, &mut state)?;
        let after = position + piece.len() as u64;
        selection.string_piece(piece).map_err(|kind| kind.at(position))?;
        if is_last {
            selection.end_string().map_err(|kind| kind.at(after))?;
            self.text.end_element(after + 1)?;
        } else {
            self.string = Some((after, state));
        }
        self.text.string_work(after - position, position)
    }
}

fn put_string(selection: &mut Selection, text: &[u8]) -> Result<(), FaultKind> {
    if !selection.begin_string() {
        selection.end_value();
        return Ok(());
    }
    selection.string_piece(text)?;
    selection.end_string()
}
