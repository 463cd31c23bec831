//! The path probably meant by a path that no item has: one that items have.

use std::collections::HashMap;

use super::Step;
use super::known::{JSON, KnownPaths};

/// How a known path differs from the requested one; the likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Differs {
    /// Only in whether a dot is part of a name.
    InDots,
    /// One name, in case only.
    InCase,
    /// One name, in punctuation, and perhaps in case.
    InPunctuation,
    /// One name, by slips.
    BySlips,
    /// Where the last name is.
    InPlace,
    /// Where the last name is, and its case or punctuation.
    InPlaceAndCase,
    /// One name, in case only; what comes after it is not known.
    InCaseThenUnknown,
    /// One name, in punctuation, and perhaps in case; what comes after it is not known.
    InPunctuationThenUnknown,
    /// One name, by slips; what comes after it is not known.
    BySlipsThenUnknown,
    /// Where a name before the last one is; what comes after it is not known.
    InPlaceThenUnknown,
}

/// How likely a known path is the intended one; the smallest is the likeliest.
type Rank = (Differs, usize, usize, usize);

/// The known path most likely meant by one that no item has; `None` if none is similar.
pub(super) fn nearest<'k>(asked: &[Step], known: impl Iterator<Item = &'k KnownPaths>) -> Option<Vec<Step>> {
    let mut nearest: Option<(Rank, Vec<Step>)> = None;
    for known in known {
        let mut search = Search { asked, known, nearest: nearest.take() };
        search.run();
        nearest = search.nearest;
    }
    nearest.map(|(_, path)| path)
}

/// Whether a path may be a slip for another one even where a missing value is provided for: one name differs, by a slip and
/// not in its digits only (`line2`, `line1`), one path has one step more, or only a dot is part of a name.
pub fn is_close(asked: &[Step], near: &[Step]) -> bool {
    if are_dotted_alike(asked, near) {
        return true;
    }
    let start = asked.iter().zip(near).take_while(|(one, other)| one == other).count();
    let (asked, near) = (&asked[start..], &near[start..]);
    match (asked, near) {
        ([Step::Name(name), rest @ ..], [Step::Name(other), others @ ..]) if rest == others => {
            let letters = |name: &str| name.chars().filter(|char| !char.is_numeric()).collect::<String>();
            likeness(name, other).is_some() && letters(name) != letters(other)
        }
        ([_, rest @ ..], _) if rest == near => true,
        (_, [_, rest @ ..]) => rest == asked,
        _ => false,
    }
}

struct Search<'a> {
    asked: &'a [Step],
    known: &'a KnownPaths,
    nearest: Option<(Rank, Vec<Step>)>,
}

impl Search<'_> {
    fn run(&mut self) {
        let (mut at, mut has) = (JSON, 0);
        while let Some(next) = self.asked.get(has).and_then(|step| self.known.next(at, step)) {
            (at, has) = (next, has + 1);
        }
        if has < self.asked.len() && self.known.place(at).is_some() {
            self.dotted(JSON, 0);
            self.dotted(at, has);
            self.among_siblings(at, has);
            self.elsewhere(has);
        }
    }

    /// Looks for the missing names as one name with dots, and for a missing name with dots as several ones.
    fn dotted(&mut self, at: usize, has: usize) {
        let names: Option<Vec<_>> = self.asked[has..].iter().map(name_of).collect();
        let Some(dotted) = names.map(|names| names.join(".")).filter(|dotted| dotted.contains('.')) else { return };
        let mut open = vec![(at, dotted.as_str(), self.asked[..has].to_vec())];
        while let Some((at, rest, path)) = open.pop() {
            let parts = self.known.place(at).map_or(&[][..], |place| &place.parts);
            for part in parts {
                let Some(name) = self.known.place(*part).and_then(|place| place.name.as_deref()) else { continue };
                let path = || [&path[..], &[Step::Name(name.to_owned())]].concat();
                match rest.strip_prefix(name) {
                    Some("") => self.offer((Differs::InDots, 0, 0, 0), path()),
                    Some(after) if !name.is_empty() && after.starts_with('.') => {
                        open.push((*part, &after[1..], path()))
                    }
                    _ => {}
                }
            }
        }
    }

    /// Looks for the first missing name among its siblings.
    fn among_siblings(&mut self, at: usize, has: usize) {
        let Step::Name(name) = &self.asked[has] else { return };
        let parts = self.known.place(at).map_or(&[][..], |place| &place.parts);
        for part in parts {
            let Some(other) = self.known.place(*part).and_then(|place| place.name.as_deref()) else { continue };
            let Some((likeness, slips)) = likeness(name, other) else { continue };
            let differs = match (self.follow(*part, has + 1), likeness) {
                (Rest::Known, Likeness::Case) => Differs::InCase,
                (Rest::Known, Likeness::Punctuation) => Differs::InPunctuation,
                (Rest::Known, Likeness::Slips) => Differs::BySlips,
                (Rest::Unknown, Likeness::Case) => Differs::InCaseThenUnknown,
                (Rest::Unknown, Likeness::Punctuation) => Differs::InPunctuationThenUnknown,
                (Rest::Unknown, Likeness::Slips) => Differs::BySlipsThenUnknown,
                (Rest::Absent, _) => continue,
            };
            let path = [&self.asked[..has], &[Step::Name(other.to_owned())], &self.asked[has + 1..]].concat();
            self.offer((differs, slips, 0, 0), path);
        }
    }

    /// Looks anywhere for the names from the first missing one on, the last one first.
    fn elsewhere(&mut self, has: usize) {
        for from in (has..self.asked.len()).rev() {
            let Step::Name(name) = &self.asked[from] else { continue };
            let is_last = from + 1 == self.asked.len();
            for (at, place) in self.known.places() {
                let Some(other) = place.name.as_deref() else { continue };
                let differs = match self.follow(at, from + 1) {
                    Rest::Known if other == name => Differs::InPlace,
                    Rest::Known if is_last && are_alike(other, name) => Differs::InPlaceAndCase,
                    Rest::Unknown if other == name => Differs::InPlaceThenUnknown,
                    _ => continue,
                };
                let path = self.known.path(at);
                let shared = self.shared(&path, from);
                let rank = (differs, self.asked.len() - shared, path.len(), self.asked.len() - from);
                let path = self.indexed(&path, from);
                self.offer(rank, path);
            }
        }
    }

    /// Whether the rest of the path is below a known value.
    fn follow(&self, mut at: usize, from: usize) -> Rest {
        for step in &self.asked[from..] {
            match self.known.next(at, step) {
                Some(next) => at = next,
                None if self.known.place(at).is_some_and(|place| place.leads_on && place.parts.is_empty()) => {
                    return Rest::Unknown;
                }
                None => return Rest::Absent,
            }
        }
        Rest::Known
    }

    /// How many names a known path and the beginning of the requested one have in common, in the same order.
    fn shared(&self, path: &[Option<&str>], from: usize) -> usize {
        let names =
            self.asked[..=from].iter().filter_map(|step| if let Step::Name(name) = step { Some(name) } else { None });
        let mut counts = vec![0; path.len() + 1];
        for name in names {
            let mut before = 0;
            for (at, other) in path.iter().enumerate() {
                let here = if *other == Some(name) { before + 1 } else { counts[at].max(counts[at + 1]) };
                before = std::mem::replace(&mut counts[at + 1], here);
            }
        }
        counts[path.len()]
    }

    /// A known path with the requested numbers of elements, or else those of the first ones, and what comes after it.
    fn indexed(&self, path: &[Option<&str>], from: usize) -> Vec<Step> {
        let mut indexes = self.asked[..from].iter().filter(|step| matches!(step, Step::Index(_))).cloned();
        let steps = path.iter().map(|name| match name {
            Some(name) => Step::Name((*name).to_owned()),
            None => indexes.next().unwrap_or(Step::Index(0)),
        });
        steps.chain(self.asked[from + 1..].iter().cloned()).collect()
    }

    fn offer(&mut self, rank: Rank, path: Vec<Step>) {
        if self.nearest.as_ref().is_none_or(|(nearest, _)| rank < *nearest) {
            self.nearest = Some((rank, path));
        }
    }
}

/// Whether the rest of a path is below a value.
enum Rest {
    Known,
    /// Nothing is known to be below it.
    Unknown,
    /// Other things are.
    Absent,
}

/// In what two similar names differ.
#[derive(Clone, Copy)]
enum Likeness {
    Case,
    /// Punctuation, and perhaps case.
    Punctuation,
    Slips,
}

/// In what two names differ, and by how many slips; `None` if they are not similar.
fn likeness(name: &str, other: &str) -> Option<(Likeness, usize)> {
    let longest = name.chars().count().max(other.chars().count());
    // Names of a value that is larger than a name are not compared: it would take too long.
    if longest > 100 {
        return None;
    }
    let slips = strsim::osa_distance(name, other);
    if name.to_lowercase() == other.to_lowercase() {
        return Some((Likeness::Case, slips));
    }
    if are_alike(name, other) {
        return Some((Likeness::Punctuation, slips));
    }
    // In a short name, one different letter makes it another name.
    let is_short = longest < 4;
    let is_slip = longest > 1 && slips <= (longest / 5).max(1) && !(is_short && is_substitution(name, other));
    is_slip.then_some((Likeness::Slips, slips))
}

fn name_of(step: &Step) -> Option<&str> {
    if let Step::Name(name) = step { Some(name) } else { None }
}

/// Whether two different paths are the same text with dots between their names.
fn are_dotted_alike(path: &[Step], other: &[Step]) -> bool {
    let dotted =
        |path: &[Step]| -> Option<String> { Some(path.iter().map(name_of).collect::<Option<Vec<_>>>()?.join(".")) };
    path.len() != other.len() && dotted(path).is_some_and(|path| dotted(other) == Some(path))
}

/// Whether two names differ only in case and punctuation.
fn are_alike(name: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let letters_of_name = letters(name);
    !letters_of_name.is_empty() && letters_of_name == letters(other)
}

/// Whether one name has letters in place of other ones.
fn is_substitution(name: &str, other: &str) -> bool {
    let mut letters: HashMap<char, i32> = HashMap::new();
    name.chars().for_each(|char| *letters.entry(char).or_default() += 1);
    other.chars().for_each(|char| *letters.entry(char).or_default() -= 1);
    letters.values().any(|count| *count > 0) && letters.values().any(|count| *count < 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::lookup::known::tests::known;
    use crate::execution::lookup::{path_of, path_text};

    const ITEM: &str = r#"{"json":{
        "id":7,"order_id":8,"customer":{"name":"Ann","address":{"city":"Bern","street":"Am See"},"notes":null},
        "lines":[{"sku":"x","unitPrice":1}],"supplier":{"address":{"city":"Rom"}},"warehouse":{"id":1}}}"#;

    fn near(asked: &str) -> Option<String> {
        let known = known(&[ITEM]);
        nearest(&path_of(asked), [&known].into_iter()).map(|path| path_text(&path))
    }

    #[test]
    fn slips_are_seen_through() {
        for (asked, expected) in [
            ("orderId", "order_id"),
            ("Customer.name", "customer.name"),
            ("customer.nmae", "customer.name"),
            ("customer.nam", "customer.name"),
            ("custmer.address.city", "customer.address.city"),
            ("customer.adress.city", "customer.address.city"),
            ("lines[3].unitprice", "lines[3].unitPrice"),
            ("lines[3].unitPrce", "lines[3].unitPrice"),
            ("di", "id"),
            ("i", "id"),
            // What is below a value that is null is kept.
            ("customer.note.first", "customer.notes.first"),
            ("Customer.notes[1].x", "customer.notes[1].x"),
        ] {
            assert_eq!(near(asked).as_deref(), Some(expected), "{asked}");
        }
    }

    #[test]
    fn the_same_name_in_another_case_comes_before_other_punctuation_and_slips() {
        let known = known(&[r#"{"json":{"user_id":1,"userId":2,"order id":3,"orderId":4,"order_ids":5}}"#]);
        let near = |asked: &str| nearest(&path_of(asked), [&known].into_iter()).map(|path| path_text(&path));
        for (asked, expected) in [
            ("userid", "userId"),
            ("USER_ID", "user_id"),
            ("user-id", "user_id"),
            ("orderid", "orderId"),
            ("order_id", "[\"order id\"]"),
        ] {
            assert_eq!(near(asked).as_deref(), Some(expected), "{asked}");
        }
    }

    #[test]
    fn a_dot_may_be_part_of_a_name() {
        let known = known(&[r#"{"json":{"customer.name":1,"ship":{"city":{"code":2}},"a":{"b.c":3},"a.b":{}}}"#]);
        let near = |asked: &[&str]| {
            let asked: Vec<_> = asked.iter().map(|name| Step::Name((*name).to_owned())).collect();
            let near = nearest(&asked, [&known].into_iter())?;
            Some((path_text(&near), is_close(&asked, &near)))
        };
        for (asked, expected) in [
            (&["customer", "name"][..], "[\"customer.name\"]"),
            (&["ship.city", "code"], "ship.city.code"),
            (&["ship.city.code"], "ship.city.code"),
            (&["a.b.c"], "a[\"b.c\"]"),
            (&["a", "b", "c"], "a[\"b.c\"]"),
        ] {
            assert_eq!(near(asked), Some((expected.to_owned(), true)), "{asked:?}");
        }
    }

    #[test]
    fn a_name_in_another_place_is_found() {
        for (asked, expected) in [
            ("customer.city", "customer.address.city"),
            ("supplier.city", "supplier.address.city"),
            ("street", "customer.address.street"),
            ("data.customer.name", "customer.name"),
            ("lines.sku", "lines[0].sku"),
            ("order.lines[2].sku", "lines[2].sku"),
            ("customer[0].name", "customer.name"),
            ("Street", "customer.address.street"),
            ("data.notes.first", "customer.notes.first"),
        ] {
            assert_eq!(near(asked).as_deref(), Some(expected), "{asked}");
        }
    }

    #[test]
    fn a_slip_or_one_step_more_is_close() {
        for (asked, near, expected) in [
            ("mail", "Mail", true),
            ("customer.adress.city", "customer.address.city", true),
            ("line2", "line1", false),
            ("line", "line1", false),
            ("address_2.city", "address_1.city", false),
            ("customer.name", "product.name", false),
            ("name", "product.name", true),
            ("data.name", "name", true),
            ("customer.city", "customer.address.city", true),
            ("city", "customer.address.city", false),
            ("lines.sku", "lines[0].sku", true),
            ("adress.town", "address.city", false),
        ] {
            assert_eq!(is_close(&path_of(asked), &path_of(near)), expected, "{asked} {near}");
        }
    }

    #[test]
    fn what_is_like_nothing_has_no_near_path() {
        for asked in [
            "total",
            "ix",
            "customer.zip",
            "customer.address.country",
            "lines[9].sku",
            "lines[0]",
            "",
            "customer.names.x",
        ] {
            assert_eq!(near(asked), None, "{asked}");
        }
        assert_eq!(nearest(&path_of("a"), [&KnownPaths::default()].into_iter()), None);
    }
}
