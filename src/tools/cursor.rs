//! Our own cursors: n8n's do not carry the filters, so that an agent would have to repeat them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Error;

/// A page as a cursor.
pub(super) fn encode(page: &impl Serialize) -> String {
    // Pages are plain structs: there is nothing to report.
    URL_SAFE_NO_PAD.encode(serde_json::to_string(page).unwrap_or_default())
}

/// The page that a cursor stands for.
///
/// # Errors
/// [`Error::Argument`].
pub(super) fn decode<T: DeserializeOwned>(cursor: &str) -> Result<T, Error> {
    let page = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|page| serde_json::from_slice(&page).ok());
    page.ok_or_else(refused)
}

/// Why a cursor is none.
pub(super) fn refused() -> Error {
    Error::Argument(
        "Argument 'cursor' is not a nextCursor of this tool. Leave it out to begin with the first page.".to_owned(),
    )
}
