//! Pulling values out of the batches, with struson.

use std::io::{self, Read};
use std::str::FromStr;
use std::sync::mpsc;

use struson::reader::{JsonReader, JsonStreamReader, ReaderSettings, ValueType};

use super::batch::{Batch, Captured};
use super::cut::Beginning;
use super::excerpt::Excerpt;
use super::fault::ReadError;

/// The reader of one pruned text. Its methods skip a value of another type than they are for: a
/// projection shows what is there and does not fail on what is not.
pub struct Cursor<R: Read> {
    json: JsonStreamReader<R>,
    /// `None` where nothing was pruned.
    captured: Option<mpsc::Receiver<Captured>>,
}

/// What stands at the place of an element of a [`Keep::Window`](super::Keep::Window).
pub enum Element {
    /// A captured value.
    Captured(Captured),
    /// So many elements outside of the window.
    Skipped(u64),
    /// A value that is too large to capture: it is still to be read.
    Unread,
}

/// The text of the batches; their captured values go another way.
pub struct Text<I> {
    batches: I,
    text: io::Cursor<Vec<u8>>,
    captured: mpsc::Sender<Captured>,
}

impl<I: Iterator<Item = io::Result<Batch>>> Read for Text<I> {
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
            self.text = io::Cursor::new(batch.text);
            for value in batch.captured {
                // The receiver lives in the cursor that owns this reader.
                let _ = self.captured.send(value);
            }
        }
    }
}

impl<I: Iterator<Item = io::Result<Batch>>> Cursor<Text<I>> {
    /// Reads pruned batches.
    pub fn over(batches: I) -> Self {
        let (sender, captured) = mpsc::channel();
        let text = Text { batches, text: io::Cursor::default(), captured: sender };
        Self { json: json_reader(text), captured: Some(captured) }
    }
}

impl<R: Read> Cursor<R> {
    /// Reads a text from which nothing was pruned: the same answers, slowly.
    pub fn unpruned(text: R) -> Self {
        Self { json: json_reader(text), captured: None }
    }

    /// Reads the members of an object; `member` must read each value or [`skip`](Self::skip) it.
    /// Gives whether there was an object.
    ///
    /// # Errors
    /// [`ReadError`], as everywhere here.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<bool, ReadError> {
        if self.json.peek()? != ValueType::Object {
            self.skip()?;
            return Ok(false);
        }
        self.json.begin_object()?;
        while self.json.has_next()? {
            let name = self.json.next_name_owned()?;
            member(self, &name)?;
        }
        self.json.end_object()?;
        Ok(true)
    }

    /// Reads the elements of an array; `element` gets the index and must read or skip the value.
    /// Gives whether there was an array.
    ///
    /// # Errors
    /// [`ReadError`].
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

    /// Leaves the value out.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn skip(&mut self) -> Result<(), ReadError> {
        Ok(self.json.skip_value()?)
    }

    /// Leaves the value out; gives whether it was something other than `null`.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn skip_present(&mut self) -> Result<bool, ReadError> {
        let present = self.json.peek()? != ValueType::Null;
        self.skip()?;
        Ok(present)
    }

    /// Whether an object stands here.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn at_object(&mut self) -> Result<bool, ReadError> {
        Ok(self.json.peek()? == ValueType::Object)
    }

    /// Whether an array stands here.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn at_array(&mut self) -> Result<bool, ReadError> {
        Ok(self.json.peek()? == ValueType::Array)
    }

    /// The beginning of a string, at most `chars` characters, or the digits of a number; nothing for
    /// other types.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn beginning(&mut self, chars: usize) -> Result<Option<Beginning>, ReadError> {
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

    /// Whether something other than `null` stands here, and its [`beginning`](Self::beginning).
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn present_text(&mut self, chars: usize) -> Result<(bool, Option<Beginning>), ReadError> {
        let present = self.json.peek()? != ValueType::Null;
        Ok((present, self.beginning(chars)?))
    }

    /// As [`beginning`](Self::beginning), cut to `chars`.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn text(&mut self, chars: usize) -> Result<Option<String>, ReadError> {
        Ok(self.beginning(chars)?.map(|text| text.cut(chars).0.into_owned()))
    }

    /// The name of a node.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn name(&mut self) -> Result<Option<String>, ReadError> {
        Ok(self.beginning(super::cut::HELD_NAME_CHARS)?.map(Beginning::into_name))
    }

    /// A number, if it is one of this type.
    ///
    /// # Errors
    /// [`ReadError`].
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
    /// [`ReadError`].
    pub fn is_true(&mut self) -> Result<bool, ReadError> {
        if self.json.peek()? != ValueType::Boolean {
            self.skip()?;
            return Ok(false);
        }
        Ok(self.json.next_bool()?)
    }

    /// What stands at the place of a window's element.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn element(&mut self) -> Result<Element, ReadError> {
        let Some(captured) = &self.captured else {
            return Ok(Element::Unread);
        };
        if self.json.peek()? != ValueType::Number {
            return Ok(Element::Unread);
        }
        if let Some(skipped) = self.json.next_number_as_str()?.strip_prefix('-') {
            return Ok(Element::Skipped(skipped.parse().unwrap_or(0)));
        }
        // The filter gives a captured value away before its place.
        Ok(captured.try_recv().map_or(Element::Skipped(0), Element::Captured))
    }

    /// The number of elements of an array that is kept as [`Keep::Count`](super::Keep::Count).
    ///
    /// # Errors
    /// [`ReadError`].
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

    /// A bounded copy of the value, see [`Excerpt::read`].
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn excerpt(&mut self, bytes: usize) -> Result<Excerpt, ReadError> {
        Excerpt::read(&mut self.json, bytes)
    }

    /// The end of the body: only white space may follow.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn finish(self) -> Result<(), ReadError> {
        Ok(self.json.consume_trailing_whitespace()?)
    }
}

fn json_reader<R: Read>(text: R) -> JsonStreamReader<R> {
    JsonStreamReader::new_custom(
        text,
        ReaderSettings {
            track_path: false,
            max_nesting_depth: Some(1024),
            restrict_number_values: false,
            ..ReaderSettings::default()
        },
    )
}
