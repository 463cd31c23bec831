//! Picks the items whose answers differ from those of the item before them: the others are only counted, so that most
//! items are examined in place, and never copied.

use std::sync::Arc;

use super::events::Text;
use super::path_tree::{ITEM, KindAtPath, PathTree};
use super::plan::Plan;
use super::{KINDS, KNOWN_ITEMS};
use crate::execution::fields::Kind;
use crate::json::{Marks, Pick, begins_with, hold_name};

/// The maximum number of items of a node picked for the paths that they have.
const NODE_ITEMS: u64 = 4 * KNOWN_ITEMS;

/// Picks the items that the reader must examine. All others have the same answers as the one before them.
pub(super) struct Breaks {
    plan: Arc<Plan>,
    /// The node whose items follow, if they are examined.
    node: Option<usize>,
    /// How many more of them are picked for their paths.
    known: u64,
    /// The item that continues the one before it.
    next: (u64, u64),
    /// The answers of the item before it; empty if they are not known.
    last: Vec<KindAtPath>,
    now: Vec<KindAtPath>,
    /// The layout of each object when it was last written, by its place in the tree.
    layouts: Vec<Layout>,
}

impl Breaks {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, node: None, known: 0, next: (0, 0), last: Vec::new(), now: Vec::new(), layouts: Vec::new() }
    }

    /// Whether the reader must examine the item with the answers of now.
    fn differs(&mut self, array: u64, index: u64) -> bool {
        let continues = self.next == (array, index);
        self.next = (array, index + 1);
        let is_first = index < KNOWN_ITEMS && self.known > 0;
        self.known -= u64::from(is_first);
        let differs = is_first || !continues || self.now.is_empty() || self.now != self.last;
        std::mem::swap(&mut self.last, &mut self.now);
        differs
    }
}

impl Pick for Breaks {
    fn picks(&mut self, array: u64, index: u64, _: &[u8]) -> bool {
        // Not equal to any other.
        self.now.clear();
        self.node.is_some() && self.differs(array, index)
    }

    fn reads_marks(&self) -> bool {
        true
    }

    fn looks_at(&mut self, array: u64, index: u64, text: &[u8], marks: Marks<'_>) -> Option<(usize, bool)> {
        let Some(node) = self.node.and_then(|node| self.plan.node_at(node)) else {
            return Some((marks.end(0)?, false));
        };
        self.now.clear();
        self.now.resize(node.paths.leaves(), KindAtPath::MISSING);
        let Self { now: answers, layouts, .. } = self;
        let end = Look { json: text, marks, tree: &node.paths, answers, layouts }.item()?;
        Some((end, self.differs(array, index)))
    }

    fn begin_member(&mut self, name: &str) {
        self.node = self.plan.index_of(&hold_name(name));
        self.known = NODE_ITEMS;
        let tree_nodes = self.node.and_then(|node| self.plan.node_at(node)).map_or(0, |node| node.paths.tree_nodes());
        self.layouts.clear();
        self.layouts.resize_with(tree_nodes, Layout::default);
    }
}

/// How an object was written in the item before: items are similar, so most names need not be read.
#[derive(Default)]
struct Layout(Vec<Member>);

/// A member, with where its value is in the tree.
struct Member {
    /// Its raw text up to the colon, from the brace or the comma before it.
    lead: Vec<u8>,
    at: Option<usize>,
}

impl Layout {
    /// The maximum number of members, and of bytes before a value.
    const MEMBERS: usize = 64;
    const LEAD_BYTES: usize = 64;

    /// Notes that this member was found in place of the expected one; returns which is expected after it.
    fn note(&mut self, expected: usize, lead: &[u8], at: Option<usize>) -> usize {
        if let Some(known) = self.0.iter().position(|member| member.lead == lead) {
            return known + 1;
        }
        if self.0.len() < Self::MEMBERS && lead.len() <= Self::LEAD_BYTES {
            self.0.insert(expected.min(self.0.len()), Member { lead: lead.to_vec(), at });
        }
        expected + 1
    }
}

/// Finds the paths in an item by its marks, and skips everything else. It returns `None` where the slower reader is needed:
/// at a name with escapes, or at invalid JSON.
struct Look<'a> {
    json: &'a [u8],
    marks: Marks<'a>,
    tree: &'a PathTree,
    answers: &'a mut [KindAtPath],
    layouts: &'a mut [Layout],
}

impl Look<'_> {
    /// Returns where the item ends.
    fn item(&mut self) -> Option<usize> {
        if self.json.first() == Some(&b'{') { self.object(0, ITEM) } else { self.other(0) }
    }

    /// A value that is looked for, or leads to one; returns where it ends.
    fn value(&mut self, start: usize, at: usize) -> Option<usize> {
        let first = *self.json.get(start)?;
        // Of several members with one name the last one counts.
        if self.tree.enters(at, true) || self.tree.enters(at, false) {
            self.tree.clear(at, self.answers);
        }
        if let Some(leaf) = self.tree.leaf(at) {
            self.answers[leaf] = KindAtPath::of_kind(kind(first)? as usize);
        }
        match first {
            b'{' if self.tree.enters(at, true) => self.object(start, at),
            b'[' if self.tree.enters(at, false) => self.array(start, at),
            b'"' if self.tree.enters(at, false) => {
                let end = self.other(start)?;
                let length = Text::Written(&self.json[start + 1..end - 1]).length();
                self.tree.characters(at, length, self.answers);
                Some(end)
            }
            _ => self.other(start),
        }
    }

    /// A value in which nothing is looked for; returns where it ends.
    #[inline(always)]
    fn other(&mut self, start: usize) -> Option<usize> {
        let end = match *self.json.get(start)? {
            b'"' => self.marks.quote(start + 1)? + 1,
            b'{' | b'[' => self.marks.end(start)?,
            _ => start + scalar_len(&self.json[start..])?,
        };
        // The marks go on after the item.
        (end <= self.json.len()).then_some(end)
    }

    fn object(&mut self, start: usize, at: usize) -> Option<usize> {
        let (mut from, mut expected) = (start, 0);
        loop {
            let known = self.layouts[at].0.get(expected);
            let (value, member) = match known.filter(|known| begins_with(&self.json[from..], &known.lead)) {
                Some(known) => {
                    expected += 1;
                    (self.space(from + known.lead.len())?, known.at)
                }
                None => match self.member(from, at, &mut expected)? {
                    Part::Next(found) => found,
                    Part::End(end) => return Some(end),
                },
            };
            from = match member {
                None => self.other(value)?,
                Some(member) => self.value(value, member)?,
            };
        }
    }

    /// A member other than the expected one, from the brace or the end of the value before it: where its value begins, and where
    /// that is in the tree.
    fn member(&mut self, from: usize, at: usize, expected: &mut usize) -> Option<Part<(usize, Option<usize>)>> {
        let lead = if *expected == 0 {
            let first = self.space(from + 1)?;
            if self.json[first] == b'}' {
                return Some(Part::End(first + 1));
            }
            from
        } else {
            let end = self.space(from)?;
            match self.json[end] {
                b'}' => return Some(Part::End(end + 1)),
                b',' => end,
                _ => return None,
            }
        };
        let start = self.space(lead + 1)?;
        let end = self.marks.quote(start + 1)?;
        let name = self.json.get(start..end)?.strip_prefix(b"\"")?;
        if name.contains(&b'\\') {
            return None;
        }
        let member = self.tree.member(at, name);
        let colon = self.space(end + 1)?;
        let value = self.takes(colon, b':')?;
        *expected = self.layouts[at].note(*expected, &self.json[lead..=colon], member);
        Some(Part::Next((value, member)))
    }

    fn array(&mut self, start: usize, at: usize) -> Option<usize> {
        let mut next = self.space(start + 1)?;
        if self.json[next] == b']' {
            return Some(next + 1);
        }
        let mut index = 0;
        loop {
            let after = match self.tree.element(at, index) {
                None => self.other(next)?,
                Some(element) => self.value(next, element)?,
            };
            index += 1;
            let end = self.space(after)?;
            if self.json[end] == b']' {
                return Some(end + 1);
            }
            next = self.takes(end, b',')?;
        }
    }

    /// Where the next token is, after this byte.
    #[inline]
    fn takes(&self, at: usize, byte: u8) -> Option<usize> {
        if self.json[at] == byte { self.space(at + 1) } else { None }
    }

    /// Where the next token is, from here on.
    #[inline]
    fn space(&self, mut at: usize) -> Option<usize> {
        while *self.json.get(at)? <= b' ' {
            at += 1;
        }
        Some(at)
    }
}

/// What follows in an object.
enum Part<T> {
    /// Another member.
    Next(T),
    /// Its end, which is here.
    End(usize),
}

/// The length of a number or a literal: up to white space, a comma or a bracket.
#[inline]
fn scalar_len(text: &[u8]) -> Option<usize> {
    /// A word that consists of this byte only.
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let mut len = 0;
    while let Some(word) = text.get(len..)?.first_chunk() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of the first byte that is below `-`, except `+`, or is `]` or `}`; and perhaps of later ones.
        let below = |limit: u8| word.wrapping_sub(each(limit)) & !word;
        let ends = (word | each(0x20)) ^ each(b'}');
        let ends = (below(b'-') | (ends.wrapping_sub(each(1)) & !ends)) & each(0x80);
        if ends == 0 {
            len += 8;
            continue;
        }
        len += ends.trailing_zeros() as usize / 8;
        if text[len] != b'+' {
            return Some(len);
        }
        len += 1;
    }
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    Some(len + text.get(len..)?.iter().position(ends)?)
}

/// The kind of a value, by its first byte.
fn kind(first: u8) -> Option<Kind> {
    Some(match first {
        b'n' => Kind::Null,
        b't' | b'f' => Kind::Boolean,
        b'-' | b'0'..=b'9' => Kind::Number,
        b'"' => Kind::String,
        b'[' => Kind::Array,
        b'{' => Kind::Object,
        _ => return None,
    })
}

const _: () = assert!(KINDS.len() == Kind::Object as usize + 1);
