//! The pieces of a text that are code.

use std::ops::Range;

use memchr::memmem;

use super::lexeme::Lexeme;
use super::lexer::{Tokens, tokens};
use super::token::{Bracket, Kind, Token};
use super::{MAX_CODE_BYTES, Syntax};

/// One piece of code, as tokens.
#[derive(Debug)]
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Tokens,
    pub(super) range: Range<usize>,
    pub(super) syntax: Syntax,
    /// Whether `}}` ends it.
    pub(super) is_closed: bool,
}

/// All code of a text, in order.
pub(super) fn codes(text: &str, syntax: Syntax) -> impl Iterator<Item = Code<'_>> {
    let mut pieces = Pieces { text, at: 0 };
    let pieces = std::iter::from_fn(move || match syntax {
        Syntax::Code => pieces.whole(),
        Syntax::Expression => pieces.next_expression(),
        Syntax::Template => pieces.next_resolvable(),
    });
    pieces.filter(|(range, _)| range.len() <= MAX_CODE_BYTES).map(move |(range, is_closed)| {
        let is_script = syntax == Syntax::Code;
        let escape = if is_script {
            None
        } else {
            memmem::find(&text.as_bytes()[range.clone()], b"\\}}").map(|at| range.start + at)
        };
        Code { text, tokens: tokens(text, range.clone(), escape, is_script), range, syntax, is_closed }
    })
}

struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl Pieces<'_> {
    fn whole(&mut self) -> Option<(Range<usize>, bool)> {
        let range = self.at..self.text.len();
        self.at = self.text.len();
        (!range.is_empty()).then_some((range, false))
    }

    /// As tournament splits it.
    fn next_expression(&mut self) -> Option<(Range<usize>, bool)> {
        // The `=`.
        // There is no code after brackets that end the text.
        let start = self.find(b"{{", self.at.max(1)).ok().filter(|start| *start < self.text.len())?;
        let (range, is_closed) = match self.find(b"}}", start) {
            Ok(end) => (start..end - 2, true),
            // Code that ends with an escaped `}}` is lost.
            Err(searched) if searched > start && searched == self.text.len() => return None,
            Err(_) => (start..self.text.len(), false),
        };
        self.at = if is_closed { range.end + 2 } else { range.end };
        Some((range, is_closed))
    }

    /// As n8n's `getResolvables` finds them.
    fn next_resolvable(&mut self) -> Option<(Range<usize>, bool)> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let start = self.at + memmem::find(rest, b"{{")? + 2;
        let end = start + memmem::find(self.text.as_bytes().get(start..)?, b"}}")?;
        self.at = end + 2;
        Some((start..end, true))
    }

    /// The end of the next brackets that are not escaped by an odd number of backslashes, counted from where the search
    /// began. If there are none, the end of the last escaped ones.
    fn find(&self, brackets: &[u8], mut from: usize) -> Result<usize, usize> {
        let bytes = self.text.as_bytes();
        while let Some(at) = memmem::find(bytes.get(from..).unwrap_or_default(), brackets) {
            let before = &bytes[from..from + at];
            let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            from += at + 2;
            if backslashes % 2 == 0 {
                return Ok(from);
            }
        }
        Err(from)
    }
}

impl<'a> Code<'a> {
    pub(super) fn list(&self) -> &[Token] {
        &self.tokens.list
    }

    pub(super) fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.list.get(index)
    }

    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.token(index).map(|token| token.kind)
    }

    /// The source of a token, empty after the last one.
    pub(super) fn source(&self, index: usize) -> &'a str {
        self.token(index).and_then(|token| self.text.get(token.range())).unwrap_or_default()
    }

    /// Where a token begins, or the code ends.
    pub(super) fn start(&self, index: usize) -> usize {
        self.token(index).map_or(self.range.end, Token::start)
    }

    /// Whether this bracket encloses the arguments of a function: `Object.assign(`.
    pub(super) fn calls(&self, open: usize, object: &str, name: &str) -> bool {
        let before = |distance: usize| open.wrapping_sub(distance);
        self.kind(open) == Some(Kind::Open(Bracket::Call))
            && self.source(before(1)) == name
            && self.lexeme(before(2)) == Lexeme::Dot
            && self.source(before(3)) == object
    }

    pub(super) fn before(&self, index: usize) -> Option<Kind> {
        index.checked_sub(1).and_then(|before| self.kind(before))
    }

    /// Which word or sign a token is.
    pub(super) fn lexeme(&self, index: usize) -> Lexeme {
        self.token(index).map_or(Lexeme::Other, |token| token.lexeme)
    }

    /// Which word or sign the token before is.
    pub(super) fn lexeme_before(&self, index: usize) -> Lexeme {
        index.checked_sub(1).map_or(Lexeme::Other, |before| self.lexeme(before))
    }

    /// Whether a token is this opening bracket.
    pub(super) fn opens(&self, index: usize, char: char) -> bool {
        matches!(self.kind(index), Some(Kind::Open(bracket)) if bracket.opening() == char)
    }

    /// Whether a token is this closing bracket.
    pub(super) fn closes(&self, index: usize, char: char) -> bool {
        matches!(self.kind(index), Some(Kind::Close(bracket)) if bracket.closing() == char)
    }

    /// The opening bracket that encloses a token.
    pub(super) fn enclosing(&self, mut index: usize) -> Option<usize> {
        loop {
            index = index.checked_sub(1)?;
            match self.kind(index)? {
                Kind::Open(_) => return Some(index),
                Kind::Close(_) => index = self.partner(index)?,
                _ => {}
            }
        }
    }

    /// The index of the matching bracket.
    pub(super) fn partner(&self, index: usize) -> Option<usize> {
        let partner = self.token(index)?.partner as usize;
        (partner < self.tokens.list.len()).then_some(partner)
    }
}
