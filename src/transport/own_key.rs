//! A request over HTTP may bring its own key to n8n: one server for several accounts.

use axum::http::HeaderMap;

use crate::secrets::Secret;

/// The header, which is n8n's own.
const API_KEY: &str = "x-n8n-api-key";

/// The key that a request brings, if it does.
///
/// # Errors
/// A sentence, for one that no key can be.
pub(super) fn own_key(headers: &HeaderMap) -> Result<Option<Secret>, &'static str> {
    match headers.get(API_KEY) {
        None => Ok(None),
        Some(key) if key.is_empty() => Ok(None),
        Some(key) => match key.to_str().ok().and_then(Secret::key) {
            Some(key) => Ok(Some(key)),
            None => Err("The header X-N8N-API-KEY holds characters that no API key has; copy it once more."),
        },
    }
}
