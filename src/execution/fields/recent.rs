//! Recent strings: finding the pattern of a long one takes longer than finding the string itself.

use crate::json::Written;

/// How many strings are held.
const STRINGS: usize = 16;

/// A longer string is not held, bytes.
const STRING_BYTES: usize = 200;

/// The last strings of a path, with the groups of their patterns.
#[derive(Debug, Default)]
pub(super) struct Recent {
    fingerprints: [u64; STRINGS],
    strings: Vec<(Vec<u8>, Option<usize>)>,
    /// The index of the string to replace next.
    next: usize,
}

impl Recent {
    /// The group of a string's pattern, if the string is known.
    pub(super) fn find(&self, written: Written<'_>) -> Option<Option<usize>> {
        let fingerprint = written.fingerprint();
        let at = self.fingerprints.iter().position(|known| *known == fingerprint)?;
        let (bytes, group) = self.strings.get(at)?;
        written.is(bytes).then_some(*group)
    }

    /// Holds a string, in place of another one.
    pub(super) fn add(&mut self, written: Written<'_>, group: Option<usize>) {
        if written.bytes.len() > STRING_BYTES {
            return;
        }
        self.fingerprints[self.next] = written.fingerprint();
        let string = (written.bytes.to_vec(), group);
        match self.strings.get_mut(self.next) {
            Some(known) => *known = string,
            None => self.strings.push(string),
        }
        self.next = (self.next + 1) % STRINGS;
    }
}
