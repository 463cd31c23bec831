//! Expressions and code that were read: most of them are the same before and after an edit.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ptr;
use std::rc::Rc;

use super::super::expression::{ParameterText, Scanned, Syntax, scan};

/// What was read.
#[derive(Default)]
pub(super) struct Scans<'t>(HashMap<Place<'t>, Rc<Scanned>>);

/// A text, known by where it is, which is faster than hashing it: nodes that an edit did not change are shared.
struct Place<'t>(&'t ParameterText);

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Place<'_> {}

impl Hash for Place<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::from_ref(self.0).hash(state);
    }
}

impl<'t> Scans<'t> {
    /// Reads a text, unless it was read.
    pub(super) fn scan(&mut self, text: &'t ParameterText, syntax: Syntax) -> Rc<Scanned> {
        let known = self.0.entry(Place(text)).or_insert_with(|| Rc::new(scan(&text.text, syntax)));
        Rc::clone(known)
    }
}
