//! Cursors of our own lists: unlike n8n's they carry the filters, so that an agent does not have to repeat them.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ArgumentError, Kind, Parameter};

/// Entries on a page by default.
pub const DEFAULT_LIMIT: u64 = 20;

/// Entries on a page; 0, which n8n reads as no limit, is not allowed.
pub const LIMITS: RangeInclusive<u64> = 1..=100;

/// How many entries a page has, a parameter of every list.
pub const LIMIT: Parameter =
    Parameter::optional("limit", Kind::Integer { range: LIMITS, default: Some(DEFAULT_LIMIT) }, "At most this many.");

/// Where a list continues, a parameter of every list.
pub const CURSOR: Parameter =
    Parameter::optional("cursor", Kind::Text, "nextCursor of the previous answer; it carries the filters.");

/// The cursor that stands for `page`.
pub fn encode(page: &impl Serialize) -> String {
    // Pages are plain structs, which always serialise.
    URL_SAFE_NO_PAD.encode(serde_json::to_string(page).unwrap_or_default())
}

/// The page that `cursor` stands for.
///
/// # Errors
/// When `cursor` is not one that [`encode`] made for this type.
pub fn decode<T: DeserializeOwned>(cursor: &str) -> Result<T, ArgumentError> {
    let page = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|page| serde_json::from_slice(&page).ok());
    page.ok_or_else(refused)
}

/// The refusal of a cursor that is not one of ours.
pub fn refused() -> ArgumentError {
    ArgumentError(
        "Argument 'cursor' is not a nextCursor of this tool. Omit it to start with the first page.".to_owned(),
    )
}
