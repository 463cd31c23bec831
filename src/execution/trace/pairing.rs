//! An item's `pairedItem`: which items of its node's inputs it came from.
//!
//! n8n writes a number, `{item, input?, sourceOverwrite?}`, or an array of those. Most items of an execution continue the
//! one before them (`{"item":4}` after `{"item":3}`), so that such items are only counted before anything is parsed.

use std::collections::BTreeMap;
use std::io::Read;

use super::link::{Link, Names, Range};
use crate::execution::source::read_source;
use crate::json::{Cursor, FaultKind, Pick, ReadError, Visitor, Written, walk};

/// The maximum number of runs of numbers held of one item's sources; any further entries are counted.
const RANGES: usize = 4096;

/// The number of an item whose text ends with `"pairedItem":{"item":N}}`, as n8n writes almost all of them.
pub(super) fn plain(item: &[u8]) -> Option<u64> {
    /// Every float is exact up to this many digits.
    const DIGITS: usize = 15;
    let item = item.strip_suffix(b"}}")?;
    let digits = item.iter().rev().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = item.split_at(item.len() - digits);
    // Nothing else can end like this: the quote before the name does not end a string, since a comma or a bracket
    // precedes it.
    let before = before.strip_suffix(br#""pairedItem":{"item":"#)?;
    let is_number = (1..=DIGITS).contains(&digits.len()) && (digits.len() == 1 || digits[0] != b'0');
    if !is_number || !matches!(before.last(), Some(b',' | b'{')) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Which number continues the one before it: the next one, or the same after it occurred twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Continuation {
    last: Option<u64>,
    step: u64,
}

impl Continuation {
    /// Whether the next item, with its [`plain`] number, continues the one before it.
    pub(super) fn next(&mut self, number: Option<u64>) -> bool {
        let continues = number.is_some() && self.last.map(|last| last + self.step) == number;
        if !continues {
            self.step = u64::from(number.is_none() || self.last != number);
        }
        self.last = number;
        continues
    }

    /// The number of the first of `items` that continue the last one, and the step from each to the next.
    pub(super) fn skip(&mut self, items: u64) -> Option<(u64, u64)> {
        let first = self.last?.saturating_add(self.step);
        self.last = Some(first.saturating_add(self.step.saturating_mul(items.saturating_sub(1))));
        Some((first, self.step))
    }
}

/// Picks the items that do not continue the one before them.
#[derive(Debug, Default)]
pub(super) struct Breaks {
    array: u64,
    next: u64,
    continuation: Continuation,
}

impl Pick for Breaks {
    fn picks(&mut self, array: u64, index: u64, json: &[u8]) -> bool {
        if (array, index) != (self.array, self.next) {
            self.continuation = Continuation::default();
        }
        (self.array, self.next) = (array, index + 1);
        !self.continuation.next(plain(json))
    }
}

/// What an item came from: distinct ranges of items, in the order in which it names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairing {
    pub(super) ranges: Vec<Range>,
    /// Entries that are not held.
    pub(super) more: u64,
}

impl Pairing {
    /// The item with this number of the first input.
    pub(super) fn plain(number: u64) -> Self {
        Self { ranges: vec![Range { link: Link::Input(0), start: number, len: 1 }], more: 0 }
    }

    /// Reads the `pairedItem` of an item's whole text.
    pub(super) fn of_item(item: &[u8], names: &mut Names) -> Result<Self, ReadError> {
        let mut finder = Finder::default();
        walk(item, &mut finder).map_err(|kind: FaultKind| ReadError::Syntax(format!("{kind} in an item")))?;
        let Some(json) = finder.found else { return Ok(Self::default()) };
        Self::read(&mut Cursor::unpruned(&json[..]), names)
    }

    /// Reads a `pairedItem`.
    pub(super) fn read<R: Read>(cursor: &mut Cursor<R>, names: &mut Names) -> Result<Self, ReadError> {
        let mut reader = Reader { pairing: Self::default(), known: BTreeMap::new(), names };
        if cursor.at_array()? {
            cursor.array(|cursor, _| reader.entry(cursor))?;
        } else {
            reader.entry(cursor)?;
        }
        Ok(reader.pairing)
    }
}

struct Reader<'n> {
    pairing: Pairing,
    /// The lengths of the ranges, by their links and starts.
    known: BTreeMap<(Link, u64), u64>,
    names: &'n mut Names,
}

impl Reader<'_> {
    fn entry<R: Read>(&mut self, cursor: &mut Cursor<R>) -> Result<(), ReadError> {
        let (mut item, mut input, mut overwrite) = (None, 0, None);
        if cursor.at_object()? {
            cursor.object(|cursor, member| {
                match member {
                    "item" => item = whole(cursor)?,
                    "input" => input = whole(cursor)?.unwrap_or(0),
                    "sourceOverwrite" => overwrite = read_source(cursor)?,
                    _ => cursor.skip()?,
                }
                Ok(())
            })?;
        } else {
            item = whole(cursor)?;
        }
        let Some(item) = item else { return Ok(()) };
        let link = match overwrite {
            Some(source) => Link::Output(self.names.output(&source)),
            None => Link::Input(input),
        };
        self.add(link, item);
        Ok(())
    }

    fn add(&mut self, link: Link, item: u64) {
        let before = self.known.range(..=(link, item)).next_back();
        let is_known = before.is_some_and(|((known, start), len)| *known == link && item - start < *len);
        if is_known {
            return;
        }
        let ranges = &mut self.pairing.ranges;
        if let Some(last) = ranges.last_mut().filter(|last| last.link == link && last.start + last.len == item) {
            last.len += 1;
            self.known.insert((link, last.start), last.len);
        } else if ranges.len() < RANGES {
            ranges.push(Range { link, start: item, len: 1 });
            self.known.insert((link, item), 1);
        } else {
            self.pairing.more += 1;
        }
    }
}

/// A number that can be the index of an item or an input.
fn whole<R: Read>(cursor: &mut Cursor<R>) -> Result<Option<u64>, ReadError> {
    /// No array is longer.
    const MOST: f64 = 1e15;
    let number = cursor.number::<f64>()?;
    Ok(number.filter(|number| number.fract() == 0.0 && (0.0..=MOST).contains(number)).map(|number| number as u64))
}

/// Finds the last member `pairedItem` of an item.
#[derive(Default)]
struct Finder {
    level: usize,
    is_next: bool,
    found: Option<Vec<u8>>,
}

impl Finder {
    fn value(&mut self, json: &[u8]) {
        if self.level == 1 && std::mem::take(&mut self.is_next) {
            self.found = Some(json.to_vec());
        }
    }
}

impl Visitor for Finder {
    fn open(&mut self, _: bool) {
        self.level += 1;
    }

    fn name(&mut self, name: Written<'_>) {
        if self.level == 1 {
            self.is_next = name.text() == "pairedItem";
        }
    }

    fn string(&mut self, _: Written<'_>) {
        // A string names nothing.
        self.value(b"null");
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.value(json.bytes);
    }

    fn close(&mut self, _: u64, json: &[u8]) {
        self.level -= 1;
        self.value(json);
    }
}
