//! The meanings of the words of a query: themselves, their synonyms, and the words that they probably misspell.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::lexicon::{is_common, is_filler, stem, synonyms, with_synonyms};
use super::search_entry::{ALIAS, SearchEntry};

/// A synonym counts almost as much as the word itself, a correction less.
const SYNONYM: f64 = 0.9;
const CORRECTION: f64 = 0.8;

/// The factor for a word that fits many nodes.
const COMMON: f64 = 0.3;

/// No word of a query is worth less, even if many nodes have it.
const MIN_IMPORTANCE: f64 = 0.4;

/// In a shorter word, a misspelling cannot be distinguished from another word.
const MIN_MISSPELLED_LEN: usize = 4;

/// From this length on, two letters may be wrong.
const LONG_WORD_LEN: usize = 7;

/// The words under which nodes can be found.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Word of a name or alias -> 1 if one node has it, and less the more nodes have it.
    rarity: HashMap<String, f64>,
    /// Whole names and aliases, each as one word.
    names: HashSet<String>,
    /// The words that a misspelled one could mean; sorted, so that equally near words keep their order.
    spellings: BTreeSet<String>,
}

/// One word of a query.
pub(super) struct Term {
    /// Its possible meanings, and how much each counts.
    pub(super) meanings: Vec<(String, f64)>,
    /// Its share of the query.
    pub(super) importance: f64,
}

impl Vocabulary {
    pub(super) fn new(entries: &[SearchEntry]) -> Self {
        let mut nodes_with: HashMap<String, u32> = HashMap::new();
        for entry in entries {
            for (word, _) in entry.words.iter().filter(|(_, weight)| **weight >= ALIAS) {
                *nodes_with.entry(word.clone()).or_default() += 1;
            }
        }
        let all = entries.len() as f64;
        let rarity = |nodes: u32| (all / f64::from(nodes)).ln_1p() / all.ln_1p();
        let rarity: HashMap<_, _> = nodes_with.into_iter().map(|(word, nodes)| (word, rarity(nodes))).collect();
        let names: HashSet<String> = entries.iter().flat_map(SearchEntry::names).cloned().collect();
        let spellings = rarity.keys().chain(&names).cloned().chain(with_synonyms().map(str::to_owned));
        let spellings = spellings.filter(|word| word.len() >= MIN_MISSPELLED_LEN).collect();
        Self { rarity, names, spellings }
    }

    /// The terms to look for: each word of `kept`, and the pairs of `all` that are one word to n8n (`split out`).
    pub(super) fn terms(&self, all: &[String], kept: &[String]) -> Vec<Term> {
        let pairs = all.iter().zip(all.iter().skip(1)).map(|(first, second)| format!("{first}{second}"));
        let known_pairs = pairs.filter(|pair| self.is_known(pair)).map(|pair| {
            let meanings = synonyms(&pair).iter().map(|word| ((*word).to_owned(), SYNONYM));
            Term { meanings: std::iter::once((pair.clone(), 1.0)).chain(meanings).collect(), importance: 1.0 }
        });
        kept.iter().map(|word| self.term(word)).chain(known_pairs).collect()
    }

    fn term(&self, word: &str) -> Term {
        let stem = stem(word);
        let of_word = synonyms(word);
        let synonyms = if of_word.is_empty() { synonyms(&stem) } else { of_word };
        let corrections = self.corrections(&stem);
        let mut meanings = vec![(stem, 1.0)];
        meanings.extend(synonyms.iter().map(|word| ((*word).to_owned(), SYNONYM)));
        meanings.extend(corrections.into_iter().map(|word| (word.to_owned(), CORRECTION)));
        let rarest = meanings.iter().map(|(word, _)| self.rarity(word)).fold(MIN_IMPORTANCE, f64::max);
        let common = synonyms.is_empty() && meanings.first().is_some_and(|(stem, _)| is_common(stem));
        Term { meanings, importance: if common { rarest * COMMON } else { rarest } }
    }

    fn rarity(&self, word: &str) -> f64 {
        if self.names.contains(word) { 1.0 } else { self.rarity.get(word).copied().unwrap_or_default() }
    }

    fn is_known(&self, word: &str) -> bool {
        self.rarity.contains_key(word) || self.names.contains(word) || !synonyms(word).is_empty()
    }

    /// The nearest known words and their synonyms; empty for a word that is known, or begins a known one.
    fn corrections(&self, word: &str) -> Vec<&str> {
        let is_word = is_filler(word) || is_common(word) || self.names.contains(word) || !synonyms(word).is_empty();
        if word.len() < MIN_MISSPELLED_LEN || is_word || self.rarity.keys().any(|known| known.starts_with(word)) {
            return Vec::new();
        }
        let mut fewest = if word.len() >= LONG_WORD_LEN { 2 } else { 1 };
        let mut nearest: Vec<&str> = Vec::new();
        for known in &self.spellings {
            if known.len().abs_diff(word.len()) > fewest {
                continue;
            }
            let edits = strsim::osa_distance(word, known);
            if edits < fewest {
                fewest = edits;
                nearest.clear();
            }
            if edits == fewest {
                nearest.push(known);
            }
        }
        nearest.into_iter().flat_map(|known| std::iter::once(known).chain(synonyms(known).iter().copied())).collect()
    }
}
