//! Expressions and code that were read: most of them are the same before and after an edit.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use super::super::expression::{ParameterText, Scanned, Syntax, scan};

/// What was read, by the text: its hash and its length.
#[derive(Default)]
pub(super) struct Scans {
    hashes: RandomState,
    known: HashMap<(u64, usize, Syntax), Rc<Scanned>>,
}

impl Scans {
    /// Reads a text, unless it was read.
    pub(super) fn scan(&mut self, text: &ParameterText, syntax: Syntax) -> Rc<Scanned> {
        let key = (self.hashes.hash_one(&text.text), text.text.len(), syntax);
        let known = self.known.entry(key).or_insert_with(|| Rc::new(scan(&text.text, syntax)));
        Rc::clone(known)
    }
}
