//! Arguments that say which value to search for.

use serde_json::Value;

use crate::execution::search::{Scalar, TextPattern};
use crate::tools::Error;

/// A text to search for.
///
/// # Errors
/// It is too long.
pub(super) fn pattern(text: &str) -> Result<TextPattern, Error> {
    TextPattern::literal(text)
        .map_err(|why| Error::argument("text", format!("cannot be searched: {why}. Search a part of it.")))
}

/// A string, a number or a boolean to compare values with.
pub(super) fn scalar(value: &Value) -> Scalar {
    match value {
        Value::Bool(boolean) => Scalar::Boolean(*boolean),
        Value::String(text) => Scalar::Text(text.clone()),
        other => Scalar::Number(other.to_string()),
    }
}
