//! From code to tokens. Brackets and template literals nest on an explicit stack, so depth costs no recursion; the token
//! before a slash decides whether it is a division or a regular expression.

use std::ops::Range;

use memchr::{memchr, memchr3_iter, memmem};

use super::fault::FaultKind;
use super::lexeme::Lexeme;
use super::token::{Bracket, Kind, Token, is_word};

/// The tokens of one piece of code.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) comments: Vec<Range<usize>>,
    /// Why the rest was not read, or what was left open, and where.
    pub(super) fault: Option<(FaultKind, usize)>,
}

struct Lexer<'a> {
    /// The text up to the end of the code.
    text: &'a str,
    at: usize,
    /// The backslash that n8n removes before it parses.
    escape: Option<usize>,
    is_script: bool,
    begins_line: bool,
    has_class: bool,
    /// The open brackets and template literals, as indexes of tokens.
    open: Vec<usize>,
    tokens: Tokens,
}

/// The tokens of `text[range]`. A script begins with a statement, other code with a value.
pub(super) fn tokens(text: &str, range: Range<usize>, escape: Option<usize>, is_script: bool) -> Tokens {
    let mut lexer = Lexer {
        text: text.get(..range.end).unwrap_or_default(),
        at: range.start,
        escape,
        is_script,
        begins_line: false,
        has_class: false,
        open: Vec::new(),
        tokens: Tokens::default(),
    };
    if let Err(fault) = lexer.run() {
        lexer.tokens.fault = Some(fault);
    }
    lexer.tokens
}

type Step = Result<(), (FaultKind, usize)>;

impl Lexer<'_> {
    fn run(&mut self) -> Step {
        while let Some(byte) = self.bytes().get(self.at) {
            self.token(*byte)?;
        }
        let Some(token) = self.open.last().and_then(|open| self.tokens.list.get(*open)) else { return Ok(()) };
        let kind = match token.kind {
            Kind::Open(bracket) => FaultKind::UnclosedBracket(bracket.opening()),
            _ => FaultKind::UnclosedTemplate,
        };
        Err((kind, token.start()))
    }

    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The byte at an index; 0 after the end.
    fn byte(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        self.bytes().get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, end: usize) {
        self.push_lexeme(kind, Lexeme::Other, end);
    }

    fn push_lexeme(&mut self, kind: Kind, lexeme: Lexeme, end: usize) {
        self.tokens.list.push(Token::new(kind, lexeme, self.at..end, self.begins_line));
        self.begins_line = false;
        self.at = end;
    }

    fn token(&mut self, byte: u8) -> Step {
        match byte {
            b' ' | b'\t' | b'\x0b' | b'\x0c' => self.skip(1),
            b'\n' | b'\r' => self.end_line(1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(0),
            b'/' => return self.slash(),
            b'"' | b'\'' => return self.string(byte),
            b'`' => return self.template(Kind::Template, Kind::TemplateHead),
            b'0'..=b'9' => return self.number(),
            b'.' if self.byte(self.at + 1).is_ascii_digit() => return self.number(),
            b'(' | b'[' | b'{' => self.open_bracket(byte),
            b')' | b']' | b'}' => return self.close(byte),
            b'#' if self.has_class || (self.is_script && self.tokens.list.is_empty()) => self.word(1),
            b'\\' if self.escape == Some(self.at) => self.skip(1),
            b'\\' if self.byte(self.at + 1) == b'u' => self.word(1),
            0x80.. => return self.beyond_ascii(),
            _ => return self.sign(),
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn end_line(&mut self, bytes: usize) {
        self.begins_line = true;
        self.at += bytes;
    }

    fn beyond_ascii(&mut self) -> Step {
        match self.char() {
            char @ ('\u{2028}' | '\u{2029}') => self.end_line(char.len_utf8()),
            char if char.is_whitespace() || char == '\u{feff}' => self.skip(char.len_utf8()),
            char if is_word(char) => self.word(0),
            char => return Err((FaultKind::UnexpectedCharacter(char), self.at)),
        }
        Ok(())
    }

    /// The character that begins here.
    fn char(&self) -> char {
        self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or_default()
    }

    fn slash(&mut self) -> Step {
        match self.byte(self.at + 1) {
            b'/' => {
                let len = line_len(self.rest());
                self.comment(self.at + len);
                Ok(())
            }
            b'*' => {
                let rest = self.rest();
                // esprima tolerates an unclosed comment.
                let len = memmem::find(&rest[2..], b"*/").map_or(rest.len(), |at| at + 4);
                self.begins_line |= memchr(b'\n', &rest[..len]).is_some();
                self.comment(self.at + len);
                Ok(())
            }
            _ if self.expects_value() => self.regex(),
            _ => self.sign(),
        }
    }

    fn comment(&mut self, end: usize) {
        self.tokens.comments.push(self.at..end);
        self.at = end;
    }

    /// Whether a value may begin here.
    fn expects_value(&self) -> bool {
        let list = &self.tokens.list;
        let Some(last) = list.last() else { return true };
        match last.kind {
            Kind::Word => last.lexeme.expects_value() && !self.is_member(list.len() - 1),
            Kind::Sign => last.lexeme != Lexeme::Step,
            Kind::Close(bracket) => matches!(bracket, Bracket::Control | Bracket::Block),
            Kind::Open(_) | Kind::TemplateHead | Kind::TemplateMiddle => true,
            _ => false,
        }
    }

    /// Whether the token follows a dot.
    fn is_member(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.list.get(before));
        before.is_some_and(|before| before.lexeme.is_dot())
    }

    fn regex(&mut self) -> Step {
        let (mut at, mut in_class) = (self.at + 1, false);
        while at < self.text.len() {
            match self.byte(at) {
                b'\\' => at += 1,
                b'\n' | b'\r' => break,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    at += 1;
                    while self.byte(at).is_ascii_alphanumeric() {
                        at += 1;
                    }
                    self.push(Kind::Regex, at);
                    return Ok(());
                }
                _ => {}
            }
            at += 1;
        }
        Err((FaultKind::UnclosedRegex, self.at))
    }

    fn string(&mut self, quote: u8) -> Step {
        let mut at = self.at + 1;
        while at < self.text.len() {
            match self.byte(at) {
                b'\\' => at += if self.byte(at + 1) == b'\r' && self.byte(at + 2) == b'\n' { 2 } else { 1 },
                b'\n' | b'\r' => break,
                byte if byte == quote => {
                    self.push(Kind::Text, at + 1);
                    return Ok(());
                }
                _ => {}
            }
            at += 1;
        }
        Err((FaultKind::UnclosedString, self.at))
    }

    /// The text of a template literal: from its beginning or the end of a placeholder, to its end or the next placeholder.
    fn template(&mut self, closed: Kind, hole: Kind) -> Step {
        let mut at = self.at + 1;
        while at < self.text.len() {
            match (self.byte(at), self.byte(at + 1)) {
                (b'\\', _) => at += 1,
                (b'`', _) => {
                    self.push(closed, at + 1);
                    return Ok(());
                }
                (b'$', b'{') => {
                    self.open.push(self.tokens.list.len());
                    self.push(hole, at + 2);
                    return Ok(());
                }
                _ => {}
            }
            at += 1;
        }
        Err((FaultKind::UnclosedTemplate, self.at))
    }

    fn number(&mut self) -> Step {
        let rest = self.rest();
        let based = rest.len() > 1 && rest[0] == b'0' && b"xXoObB".contains(&rest[1]);
        let mut len = if based { 2 } else { 0 };
        let mut has_dot = based;
        while let Some(byte) = rest.get(len) {
            let is_part = match byte {
                b'0'..=b'9' | b'_' => true,
                b'a'..=b'f' | b'A'..=b'F' if based => true,
                b'.' => !std::mem::replace(&mut has_dot, true),
                b'e' | b'E' => rest.get(len + 1).is_some_and(|next| next.is_ascii_digit() || b"+-".contains(next)),
                b'+' | b'-' => !based && matches!(rest[len - 1], b'e' | b'E'),
                _ => false,
            };
            if !is_part {
                break;
            }
            has_dot |= matches!(byte, b'e' | b'E');
            len += 1;
        }
        len += usize::from(rest.get(len) == Some(&b'n'));
        let end = self.at + len;
        if self.text.get(end..).is_some_and(|rest| rest.starts_with(is_word)) {
            return Err((FaultKind::LetterAfterNumber, self.at));
        }
        self.push(Kind::Number, end);
        Ok(())
    }

    /// A word whose first `taken` characters are not word characters.
    fn word(&mut self, taken: usize) {
        let start = self.at + taken;
        let rest = self.bytes().get(start..).unwrap_or_default();
        let mut len = rest.iter().position(|byte| !IS_WORD[usize::from(*byte)]).unwrap_or(rest.len());
        if rest.get(len).is_some_and(|next| *next == b'\\' || !next.is_ascii()) {
            let rest = self.text.get(start..).unwrap_or_default();
            // A name can contain escapes, such as `\u0061`. The backslash of `\}}` does not begin one: n8n removes it.
            let goes_on =
                |(at, char): (usize, char)| is_word(char) || (char == '\\' && self.escape != Some(start + at));
            len = rest.char_indices().find(|next| !goes_on(*next)).map_or(rest.len(), |(at, _)| at);
        }
        let word = self.bytes().get(start..start + len).unwrap_or_default();
        let lexeme = if taken == 0 { Lexeme::of_word(word) } else { Lexeme::Other };
        self.has_class |= word == b"class";
        self.push_lexeme(Kind::Word, lexeme, start + len);
    }

    fn sign(&mut self) -> Step {
        let (lexeme, len) =
            Lexeme::sign(self.rest()).ok_or_else(|| (FaultKind::UnexpectedCharacter(self.char()), self.at))?;
        self.push_lexeme(Kind::Sign, lexeme, self.at + len);
        Ok(())
    }

    fn open_bracket(&mut self, byte: u8) {
        let follows_value = !self.expects_value();
        let bracket = match byte {
            b'(' if self.follows_control() => Bracket::Control,
            b'(' if follows_value => Bracket::Call,
            b'(' => Bracket::Group,
            b'[' if follows_value => Bracket::Index,
            b'[' => Bracket::List,
            _ if self.begins_block() => Bracket::Block,
            _ => Bracket::Object,
        };
        self.open.push(self.tokens.list.len());
        self.push(Kind::Open(bracket), self.at + 1);
    }

    fn follows_control(&self) -> bool {
        let list = &self.tokens.list;
        list.last().is_some_and(|last| {
            let is_for_await =
                last.lexeme == Lexeme::Await && list.len() > 1 && list[list.len() - 2].lexeme == Lexeme::For;
            (last.lexeme.is_control() || is_for_await) && !self.is_member(list.len() - 1)
        })
    }

    /// Whether a brace at this position contains statements, not members.
    fn begins_block(&self) -> bool {
        let Some(last) = self.tokens.list.last() else { return self.is_script };
        match last.kind {
            Kind::Word => last.lexeme == Lexeme::DoElse || !self.expects_value(),
            Kind::Sign => match last.lexeme {
                Lexeme::Colon => self.ends_label(),
                sign => matches!(sign, Lexeme::Arrow | Lexeme::Semicolon),
            },
            Kind::Open(bracket) => bracket == Bracket::Block,
            Kind::TemplateHead | Kind::TemplateMiddle => false,
            _ => true,
        }
    }

    /// Whether the colon that was read last ends a label, `case …` or `default`: it is among statements, and no `?` comes
    /// before it.
    fn ends_label(&self) -> bool {
        /// No `case` and no condition is longer, tokens.
        const LONGEST: usize = 200;
        let list = &self.tokens.list;
        let is_among_statements = match self.open.last() {
            Some(open) => list[*open].kind == Kind::Open(Bracket::Block),
            None => self.is_script,
        };
        let first = self.open.last().map_or(0, |open| open + 1);
        let (mut at, mut colons) = (list.len() - 1, 0_usize);
        for _ in 0..LONGEST {
            if !is_among_statements || at <= first {
                break;
            }
            at -= 1;
            match (list[at].kind, list[at].lexeme) {
                (Kind::Close(_) | Kind::TemplateTail, _) => at = list[at].partner as usize,
                (_, Lexeme::Colon) => colons += 1,
                (_, Lexeme::Question) if colons == 0 => return false,
                (_, Lexeme::Question) => colons -= 1,
                (_, Lexeme::Semicolon) => break,
                (_, Lexeme::Case) if !self.is_member(at) => break,
                _ => {}
            }
        }
        is_among_statements
    }

    fn close(&mut self, byte: u8) -> Step {
        let char = char::from(byte);
        let Some(open) = self.open.pop() else { return Err((FaultKind::UnexpectedBracket(char), self.at)) };
        let kind = self.tokens.list[open].kind;
        let index = self.tokens.list.len();
        match kind {
            Kind::Open(bracket) if bracket.closing() == char => self.push(Kind::Close(bracket), self.at + 1),
            Kind::TemplateHead | Kind::TemplateMiddle if char == '}' => {
                self.template(Kind::TemplateTail, Kind::TemplateMiddle)?;
            }
            Kind::Open(bracket) if char == '}' || self.open.is_empty() => {
                return Err((FaultKind::UnclosedBracket(bracket.opening()), self.tokens.list[open].start()));
            }
            _ => return Err((FaultKind::UnexpectedBracket(char), self.at)),
        }
        let partner = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        self.tokens.list[open].partner = partner(index);
        self.tokens.list[index].partner = partner(open);
        Ok(())
    }
}

/// The bytes of ASCII that a name may contain.
const IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        table[byte] = is_word(byte as u8 as char);
        byte += 1;
    }
    table
};

/// The length of the line that a text begins with, without its end.
fn line_len(text: &[u8]) -> usize {
    let ends = |at: &usize| matches!(text[*at..], [b'\n' | b'\r', ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..]);
    memchr3_iter(b'\n', b'\r', 0xe2, text).find(ends).unwrap_or(text.len())
}
