//! Output to the terminal: names, items and errors contain foreign text, which must not control it.
//!
//! A terminal obeys control characters (ESC begins sequences that write files or the clipboard, U+009B is another ESC) and
//! reorders text after bidirectional ones. They are printed as JSON escapes, `\u202e`, so that they are visible and JSON
//! stays the same JSON.

use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdin, stdout};

use anstream::AutoStream;

use super::Error;

/// The character that begins our own terminal sequences.
const ESCAPE: char = '\u{1b}';

/// A text with our own terminal sequences. All data in it is [`plain`].
pub(super) struct Styled(pub(super) String);

/// Whether to print for people: standard output is a terminal, and JSON was not requested.
pub(super) fn for_people(json: bool) -> bool {
    !json && stdout().is_terminal()
}

/// The number of columns of the terminal on standard output; `None` if it is not a terminal, or does not report it.
pub(super) fn width() -> Option<u16> {
    terminal_size::terminal_size_of(stdout()).map(|(columns, _)| columns.0)
}

/// A styled text whose lines are broken at spaces if they are too long for the terminal, which would break them in the
/// middle of a word.
pub(super) fn wrapped(text: &str) -> String {
    match width() {
        Some(width) => text.split('\n').map(|line| wrapped_line(line, width.into())).collect::<Vec<_>>().join("\n"),
        None => text.to_owned(),
    }
}

fn wrapped_line(line: &str, width: usize) -> String {
    let (mut wrapped, mut column) = (String::with_capacity(line.len()), 0);
    for word in line.split(' ') {
        let columns = columns(word);
        match column {
            0 => {}
            before if before + 1 + columns > width => {
                wrapped.push('\n');
                column = 0;
            }
            _ => {
                wrapped.push(' ');
                column += 1;
            }
        }
        wrapped.push_str(word);
        column += columns;
    }
    wrapped
}

/// How many columns a styled text takes: our own sequences none, East Asian characters and emoji two.
fn columns(text: &str) -> usize {
    let (mut columns, mut is_sequence) = (0, false);
    for char in text.chars() {
        match char {
            ESCAPE => is_sequence = true,
            'm' if is_sequence => is_sequence = false,
            _ if is_sequence => {}
            '\u{1100}'..='\u{115f}'
            | '\u{2e80}'..='\u{ffdc}'
            | '\u{1f300}'..='\u{1faff}'
            | '\u{20000}'..='\u{3fffd}' => {
                columns += 2;
            }
            _ => columns += 1,
        }
    }
    columns
}

/// Data as part of one line.
pub(super) fn plain(text: &str) -> String {
    escape(text, &[])
}

/// Prints lines of text to standard output. A closed pipe is not an error.
pub(super) fn print(text: &str) -> Result<(), Error> {
    write_to(stdout().lock(), &lines(text)).map(drop)
}

/// Prints JSON to standard output, unchanged unless that is a terminal. Returns whether anything still reads it.
pub(super) fn print_json(json: &str) -> Result<bool, Error> {
    let text = if stdout().is_terminal() { lines(json) } else { json.to_owned() };
    write_to(stdout().lock(), &text)
}

/// Prints a styled text to standard output; returns whether anything still reads it. Styles are left out in a pipe and
/// if `NO_COLOR` is set; `CLICOLOR_FORCE` keeps them.
pub(super) fn print_styled(Styled(text): &Styled) -> Result<bool, Error> {
    write_to(AutoStream::auto(stdout().lock()), text)
}

/// Clears the terminal.
#[cfg(feature = "coordination")]
pub(super) fn clear() -> Result<(), Error> {
    write_to(stdout().lock(), "\u{1b}[2J\u{1b}[H").map(drop)
}

/// Writes a line; returns whether anything still reads it.
fn write_to(mut out: impl Write, text: &str) -> Result<bool, Error> {
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::Input(format!("Standard output: {error}."))),
    }
}

/// Prints the problem with the arguments, or the requested help, and ends the process.
pub(super) fn usage(error: &clap::Error) -> ! {
    let text = error.to_string();
    let shown = lines(&text);
    if text == shown {
        error.exit();
    }
    let _ = write!(stderr(), "{shown}");
    std::process::exit(error.exit_code())
}

/// Prints a message to standard error.
pub(super) fn report(message: &str) {
    let _ = writeln!(stderr(), "n8n-lens: {}", lines(message));
}

/// Explains to a person who starts a protocol server what it is: its input is a terminal.
pub(super) fn introduce(command: &str) {
    if stdin().is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        report(&format!(
            "This is an MCP server (version {version}). It waits for a client's messages on standard input; Ctrl-C ends it. For commands and options: {command} --help"
        ));
    }
}

/// Standard error for the log. The log's own styles are passed on: its library escapes them in data.
pub(super) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = escape(&String::from_utf8_lossy(entry), &['\n', '\t', ESCAPE]);
        stderr().write_all(text.as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

fn lines(text: &str) -> String {
    escape(text, &['\n', '\t'])
}

/// Escapes characters that a terminal would obey, except for those in `kept`.
fn escape(text: &str, kept: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if !is_obeyed(char) || kept.contains(&char) => escaped.push(char),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            char => escaped.push_str(&format!("\\u{:04x}", u32::from(char))),
        }
    }
    escaped
}

/// Whether a terminal would obey a character: C0 and C1 controls, line separators, and characters that change the text direction.
fn is_obeyed(char: char) -> bool {
    let is_bidirectional =
        matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    char.is_control() || is_bidirectional || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        let styled = "\u{1b}[1mOrders of the day\u{1b}[0m · success · webhook";
        assert_eq!(wrapped_line(styled, 100), styled);
        assert_eq!(wrapped_line(styled, 28), "\u{1b}[1mOrders of the day\u{1b}[0m · success\n· webhook");
        assert_eq!(wrapped_line("山田 太郎 x", 9), "山田 太郎\nx");
        assert_eq!(wrapped_line("a-word-that-is-too-long for it", 6), "a-word-that-is-too-long\nfor it");
    }
}
