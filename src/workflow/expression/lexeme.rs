//! The words and signs that mean something here, told apart once, when they are read.

/// What a word or a sign is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// Any other word or sign, and every other token.
    Other,

    /// `$`
    Dollar,
    /// `$json`, `$data`
    Json,
    /// `$input`
    Input,
    /// `$items`
    Items,
    /// `$node`
    Node,
    /// `cheerio`
    Cheerio,
    /// A function of n8n or of JavaScript that tests whether there is a value, or replaces or removes a missing one.
    Guard,
    /// `null`, `undefined`
    Nothing,

    /// `if`
    If,
    /// `switch`
    Switch,
    /// `for`
    For,
    /// `while`
    While,
    /// `with`
    With,
    /// `catch`
    Catch,
    /// `const`, `let`, `var`
    Declaration,
    /// `function`
    Function,
    /// `import`, `export`, `static`, `async`
    Modifier,
    /// Any other word that is never a value, or that has another meaning in some places.
    Special,

    /// `await`
    Await,
    /// `case`, `default`
    Case,
    /// `delete`
    Delete,
    /// `do`, `else`
    DoElse,
    /// `in`
    In,
    /// `instanceof`
    InstanceOf,
    /// `typeof`
    Typeof,
    /// `void`
    Void,
    /// `yield`
    Yield,
    /// Any other word after which a value follows.
    Leading,

    /// `.`
    Dot,
    /// `?.`
    OptionalDot,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `*`
    Star,
    /// `=>`
    Arrow,
    /// `++`, `--`
    Step,
    /// `!`
    Not,
    /// `~`, `+`, `-`, `/`, `...`
    Prefix,
    /// `=`
    Assign,
    /// `==`, `!=`, `===`, `!==`
    Equality,
    /// `??`, `||`, `&&`, and these with `=`
    Fallback,
    /// Any other operator that is binary wherever it stands.
    Binary,
}

impl Lexeme {
    /// What a word is.
    pub(super) fn of_word(word: &[u8]) -> Self {
        match word {
            b"$" => Self::Dollar,
            b"$json" | b"$data" => Self::Json,
            b"$input" => Self::Input,
            b"$items" => Self::Items,
            b"$node" => Self::Node,
            b"cheerio" => Self::Cheerio,
            b"isEmpty" | b"isNotEmpty" | b"ifEmpty" | b"hasField" | b"$ifEmpty" | b"$if" | b"isArray" | b"hasOwn"
            | b"hasOwnProperty" | b"compact" | b"Boolean" | b"isFinite" | b"isInteger" | b"isSafeInteger"
            | b"isNaN" => Self::Guard,
            b"null" | b"undefined" => Self::Nothing,
            b"if" => Self::If,
            b"switch" => Self::Switch,
            b"for" => Self::For,
            b"while" => Self::While,
            b"with" => Self::With,
            b"catch" => Self::Catch,
            b"const" | b"let" | b"var" => Self::Declaration,
            b"function" => Self::Function,
            b"import" | b"export" | b"static" | b"async" => Self::Modifier,
            b"try" | b"finally" | b"break" | b"continue" | b"debugger" | b"class" | b"get" | b"set" | b"from"
            | b"as" | b"accessor" | b"using" | b"enum" | b"implements" | b"interface" | b"package" | b"private"
            | b"protected" | b"public" => Self::Special,
            b"await" => Self::Await,
            b"case" | b"default" => Self::Case,
            b"delete" => Self::Delete,
            b"do" | b"else" => Self::DoElse,
            b"in" => Self::In,
            b"instanceof" => Self::InstanceOf,
            b"typeof" => Self::Typeof,
            b"void" => Self::Void,
            b"yield" => Self::Yield,
            b"return" | b"of" | b"new" | b"throw" | b"extends" => Self::Leading,
            _ => Self::Other,
        }
    }

    /// The sign that a text begins with, and its length: of several, JavaScript takes the longest.
    pub(super) fn sign(text: &[u8]) -> Option<(Self, usize)> {
        Some(match text {
            [b'>', b'>', b'>', b'=', ..] => (Self::Binary, 4),
            [b'.', b'.', b'.', ..] => (Self::Prefix, 3),
            [b'=' | b'!', b'=', b'=', ..] => (Self::Equality, 3),
            [b'&', b'&', b'=', ..] | [b'|', b'|', b'=', ..] | [b'?', b'?', b'=', ..] => (Self::Fallback, 3),
            [b'*', b'*', b'=', ..] | [b'<', b'<', b'=', ..] | [b'>', b'>', b'=' | b'>', ..] => (Self::Binary, 3),
            // `a?.5:1`
            [b'?', b'.', b'0'..=b'9', ..] => (Self::Question, 1),
            [b'?', b'.', ..] => (Self::OptionalDot, 2),
            [b'=', b'>', ..] => (Self::Arrow, 2),
            [b'=' | b'!', b'=', ..] => (Self::Equality, 2),
            [b'&', b'&', ..] | [b'|', b'|', ..] | [b'?', b'?', ..] => (Self::Fallback, 2),
            [b'+', b'+', ..] | [b'-', b'-', ..] => (Self::Step, 2),
            [b'/', b'=', ..] => (Self::Other, 2),
            [b'<' | b'>' | b'+' | b'-' | b'*' | b'%' | b'&' | b'|' | b'^', b'=', ..]
            | [b'<', b'<', ..]
            | [b'>', b'>', ..]
            | [b'*', b'*', ..] => (Self::Binary, 2),
            [b'.', ..] => (Self::Dot, 1),
            [b'?', ..] => (Self::Question, 1),
            [b':', ..] => (Self::Colon, 1),
            [b',', ..] => (Self::Comma, 1),
            [b';', ..] => (Self::Semicolon, 1),
            [b'*', ..] => (Self::Star, 1),
            [b'!', ..] => (Self::Not, 1),
            [b'=', ..] => (Self::Assign, 1),
            [b'~' | b'+' | b'-' | b'/', ..] => (Self::Prefix, 1),
            [b'<' | b'>' | b'%' | b'&' | b'|' | b'^', ..] => (Self::Binary, 1),
            _ => return None,
        })
    }

    /// Whether it is a word after which a value follows.
    pub(super) fn expects_value(self) -> bool {
        matches!(
            self,
            Self::Await
                | Self::Case
                | Self::Delete
                | Self::DoElse
                | Self::In
                | Self::InstanceOf
                | Self::Typeof
                | Self::Void
                | Self::Yield
                | Self::Leading
        )
    }

    /// Whether it is a word that is never a value, or that has another meaning in some places.
    pub(super) fn is_special(self) -> bool {
        let is_statement = matches!(
            self,
            Self::If
                | Self::Switch
                | Self::For
                | Self::While
                | Self::With
                | Self::Catch
                | Self::Declaration
                | Self::Function
                | Self::Modifier
                | Self::Special
        );
        is_statement || self.expects_value()
    }

    /// Whether a bracket after this word belongs to a statement, and no value is called.
    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::If | Self::For | Self::While | Self::With | Self::Switch | Self::Catch)
    }

    /// Whether the name of a member follows.
    pub(super) fn is_dot(self) -> bool {
        matches!(self, Self::Dot | Self::OptionalDot)
    }

    /// Whether it is an operator that is binary wherever it stands. So is `*`, except that it also marks generators.
    pub(super) fn is_binary(self) -> bool {
        matches!(self, Self::Question | Self::Assign | Self::Equality | Self::Fallback | Self::Binary)
    }
}
