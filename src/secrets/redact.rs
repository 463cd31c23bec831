//! Masks secrets in excerpts of executions: always in errors, in items on request (`--redact`).

use std::borrow::Cow;

use super::names::{HEADERS, REMOVED, holds_a_name, holds_the_value, is_one_of, is_secret, is_secret_in_items};
use super::{REDACTED, text};
use crate::json::{Excerpt, Prefix};

/// Masks the secrets in an error, at any depth; removes resume tokens and credentials.
pub fn error(value: &mut Excerpt) {
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
        Excerpt::Text(prefix) => text(prefix),
        Excerpt::Scalar(_) | Excerpt::Deep { .. } => {}
    }
}

/// Masks the secrets in an item, at any depth; removes nothing (`--redact`).
pub fn item(value: &mut Excerpt) {
    match value {
        Excerpt::Object { kept, .. } => {
            hide_pair(kept);
            for (name, value) in kept {
                if is_secret_in_items(name) { *value = redacted() } else { item(value) }
            }
        }
        Excerpt::Array { kept, .. } => {
            hide_raw_headers(kept);
            kept.iter_mut().for_each(item);
        }
        Excerpt::Scalar(_) | Excerpt::Text(_) | Excerpt::Deep { .. } => {}
    }
}

/// Masks secrets in a text that quotes requests: headers, tokens after a scheme, passwords and keys in URLs.
pub fn text(prefix: &mut Prefix) {
    if let Cow::Owned(hidden) = text::hide(&prefix.kept) {
        let (before, after) = (prefix.kept.chars().count() as u64, hidden.chars().count() as u64);
        prefix.chars = (prefix.chars - before.min(prefix.chars)) + after;
        prefix.kept = hidden;
    }
}

/// Whether a parameter of a node holds a secret: by a name on the way to it, by the name next to it, or in its text. `texts` are
/// the texts of the node, each with its JSON Pointer.
pub(crate) fn holds_secret<'t>(pointer: &str, text: &str, mut texts: impl Iterator<Item = (&'t str, &'t str)>) -> bool {
    let (around, name) = pointer.rsplit_once('/').unwrap_or_default();
    let is_its_name = |(other, text): (&str, &str)| {
        let (place, name) = other.rsplit_once('/').unwrap_or_default();
        place == around && holds_a_name(name) && is_secret(text)
    };
    pointer.split('/').any(is_secret_in_items)
        || (holds_the_value(name) && texts.any(is_its_name))
        || matches!(text::hide(text), Cow::Owned(_))
}

/// Masks `value` in `{name: 'Authorization', value: …}`, also with `key` for `name`.
fn hide_pair(members: &mut [(String, Excerpt)]) {
    let secret = members.iter().any(|(name, value)| holds_a_name(name) && is_text(value, is_secret));
    for (_, value) in members.iter_mut().filter(|(name, _)| secret && holds_the_value(name)) {
        *value = redacted();
    }
}

/// Masks values in `['Authorization', …]`, the form of Node.js's `rawHeaders`.
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

fn redacted() -> Excerpt {
    Excerpt::Text(REDACTED.to_owned().into())
}
