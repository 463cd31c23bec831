//! Values that name things, such as `INV-1001` or `5350`, and whether one occurs twice.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::NodePlace;
use super::dates::is_date;
use super::item_set::NumberedPlace;
use crate::json::Written;

/// The maximum number of different names of one path.
const PATH_NAMES: usize = 8 * 1024;

/// The maximum number of different names of all paths of a node together.
const NODE_NAMES: usize = 32 * 1024;

/// A longer string is not a name, bytes.
const NAME_BYTES: usize = 64;

/// After this many values, at least one in four must be new: names have many different values.
const PROBATION: u64 = 256;

/// A longer number is a measurement, or not exact.
const NUMBER_DIGITS: usize = 15;

/// How many values that occur again are held of a path, for the fields of a node.
pub const MAX_REPEATED: usize = 10;

/// The room left for the names of a node; clones share it.
#[derive(Clone, Debug)]
pub(in crate::execution) struct Room(Rc<Cell<usize>>);

impl Default for Room {
    fn default() -> Self {
        Self(Rc::new(Cell::new(NODE_NAMES)))
    }
}

/// The values of a path, as long as all of them may be names.
#[derive(Debug)]
pub(super) struct Names {
    room: Room,
    /// The first place of each, by its fingerprint; `None` if values with this path name nothing of the item, one was
    /// not a name, or there were too many.
    first: Option<FirstPlaces>,
    /// Whether numbers with this path are names.
    has_numbers: bool,
    values: u64,
    numbers: u64,
    /// The first values that occurred again, by their fingerprint, and how many of them are held at most.
    repeated: Vec<(u64, Repetition)>,
    most_repeated: usize,
    /// How many different names there were when there was no more room for them.
    held: Option<u64>,
}

/// The first place of each value, by its fingerprint.
#[derive(Debug, Default)]
struct FirstPlaces {
    /// As long as each value was greater than all before it, as numbers of a sequence are: none of them is looked up.
    ascending: Vec<(u64, NodePlace)>,
    /// The last of them.
    last: Vec<u8>,
    /// All of them, since one was not.
    by_fingerprint: HashMap<u64, NodePlace, BuildHasherDefault<IsHash>>,
}

impl FirstPlaces {
    fn len(&self) -> usize {
        self.ascending.len() + self.by_fingerprint.len()
    }

    /// Adds a value, or returns its first place if it has one.
    fn add(&mut self, value: &[u8], fingerprint: u64, place: NodePlace) -> Option<NodePlace> {
        if self.by_fingerprint.is_empty() {
            if (value.len(), value) > (self.last.len(), &self.last[..]) {
                self.last.clear();
                self.last.extend_from_slice(value);
                self.ascending.push((fingerprint, place));
                return None;
            }
            self.by_fingerprint = self.ascending.drain(..).collect();
        }
        match self.by_fingerprint.entry(fingerprint) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(free) => {
                free.insert(place);
                None
            }
        }
    }
}

/// A value that occurs more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The value as JSON.
    pub value: String,
    /// Its first place, and its second.
    pub places: [NodePlace; 2],
}

/// How often values that name things occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How many values there are, or how many were compared.
    pub values: u64,
    /// Whether there are more of them, for which there was no room.
    pub has_more: bool,
    /// How many different ones.
    pub distinct: u64,
    /// The first one that occurs again.
    pub first: Repetition,
    /// The next ones: up to 9, none in a description.
    pub others: Vec<Repetition>,
}

impl Names {
    /// For this path, if names are wanted; holds up to `most_repeated` values that occur again. A value in a list is a
    /// mention, which may occur again.
    pub(super) fn new(path: &str, are_wanted: bool, most_repeated: usize, room: &Room) -> Self {
        let first = (are_wanted && !path.contains("[]")).then(FirstPlaces::default);
        Self {
            room: room.clone(),
            first,
            has_numbers: names_a_thing(path),
            values: 0,
            numbers: 0,
            repeated: Vec::new(),
            most_repeated,
            held: None,
        }
    }

    /// Adds a number.
    #[inline]
    pub(super) fn number(&mut self, written: Written<'_>, place: &NumberedPlace) {
        if self.first.is_none() {
            return;
        }
        let is_whole = written.bytes.len() <= NUMBER_DIGITS && written.bytes.iter().all(u8::is_ascii_digit);
        self.numbers += 1;
        self.add(written, self.has_numbers && is_whole, place);
    }

    /// Adds a string.
    #[inline]
    pub(super) fn text(&mut self, written: Written<'_>, place: &NumberedPlace) {
        if self.first.is_none() || written.bytes.is_empty() {
            return;
        }
        let is_name = written.bytes.len() <= NAME_BYTES && looks_like_a_name(written.bytes) && !is_date(written.bytes);
        self.add(written, is_name, place);
    }

    fn add(&mut self, written: Written<'_>, is_name: bool, place: &NumberedPlace) {
        let Some(first) = self.first.as_mut().filter(|_| is_name) else { return self.give_up() };
        self.values += 1;
        let fingerprint = written.fingerprint();
        match first.add(written.bytes, fingerprint, place.place) {
            Some(known) => {
                let has_room = self.repeated.len() < self.most_repeated;
                if has_room && self.repeated.iter().all(|(other, _)| *other != fingerprint) {
                    let value = shown(written, self.numbers > 0);
                    self.repeated.push((fingerprint, Repetition { value, places: [known, place.place] }));
                }
                if self.values > PROBATION && (first.len() as u64) < self.values / 4 {
                    self.give_up();
                }
            }
            None => {
                let left = self.room.0.get();
                self.room.0.set(left.saturating_sub(1));
                if left == 0 || first.len() > PATH_NAMES {
                    self.stop();
                }
            }
        }
    }

    /// The values name nothing.
    fn give_up(&mut self) {
        self.stop();
        (self.repeated, self.held) = (Vec::new(), None);
    }

    /// No more values are compared.
    fn stop(&mut self) {
        if let Some(names) = self.first.take() {
            self.room.0.set((self.room.0.get() + names.len()).min(NODE_NAMES));
            self.held = Some(names.len() as u64);
        }
    }

    fn are_of_one_kind(&self) -> bool {
        self.numbers == 0 || self.numbers == self.values
    }

    /// How many of the values were compared, all of them different, before there was no more room for them; `None` if one
    /// occurred again or all were compared.
    pub(super) fn compared(&self) -> Option<u64> {
        self.held.filter(|_| self.repeated.is_empty() && self.are_of_one_kind()).map(|_| self.values)
    }

    /// How often the values occur, if they name things and one occurs again.
    pub(super) fn repeated(&self) -> Option<Repeated> {
        let distinct = self.held.or_else(|| Some(self.first.as_ref()?.len() as u64))?;
        let mut repeated = self.repeated.iter().map(|(_, one)| one.clone());
        let first = repeated.next()?;
        self.are_of_one_kind().then(|| Repeated {
            values: self.values,
            has_more: self.held.is_some(),
            distinct,
            first,
            others: repeated.collect(),
        })
    }
}

/// Whether a string has a digit or an `@`, and neither white space nor escapes. It has no branches: the contents of a
/// text cannot be predicted.
fn looks_like_a_name(text: &[u8]) -> bool {
    let (mut has_mark, mut has_other) = (false, false);
    for byte in text {
        has_mark |= byte.is_ascii_digit() | (*byte == b'@');
        has_other |= (*byte <= b' ') | (*byte == b'\\');
    }
    has_mark && !has_other
}

fn shown(written: Written<'_>, is_number: bool) -> String {
    let text = written.text();
    if is_number { text.into_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Whether numbers with this path name things, rather than being measurements: `id`, `customerNo`, `order_number`.
fn names_a_thing(path: &str) -> bool {
    const ENDS: [&str; 8] = ["id", "no", "nr", "number", "code", "key", "ref", "num"];
    let name = path.rsplit('.').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    ENDS.iter().any(|end| {
        let Some(before) = lower.strip_suffix(end).map(|before| &name[..before.len()]) else { return false };
        let end = &name[before.len()..];
        // The end is a word of its own.
        before.is_empty()
            || before.ends_with(['_', '-', ' '])
            || end.starts_with(|char: char| char.is_ascii_uppercase())
    })
}

/// Uses a fingerprint, which is a hash already.
#[derive(Debug, Default)]
struct IsHash(u64);

impl Hasher for IsHash {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, fingerprint: u64) {
        // The map uses the low bits unchanged, and those of a product vary least.
        self.0 = fingerprint ^ (fingerprint >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::names_a_thing;

    #[test]
    fn some_numbers_are_names() {
        for path in ["id", "order.id", "orderId", "customer_id", "lines[].articleNo", "ID", "Order Number"] {
            assert!(names_a_thing(path), "{path}");
        }
        for path in ["paid", "total", "lines[]", "casino", "quantity", "turkey", "valid"] {
            assert!(!names_a_thing(path), "{path}");
        }
    }
}
