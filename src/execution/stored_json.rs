//! The parts of a stored execution that are JSON: its header and its workflow.

use std::io::Read;

use serde::de::IgnoredAny;

use crate::json::{Cursor, ReadError};

/// An object without its closing bracket, to which members can be added: with a comma if it has any.
pub(super) fn open_object(text: &[u8]) -> Result<Vec<u8>, ReadError> {
    serde_json::from_slice::<IgnoredAny>(text).map_err(|error| ReadError::Syntax(error.to_string()))?;
    let inside = text.trim_ascii().strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}"));
    let inside = inside.ok_or_else(|| ReadError::Syntax("it is not an object".to_owned()))?;
    let comma: &[u8] = if inside.trim_ascii().is_empty() { b"" } else { b"," };
    Ok([b"{", inside, comma].concat())
}

/// Reads the member of an object; the cursor is not used after it.
pub(super) fn member<R: Read, T: Default>(
    cursor: &mut Cursor<R>,
    name: &str,
    mut read: impl FnMut(&mut Cursor<R>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let mut found = T::default();
    cursor.object(|cursor, member| {
        if member != name {
            return cursor.skip();
        }
        found = read(cursor)?;
        Ok(())
    })?;
    Ok(found)
}
