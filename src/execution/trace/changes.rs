//! The differences between an item and the one that it came from.

use crate::json::Excerpt;

/// A difference, with the path of the value.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'e> {
    /// A value that is new.
    Added(String, &'e Excerpt),
    /// A value that differs: the old one and the new one.
    Changed(String, &'e Excerpt, &'e Excerpt),
    /// A value that is gone.
    Removed(String),
}

/// The differences between two items in document order, removed ones last; and whether their ends were not
/// compared because they are too large.
pub fn changes<'e>(old: &'e Excerpt, new: &'e Excerpt) -> (Vec<Change<'e>>, bool) {
    let mut found = Found::default();
    let none = Excerpt::Object { kept: Vec::new(), total: 0 };
    for part in ["json", "binary", "error"] {
        let path = if part == "json" { "" } else { part };
        match (old.member(part), new.member(part)) {
            (Some(old), Some(new)) => found.compare(path, old, new),
            (None, Some(new)) if *new != none => found.changes.push(Change::Added(part.to_owned(), new)),
            (Some(old), None) if *old != none => found.removed.push(Change::Removed(part.to_owned())),
            _ => {}
        }
    }
    found.changes.append(&mut found.removed);
    (found.changes, found.is_partial)
}

#[derive(Default)]
struct Found<'e> {
    changes: Vec<Change<'e>>,
    removed: Vec<Change<'e>>,
    is_partial: bool,
}

impl<'e> Found<'e> {
    fn compare(&mut self, path: &str, old: &'e Excerpt, new: &'e Excerpt) {
        match (old, new) {
            (Excerpt::Object { kept: old, total: all_old }, Excerpt::Object { kept: new, total: all_new }) => {
                let is_whole = old.len() as u64 == *all_old && new.len() as u64 == *all_new;
                self.is_partial |= !is_whole;
                self.members(path, old, new, is_whole);
            }
            (Excerpt::Array { kept: ours, total: all_old }, Excerpt::Array { kept: theirs, total: all_new })
                if all_old == all_new =>
            {
                self.is_partial |= ours.len() as u64 != *all_old || theirs.len() as u64 != *all_new;
                for (at, (old, new)) in ours.iter().zip(theirs).enumerate() {
                    self.compare(&format!("{path}[{at}]"), old, new);
                }
            }
            (Excerpt::Text(ours), Excerpt::Text(theirs)) if ours.chars == theirs.chars => {
                let compared = ours.kept.len().min(theirs.kept.len());
                if ours.kept.as_bytes()[..compared] == theirs.kept.as_bytes()[..compared] {
                    self.is_partial |= ours.kept.chars().count() as u64 != ours.chars || ours.kept != theirs.kept;
                } else {
                    self.changes.push(Change::Changed(path.to_owned(), old, new));
                }
            }
            (Excerpt::Deep { object: one }, Excerpt::Deep { object: other }) if one == other => self.is_partial = true,
            _ if old == new => {}
            _ => self.changes.push(Change::Changed(path.to_owned(), old, new)),
        }
    }

    /// If an object is not held whole, only the members that both have are compared.
    fn members(&mut self, path: &str, old: &'e [(String, Excerpt)], new: &'e [(String, Excerpt)], is_whole: bool) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let find = |members: &'e [(String, Excerpt)], at: usize, name: &str| {
            // Members mostly stay in their order.
            let here = members.get(at).filter(|(known, _)| known == name);
            here.or_else(|| members.iter().find(|(known, _)| known == name)).map(|(_, value)| value)
        };
        for (at, (name, value)) in new.iter().enumerate() {
            match find(old, at, name) {
                Some(old) => self.compare(&below(name), old, value),
                None if is_whole => self.changes.push(Change::Added(below(name), value)),
                None => {}
            }
        }
        let gone = old.iter().enumerate().filter(|(at, (name, _))| is_whole && find(new, *at, name).is_none());
        self.removed.extend(gone.map(|(_, (name, _))| Change::Removed(below(name))));
    }
}
