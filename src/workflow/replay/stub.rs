//! A node that answers from the recording: a Code node of the same name, without any other effect.
//!
//! Its code is always [`HEAD`], one string literal that holds the recording, [`HERE`] or [`PARTS`], and [`ANSWER`]: no part of the
//! workflow becomes code.

use crate::workflow::expression::quoted;

/// The code before the recording.
const HEAD: &str = "const { name, once, runs } = JSON.parse(";

/// The code after a recording that holds all runs. `in` are the hashes of the items that a run received, `null` for a trigger; `out` are
/// the items that it returned, of all its outputs; `error` is the message with which it failed.
const HERE: &str = ");\nconst load = async (at) => runs[at];\n";

/// The code after a recording that names the files of the call in which runs are, with their sizes: raw DEFLATE. n8n hands a file to the
/// code as a JSON array with a number per byte, which takes 0.6 s per megabyte, so as few bytes as possible are sent; and
/// the code must unpack them itself.
const PARTS: &str = concat!(");\n", include_str!("parts.js"));

/// The code that answers. If a run's input is the recorded one, it answers as recorded. With another input, each item is answered with
/// what the same item led to in any run, if known: the recorded items that came from exactly this one. The hash is that of
/// [`recording`](crate::execution::recording).
///
/// It fails with an error of Node's own, not of the sandbox: task runners do not read the message of such an error from its stack, where
/// those of n8n 1.123 cut it at its last colon. Without task runners, n8n 1.123 does read it there, from a line with `Error:`. Task
/// runners would take it as a prefix, but not from a line that begins with a space. Run on 1.123.81, with and without them, and on 2.41.1.
const ANSWER: &str = include_str!("answer.js");

/// The beginning of the message with which a node reports input that was not recorded.
pub const NOT_RECORDED: &str = "n8n-lens: no recorded answer of ";

/// The code of a node with this recording, which is JSON.
pub(super) fn code(recording: &str, is_in_parts: bool) -> String {
    let load = if is_in_parts { PARTS } else { HERE };
    format!("{HEAD}{}{load}{ANSWER}", quoted(recording, '\'', false))
}

/// Whether this is the code of such a node, and nothing else.
pub(super) fn is_code(code: &str) -> bool {
    let inside = code.strip_prefix(HEAD).and_then(|code| code.strip_suffix(ANSWER));
    let literal = inside.and_then(|code| code.strip_suffix(HERE).or_else(|| code.strip_suffix(PARTS)));
    let text = literal.and_then(|literal| literal.strip_prefix('\'')?.strip_suffix('\''));
    let Some(text) = text else { return false };
    let mut escaped = false;
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => return false,
            _ => {}
        }
    }
    !escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_recording_is_in_the_code() {
        let recording = r#"{"name":"O'Brien \\ \n","runs":[]}"#.to_owned() + "\u{2028}\r\n";
        for is_in_parts in [false, true] {
            let code = code(&recording, is_in_parts);
            assert!(is_code(&code), "{code}");
            let unfinished = format!("{HEAD}'a\\'{HERE}{ANSWER}");
            for other in ["return 1", &code.replace("O\\'", "O'"), &format!("{code} "), &unfinished] {
                assert!(!is_code(other), "{other}");
            }
        }
    }
}
