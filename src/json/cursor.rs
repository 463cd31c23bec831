//! Pulls values out of pruned batches, with struson.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::str::FromStr;

use bytes::Bytes;
use struson::reader::{JsonReader, JsonStreamReader, ReaderSettings, TransferError, ValueType};
use struson::writer::{JsonStreamWriter, JsonWriter};

use super::batch::{Batch, Captured};
use super::cut::Prefix;
use super::excerpt::Excerpt;
use super::fault::{ReadError, without_offset};
use super::keep::Keep;
use super::prune::Pruner;
use super::pruned_reader::PrunedReader;

/// Reads one JSON text, value by value.
///
/// Each method reads the next value as a whole, unless it says otherwise. A value of a type that the method does not
/// read is skipped, and the method returns `None`, `false` or 0: a projection shows what is there, and does not fail
/// because something is missing.
///
/// ```
/// use n8n_lens::json::{Cursor, ReadError};
///
/// let text = br#"{"name": "Orders", "active": "yes", "tags": [{"id": 1}, {"id": 2}]}"#;
/// let (mut name, mut active, mut tags) = (None, false, 0);
/// let mut cursor = Cursor::unpruned(&text[..]);
/// cursor.object(|cursor, member| {
///     match member {
///         "name" => name = cursor.text(100)?,
///         "active" => active = cursor.is_true()?,
///         "tags" => tags = cursor.count()?,
///         _ => cursor.skip()?,
///     }
///     Ok(())
/// })?;
/// cursor.finish()?;
/// assert_eq!((name.as_deref(), active, tags), (Some("Orders"), false, 2));
/// # Ok::<_, ReadError>(())
/// ```
///
/// # Errors
/// All methods fail in the same cases: [`ReadError::Fault`] or [`ReadError::Syntax`] if the text is broken or ends
/// early, [`ReadError::Io`] if its source cannot be read. The cursor cannot be used after an error.
pub struct Cursor<'a> {
    // One kind of reader for every source: it is asked once for each kilobyte, and code that reads is compiled once.
    json: JsonStreamReader<Box<dyn Read + 'a>>,
    /// `None` for a text that was not pruned.
    captured: Option<Rc<RefCell<CapturedValues>>>,
    /// Whether U+FFFD may have replaced half of a surrogate pair in the text so far.
    has_replacement: Rc<Cell<bool>>,
    /// Buffers for names of members, to be used again: each open object takes one.
    names: Vec<String>,
}

/// What [`Cursor::element`] finds at the place of an element of a [`Keep::Window`](super::Keep::Window).
pub enum Element {
    /// The JSON text of the captured value, for [`Cursor::unpruned`] or [`walk`](super::walk).
    Captured(Bytes),
    /// This many elements outside the window.
    Omitted(u64),
    /// A value that was not captured, because it is too large or the text was not pruned: it is still to be read.
    Unread,
}

/// Captured values whose marks were not read yet, in order. Each belongs to the place of its mark, so that a skipped
/// value is never taken for a later one.
#[derive(Default)]
struct CapturedValues(VecDeque<Captured>);

impl CapturedValues {
    /// Drops the values whose marks end before this byte of the text.
    fn drop_before(&mut self, end: u64) {
        while self.0.pop_front_if(|value| value.end < end).is_some() {}
    }

    /// The value whose mark ends at this byte of the text.
    fn take(&mut self, end: u64) -> Option<Bytes> {
        self.drop_before(end);
        Some(self.0.pop_front_if(|value| value.end == end)?.json)
    }
}

/// The text of the batches, as a reader. Hands their captured values to the cursor.
struct BatchText<I> {
    batches: I,
    text: io::Cursor<Vec<u8>>,
    /// Bytes of the texts so far.
    bytes: u64,
    captured: Rc<RefCell<CapturedValues>>,
    has_replacement: Rc<Cell<bool>>,
}

impl<I: Iterator<Item = io::Result<Batch>>> Read for BatchText<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(batch) = self.batches.next() else {
                return Ok(0);
            };
            let batch = batch?;
            let mut captured = self.captured.borrow_mut();
            // Everything before this batch was read or skipped, except perhaps a mark at the very end that is being
            // read.
            captured.drop_before(self.bytes);
            captured.0.extend(batch.captured);
            self.has_replacement.set(self.has_replacement.get() || batch.has_replacement);
            self.bytes += batch.text.len() as u64;
            self.text = io::Cursor::new(batch.text);
        }
    }
}

impl<'a> Cursor<'a> {
    /// Reads pruned batches.
    pub fn over(batches: impl Iterator<Item = io::Result<Batch>> + 'a) -> Self {
        let (captured, has_replacement) = (Rc::default(), Rc::default());
        let text = BatchText {
            batches,
            text: io::Cursor::default(),
            bytes: 0,
            captured: Rc::clone(&captured),
            has_replacement: Rc::clone(&has_replacement),
        };
        Self { json: json_reader(text), captured: Some(captured), has_replacement, names: Vec::new() }
    }

    /// Reads a text that was not pruned, such as a captured value: with the same results, but slowly.
    ///
    /// It passes through the filter, which drops nothing: what n8n writes but struson refuses, lone surrogates and very
    /// deep nesting, is replaced as in any other text. Faults have no offset, since the text can be a part of another
    /// one.
    pub fn unpruned(text: impl BufRead + 'a) -> Self {
        let batches = PrunedReader::new(text, Pruner::new(Keep::Whole, 0..0));
        Self { captured: None, ..Self::over(batches.map(|batch| batch.map_err(without_offset))) }
    }

    /// Reads what the filter left of a text, or of its beginning, if nothing was captured.
    pub fn pruned(text: impl Read + 'a) -> Self {
        let has_replacement = Rc::new(Cell::new(true));
        Self { json: json_reader(text), captured: Some(Rc::default()), has_replacement, names: Vec::new() }
    }

    /// Reads an object; `member` receives the name of each member and must read its value or [`skip`](Self::skip) it.
    /// Returns whether there was an object.
    ///
    /// # Errors
    /// When the text is broken or ends early, or `member` fails.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        if self.json.peek()? != ValueType::Object {
            self.skip()?;
            return Ok(false);
        }
        self.json.begin_object()?;
        let mut name = self.names.pop().unwrap_or_default();
        while self.json.has_next()? {
            name.clear();
            name.push_str(self.json.next_name()?);
            member(self, &name)?;
        }
        self.names.push(name);
        self.json.end_object()?;
        Ok(true)
    }

    /// Reads an array; `element` receives the index of each element and must read it or [`skip`](Self::skip) it.
    /// Returns whether there was an array.
    ///
    /// # Errors
    /// When the text is broken or ends early, or `element` fails.
    pub fn array(
        &mut self,
        mut element: impl FnMut(&mut Self, u64) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        if self.json.peek()? != ValueType::Array {
            self.skip()?;
            return Ok(false);
        }
        self.json.begin_array()?;
        let mut index = 0;
        while self.json.has_next()? {
            element(self, index)?;
            index += 1;
        }
        self.json.end_array()?;
        Ok(true)
    }

    /// Skips the value.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn skip(&mut self) -> Result<(), ReadError> {
        Ok(self.json.skip_value()?)
    }

    /// Skips the value; returns whether it was something other than `null`.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn skip_present(&mut self) -> Result<bool, ReadError> {
        let present = self.json.peek()? != ValueType::Null;
        self.skip()?;
        Ok(present)
    }

    /// Whether the next value is an object; does not read it.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn at_object(&mut self) -> Result<bool, ReadError> {
        Ok(self.json.peek()? == ValueType::Object)
    }

    /// Whether the next value is an array; does not read it.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn at_array(&mut self) -> Result<bool, ReadError> {
        Ok(self.json.peek()? == ValueType::Array)
    }

    /// The beginning of a string, of at least `chars` characters if it has as many, or the digits of a number.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn prefix(&mut self, chars: usize) -> Result<Option<Prefix>, ReadError> {
        match self.json.peek()? {
            // No character takes more than four bytes.
            ValueType::String => Ok(Some(super::excerpt::read_string(&mut self.json, chars * 4)?)),
            ValueType::Number => Ok(Some(self.json.next_number_as_string()?.into())),
            _ => {
                self.skip()?;
                Ok(None)
            }
        }
    }

    /// Whether the value is something other than `null`, and its [`prefix`](Self::prefix).
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn present_text(&mut self, chars: usize) -> Result<(bool, Option<Prefix>), ReadError> {
        let present = self.json.peek()? != ValueType::Null;
        Ok((present, self.prefix(chars)?))
    }

    /// Like [`prefix`](Self::prefix), cut to `chars` characters; a mark says how many more there are.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn text(&mut self, chars: usize) -> Result<Option<String>, ReadError> {
        Ok(self.prefix(chars)?.map(|text| text.into_cut(chars)))
    }

    /// A name, such as that of a node, as [`hold_name`](super::hold_name) holds it.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn name(&mut self) -> Result<Option<String>, ReadError> {
        Ok(self.prefix(super::cut::HELD_NAME_CHARS)?.map(Prefix::into_name))
    }

    /// A number; `None` also for a number that does not fit the type.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn number<T: FromStr>(&mut self) -> Result<Option<T>, ReadError> {
        if self.json.peek()? != ValueType::Number {
            self.skip()?;
            return Ok(None);
        }
        Ok(self.json.next_number_as_str()?.parse().ok())
    }

    /// Whether the value is `true`.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn is_true(&mut self) -> Result<bool, ReadError> {
        if self.json.peek()? != ValueType::Boolean {
            self.skip()?;
            return Ok(false);
        }
        Ok(self.json.next_bool()?)
    }

    /// An element of a [`Keep::Window`](super::Keep::Window). If it is [`Element::Unread`], the caller must read
    /// or skip it.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn element(&mut self) -> Result<Element, ReadError> {
        let Some(captured) = &self.captured else {
            return Ok(Element::Unread);
        };
        if self.json.peek()? != ValueType::Number {
            return Ok(Element::Unread);
        }
        if let Some(omitted) = self.json.next_number_as_str()?.strip_prefix('-') {
            return Ok(Element::Omitted(omitted.parse().unwrap_or(0)));
        }
        let value = self.json.current_position(false).data_pos.and_then(|end| captured.borrow_mut().take(end));
        Ok(value.map_or(Element::Omitted(0), Element::Captured))
    }

    /// The number of elements of an array that is kept as [`Keep::Count`](super::Keep::Count).
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn count(&mut self) -> Result<u64, ReadError> {
        if self.captured.is_some() {
            return Ok(self.number()?.unwrap_or(0));
        }
        let mut count = 0;
        self.array(|cursor, _| {
            count += 1;
            cursor.skip()
        })?;
        Ok(count)
    }

    /// A copy of the value, bounded to about `bytes`; see [`Excerpt::read`].
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn excerpt(&mut self, bytes: usize) -> Result<Excerpt, ReadError> {
        Excerpt::read(&mut self.json, bytes)
    }

    /// The JSON text of the value; `None` if it is larger than `bytes`.
    ///
    /// # Errors
    /// When the text is broken or ends early.
    pub fn json(&mut self, bytes: usize) -> Result<Option<Vec<u8>>, ReadError> {
        let mut copy = BoundedCopy { text: Vec::new(), most: bytes };
        self.copy_to(&mut copy)?;
        Ok((copy.text.len() <= bytes).then_some(copy.text))
    }

    /// Writes the JSON text of the value, piece by piece and without white space.
    ///
    /// # Errors
    /// When the text is broken or ends early, or cannot be written.
    pub fn copy_to(&mut self, to: impl io::Write) -> Result<(), ReadError> {
        let mut writer = JsonStreamWriter::new(to);
        self.json.transfer_to(&mut writer).map_err(|error| match error {
            TransferError::ReaderError(error) => error.into(),
            TransferError::WriterError(error) => ReadError::Io(error),
        })?;
        writer.finish_document().map_err(ReadError::Io)?;
        Ok(())
    }

    /// Whether U+FFFD may stand for half of a surrogate pair in what was read so far.
    pub fn has_replacement(&self) -> bool {
        self.has_replacement.get()
    }

    /// Checks that the text ends here.
    ///
    /// # Errors
    /// When the text is broken or ends early, or anything but white space follows.
    pub fn finish(self) -> Result<(), ReadError> {
        Ok(self.json.consume_trailing_whitespace()?)
    }
}

/// A text; no more of it is held than is needed to know that it is too long.
struct BoundedCopy {
    text: Vec<u8>,
    most: usize,
}

impl io::Write for BoundedCopy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (self.most + 1).saturating_sub(self.text.len());
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands a text to struson in small pieces. At each string and number, struson moves whatever is left in its buffer to the front:
/// with a full buffer, that takes longer than reading more often.
struct InPieces<R>(R);

impl<R> InPieces<R> {
    /// Bytes that are read at once.
    const BYTES: usize = 192;
}

impl<R: Read> Read for InPieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(Self::BYTES);
        self.0.read(&mut buffer[..most])
    }
}

fn json_reader<'a>(text: impl Read + 'a) -> JsonStreamReader<Box<dyn Read + 'a>> {
    JsonStreamReader::new_custom(
        Box::new(InPieces(text)),
        ReaderSettings {
            track_path: false,
            max_nesting_depth: Some(1024),
            restrict_number_values: false,
            ..ReaderSettings::default()
        },
    )
}
