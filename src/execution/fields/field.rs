//! What is known of the values with one path.

use super::dates::Dates;
use super::item_set::{ItemSet, NumberedPlace};
use super::known::Known;
use super::outlier::{Groups, Outlier, few};
use super::pattern::{write_ascii_pattern, write_pattern};
use super::recent::Recent;
use super::repeated::{MAX_REPEATED, Names, Room};
use super::table::PathValues;
use super::{NodePlace, TOLD_VALUES};
use crate::json::{Written, well_formed};

/// The maximum number of different values counted one by one.
const DISTINCT: usize = 64;

/// The maximum number of values, patterns or lengths that an outlier can differ from.
const OUTLIER_GROUPS: usize = 12;

/// Longer strings are not compared with others, bytes.
pub(super) const VALUE_BYTES: usize = 64;

/// Longer strings have no pattern, bytes.
const PATTERN_BYTES: usize = 200;

/// A whole number with at most this many digits is exact as a floating-point number.
const EXACT_DIGITS: usize = 15;

/// The maximum number of characters held of a value.
const SHOWN_CHARS: usize = 80;

/// The kinds of JSON values, in the order of their counts.
pub const KINDS: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// A kind of value, an index of [`KINDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::execution) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The kind of a number or a literal.
    pub(in crate::execution) fn of_scalar(json: Written<'_>) -> Self {
        match json.bytes.first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Boolean,
            _ => Self::Number,
        }
    }

    /// The kind of a container.
    pub(in crate::execution) fn of_container(object: bool) -> Self {
        if object { Self::Object } else { Self::Array }
    }
}

/// A string as shown: as JSON, shortened.
pub(in crate::execution) fn shown_text(text: &str) -> String {
    serde_json::Value::from(crate::json::shorten(text, SHOWN_CHARS)).to_string()
}

/// A container as shown: as JSON, or the beginning of its JSON as a string.
pub(in crate::execution) fn shown_container(json: &[u8]) -> String {
    let json = well_formed(json);
    if json.chars().nth(SHOWN_CHARS).is_none() { json.into_owned() } else { shown_text(&json) }
}

/// The smallest and the largest of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Both; `None` if there was no number.
    pub both: Option<(f64, f64)>,
}

impl Range {
    /// Adds a number, unless its whole part shows that it is within the range.
    fn add_written(&mut self, json: Written<'_>) {
        if !self.contains(json.bytes)
            && let Some(number) = json.text().parse().ok().filter(|number: &f64| number.is_finite())
        {
            self.add(number);
        }
    }

    /// Whether the whole part of a number, which is parsed faster than all of it, shows that it is within the range.
    fn contains(&self, json: &[u8]) -> bool {
        let Some((least, most)) = self.both else { return false };
        let digits = json.strip_prefix(b"-").unwrap_or(json);
        let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (whole, rest) = digits.split_at(len);
        if len > EXACT_DIGITS || rest.iter().any(|byte| matches!(byte, b'e' | b'E')) {
            return false;
        }
        let whole = whole.iter().fold(0, |whole, digit| whole * 10 + u64::from(digit - b'0'));
        let (from, to) = (whole as f64, (whole + u64::from(!rest.is_empty())) as f64);
        let (from, to) = if digits.len() < json.len() { (-to, -from) } else { (from, to) };
        least <= from && to <= most
    }

    fn add(&mut self, number: f64) {
        self.both = Some(self.both.map_or((number, number), |(least, most)| (least.min(number), most.max(number))));
    }
}

/// A short value.
#[derive(Debug)]
pub(super) struct ShortValue {
    kind: Kind,
    text: String,
    /// Its raw text where it first occurred, if that has escapes.
    written: Option<Box<[u8]>>,
    /// The group of a string's pattern.
    pattern: Option<usize>,
}

impl ShortValue {
    fn new(kind: Kind, text: &str, written: Written<'_>, pattern: Option<usize>) -> Self {
        let is_escaped = !written.is(text.as_bytes()) && written.bytes.len() <= VALUE_BYTES;
        Self { kind, text: text.to_owned(), written: is_escaped.then(|| written.bytes.into()), pattern }
    }

    fn is(&self, kind: Kind, written: Written<'_>) -> bool {
        self.kind == kind && written.is(self.written.as_deref().unwrap_or(self.text.as_bytes()))
    }
}

/// What is wanted of the values with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::execution) enum Wanted {
    /// All that the fields of a node show.
    All,
    /// What the outliers and the splits of all nodes show: no names of what is inside an item.
    Outliers,
    /// What a description shows: no outliers except a rare kind, no lengths, no more than 12 values, and no names of what is
    /// inside an item.
    Described,
}

impl Wanted {
    fn has_outliers(self) -> bool {
        self != Self::Described
    }

    fn has_names_of(self, path: &str) -> bool {
        self == Self::All || !path.contains('.')
    }
}

/// What the paths of a node share.
#[derive(Debug)]
pub(in crate::execution) struct SharedByPaths {
    wanted: Wanted,
    room: Room,
}

impl SharedByPaths {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self { wanted, room: Room::default() }
    }
}

/// The values with one path.
#[derive(Debug)]
pub(super) struct Field {
    wanted: Wanted,
    /// The kind of all values, as long as it is the only one: its group gets its count at the end.
    only_kind: Option<Kind>,
    pub kinds: Groups<Kind>,
    /// How many of the objects that might have this member have it.
    pub present: u64,
    /// The first object without it.
    pub first_absent: Option<NodePlace>,
    /// The items that have it.
    pub items: ItemSet,
    /// How many values are strings, arrays or objects with nothing in them, and the items that have one.
    pub empty: u64,
    pub empty_items: ItemSet,
    /// The first of them, and the first value with something in it.
    pub first_empty: Option<NodePlace>,
    pub first_filled: Option<NodePlace>,
    /// How many strings are written like numbers.
    pub numeric_texts: u64,
    /// How many strings are written like a JSON object or array.
    pub json_texts: u64,
    pub dates: Dates,
    /// Which values occur more than once, if they name things.
    pub names: Names,
    pub numbers: Range,
    pub lengths: Range,
    pub values: Groups<ShortValue>,
    /// The groups of known values.
    known: Known,
    pub patterns: Groups<Vec<u8>>,
    pub array_lengths: Groups<u64>,
    /// The first value that is neither null nor a container.
    pub example: Option<String>,
    /// The pattern of the last string; its memory is used again.
    pattern: Vec<u8>,
    /// Recent strings, which are found faster than their patterns. Boxed, since few paths have them.
    recent: Option<Box<Recent>>,
}

impl PathValues for Field {
    type Shared = SharedByPaths;

    fn new(path: &str, first_absent: Option<NodePlace>, shared: &SharedByPaths) -> Self {
        let has_outliers = shared.wanted.has_outliers();
        let most_repeated = if has_outliers { MAX_REPEATED } else { 1 };
        Self {
            wanted: shared.wanted,
            only_kind: None,
            kinds: Groups::new(KINDS.len()),
            present: 0,
            first_absent,
            items: ItemSet::default(),
            empty: 0,
            empty_items: ItemSet::default(),
            first_empty: None,
            first_filled: None,
            numeric_texts: 0,
            json_texts: 0,
            dates: Dates::default(),
            names: Names::new(path, shared.wanted.has_names_of(path), most_repeated, &shared.room),
            numbers: Range::default(),
            lengths: Range::default(),
            values: Groups::new(if has_outliers { DISTINCT } else { TOLD_VALUES }),
            known: Known::default(),
            patterns: if has_outliers { Groups::new(OUTLIER_GROUPS) } else { Groups::full() },
            array_lengths: if has_outliers { Groups::new(OUTLIER_GROUPS) } else { Groups::full() },
            example: None,
            pattern: Vec::new(),
            recent: None,
        }
    }

    fn scalar(&mut self, written: Written<'_>, place: &NumberedPlace) {
        let (kind, shown) = (Kind::of_scalar(written), || written.text().into_owned());
        self.count(kind, place, shown);
        if kind == Kind::Number {
            self.names.number(written, place);
        }
        if self.is_known(kind, written, place) {
            return;
        }
        self.first_filled.get_or_insert(place.place);
        if kind == Kind::Number {
            self.numbers.add_written(written);
        }
        if kind != Kind::Null {
            self.value(kind, written, None, place, shown);
        }
    }

    fn string(&mut self, written: Written<'_>, place: &NumberedPlace) {
        let shown = || shown_text(&written.text());
        self.count(Kind::String, place, shown);
        self.note_text(written, place);
        if self.is_known(Kind::String, written, place) {
            return;
        }
        self.dates.add(written);
        self.add_length(written);
        let group = self.add_pattern(written, place, shown);
        self.value(Kind::String, written, group, place, shown);
    }

    fn container(&mut self, object: bool, parts: u64, json: &[u8], place: &NumberedPlace) {
        let kind = Kind::of_container(object);
        let shown = || shown_container(json);
        self.count(kind, place, shown);
        self.note_size(parts == 0, place);
        if !object && self.wanted.has_outliers() {
            self.lengths.add(parts as f64);
            self.array_lengths.add(|known| *known == parts, || parts, place, shown);
        }
    }

    fn absent(&mut self, place: NodePlace) {
        self.first_absent.get_or_insert(place);
    }

    fn present(&self) -> u64 {
        self.present
    }

    fn last_item(&self) -> u64 {
        self.items.last()
    }

    fn end(&mut self) {
        self.count_only_kind();
        self.count_patterns();
    }
}

impl Field {
    /// Counts the values of the only kind.
    fn count_only_kind(&mut self) {
        if self.only_kind.is_some() {
            self.kinds.set_only(self.present, self.items);
        }
    }

    /// Counts a value of this kind.
    #[inline]
    fn count(&mut self, kind: Kind, place: &NumberedPlace, shown: impl FnOnce() -> String) {
        if self.only_kind != Some(kind) {
            self.count_kind(kind, place, shown);
        }
        self.present += 1;
        self.items.add(place);
    }

    /// Counts a value of the first kind, or of one of several.
    #[inline(never)]
    fn count_kind(&mut self, kind: Kind, place: &NumberedPlace, shown: impl FnOnce() -> String) {
        // What was counted of the only kind so far.
        self.count_only_kind();
        self.only_kind = (self.present == 0).then_some(kind);
        self.kinds.add(|known| *known == kind, || kind, place, shown);
    }

    /// Adds the length of a string, unless its bytes show that it is within the range.
    fn add_length(&mut self, written: Written<'_>) {
        if !self.wanted.has_outliers() {
            return;
        }
        let (fewest, most) = written.chars_between();
        let is_within =
            self.lengths.both.is_some_and(|(least, longest)| least <= fewest as f64 && most as f64 <= longest);
        if !is_within {
            self.lengths.add(written.chars() as f64);
        }
    }

    /// Notes what the value of a string alone does not show.
    #[inline]
    fn note_text(&mut self, written: Written<'_>, place: &NumberedPlace) {
        self.note_size(written.bytes.is_empty(), place);
        self.numeric_texts += u64::from(is_numeric(written.bytes));
        self.json_texts += u64::from(is_json_container(written.bytes));
        self.names.text(written, place);
    }

    /// Notes whether a value has nothing in it.
    #[inline]
    fn note_size(&mut self, is_empty: bool, place: &NumberedPlace) {
        if is_empty {
            self.empty += 1;
            self.empty_items.add(place);
        }
        (if is_empty { &mut self.first_empty } else { &mut self.first_filled }).get_or_insert(place.place);
    }

    /// The first value, if there is any.
    pub(super) fn first_present(&self) -> Option<NodePlace> {
        self.first_empty.into_iter().chain(self.first_filled).min_by_key(|place| (place.run, place.output, place.item))
    }

    /// Counts a value that occurred before: its place among the numbers, lengths and patterns is known, and its pattern is
    /// [counted later](Self::count_patterns).
    fn is_known(&mut self, kind: Kind, written: Written<'_>, place: &NumberedPlace) -> bool {
        if written.bytes.len() > VALUE_BYTES || self.values.is_full() {
            return false;
        }
        let is = |group| self.values.key(group).is_some_and(|known| known.is(kind, written));
        let Some(group) = self.known.find(written, is) else { return false };
        self.values.count(Some(group), place);
        true
    }

    /// Counts a string by its pattern; returns the group of the pattern, if there is one.
    fn add_pattern(
        &mut self,
        written: Written<'_>,
        place: &NumberedPlace,
        shown: impl Fn() -> String,
    ) -> Option<usize> {
        if self.patterns.is_full() {
            return None;
        }
        self.pattern.clear();
        if written.bytes.len() <= PATTERN_BYTES && written.is_plain_ascii() {
            write_ascii_pattern(written.bytes, &mut self.pattern);
            return self.add_written_pattern(place, shown);
        }
        let recent = self.recent.get_or_insert_default();
        if let Some(group) = recent.find(written) {
            self.patterns.count(group, place);
            return group;
        }
        let Some(text) = written.text_within(PATTERN_BYTES) else {
            self.patterns.overflow();
            return None;
        };
        write_pattern(&text, &mut self.pattern);
        let group = self.add_written_pattern(place, shown);
        self.recent.get_or_insert_default().add(written, group);
        group
    }

    /// Counts the pattern that was written last.
    fn add_written_pattern(&mut self, place: &NumberedPlace, shown: impl Fn() -> String) -> Option<usize> {
        let pattern = &self.pattern;
        self.patterns.add(|known| known == pattern, || pattern.clone(), place, shown)
    }

    fn value(
        &mut self,
        kind: Kind,
        written: Written<'_>,
        pattern: Option<usize>,
        place: &NumberedPlace,
        shown: impl Fn() -> String,
    ) {
        if self.example.is_none() {
            self.example = Some(shown());
        }
        if self.values.is_full() {
            return;
        }
        let Some(text) = written.text_within(VALUE_BYTES) else { return self.drop_values() };
        let is = |known: &ShortValue| known.kind == kind && known.text == *text;
        if self.values.has_no_room() && self.values.find(is).is_none() {
            return self.drop_values();
        }
        let before = self.values.len();
        self.values.add(is, || ShortValue::new(kind, &text, written, pattern), place, shown);
        if self.values.len() > before {
            self.known.add(written, before);
        }
    }

    /// Stops counting values one by one.
    fn drop_values(&mut self) {
        self.count_patterns();
        self.values.overflow();
    }

    /// Counts the patterns of all values but the first with each text, which was counted with its pattern.
    fn count_patterns(&mut self) {
        for (value, group) in self.values.iter() {
            self.patterns.count_more(value.pattern, group.count - 1);
        }
    }

    /// The first value that differs from almost all others, if wanted; `objects` is how many might have it.
    pub(super) fn outlier(&self, objects: u64) -> Option<Outlier> {
        if !self.wanted.has_outliers() {
            return None;
        }
        let by_kind = self.kinds.outlier();
        by_kind
            .or_else(|| self.presence(objects))
            .or_else(|| self.values.outlier().filter(|_| self.values.len() <= OUTLIER_GROUPS))
            .or_else(|| self.patterns.outlier())
            .or_else(|| self.array_lengths.outlier())
    }

    /// The first value of the rarest kind, if there are several; of equally rare kinds, the later one.
    pub(super) fn rarest_kind(&self) -> Option<Outlier> {
        let groups = || self.kinds.iter().map(|(_, group)| group);
        groups().rev().min_by_key(|group| group.count).filter(|_| groups().count() > 1).map(|group| group.outlier())
    }

    fn presence(&self, objects: u64) -> Option<Outlier> {
        let absent = objects.saturating_sub(self.present);
        if few(absent, objects) {
            return self.first_absent.map(|place| Outlier { place, value: None });
        }
        if few(self.present, objects) { self.kinds.first() } else { None }
    }
}

/// Whether a string is written like a number: `12`, `-3.50`. With a leading zero, it is a code.
fn is_numeric(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // Most strings are ruled out by their first character.
    if !digits.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let is_code = digits[0] == b'0' && digits.get(1).is_some_and(u8::is_ascii_digit);
    !is_code && parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

/// Whether a string is written like a JSON object or array, judged by its ends alone.
fn is_json_container(text: &[u8]) -> bool {
    matches!((text.first(), text.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))) && text.len() > 2
}
