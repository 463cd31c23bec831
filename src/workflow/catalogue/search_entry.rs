//! A node type, prepared for the search.

use std::collections::HashMap;

use super::lexicon::{camel_words, compact, stem, words};
use super::{NodePorts, NodeType};

/// The weight of a query's word that is the whole name of a node, or a word of one of its texts.
const WHOLE_NAME: f64 = 12.0;
const NAME: f64 = 10.0;
pub(super) const ALIAS: f64 = 7.0;
const CATEGORY: f64 = 3.0;
const DESCRIPTION: f64 = 3.0;

/// The share of the weight for the beginning of a word.
const PREFIX: f64 = 0.6;

/// Fewer letters are a prefix of too many words and names.
pub(super) const MIN_PREFIX_LETTERS: usize = 3;

/// Types for tests and trainings that n8n does not mark as hidden.
const INTERNAL: [&str; 4] = ["e2e", "dynamicCredentialCheck", "n8nTraining", "simulate"];

/// A node type as words.
#[derive(Debug)]
pub(super) struct SearchEntry {
    /// Its index in the catalogue.
    pub(super) place: usize,
    /// Each word with the highest of its weights.
    pub(super) words: HashMap<String, f64>,
    /// The full type, as one word.
    pub(super) full: String,
    /// The type without its package, as one word.
    pub(super) bare: String,
    /// The display name, as one word.
    pub(super) display: String,
    pub(super) aliases: Vec<String>,
    /// The words of the display name.
    pub(super) title: Vec<String>,
    /// Categories, subcategories and groups in lower case, for filters.
    pub(super) tags: Vec<String>,
    /// It starts a workflow.
    pub(super) trigger: bool,
    /// It starts a workflow, and another type of the same service does not.
    pub(super) trigger_of_pair: bool,
    pub(super) core: bool,
    /// It is plugged into another node.
    pub(super) sub_node: bool,
    pub(super) deprecated: bool,
}

/// Whether the editor offers the type.
pub(super) fn is_offered(node: &NodeType) -> bool {
    !node.hidden && !INTERNAL.iter().any(|prefix| node.bare_name().starts_with(prefix))
}

impl SearchEntry {
    /// `exists` returns whether there is a type with this full name.
    pub(super) fn new(place: usize, node: &NodeType, exists: impl Fn(&str) -> bool) -> Self {
        let bare = node.bare_name();
        let trigger = node.group.iter().any(|group| group == "trigger") || bare.ends_with("Trigger");
        let tags = node.categories.iter().chain(&node.subcategories).chain(&node.group);
        Self {
            place,
            words: weighted_words(node),
            full: compact(&node.node_type),
            bare: compact(bare),
            display: compact(&node.display_name),
            aliases: node.aliases.iter().map(|alias| compact(alias)).collect(),
            title: words(&node.display_name).iter().map(|word| stem(word)).collect(),
            tags: tags.map(|tag| tag.to_lowercase()).collect(),
            trigger,
            trigger_of_pair: trigger && node.node_type.strip_suffix("Trigger").is_some_and(exists),
            core: node.categories.iter().any(|category| category == "Core Nodes"),
            sub_node: is_sub_node(&node.declared_outputs),
            deprecated: node.description.starts_with("Deprecated"),
        }
    }

    /// All its names, each as one word.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        [&self.bare, &self.display].into_iter().chain(&self.aliases)
    }

    /// The weight of a query's word for this node.
    pub(super) fn weight_of(&self, word: &str) -> f64 {
        let exact = self.words.get(word).copied().unwrap_or_default();
        if word == self.bare || word == self.display {
            return WHOLE_NAME;
        }
        if self.aliases.iter().any(|alias| alias == word) {
            return exact.max(ALIAS);
        }
        if word.len() < MIN_PREFIX_LETTERS {
            return exact;
        }
        let begun = self.words.iter().filter(|(own, _)| own.starts_with(word)).map(|(_, weight)| weight * PREFIX);
        begun.fold(exact, f64::max)
    }
}

fn weighted_words(node: &NodeType) -> HashMap<String, f64> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    let mut put = |text: &str, weight: f64| {
        for word in words(text).into_iter().chain(camel_words(text)) {
            let best = weights.entry(stem(&word)).or_default();
            *best = best.max(weight);
        }
    };
    put(&node.description, DESCRIPTION);
    for category in node.categories.iter().chain(&node.subcategories) {
        put(category, CATEGORY);
    }
    for alias in &node.aliases {
        put(alias, ALIAS);
    }
    put(&camel_words(node.bare_name()).join(" "), NAME);
    put(&node.display_name, NAME);
    weights
}

fn is_sub_node(outputs: &NodePorts) -> bool {
    match outputs {
        NodePorts::Known(ports) => !ports.is_empty() && ports.iter().all(|port| port.kind != "main"),
        NodePorts::Kinds(kinds) => kinds.iter().all(|kind| kind != "main"),
        NodePorts::Unknown => false,
    }
}
