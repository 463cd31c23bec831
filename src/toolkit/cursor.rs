//! Cursors of our own lists: unlike n8n's, they carry the filters, so that an agent need not repeat them.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ArgumentError, IntegerOr};

/// Entries on a page by default.
const DEFAULT_LIMIT: u64 = 20;

/// Entries on a page; 0, which n8n reads as no limit, is not allowed.
pub const LIMITS: RangeInclusive<u64> = 1..=100;

/// How many entries a page has: an argument of every list.
pub type Limit = IntegerOr<DEFAULT_LIMIT, { *LIMITS.start() }, { *LIMITS.end() }>;

/// The description of [`Limit`].
pub const LIMIT: &str = "At most this many.";

/// The description of the argument `cursor` of every list: where it continues.
pub const CURSOR: &str = "nextCursor of the previous answer; it carries the filters.";

/// The cursor that stands for `page`, whose fields are strings, numbers and flags: `limit=20&after=1234`. An agent reads
/// it and sends it back, so it takes no more tokens than the page has words.
pub fn encode(page: &impl Serialize) -> String {
    // Pages are plain structs, which always serialize.
    serde_urlencoded::to_string(page).unwrap_or_default()
}

/// The page that `cursor` stands for.
///
/// # Errors
/// When `cursor` is not one that [`encode`] made for this type.
pub fn decode<T: DeserializeOwned>(cursor: &str) -> Result<T, ArgumentError> {
    serde_urlencoded::from_str(cursor).map_err(|_| refused())
}

/// The refusal of a cursor that is not one of ours.
pub fn refused() -> ArgumentError {
    ArgumentError::new("cursor", "is not a nextCursor of this tool. Omit it to start with the first page.")
}
