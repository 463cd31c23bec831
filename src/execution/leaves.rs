//! The values of a JSON text that are not containers, each with its path and a fingerprint.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::values::Path;
use crate::json::{FaultKind, Visitor, WALKED_LEVELS, Written, walk};

/// A value that is not a container, or an empty container.
pub(super) struct Leaf<'a> {
    pub path: &'a str,
    pub kind: u8,
    /// The text of a string, else JSON.
    pub bytes: &'a [u8],
    /// A fingerprint of the value, its path and its places in arrays.
    pub hash: u64,
}

/// A fingerprint of a JSON value by what it says: neither the order of members nor the escapes in texts matter.
pub(super) fn fingerprint(json: &[u8]) -> Result<u64, FaultKind> {
    let mut sum = 0_u64;
    each_leaf(json, |leaf| sum = sum.wrapping_add(leaf.hash))?;
    Ok(sum)
}

/// Passes to `each` every value that is not a container, or an empty container.
pub(super) fn each_leaf(json: &[u8], each: impl FnMut(Leaf<'_>)) -> Result<(), FaultKind> {
    let mut walker = Walker { path: Path::default(), places: Vec::new(), each };
    walker.path.begin("");
    walk(json, &mut walker)
}

struct Walker<E> {
    path: Path,
    /// The index of the next element of each open container; `None` for an object.
    places: Vec<Option<u64>>,
    each: E,
}

impl<E: FnMut(Leaf<'_>)> Walker<E> {
    fn leaf(&mut self, kind: u8, bytes: &[u8]) {
        let path = self.path.as_str();
        let hash = hash(&(path, &self.places, kind, bytes));
        (self.each)(Leaf { path, kind, bytes, hash });
    }

    /// The next element of the array follows.
    fn advance(&mut self) {
        if let Some(Some(place)) = self.places.last_mut() {
            *place += 1;
        }
    }
}

pub(super) const SCALAR: u8 = 0;
pub(super) const STRING: u8 = 1;
pub(super) const CONTAINER: u8 = 2;

impl<E: FnMut(Leaf<'_>)> Visitor for Walker<E> {
    fn open(&mut self, object: bool) {
        self.path.open(object);
        self.places.push((!object).then_some(0));
    }

    fn name(&mut self, name: Written<'_>) {
        self.path.name(name);
    }

    fn string(&mut self, text: Written<'_>) {
        let text = text.text();
        self.leaf(STRING, text.as_bytes());
        self.advance();
    }

    fn scalar(&mut self, json: Written<'_>) {
        self.leaf(SCALAR, json.bytes);
        self.advance();
    }

    fn close(&mut self, parts: u64, json: &[u8]) {
        self.path.close();
        self.places.pop();
        // The parts of a container that is nested too deep were not visited.
        if parts == 0 || self.places.len() == WALKED_LEVELS {
            let json: Vec<_> = json.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            self.leaf(CONTAINER, &json);
        }
        self.advance();
    }
}

pub(super) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
