//! Numbers and literals, unparsed.

/// The longest number that is accepted, bytes.
pub(super) const SCALAR_BYTES: usize = 1024;

/// Whether a number or a literal is only incomplete, not invalid.
pub(super) fn begins_scalar(scalar: &[u8]) -> bool {
    let is_literal = [&b"true"[..], b"false", b"null"].iter().any(|literal| literal.starts_with(scalar));
    is_literal || serde_json::from_slice::<serde::de::IgnoredAny>(&[scalar, b"0"].concat()).is_ok()
}

/// The bytes of numbers and literals.
pub(super) fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}
