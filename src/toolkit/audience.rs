//! Rewrites messages of tools, which speak to agents, for people.
//!
//! A tool's message names what an agent can do next: its arguments and other tools. A person does the same with an option or
//! a command in a terminal, and with the controls on the page. [`Audience::tell`] rewrites the message for them. The terms
//! of each audience are next to its commands or controls.

use std::borrow::Cow;

/// The readers of messages other than agents, and their words.
#[derive(Debug)]
pub struct Audience {
    /// Longer names come first: one may be a part of another.
    terms: Vec<Term>,
}

/// A name in messages of tools, and its equivalent for people: `None` if they have none.
#[derive(Clone, Debug)]
pub struct Term {
    agent: &'static str,
    person: Option<Cow<'static, str>>,
}

impl Term {
    /// A name that people know as something else.
    pub fn new(agent: &'static str, person: impl Into<Cow<'static, str>>) -> Self {
        Self { agent, person: Some(person.into()) }
    }

    /// A name for something that these people cannot do.
    pub const fn without(agent: &'static str) -> Self {
        Self { agent, person: None }
    }
}

impl Audience {
    /// People with these words.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut terms: Vec<_> = terms.into_iter().collect();
        terms.sort_by_key(|term| std::cmp::Reverse(term.agent.len()));
        Self { terms }
    }

    /// A message in the words of this audience. Advice that it cannot follow is left out; quoted text is unchanged.
    ///
    /// ```
    /// use n8n_lens::toolkit::{Audience, Term};
    ///
    /// let message = "3 more hits: use a larger maxTokens, or narrow the search with nodeName.";
    /// let terminal = Audience::new([Term::new("maxTokens", "--max-tokens"), Term::new("nodeName", "the node's name")]);
    /// assert_eq!(
    ///     terminal.tell(message),
    ///     "3 more hits: use a larger --max-tokens, or narrow the search with the node's name."
    /// );
    /// let page = Audience::new([Term::without("maxTokens"), Term::new("nodeName", "the node")]);
    /// assert_eq!(page.tell(message), "3 more hits: narrow the search with the node.");
    /// assert_eq!(page.tell("Node 'maxTokens' not found."), "Node 'maxTokens' not found.");
    /// ```
    pub fn tell<'t>(&self, message: &'t str) -> Cow<'t, str> {
        if !self.terms.iter().any(|term| message.contains(term.agent)) {
            return message.into();
        }
        let sentences = Pieces::of(message).sentences();
        sentences.iter().filter_map(|sentence| self.sentence(sentence)).collect::<Vec<_>>().join(" ").into()
    }

    /// A sentence; `None` if none of it concerns this audience. Advice follows a colon, its alternatives follow `, or `.
    fn sentence(&self, sentence: &Pieces<'_>) -> Option<String> {
        if let Some(told) = self.phrase(sentence) {
            return Some(told);
        }
        let (fact, advice) = sentence.split_once(": ")?;
        let fact = self.phrase(&fact)?;
        let possible: Vec<_> = advice.split(", or ").iter().filter_map(|advice| self.phrase(advice)).collect();
        let possible = possible.join(", or ");
        let possible = possible.trim_end_matches('.');
        Some(if possible.is_empty() { format!("{fact}.") } else { format!("{fact}: {possible}.") })
    }

    /// A part of a sentence, reworded; `None` if it names something that this audience cannot do.
    fn phrase(&self, phrase: &Pieces<'_>) -> Option<String> {
        phrase
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Quoted(text) => Some(Cow::Borrowed(*text)),
                Piece::Plain(text) => self.words(text),
            })
            .collect()
    }

    fn words<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let mut told = Cow::Borrowed(text);
        for term in self.terms.iter().filter(|term| text.contains(term.agent)) {
            if told.contains(term.agent) {
                told = told.replace(term.agent, term.person.as_deref()?).into();
            }
        }
        Some(told)
    }
}

/// `maxTokens` and `max_tokens` as `max-tokens`, the name of the option.
pub fn kebab_case(name: &str) -> String {
    let mut kebab = String::new();
    for char in name.chars() {
        if char.is_uppercase() {
            kebab.push('-');
        }
        match char {
            '_' => kebab.push('-'),
            char => kebab.extend(char.to_lowercase()),
        }
    }
    kebab
}

/// A message, split at the quoted names in it.
#[derive(Clone)]
struct Pieces<'t>(Vec<Piece<'t>>);

#[derive(Clone, Copy)]
enum Piece<'t> {
    Plain(&'t str),
    /// With its quotes.
    Quoted(&'t str),
}

impl<'t> Pieces<'t> {
    fn of(mut message: &'t str) -> Self {
        let mut pieces = Vec::new();
        while let Some((at, end)) = quoted(message) {
            pieces.push(Piece::Plain(&message[..at]));
            pieces.push(Piece::Quoted(&message[at..end]));
            message = &message[end..];
        }
        pieces.push(Piece::Plain(message));
        Self(pieces)
    }

    /// The parts before and after the first separator outside quotes.
    fn split_once(&self, separator: &str) -> Option<(Self, Self)> {
        let found = self.0.iter().enumerate().find_map(|(at, piece)| match piece {
            Piece::Plain(text) => text.split_once(separator).map(|halves| (at, halves)),
            Piece::Quoted(_) => None,
        });
        let (at, (before, after)) = found?;
        let first = self.0[..at].iter().copied().chain([Piece::Plain(before)]);
        let second = [Piece::Plain(after)].into_iter().chain(self.0[at + 1..].iter().copied());
        Some((Self(first.collect()), Self(second.collect())))
    }

    fn split(&self, separator: &str) -> Vec<Self> {
        let (mut parts, mut rest) = (Vec::new(), self.clone());
        while let Some((first, others)) = rest.split_once(separator) {
            parts.push(first);
            rest = others;
        }
        parts.push(rest);
        parts
    }

    /// The sentences, each with its full stop.
    fn sentences(&self) -> Vec<Self> {
        let mut sentences = self.split(". ");
        let last = sentences.len() - 1;
        sentences[..last].iter_mut().for_each(|sentence| sentence.0.push(Piece::Plain(".")));
        sentences
    }
}

/// Where the first text in single quotes begins and ends, as [`quoted_name`](crate::json::quoted_name) writes it. An
/// apostrophe inside a word, as in `n8n's`, is not a quote.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let mut before = ' ';
    let mut open = None;
    for (at, char) in text.char_indices() {
        match (char, open) {
            ('\'', None) if !before.is_alphanumeric() => open = Some(at),
            ('\'', Some(open)) if before != '\\' => return Some((open, at + 1)),
            _ => {}
        }
        // A backslash that is itself escaped escapes nothing.
        before = if before == '\\' && char == '\\' { ' ' } else { char };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_that_a_reader_cannot_follow_is_left_out() {
        let page = Audience::new([
            Term::without("maxTokens"),
            Term::without("offset: nextOffset"),
            Term::new("get_execution", "the table of nodes"),
            Term::new("get_execution_by_node", "the tabs of the node"),
        ]);
        let page = |message| page.tell(message).into_owned();
        assert_eq!(page("1 more node differs: use a larger maxTokens."), "1 more node differs.");
        assert_eq!(
            page("2 more fields: use path, or a larger maxTokens. Values were clipped: see get_execution_by_node."),
            "2 more fields: use path. Values were clipped: see the tabs of the node."
        );
        assert_eq!(page("There are more items: continue with offset: nextOffset."), "There are more items.");
    }

    #[test]
    fn names_of_an_execution_stay_what_they_are() {
        let terminal = Audience::new([Term::new("maxTokens", "--max-tokens"), Term::new("runIndex", "--run-index")]);
        assert_eq!(
            terminal.tell(r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': runIndex 5 must be from 0 to 1."),
            r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': --run-index 5 must be from 0 to 1."
        );
    }
}
