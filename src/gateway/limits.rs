//! Limits on names, sizes, nesting and concurrency.

/// The longest server name, in characters.
pub(super) const SERVER_CHARS: usize = 50;

/// The longest tool name, in characters.
pub(super) const TOOL_CHARS: usize = 100;

/// The pattern of names, in the form that errors show.
pub(super) const NAME_PATTERN: &str = "^[a-zA-Z0-9-_]+$";

/// The largest request body, in bytes.
pub const BODY_BYTES: usize = 1024 * 1024;

/// The largest input, in bytes of its JSON text.
pub(super) const INPUT_BYTES: usize = 100 * 1024;

/// How deeply an input may nest; the input itself is level 1.
pub(super) const INPUT_DEPTH: usize = 10;

/// The largest answer of a tool, in bytes of its text.
pub(super) const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// The longest line of a server, in bytes: it may contain an answer twice, as text and as structured content, and escaped.
pub(super) const LINE_BYTES: usize = 3 * ANSWER_BYTES;

/// The most calls in flight on one server.
pub(super) const CALLS_IN_FLIGHT: usize = 64;

/// The most requests of one server, such as `ping`, that are answered at a time. Further ones are ignored.
pub(super) const SERVER_REQUESTS: usize = 64;

/// From this size on, text is parsed with `block_in_place`, so that other tasks are not held up.
pub(super) const BLOCKING_PARSE_BYTES: usize = 256 * 1024;

/// Whether `name` matches [`NAME_PATTERN`] and has at most `max_chars` characters.
pub(super) fn is_name(name: &str, max_chars: usize) -> bool {
    // The pattern allows ASCII only, so bytes are characters.
    (1..=max_chars).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
