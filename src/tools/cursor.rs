//! Our own cursors: n8n's do not carry the filters, so that an agent would have to repeat them.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Error, Kind, Parameter};

/// Entries of a page, unless it is said.
pub(super) const DEFAULT_LIMIT: u64 = 20;

/// n8n takes 0 for no limit.
pub(super) const LIMITS: RangeInclusive<u64> = 1..=100;

/// How many entries a page has.
pub(super) const LIMIT: Parameter =
    Parameter::optional("limit", Kind::Integer { range: LIMITS, default: Some(DEFAULT_LIMIT) }, "At most so many.");

/// Where a list goes on.
pub(super) const CURSOR: Parameter =
    Parameter::optional("cursor", Kind::Text, "nextCursor of the last answer; it carries the filters.");

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
