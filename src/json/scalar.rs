//! Numbers and literals, unparsed.

/// The longest number that is accepted, bytes.
pub(super) const SCALAR_BYTES: usize = 1024;

/// Whether a number or a literal is only incomplete, not invalid.
pub(super) fn begins_scalar(scalar: &[u8]) -> bool {
    let is_literal = [&b"true"[..], b"false", b"null"].iter().any(|literal| literal.starts_with(scalar));
    is_literal || serde_json::from_slice::<serde::de::IgnoredAny>(&[scalar, b"0"].concat()).is_ok()
}

/// A number without a fraction if it is whole.
pub fn number(value: f64) -> serde_json::Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return (value as i64).into();
    }
    serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into())
}

/// The bytes of numbers and literals.
pub(super) fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}
