//! What is hidden: the secrets that n8n's errors carry along, and on request (`--redact`) those in items.

use std::borrow::Cow;

use super::secrets_in_text;
use crate::json::{Beginning, Excerpt};

/// Headers whose values are secrets of the user or of n8n.
pub(super) const HEADERS: [&str; 10] = [
    "authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-n8n-api-key",
    "proxy-authorization",
    "x-auth-token",
    "x-access-token",
    "private-token",
    "api-key",
];

/// Members whose values are, too: of the options of a request, and of what OAuth gives.
pub(super) const MEMBERS: [&str; 10] = [
    "apikey",
    "api_key",
    "password",
    "passwd",
    "access_token",
    "accesstoken",
    "refresh_token",
    "refreshtoken",
    "client_secret",
    "clientsecret",
];

/// These keys are never shown: they hold tokens that resume an execution, or credentials.
const REMOVED: [&str; 5] = ["resumeToken", "resumeUrl", "resumeFormUrl", "runtimeData", "credentials"];

pub(super) const REDACTED: &str = "[redacted]";

/// Hides the secrets in an error, at any depth.
pub(super) fn error(value: &mut Excerpt) {
    match value {
        Excerpt::Object { kept, total } => {
            let before = kept.len();
            kept.retain(|(name, _)| !is_one_of(&REMOVED, name));
            *total -= (before - kept.len()) as u64;
            hide_pair(kept);
            for (name, value) in kept {
                if is_secret(name) { *value = redacted() } else { error(value) }
            }
        }
        Excerpt::Array { kept, .. } => {
            hide_raw_headers(kept);
            kept.iter_mut().for_each(error);
        }
        Excerpt::Text(beginning) => text(beginning),
        Excerpt::Scalar(_) | Excerpt::Deep { .. } => {}
    }
}

/// Hides the secrets in an item, and removes nothing: what `--redact` asks for.
pub fn item(value: &mut Excerpt) {
    match value {
        Excerpt::Object { kept, .. } => {
            hide_pair(kept);
            for (name, value) in kept {
                // n8n signs the address that resumes an execution: whoever called it brought the signature.
                let resumes = is_one_of(&REMOVED, name) || name.eq_ignore_ascii_case("signature");
                if resumes || is_secret(name) { *value = redacted() } else { item(value) }
            }
        }
        Excerpt::Array { kept, .. } => {
            hide_raw_headers(kept);
            kept.iter_mut().for_each(item);
        }
        Excerpt::Scalar(_) | Excerpt::Text(_) | Excerpt::Deep { .. } => {}
    }
}

/// Hides what a text says of a request: headers, tokens behind their scheme, passwords and keys in addresses.
pub(super) fn text(text: &mut Beginning) {
    if let Cow::Owned(hidden) = secrets_in_text::hide(&text.kept) {
        let (before, after) = (text.kept.chars().count() as u64, hidden.chars().count() as u64);
        text.chars = (text.chars - before.min(text.chars)) + after;
        text.kept = hidden;
    }
}

/// `{name: 'Authorization', value: …}`, also with `key` for the name.
fn hide_pair(members: &mut [(String, Excerpt)]) {
    let is_name = |name: &str| is_one_of(&["name", "key"], name);
    let secret = members.iter().any(|(name, value)| is_name(name) && is_text(value, is_secret));
    for (_, value) in members.iter_mut().filter(|(name, _)| secret && name.eq_ignore_ascii_case("value")) {
        *value = redacted();
    }
}

/// `['Authorization', …]`, as Node.js has it in `rawHeaders`.
fn hide_raw_headers(elements: &mut [Excerpt]) {
    for at in 1..elements.len() {
        if is_text(&elements[at - 1], |text| is_one_of(&HEADERS, text)) {
            elements[at] = redacted();
        }
    }
}

fn is_text(value: &Excerpt, like: impl Fn(&str) -> bool) -> bool {
    matches!(value, Excerpt::Text(text) if like(&text.kept))
}

fn is_secret(name: &str) -> bool {
    is_one_of(&HEADERS, name) || is_one_of(&MEMBERS, name)
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn redacted() -> Excerpt {
    Excerpt::Text(REDACTED.to_owned().into())
}
