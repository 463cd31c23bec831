//! Picks the items whose answers differ from those of the item before them: the others are only counted, so that most
//! items are looked at where they are, and never copied.

use std::sync::Arc;

use super::path_tree::{Answer, ITEM, PathTree};
use super::plan::Plan;
use super::{KINDS, KNOWN_ITEMS};
use crate::execution::fields::Kind;
use crate::json::{Marks, Pick, hold_name};

/// The most items of a node that are picked for the paths that they have.
const NODE_ITEMS: u64 = 4 * KNOWN_ITEMS;

/// Picks the items that the reader has to look at. All others have the same answers as the one before them.
pub(super) struct Breaks {
    plan: Arc<Plan>,
    /// The node whose items follow, if they are looked at.
    node: Option<String>,
    /// How many more of them are picked for their paths.
    known: u64,
    /// The item that continues the one before it.
    next: (u64, u64),
    /// The answers of the item before it; empty if they are not known.
    last: Vec<Answer>,
    now: Vec<Answer>,
}

impl Breaks {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, node: None, known: 0, next: (0, 0), last: Vec::new(), now: Vec::new() }
    }
}

impl Pick for Breaks {
    fn picks(&mut self, _: u64, _: u64, _: &[u8]) -> bool {
        self.node.is_some()
    }

    fn reads_marks(&self) -> bool {
        true
    }

    fn picks_marked(&mut self, array: u64, index: u64, json: &[u8], marks: Marks<'_>) -> bool {
        let Some(node) = self.node.as_ref().and_then(|node| self.plan.node(node)) else { return false };
        let continues = self.next == (array, index);
        self.next = (array, index + 1);
        std::mem::swap(&mut self.last, &mut self.now);
        self.now.clear();
        self.now.resize(node.paths.leaves(), Answer::MISSING);
        let mut look = Look { json, marks, tree: &node.paths, answers: &mut self.now };
        if look.item().is_none() {
            // Not equal to any other.
            self.now.clear();
        }
        let is_first = index < KNOWN_ITEMS && self.known > 0;
        self.known -= u64::from(is_first);
        is_first || !continues || self.now.is_empty() || self.now != self.last
    }

    fn begin_member(&mut self, name: &str) {
        self.node = Some(hold_name(name)).filter(|name| self.plan.node(name).is_some());
        self.known = NODE_ITEMS;
    }
}

/// Looks for the paths in an item by its marks. It passes over what no path leads to, and gives up, returning `None`, at
/// anything that the slower reader knows better: a name with escapes, and what is not JSON.
struct Look<'a> {
    json: &'a [u8],
    marks: Marks<'a>,
    tree: &'a PathTree,
    answers: &'a mut [Answer],
}

impl Look<'_> {
    fn item(&mut self) -> Option<()> {
        let end = self.value(0, Some(ITEM))?;
        (end == self.json.len()).then_some(())
    }

    /// A value; returns where it ends.
    #[inline]
    fn value(&mut self, start: usize, at: Option<usize>) -> Option<usize> {
        let first = *self.json.get(start)?;
        if let Some(leaf) = at.and_then(|at| self.tree.leaf(at)) {
            self.answers[leaf] = Answer::of_kind(kind(first)? as usize);
        }
        match first {
            b'"' => Some(self.marks.quote(start + 1)? + 1),
            b'{' | b'[' => {
                let object = first == b'{';
                match at.filter(|at| self.tree.enters(*at, object)) {
                    Some(at) if object => self.object(start, at),
                    Some(at) => self.array(start, at),
                    None => self.pass_over(start),
                }
            }
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                Some(start + self.json.get(start..)?.iter().position(ends)?)
            }
        }
    }

    fn object(&mut self, start: usize, at: usize) -> Option<usize> {
        let mut next = self.space(start + 1)?;
        if self.json[next] == b'}' {
            return Some(next + 1);
        }
        loop {
            let end = self.marks.quote(next + 1)?;
            let name = self.json.get(next..end)?.strip_prefix(b"\"")?;
            if name.contains(&b'\\') {
                return None;
            }
            let member = self.tree.member(at, name);
            if let Some(member) = member {
                self.tree.clear(member, self.answers);
            }
            let colon = self.space(end + 1)?;
            let value = self.takes(colon, b':')?;
            let after = self.value(value, member)?;
            next = match self.after(after, b'}')? {
                Part::Next(next) => next,
                Part::End(end) => return Some(end),
            };
        }
    }

    fn array(&mut self, start: usize, at: usize) -> Option<usize> {
        let mut next = self.space(start + 1)?;
        if self.json[next] == b']' {
            return Some(next + 1);
        }
        let mut index = 0;
        loop {
            let after = self.value(next, self.tree.element(at, index))?;
            index += 1;
            next = match self.after(after, b']')? {
                Part::Next(next) => next,
                Part::End(end) => return Some(end),
            };
        }
    }

    /// What follows a member or an element.
    #[inline]
    fn after(&self, end: usize, bracket: u8) -> Option<Part> {
        let end = self.space(end)?;
        if self.json[end] == bracket { Some(Part::End(end + 1)) } else { self.takes(end, b',').map(Part::Next) }
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

    /// Where a container ends.
    fn pass_over(&self, start: usize) -> Option<usize> {
        let (mut at, mut open) = (start, 0_usize);
        loop {
            match *self.json.get(at)? {
                b'{' | b'[' => open += 1,
                _ => open -= 1,
            }
            if open == 0 {
                return Some(at + 1);
            }
            at = self.marks.bracket(at + 1)?;
        }
    }
}

/// What follows a member or an element.
enum Part {
    /// Another one begins here.
    Next(usize),
    /// The container ends here.
    End(usize),
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
