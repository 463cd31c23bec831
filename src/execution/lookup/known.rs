//! The paths that the first items of a list have, to suggest the intended one for a path that no item has.

use super::events::Events;
use super::{KNOWN_ITEMS, Step};
use crate::execution::fields::Kind;

/// The maximum number of known paths of a list.
const PATHS: usize = 400;

/// Longer names are ignored, bytes.
const NAME_BYTES: usize = 200;

/// Deeper values are ignored.
const LEVELS: usize = 16;

/// A value of an item, an index of [`KnownPaths`].
pub(super) const JSON: usize = 0;

/// The paths that items have.
#[derive(Debug, Default)]
pub(super) struct KnownPaths {
    /// The first one is the item's `json`.
    places: Vec<Known>,
    /// How many items were examined.
    items: u64,
    /// The memory that they take, an estimate.
    pub(super) bytes: usize,
}

/// A value of an item.
#[derive(Debug)]
pub(super) struct Known {
    /// The place of the container that it is in.
    parent: usize,
    /// The name of a member; `None` for the elements of an array.
    pub(super) name: Option<String>,
    pub(super) parts: Vec<usize>,
    /// Whether something may be below it: it is a container, or `null` in place of one.
    pub(super) leads_on: bool,
}

impl KnownPaths {
    /// Whether another item is of interest.
    pub(super) fn takes_more(&self) -> bool {
        self.items < KNOWN_ITEMS && self.places.len() < PATHS
    }

    /// Takes the paths of another item.
    pub(super) fn item(&mut self) -> KnownItem<'_> {
        self.items += 1;
        if self.places.is_empty() {
            self.add(JSON, None);
        }
        KnownItem { known: self, open: Vec::new(), next: None }
    }

    /// A value.
    pub(super) fn place(&self, at: usize) -> Option<&Known> {
        self.places.get(at)
    }

    /// All values, each after its container.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, &Known)> {
        self.places.iter().enumerate().skip(1)
    }

    /// The steps to a value; `None` for the element of an array.
    pub(super) fn path(&self, at: usize) -> Vec<Option<&str>> {
        let mut path: Vec<_> = std::iter::successors(Some(at), |at| Some(self.places.get(*at)?.parent))
            .take_while(|at| *at != JSON)
            .map(|at| self.places[at].name.as_deref())
            .collect();
        path.reverse();
        path
    }

    /// Where a step leads from a value.
    pub(super) fn next(&self, at: usize, step: &Step) -> Option<usize> {
        self.part(at, if let Step::Name(name) = step { Some(name) } else { None })
    }

    fn part(&self, at: usize, name: Option<&str>) -> Option<usize> {
        self.places.get(at)?.parts.iter().copied().find(|part| self.places[*part].name.as_deref() == name)
    }

    /// The member, or the elements, of a container; new ones if there is room.
    fn part_or_new(&mut self, at: usize, name: Option<&str>) -> Option<usize> {
        let is_known = self.part(at, name);
        let has_room = self.places.len() < PATHS && name.is_none_or(|name| name.len() <= NAME_BYTES);
        is_known.or_else(|| has_room.then(|| self.add(at, name.map(str::to_owned))))
    }

    fn add(&mut self, parent: usize, name: Option<String>) -> usize {
        let new = self.places.len();
        self.bytes += size_of::<Known>() + 2 * size_of::<usize>() + name.as_ref().map_or(0, String::len);
        self.places.push(Known { parent, name, parts: Vec::new(), leads_on: false });
        if new > JSON {
            self.places[parent].parts.push(new);
        }
        new
    }
}

/// Takes the paths of an item.
pub(super) struct KnownItem<'k> {
    known: &'k mut KnownPaths,
    /// The containers that are open; the first one is the item.
    open: Vec<Open>,
    /// The place of the value of the member that was named last.
    next: Option<usize>,
}

#[derive(Clone, Copy)]
struct Open {
    at: usize,
    object: bool,
}

impl KnownItem<'_> {
    /// The place of the value that begins; `None` if it is not known.
    fn value(&mut self) -> Option<usize> {
        match self.open.last().copied() {
            Some(Open { at, object: false }) => self.known.part_or_new(at, None),
            _ => self.next.take(),
        }
    }

    /// Something may be below this value.
    fn leads_on(&mut self, at: Option<usize>) {
        if let Some(place) = at.and_then(|at| self.known.places.get_mut(at)) {
            place.leads_on = true;
        }
    }
}

impl Events for KnownItem<'_> {
    fn open(&mut self, object: bool) -> bool {
        let at = if self.open.is_empty() { object.then_some(JSON) } else { self.value() };
        self.leads_on(at);
        let at = at.filter(|_| self.open.len() < LEVELS);
        self.open.extend(at.map(|at| Open { at, object }));
        at.is_some()
    }

    fn name(&mut self, name: &str) {
        self.next = match self.open[..] {
            [_] => (name == "json").then_some(JSON),
            [.., Open { at, .. }] => self.known.part_or_new(at, Some(name)),
            [] => None,
        };
    }

    fn scalar(&mut self, kind: Kind) {
        let at = self.value();
        self.leads_on(at.filter(|_| kind == Kind::Null));
    }

    fn close(&mut self) {
        self.open.pop();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::execution::lookup::events;

    /// The paths of items.
    pub(in crate::execution::lookup) fn known(items: &[&str]) -> KnownPaths {
        let mut known = KnownPaths::default();
        items.iter().for_each(|item| events::of_text(item.as_bytes(), &mut known.item()).unwrap());
        known
    }

    #[test]
    fn the_paths_of_several_items_are_known() {
        let known = known(&[
            r#"{"json":{"a":1,"lines":[{"sku":"x"},{"price":[]}]},"binary":{"b":1}}"#,
            r#"{"json":[{"c":1}]}"#,
            "7",
        ]);
        let paths: Vec<_> = known
            .places()
            .map(|(at, _)| known.path(at).iter().map(|name| name.unwrap_or("[]")).collect::<Vec<_>>().join("."))
            .collect();
        assert_eq!(paths, ["a", "lines", "lines.[]", "lines.[].sku", "lines.[].price", "[]", "[].c"]);
    }

    #[test]
    fn paths_are_bounded() {
        let members: Vec<_> = (0..2 * PATHS).map(|at| format!("\"m{at}\":1")).collect();
        let known = known(&[&format!("{{\"json\":{{\"{}\":0,{}}}}}", "x".repeat(300), members.join(","))]);
        assert_eq!(known.places.len(), PATHS);
        assert!(!known.takes_more() && known.places().all(|(_, place)| place.name.as_ref().unwrap().len() < 5));
    }
}
