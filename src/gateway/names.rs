//! Which names can be called.

/// The longest name of a server, in characters.
pub(super) const SERVER_CHARS: usize = 50;

/// The longest name of a tool, in characters.
pub(super) const TOOL_CHARS: usize = 100;

/// What names are made of, as errors tell it.
pub(super) const PATTERN: &str = "^[a-zA-Z0-9-_]+$";

/// Whether `name` follows [`PATTERN`], and is not too long.
pub(super) fn is_name(name: &str, chars: usize) -> bool {
    // What the pattern takes is ASCII: bytes are characters.
    (1..=chars).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
