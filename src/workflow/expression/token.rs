//! JavaScript tokens, as far as they matter here.

use std::ops::Range;

use super::lexeme::Lexeme;

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Which word or sign it is.
    pub(super) lexeme: Lexeme,
    /// Whether a line ends between it and the token before.
    pub(super) begins_line: bool,
    start: u32,
    end: u32,
    /// For a bracket: the index of the matching one, or its own if there is none.
    pub(super) partner: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    Number,
    /// A string literal.
    Text,
    Regex,
    /// A template literal without `${`.
    Template,
    /// The text of a template literal up to its first `${`.
    TemplateHead,
    /// The text between two placeholders of a template literal, with both brackets.
    TemplateMiddle,
    /// The text after the last placeholder of a template literal.
    TemplateTail,
    Open(Bracket),
    Close(Bracket),
    /// An operator, a comma, a semicolon, …
    Sign,
}

/// The role of a bracket: a guess from the token before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// `(` of an operand or of parameters.
    Group,
    /// `(` after a value.
    Call,
    /// `(` after `if`, `for`, `while`, …
    Control,
    /// `[` of an array.
    List,
    /// `[` after a value.
    Index,
    /// `{` of statements.
    Block,
    /// `{` of an object.
    Object,
}

impl Token {
    pub(super) fn new(kind: Kind, lexeme: Lexeme, range: Range<usize>, begins_line: bool) -> Self {
        // Code of 4 GiB or more is not read.
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { kind, lexeme, begins_line, start: position(range.start), end: position(range.end), partner: u32::MAX }
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }
}

impl Bracket {
    pub(super) fn opening(self) -> char {
        match self {
            Self::Group | Self::Call | Self::Control => '(',
            Self::List | Self::Index => '[',
            Self::Block | Self::Object => '{',
        }
    }

    pub(super) fn closing(self) -> char {
        match self.opening() {
            '(' => ')',
            '[' => ']',
            _ => '}',
        }
    }
}

/// Whether a name may contain this character. Beyond ASCII, only characters that are certainly not letters are
/// excluded: punctuation, symbols, emoji.
pub(super) const fn is_word(char: char) -> bool {
    match char {
        '\0'..='\x7f' => char.is_ascii_alphanumeric() || matches!(char, '_' | '$'),
        '\u{a1}'..='\u{a9}' | '\u{ab}'..='\u{b4}' | '\u{b6}' | '\u{b8}'..='\u{b9}' | '\u{bb}'..='\u{bf}' => false,
        '\u{2010}'..='\u{203e}' | '\u{2041}'..='\u{2053}' | '\u{2055}'..='\u{205e}' | '\u{20a0}'..='\u{20c0}' => false,
        '\u{2190}'..='\u{2bff}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' => false,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{1f000}'..='\u{1faff}' | '\u{fffd}' => false,
        _ => true,
    }
}
