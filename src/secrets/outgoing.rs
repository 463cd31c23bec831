//! Masks secrets in a request that a person copies, to send it from elsewhere: what may be a secret is masked, not only what is one.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::{REDACTED, names, text};

/// Words in names of what may be a secret.
const WORDS: [&str; 10] =
    ["auth", "cookie", "token", "secret", "passw", "credential", "signature", "session", "apikey", "jwt"];

/// Shorter texts without a space are words or ids.
const MIN_TOKEN_CHARS: usize = 16;

/// The value of a header, or of a parameter of an address or a form.
pub(crate) fn value<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    if may_be_secret(name) || is_token(value) { REDACTED.into() } else { text::hide(value) }
}

/// An address, with the values of its parameters.
pub(crate) fn address(url: &str) -> String {
    static PARAMETER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?P<name>[?&](?P<key>[^=&#]+)=)(?P<value>[^&#]*)").ok());
    let hidden = text::hide(url);
    let Some(parameter) = PARAMETER.as_ref() else { return REDACTED.to_owned() };
    let shown = |found: &Captures<'_>| format!("{}{}", &found["name"], value(&found["key"], &found["value"]));
    parameter.replace_all(&hidden, shown).into_owned()
}

/// A body: JSON, or JSON with expressions in it, or any other text.
pub(crate) fn body(body: &str) -> String {
    static MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let value = r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d[\d.eE+-]*"#;
        Regex::new(&format!(r#"(?P<name>["'](?P<key>[^"'\n]{{1,80}})["']\s*:\s*)(?:{value})"#)).ok()
    });
    if let Ok(mut value) = serde_json::from_str::<Value>(body) {
        json(&mut value);
        return value.to_string();
    }
    let Some(member) = MEMBER.as_ref() else { return REDACTED.to_owned() };
    let shown = |found: &Captures<'_>| match may_be_secret(&found["key"]) {
        true => format!("{}\"{REDACTED}\"", &found["name"]),
        false => found[0].to_owned(),
    };
    text::hide(&member.replace_all(body, shown)).into_owned()
}

/// JSON, at any depth.
pub(crate) fn json(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match may_be_secret(name) && !value.is_null() && !value.is_boolean() {
                    true => *value = REDACTED.into(),
                    false => json(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(json),
        Value::String(text) => *text = text::hide(text).into_owned(),
        _ => {}
    }
}

/// Whether the value of this name may be a secret. Counts, such as `max_tokens`, are none.
fn may_be_secret(name: &str) -> bool {
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
    let is_word = |word: &&str| letters.contains(*word);
    let ends = |end: &str| letters == end || name.to_ascii_lowercase().ends_with(&format!("-{end}"));
    names::is_secret(name)
        || !letters.ends_with("tokens") && WORDS.iter().any(is_word)
        || ends("key")
        || ends("sig")
        || name.ends_with("_key")
}

/// Whether a text looks like a token: long, without spaces, letters mixed with digits.
fn is_token(text: &str) -> bool {
    let is_of_token = |char: char| char.is_ascii_alphanumeric() || "._~+/=-".contains(char);
    text.len() >= MIN_TOKEN_CHARS
        && text.chars().all(is_of_token)
        && text.contains(|char: char| char.is_ascii_digit())
        && text.contains(|char: char| char.is_ascii_alphabetic())
        && !text.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_masked() {
        for (name, given, shown) in [
            ("X-Whatever", "Bearer sk-live-abcdef12", "Bearer [redacted]"),
            ("X-Whatever", "sk-live-4eC39HqLyjWDarjtT1", "[redacted]"),
            ("X-Shop-Key", "north", "[redacted]"),
            ("X-Auth", "1", "[redacted]"),
            ("X-Shop", "north", "north"),
            ("Accept", "application/vnd.github.v3+json", "application/vnd.github.v3+json"),
            ("max_tokens", "4096", "4096"),
        ] {
            assert_eq!(value(name, given), shown, "{name}: {given}");
        }
        for (given, shown) in [
            (
                "https://api.telegram.org/bot123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc/sendMessage",
                "https://api.telegram.org/bot[redacted]/sendMessage",
            ),
            ("https://u:p4ss@h.example/a?session=1&page=2", "https://[redacted]@h.example/a?session=[redacted]&page=2"),
        ] {
            assert_eq!(address(given), shown);
        }
        for (given, shown) in [
            (
                r#"{"auth":{"user":"u","pin":1},"list":[{"apiKey":7}],"max_tokens":9,"n":1}"#,
                r#"{"auth":"[redacted]","list":[{"apiKey":"[redacted]"}],"max_tokens":9,"n":1}"#,
            ),
            (
                r#"{ "token": 12345678, "name": {{ $json.name }} }"#,
                r#"{ "token": "[redacted]", "name": {{ $json.name }} }"#,
            ),
            ("a=1&client_secret=sesame", "a=1&client_secret=[redacted]"),
        ] {
            assert_eq!(body(given), shown);
        }
    }
}
