//! Rewrites messages of tools, which speak to agents, for people.
//!
//! A tool's message names what an agent can do next: its arguments and other tools. A person does the same with an option or
//! a command in a terminal, and with the controls on the page. [`Audience::tell`] rewrites the message for them.

use std::borrow::Cow;

/// The readers of a message other than agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A person who types commands.
    Terminal,
    /// A person who looks at the page.
    Page,
}

/// A name in messages of tools, and its equivalents for people: `None` if they have none.
struct Word {
    agent: &'static str,
    terminal: Option<&'static str>,
    page: Option<&'static str>,
}

impl Word {
    const fn new(agent: &'static str, terminal: &'static str, page: &'static str) -> Self {
        Self { agent, terminal: Some(terminal), page: Some(page) }
    }

    /// The page has no control for it: it always asks for as much as it can show.
    const fn of_terminal(agent: &'static str, terminal: &'static str) -> Self {
        Self { agent, terminal: Some(terminal), page: None }
    }
}

/// A name comes after every name that it is a prefix of.
const WORDS: [Word; 29] = [
    Word::new("ignoreDataSizeLimit: true", "--ignore-data-size-limit", "the button here"),
    Word::new("ignoreDataSizeLimit", "--ignore-data-size-limit", "the button here"),
    Word::new(
        "pass the id of another execution (argument: with)",
        "add the id of another execution to the command",
        "enter the ID of another execution",
    ),
    Word::of_terminal("offset: nextOffset", "--offset"),
    Word::of_terminal("nextOffset", "--offset"),
    Word::of_terminal("nextCursor", "--cursor"),
    Word::of_terminal("maxTokens", "--max-tokens"),
    Word::of_terminal("smaller limit", "smaller --limit"),
    Word::of_terminal("raise limit", "raise --limit"),
    Word::new("nodeName", "the node's name", "the node"),
    Word::new("runIndex", "--run-index", "run"),
    Word::new("outputIndex", "--output-index", "output"),
    Word::new("get_execution_by_node", "n8n-lens node", "the tabs of the node"),
    Word::new("get_execution_fields", "n8n-lens fields", "the tab of its fields"),
    Word::new("get_execution", "n8n-lens summary", "the table of nodes"),
    Word::new("search_execution", "n8n-lens search", "the search"),
    Word::new("trace_execution_item", "n8n-lens trace", "the tab of its trace"),
    Word::new("compare_executions", "n8n-lens compare", "the comparison"),
    Word::new("list_executions", "n8n-lens list", "the list"),
    Word::new("describe_execution", "n8n-lens describe", "the view as it ran"),
    Word::new("find_executions", "n8n-lens find", "the search on the home page"),
    Word::new("group_failures", "n8n-lens failures", "the failures on the home page"),
    Word::new("workflow_trend", "n8n-lens trend", "the trends on the home page"),
    Word::of_terminal("edit_workflow", "n8n-lens edit"),
    Word::of_terminal("check_workflow", "n8n-lens check-workflow"),
    Word::of_terminal("prove_fix", "n8n-lens prove"),
    Word::of_terminal("retry_execution", "n8n-lens retry"),
    Word::of_terminal("stop_execution", "n8n-lens stop"),
    Word::of_terminal("publish_workflow_version", "n8n-lens publish"),
];

impl Audience {
    /// A message in the words of this audience. Advice that it cannot follow is left out; quoted text is unchanged.
    ///
    /// ```
    /// use n8n_lens::toolkit::Audience;
    ///
    /// let message = "3 more hits: use a larger maxTokens, or narrow the search with nodeName.";
    /// assert_eq!(
    ///     Audience::Terminal.tell(message),
    ///     "3 more hits: use a larger --max-tokens, or narrow the search with the node's name."
    /// );
    /// assert_eq!(Audience::Page.tell(message), "3 more hits: narrow the search with the node.");
    /// assert_eq!(Audience::Page.tell("Node 'maxTokens' not found."), "Node 'maxTokens' not found.");
    /// ```
    pub fn tell(self, message: &str) -> Cow<'_, str> {
        if !WORDS.iter().any(|word| message.contains(word.agent)) {
            return message.into();
        }
        let sentences = Pieces::of(message).sentences();
        sentences.iter().filter_map(|sentence| self.sentence(sentence)).collect::<Vec<_>>().join(" ").into()
    }

    fn word(self, word: &Word) -> Option<&'static str> {
        match self {
            Self::Terminal => word.terminal,
            Self::Page => word.page,
        }
    }

    /// A sentence; `None` if none of it concerns this audience. Advice follows a colon, its alternatives follow `, or `.
    fn sentence(self, sentence: &Pieces<'_>) -> Option<String> {
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
    fn phrase(self, phrase: &Pieces<'_>) -> Option<String> {
        phrase
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Quoted(text) => Some(Cow::Borrowed(*text)),
                Piece::Plain(text) => self.words(text),
            })
            .collect()
    }

    fn words<'t>(self, text: &'t str) -> Option<Cow<'t, str>> {
        let mut told = Cow::Borrowed(text);
        for word in WORDS.iter().filter(|word| text.contains(word.agent)) {
            if told.contains(word.agent) {
                told = told.replace(word.agent, self.word(word)?).into();
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
        let page = |message| Audience::Page.tell(message).into_owned();
        assert_eq!(page("1 more node differs: use a larger maxTokens."), "1 more node differs.");
        assert_eq!(
            page("2 more fields: use path, or a larger maxTokens. Values were clipped: see get_execution_by_node."),
            "2 more fields: use path. Values were clipped: see the tabs of the node."
        );
        assert_eq!(page("There are more items: continue with offset: nextOffset."), "There are more items.");
        assert_eq!(
            page("Execution '2' names no workflow: pass the id of another execution (argument: with)."),
            "Execution '2' names no workflow: enter the ID of another execution."
        );
        assert_eq!(
            page("n8n's limit is met: ignoreDataSizeLimit: true requests it anyway."),
            "n8n's limit is met: the button here requests it anyway."
        );
    }

    #[test]
    fn names_of_an_execution_stay_what_they_are() {
        let message = r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': runIndex 5 must be from 0 to 1.";
        assert_eq!(
            Audience::Terminal.tell(message),
            r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': --run-index 5 must be from 0 to 1."
        );
        assert_eq!(
            Audience::Page.tell(message),
            r"Node 'It\'s. maxTokens: x' has 2 runs in execution '7': run 5 must be from 0 to 1."
        );
    }

    #[test]
    fn a_name_that_begins_with_another_comes_first() {
        for (at, word) in WORDS.iter().enumerate() {
            assert!(!WORDS[..at].iter().any(|before| word.agent.contains(before.agent)), "{}", word.agent);
        }
    }
}
