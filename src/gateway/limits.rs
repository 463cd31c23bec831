//! What may pass: names, sizes, depths.

/// The longest name of a server, in characters.
pub(super) const SERVER_CHARS: usize = 50;

/// The longest name of a tool, in characters.
pub(super) const TOOL_CHARS: usize = 100;

/// What names are made of, as errors tell it.
pub(super) const NAME_PATTERN: &str = "^[a-zA-Z0-9-_]+$";

/// The largest body of a request, bytes.
pub const BODY_BYTES: usize = 1024 * 1024;

/// The largest input, bytes of its text.
pub(super) const INPUT_BYTES: usize = 100 * 1024;

/// How deep an input nests: itself is the first level.
pub(super) const INPUT_DEPTH: usize = 10;

/// The largest answer of a tool, bytes of its text.
pub(super) const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Calls that one server has at once.
pub(super) const CALLS: usize = 64;

/// Whether `name` follows [`NAME_PATTERN`], and is not too long.
pub(super) fn is_name(name: &str, chars: usize) -> bool {
    // What the pattern takes is ASCII: bytes are characters.
    (1..=chars).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
