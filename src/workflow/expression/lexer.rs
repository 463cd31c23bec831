//! From code to tokens. Brackets and template literals nest on an explicit stack, so depth costs no recursion; the token
//! before a slash decides whether it is a division or a regular expression.

use std::ops::Range;

use super::fault::FaultKind;
use super::token::{Bracket, Kind, Token, expects_value, is_word};

/// The tokens of one piece of code.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) comments: Vec<Range<usize>>,
    /// Why the rest was not read, or what was left open, and where.
    pub(super) fault: Option<(FaultKind, usize)>,
}

/// Operators and other signs of one byte, and of more.
const SIGNS: &[u8] = b"=<>?.+-*/%&|^!~,;:";
const SIGNS_OF_2: [[u8; 2]; 22] = [
    *b"=>", *b"==", *b"!=", *b"<=", *b">=", *b"&&", *b"||", *b"??", *b"?.", *b"++", *b"--", *b"+=", *b"-=", *b"*=",
    *b"/=", *b"%=", *b"&=", *b"|=", *b"^=", *b"<<", *b">>", *b"**",
];
const SIGNS_OF_3: [[u8; 3]; 10] =
    [*b"...", *b"===", *b"!==", *b"**=", *b"<<=", *b">>=", *b">>>", *b"&&=", *b"||=", *b"??="];

/// The length of the sign that a text begins with: of several, JavaScript takes the longest.
fn sign_len(text: &[u8]) -> Option<usize> {
    if text.starts_with(b">>>=") {
        return Some(4);
    }
    if text.first_chunk().is_some_and(|start| SIGNS_OF_3.contains(start)) {
        return Some(3);
    }
    let has_2 = text.first_chunk().is_some_and(|start| SIGNS_OF_2.contains(start));
    if has_2 { Some(2) } else { text.first().filter(|byte| SIGNS.contains(byte)).map(|_| 1) }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
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
        text,
        at: range.start,
        end: range.end,
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
        while let Some(char) = self.char_at(self.at) {
            self.token(char)?;
        }
        let Some(token) = self.open.last().and_then(|open| self.tokens.list.get(*open)) else { return Ok(()) };
        let kind = match token.kind {
            Kind::Open(bracket) => FaultKind::UnclosedBracket(bracket.opening()),
            _ => FaultKind::UnclosedTemplate,
        };
        Err((kind, token.start()))
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..self.end)?.chars().next()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn push(&mut self, kind: Kind, end: usize) {
        self.tokens.list.push(Token::new(kind, self.at..end, self.begins_line));
        self.begins_line = false;
        self.at = end;
    }

    fn token(&mut self, char: char) -> Step {
        match char {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => {
                self.begins_line = true;
                self.at += char.len_utf8();
                Ok(())
            }
            '\\' if self.escape == Some(self.at) => {
                self.at += 1;
                Ok(())
            }
            char if char.is_whitespace() || char == '\u{feff}' => {
                self.at += char.len_utf8();
                Ok(())
            }
            '/' => self.slash(),
            '"' | '\'' => self.string(char),
            '`' => self.template(Kind::Template, Kind::TemplateHead),
            '0'..='9' => self.number(),
            '.' if self.byte(self.at + 1).is_ascii_digit() => self.number(),
            '(' | '[' | '{' => {
                self.open_bracket(char);
                Ok(())
            }
            ')' | ']' | '}' => self.close(char),
            '#' if self.has_class || (self.is_script && self.tokens.list.is_empty()) => self.word(1),
            '\\' if self.byte(self.at + 1) == b'u' => self.word(1),
            char if is_word(char) => self.word(0),
            char => self.sign(char),
        }
    }

    fn slash(&mut self) -> Step {
        match self.byte(self.at + 1) {
            b'/' => {
                let rest = self.rest();
                let len = rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
                self.comment(self.at + len);
                Ok(())
            }
            b'*' => {
                // esprima tolerates an unclosed comment.
                let len = self.rest().get(2..).and_then(|rest| rest.find("*/")).map_or(self.rest().len(), |at| at + 4);
                self.begins_line |= self.rest().get(..len).is_some_and(|comment| comment.contains('\n'));
                self.comment(self.at + len);
                Ok(())
            }
            _ if self.expects_value() => self.regex(),
            _ => self.sign('/'),
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
            Kind::Word => expects_value(self.word_of(last)) && !self.is_member(list.len() - 1),
            Kind::Sign => !matches!(self.word_of(last), "++" | "--"),
            Kind::Close(bracket) => matches!(bracket, Bracket::Control | Bracket::Block),
            Kind::Open(_) | Kind::TemplateHead | Kind::TemplateMiddle => true,
            _ => false,
        }
    }

    fn word_of(&self, token: &Token) -> &str {
        self.text.get(token.range()).unwrap_or_default()
    }

    /// Whether the token follows a dot.
    fn is_member(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.tokens.list.get(before));
        before.is_some_and(|before| matches!(self.word_of(before), "." | "?."))
    }

    fn regex(&mut self) -> Step {
        let (mut at, mut in_class) = (self.at + 1, false);
        while at < self.end {
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

    fn string(&mut self, quote: char) -> Step {
        let mut at = self.at + 1;
        while at < self.end {
            match self.byte(at) {
                b'\\' => at += if self.byte(at + 1) == b'\r' && self.byte(at + 2) == b'\n' { 2 } else { 1 },
                b'\n' | b'\r' => break,
                byte if char::from(byte) == quote => {
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
        while at < self.end {
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
        let rest = self.rest().as_bytes();
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
        if self.char_at(end).is_some_and(is_word) {
            return Err((FaultKind::LetterAfterNumber, self.at));
        }
        self.push(Kind::Number, end);
        Ok(())
    }

    /// A word whose first `taken` characters are not word characters.
    fn word(&mut self, taken: usize) -> Step {
        let rest = self.rest().get(taken..).unwrap_or_default();
        // An escape in a name: `\u0061`.
        let len = rest.find(|char| !is_word(char) && char != '\\').unwrap_or(rest.len());
        self.has_class |= rest.get(..len) == Some("class");
        self.push(Kind::Word, self.at + taken + len);
        Ok(())
    }

    fn sign(&mut self, char: char) -> Step {
        let rest = self.rest();
        let len = sign_len(rest.as_bytes()).ok_or((FaultKind::UnexpectedCharacter(char), self.at))?;
        // `a?.5:1`
        let is_question = rest.starts_with("?.") && self.byte(self.at + 2).is_ascii_digit();
        self.push(Kind::Sign, self.at + if is_question { 1 } else { len });
        Ok(())
    }

    fn open_bracket(&mut self, char: char) {
        let follows_value = !self.expects_value();
        let bracket = match char {
            '(' if self.follows_control() => Bracket::Control,
            '(' if follows_value => Bracket::Call,
            '(' => Bracket::Group,
            '[' if follows_value => Bracket::Index,
            '[' => Bracket::List,
            _ if self.begins_block() => Bracket::Block,
            _ => Bracket::Object,
        };
        self.open.push(self.tokens.list.len());
        self.push(Kind::Open(bracket), self.at + 1);
    }

    fn follows_control(&self) -> bool {
        let list = &self.tokens.list;
        list.last().is_some_and(|last| {
            let word = self.word_of(last);
            let is_loop = matches!(word, "if" | "for" | "while" | "with" | "switch" | "catch");
            let is_for_await = word == "await" && list.len() > 1 && self.word_of(&list[list.len() - 2]) == "for";
            (is_loop || is_for_await) && !self.is_member(list.len() - 1)
        })
    }

    /// Whether a brace at this position contains statements, not members.
    fn begins_block(&self) -> bool {
        let Some(last) = self.tokens.list.last() else { return self.is_script };
        match last.kind {
            Kind::Word => matches!(self.word_of(last), "do" | "else") || !self.expects_value(),
            Kind::Sign => match self.word_of(last) {
                ":" => self.ends_label(),
                sign => matches!(sign, "=>" | ";"),
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
            match (list[at].kind, self.word_of(&list[at])) {
                (Kind::Close(_) | Kind::TemplateTail, _) => at = list[at].partner as usize,
                (Kind::Sign, ":") => colons += 1,
                (Kind::Sign, "?") if colons == 0 => return false,
                (Kind::Sign, "?") => colons -= 1,
                (Kind::Sign, ";") => break,
                (Kind::Word, "case" | "default") if !self.is_member(at) => break,
                _ => {}
            }
        }
        is_among_statements
    }

    fn close(&mut self, char: char) -> Step {
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
