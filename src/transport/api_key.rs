//! A request over HTTP can carry its own n8n API key: one server for several accounts.

use axum::http::HeaderMap;

use crate::secrets::Secret;

/// The header, the same as n8n's.
const API_KEY: &str = "x-n8n-api-key";

/// The API key in the headers of a request, if there is one.
///
/// # Errors
/// The header holds characters that no key has. The message is a sentence.
pub(super) fn from_headers(headers: &HeaderMap) -> Result<Option<Secret>, &'static str> {
    match headers.get(API_KEY) {
        None => Ok(None),
        Some(key) if key.is_empty() => Ok(None),
        Some(key) => match key.to_str().ok().and_then(Secret::key) {
            Some(key) => Ok(Some(key)),
            None => Err("The header X-N8N-API-KEY contains characters that no API key has. Copy the key again."),
        },
    }
}
