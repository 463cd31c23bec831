//! Expressions and code that were read: most of them are the same before and after an edit.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::expression::{ParameterText, Scanned, Syntax, scan};

/// What was read, by the text.
#[derive(Default)]
pub(super) struct Scans<'t>(HashMap<(&'t str, Syntax), Rc<Scanned>>);

impl<'t> Scans<'t> {
    /// Reads a text, unless it was read.
    pub(super) fn scan(&mut self, text: &'t ParameterText, syntax: Syntax) -> Rc<Scanned> {
        let known = self.0.entry((&text.text, syntax)).or_insert_with(|| Rc::new(scan(&text.text, syntax)));
        Rc::clone(known)
    }
}
