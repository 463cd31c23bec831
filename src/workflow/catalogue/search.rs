//! The ranked search: finds the node types that a few words describe.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::NodeType;
use super::lexicon::{camel_words, compact, is_filler, stem, wants_trigger, words};
use super::search_entry::{MIN_PREFIX_LETTERS, SearchEntry, is_offered};
use super::vocabulary::{Term, Vocabulary};

/// What to look for; an empty member matches everything.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// A type, a name, or words in any order and spelling.
    pub keyword: Option<String>,
    /// Part of a category, subcategory or group.
    pub category: Option<String>,
    /// Like `category`; if no tag matches, it is searched for as words.
    pub functionality: Option<String>,
}

/// Bonuses that are added to the score of the words that a node shares with the query.
mod bonus {
    pub(super) const FULL_TYPE: f64 = 100.0;
    pub(super) const WHOLE_NAME: f64 = 60.0;
    pub(super) const BEGINS_NAME: f64 = 5.0;
    /// For all words of its display name.
    pub(super) const TITLE: f64 = 2.0;
    pub(super) const CORE: f64 = 1.0;
    pub(super) const TRIGGER_WANTED: f64 = 6.0;
    pub(super) const TRIGGER_OF_PAIR: f64 = -4.0;
    pub(super) const SUB_NODE: f64 = -3.0;
    pub(super) const DEPRECATED: f64 = -8.0;
}

/// The share of its score that a node gets even if it has few of the words.
const BASE_SHARE: f64 = 0.4;

/// A node with less than this share of the best score is noise.
const NOISE: f64 = 0.2;

/// A best score above this includes a bonus for a name, which does not make other nodes noise.
const GOOD: f64 = 14.0;

/// No sensible query has more words, and each is compared with all known words.
const MAX_WORDS: usize = 32;

/// The data of the search, computed once for a catalogue.
#[derive(Debug)]
pub(super) struct Index {
    entries: Vec<SearchEntry>,
    vocabulary: Vocabulary,
}

/// The words of a query.
struct Words {
    /// All words joined.
    whole: String,
    stems: HashSet<String>,
    wants_trigger: bool,
    terms: Vec<Term>,
    /// The sum of the importance of all terms.
    total: f64,
}

/// Parts of tags that a node must have, in lower case.
struct Filter(Vec<String>);

impl Index {
    pub(super) fn new(nodes: &[NodeType]) -> Self {
        let types: HashSet<&str> = nodes.iter().map(|node| node.node_type.as_str()).collect();
        let offered = nodes.iter().enumerate().filter(|(_, node)| is_offered(node));
        let entries: Vec<SearchEntry> =
            offered.map(|(place, node)| SearchEntry::new(place, node, |name| types.contains(name))).collect();
        Self { vocabulary: Vocabulary::new(&entries), entries }
    }

    /// The nodes that match, best first. `nodes` are the ones that the index was built from.
    pub(super) fn search<'a>(&self, nodes: &'a [NodeType], query: &Query) -> Vec<&'a NodeType> {
        let (text, filter) = self.split(query);
        let fitting = self.entries.iter().filter(|entry| filter.fits(entry));
        let mut found: Vec<(f64, &SearchEntry)> = if text.trim().is_empty() {
            fitting.map(|entry| (if entry.core { bonus::CORE } else { 0.0 }, entry)).collect()
        } else {
            let words = self.words(&text);
            without_noise(fitting.filter_map(|entry| Some((score(&words, entry)?, entry))).collect())
        };
        let node = |entry: &SearchEntry| nodes.get(entry.place);
        found.sort_by(|(score, entry), (other_score, other)| {
            let tie = |entry| node(entry).map(|node| (node.display_name.chars().count(), &node.node_type));
            other_score.total_cmp(score).then_with(|| tie(entry).cmp(&tie(other)))
        });
        found.into_iter().filter_map(|(_, entry)| node(entry)).collect()
    }

    /// At most `most` types that could be meant by a type which does not exist: similar names first, then the results for the
    /// words of its name.
    pub(super) fn nearest<'a>(&self, nodes: &'a [NodeType], node_type: &str, most: usize) -> Vec<&'a str> {
        let name = node_type.rsplit('.').next().unwrap_or(node_type);
        let bare = compact(name);
        let most_edits = bare.len() / 4;
        let near = self.entries.iter().filter(|entry| entry.bare.len().abs_diff(bare.len()) <= most_edits);
        let mut similar: Vec<(usize, &SearchEntry)> =
            near.map(|entry| (strsim::osa_distance(&bare, &entry.bare), entry)).collect();
        similar.retain(|(edits, _)| *edits <= most_edits);
        similar.sort_by_key(|(edits, entry)| (*edits, Reverse(entry.core), entry.place));
        let similar = similar.into_iter().filter_map(|(_, entry)| nodes.get(entry.place));

        let keyword = camel_words(name).join(" ");
        let by_words = if keyword.is_empty() { Vec::new() } else { self.search(nodes, &Query::keyword(keyword)) };
        let mut names: Vec<&str> = Vec::new();
        for name in similar.chain(by_words).map(|node| node.node_type.as_str()) {
            if names.len() < most && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The words to look for, and the tags that a node must have. A functionality that is not a tag of any node
    /// (`send a message`) is a description in words.
    fn split(&self, query: &Query) -> (String, Filter) {
        let mut text = query.keyword.clone().unwrap_or_default();
        let mut filter = Filter(query.category.iter().filter_map(|part| Filter::part(part)).collect());
        if let Some(part) = query.functionality.as_deref().and_then(Filter::part) {
            if self.entries.iter().any(|entry| has_tag(entry, &part)) {
                filter.0.push(part);
            } else {
                text.push(' ');
                text.push_str(&part);
            }
        }
        (text, filter)
    }

    fn words(&self, text: &str) -> Words {
        let mut all = words(text);
        all.truncate(MAX_WORDS);
        let significant = |word: &&String| !is_filler(word) && !word.chars().all(|letter| letter.is_ascii_digit());
        let mut kept: Vec<String> = all.iter().filter(significant).cloned().collect();
        if kept.is_empty() {
            kept.clone_from(&all);
        }
        let stems: HashSet<String> = all.iter().map(|word| stem(word)).collect();
        let has_trigger_word = all.iter().chain(&stems).any(|word| wants_trigger(word));
        let terms = self.vocabulary.terms(&all, &kept);
        Words {
            whole: all.concat(),
            stems,
            wants_trigger: has_trigger_word || all.first().is_some_and(|word| word == "on"),
            total: terms.iter().map(|term| term.importance).sum(),
            terms,
        }
    }
}

impl Query {
    /// A query with words only.
    pub fn keyword(keyword: impl Into<String>) -> Self {
        Self { keyword: Some(keyword.into()), ..Self::default() }
    }
}

impl Filter {
    fn part(text: &str) -> Option<String> {
        let part = text.trim().to_lowercase();
        (!part.is_empty()).then_some(part)
    }

    fn fits(&self, entry: &SearchEntry) -> bool {
        self.0.iter().all(|part| has_tag(entry, part))
    }
}

fn has_tag(entry: &SearchEntry, part: &str) -> bool {
    entry.tags.iter().any(|tag| tag.contains(part))
}

/// `None` for a node that shares nothing with the query.
fn score(words: &Words, entry: &SearchEntry) -> Option<f64> {
    let (mut sum, mut covered) = (0.0, 0.0);
    for term in &words.terms {
        let weights = term.meanings.iter().map(|(word, factor)| entry.weight_of(word) * factor);
        let best = weights.fold(0.0, f64::max);
        if best > 0.0 {
            sum += best * term.importance;
            covered += term.importance;
        }
    }
    let name = name_bonus(&words.whole, entry);
    if sum == 0.0 && name == 0.0 {
        return None;
    }
    let total = if words.total > 0.0 { words.total } else { 1.0 };
    let shared = sum / total * (BASE_SHARE + (1.0 - BASE_SHARE) * covered / total);
    Some(shared + name + title_bonus(words, entry) + kind_bonus(words, entry, name))
}

/// The bonus if the whole query is a name of the node, or the beginning of one.
fn name_bonus(whole: &str, entry: &SearchEntry) -> f64 {
    if whole == entry.full {
        bonus::FULL_TYPE
    } else if whole == entry.bare || whole == entry.display {
        bonus::WHOLE_NAME
    } else if whole.len() >= MIN_PREFIX_LETTERS && (entry.display.starts_with(whole) || entry.bare.starts_with(whole)) {
        bonus::BEGINS_NAME
    } else {
        0.0
    }
}

/// The bonus for the share of the display name that the query covers: of two nodes with all words, the one with fewer
/// others wins.
fn title_bonus(words: &Words, entry: &SearchEntry) -> f64 {
    let wanted = entry.title.iter().filter(|word| words.stems.contains(*word)).count();
    bonus::TITLE * wanted as f64 / entry.title.len().max(1) as f64
}

/// The bonus for the kind of node.
fn kind_bonus(words: &Words, entry: &SearchEntry, name: f64) -> f64 {
    let mut sum = 0.0;
    if entry.core {
        sum += bonus::CORE;
    }
    if entry.trigger && words.wants_trigger {
        sum += bonus::TRIGGER_WANTED;
    } else if entry.trigger_of_pair {
        sum += bonus::TRIGGER_OF_PAIR;
    }
    if entry.sub_node && name < bonus::WHOLE_NAME {
        sum += bonus::SUB_NODE;
    }
    if entry.deprecated {
        sum += bonus::DEPRECATED;
    }
    sum
}

fn without_noise(mut found: Vec<(f64, &SearchEntry)>) -> Vec<(f64, &SearchEntry)> {
    let best = found.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    found.retain(|(score, _)| *score > 0.0 && *score >= NOISE * best.min(GOOD));
    found
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn found(query: &Query) -> Vec<String> {
        samples::catalogue().search(query).into_iter().map(|node| node.node_type.clone()).collect()
    }

    fn first(keyword: &str) -> Option<String> {
        found(&Query::keyword(keyword)).into_iter().next()
    }

    #[test]
    fn a_name_or_a_type_comes_first() {
        for (keyword, expected) in [
            ("base.httpRequest", "base.httpRequest"),
            ("httpRequest", "base.httpRequest"),
            ("http request", "base.httpRequest"),
            ("If", "base.if"),
            ("switch", "base.switch"),
            ("loop", "base.splitInBatches"),
            ("call an api", "base.httpRequest"),
            ("message", "base.chatter"),
        ] {
            assert_eq!(first(keyword).as_deref(), Some(expected), "{keyword}");
        }
    }

    #[test]
    fn a_misspelled_word_finds_what_was_meant() {
        assert_eq!(first("chattre").as_deref(), Some("base.chatter"));
        assert_eq!(first("htpt request").as_deref(), Some("base.httpRequest"));
        assert_eq!(first("swich").as_deref(), Some("base.switch"));
        assert!(found(&Query::keyword("zzzzzzzz")).is_empty());
        assert!(found(&Query::keyword("送信")).is_empty());
        assert!(found(&Query::keyword("qzx ".repeat(100_000))).is_empty());
    }

    #[test]
    fn a_query_that_wants_a_trigger_finds_one() {
        assert_eq!(first("chatter").as_deref(), Some("base.chatter"));
        assert_eq!(first("when chatter message received").as_deref(), Some("base.chatterTrigger"));
        assert_eq!(first("on chatter message").as_deref(), Some("base.chatterTrigger"));
    }

    #[test]
    fn hidden_and_internal_types_are_not_found() {
        let all = found(&Query::default());
        assert!(!all.iter().any(|name| name == "base.oldTimer" || name == "base.e2eProbe"));
        assert_eq!(all.len(), samples::catalogue().nodes().len() - 2);
    }

    #[test]
    fn filters_match_parts_of_tags() {
        let filtered = |category: Option<&str>, functionality: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            found(&Query { keyword: None, category: owned(category), functionality: owned(functionality) })
        };
        assert_eq!(filtered(None, Some("trigger")), ["base.webhook", "base.chatterTrigger"]);
        assert_eq!(filtered(Some("FLOW"), Some(" ")).first().map(String::as_str), Some("base.if"));
        assert!(filtered(Some("no such category"), None).is_empty());
        assert_eq!(filtered(None, Some("call an api")).first().map(String::as_str), Some("base.httpRequest"));
    }
}
