//! Decides by all texts of one node what is a name and what is a value.

use std::collections::{HashMap, HashSet};

use super::Kind;

/// The maximum number of kinds that may differ in quoted names only.
const FEW_NAMES: usize = 5;

/// The minimum number of kinds differing in one word that become one.
const MANY_WORDS: usize = 4;

/// The minimum number of words of a kind that may lose one.
const MIN_WORDS: usize = 3;

/// How many words a kind may lose.
const ROUNDS: usize = 2;

/// The kinds of texts of one (workflow, node, name, code), in the order given; equal ones may repeat.
///
/// If more than five kinds differ only in quoted names, the names are dropped, too. If four or more kinds with the same
/// number of words differ in one word, it becomes `*`, twice at most. So the kind of a text depends on the others: it
/// is not an id.
///
/// ```
/// use n8n_lens::execution::kind::{Kind, merged};
///
/// let texts = ["alpha", "brick", "cloud", "delta"].map(|word| Kind::of(&format!("The shop {word} is closed")));
/// assert_eq!(merged(&texts), vec!["The shop * is closed"; 4]);
/// assert_eq!(merged(&texts[..3])[0], "The shop alpha is closed");
/// ```
pub fn merged(kinds: &[Kind]) -> Vec<String> {
    let mut names: HashMap<&str, HashSet<&str>> = HashMap::new();
    for kind in kinds {
        names.entry(&kind.coarse).or_default().insert(&kind.fine);
    }
    let has_few = |kind: &Kind| names.get(kind.coarse.as_str()).is_none_or(|fine| fine.len() <= FEW_NAMES);
    let chosen = kinds.iter().map(|kind| if has_few(kind) { &kind.fine } else { &kind.coarse });
    let mut merged: Vec<String> = chosen.cloned().collect();
    for _ in 0..ROUNDS {
        let without = without_word(&merged);
        merged = merged.iter().map(|kind| without.get(kind.as_str()).unwrap_or(kind).clone()).collect();
    }
    merged
}

/// Kinds that lose a word, with what is left: the word in which most kinds differ, the first of several.
fn without_word(kinds: &[String]) -> HashMap<&str, String> {
    let distinct: HashSet<&str> = kinds.iter().map(String::as_str).collect();
    let mut open: Vec<Around> = distinct.into_iter().filter_map(Around::first).collect();
    let mut best: HashMap<&str, (usize, Around)> = HashMap::new();
    // One word of each kind at a time: memory depends on the number of kinds, not on all their words.
    while !open.is_empty() {
        let mut alike: HashMap<_, usize> = HashMap::new();
        for one in &open {
            *alike.entry((one.before, one.after)).or_default() += 1;
        }
        for one in &open {
            let count = alike.get(&(one.before, one.after)).copied().unwrap_or_default();
            let most = best.get(one.kind).map_or(MANY_WORDS - 1, |(most, _)| *most);
            if count > most {
                best.insert(one.kind, (count, *one));
            }
        }
        open = open.into_iter().filter_map(Around::next).collect();
    }
    best.into_iter().map(|(kind, (_, around))| (kind, format!("{}*{}", around.before, around.after))).collect()
}

/// A kind, and what is around one of its words.
#[derive(Clone, Copy, Debug)]
struct Around<'a> {
    kind: &'a str,
    before: &'a str,
    after: &'a str,
}

impl<'a> Around<'a> {
    /// Around the first word, if there are enough words.
    fn first(kind: &'a str) -> Option<Self> {
        let has_many = kind.split(' ').nth(MIN_WORDS - 1).is_some();
        has_many.then(|| Self::at(kind, 0)).flatten()
    }

    /// Around the next word.
    fn next(self) -> Option<Self> {
        let blank = self.kind.len() - self.after.len();
        if self.after.is_empty() { None } else { Self::at(self.kind, blank + 1) }
    }

    /// Around the word that starts at this byte.
    fn at(kind: &'a str, start: usize) -> Option<Self> {
        let (before, rest) = kind.split_at_checked(start)?;
        let word = rest.find(' ').unwrap_or(rest.len());
        Some(Self { kind, before, after: rest.get(word..)? })
    }
}
