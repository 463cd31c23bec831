//! Secret values, and removing them from other texts.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{NoExpand, RegexBuilder};
use subtle::ConstantTimeEq;

use super::REDACTED;

/// A part of a secret, or of its base64, shorter than this could be part of any word.
const MIN_PART_BYTES: usize = 8;

/// Shorter values are not real keys or passwords; hiding them would remove ordinary words.
const MIN_SECRET_BYTES: usize = 6;

/// A secret value. Its `Debug` output is `[redacted]`, and it has no `Display`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Wraps an API key or token; `None` if it cannot be sent in a header.
    pub fn key(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self::new(key))
    }

    /// The value, for the code that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `given` equals this value, compared in constant time.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// How a text can spell the value: plain, as in JSON, HTML or a URL, or in base64 after other bytes. None if it is
    /// too short to be a secret.
    fn spellings(&self) -> Vec<String> {
        let plain = &self.0;
        if plain.len() < MIN_SECRET_BYTES {
            return Vec::new();
        }
        let json = serde_json::Value::from(plain.as_str()).to_string();
        let html = plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        let percent = utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string();
        let mut all = vec![plain.clone(), json[1..json.len() - 1].to_owned(), html, percent];
        for before in 0..3 {
            let base64 = self.in_base64(before);
            all.extend(
                [base64.replace('+', "-").replace('/', "_"), base64]
                    .into_iter()
                    .filter(|it| it.len() >= MIN_PART_BYTES),
            );
        }
        all
    }

    /// The part of its base64 that does not depend on neighbouring bytes, if this many bytes come before it.
    fn in_base64(&self, before: usize) -> String {
        let bytes = [&[0; 2][..before.min(2)], self.0.as_bytes()].concat();
        let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        STANDARD_NO_PAD.encode(bytes).get(first..end).unwrap_or_default().to_owned()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// `text` with `[redacted]` in place of these secrets, however they are spelled, and also of one that is cut off at its
/// end.
///
/// ```
/// use n8n_lens::secrets::{Secret, hide};
///
/// let password = Secret::new("open sesame");
/// assert_eq!(hide([&password], "GET /?key=open%20sesame failed"), "GET /?key=[redacted] failed");
/// ```
pub fn hide<'a>(secrets: impl IntoIterator<Item = &'a Secret>, text: &str) -> String {
    let mut spellings: Vec<_> = secrets.into_iter().flat_map(Secret::spellings).collect();
    // Longest first: one spelling can be the beginning of another.
    spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    if spellings.is_empty() {
        return text.to_owned();
    }
    let any = spellings.iter().map(|spelling| regex::escape(spelling)).collect::<Vec<_>>().join("|");
    let Ok(any) = RegexBuilder::new(&any).case_insensitive(true).build() else {
        return REDACTED.to_owned();
    };
    let mut hidden = any.replace_all(text, NoExpand(REDACTED)).into_owned();
    if let Some(begun) = spellings.iter().filter_map(|spelling| beginning_at_end(&hidden, spelling)).max() {
        hidden.truncate(hidden.len() - begun);
        hidden.push_str(REDACTED);
    }
    hidden
}

/// How many bytes at the end of `text` are the beginning of `secret`, if there are enough to tell.
fn beginning_at_end(text: &str, secret: &str) -> Option<usize> {
    let beginnings = (MIN_PART_BYTES..secret.len()).rev().filter_map(|end| secret.get(..end));
    beginnings.map(str::len).find(|length| {
        let end = text.len().checked_sub(*length).and_then(|at| text.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(&secret[..*length]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_however_it_is_written() {
        let secret = Secret::new("a/b+\"c<d>&e=f.g");
        for spelling in secret.spellings() {
            let hidden = hide([&secret], &format!("it is {spelling}, he said"));
            assert_eq!(hidden, "it is [redacted], he said", "{spelling}");
        }
        assert_eq!(hide([&secret], "ends with a/b+\"c<d"), "ends with [redacted]");
        assert_eq!(hide([&secret], "ends with a/b+\"c"), "ends with a/b+\"c", "too short to be recognised");
        assert_eq!(hide([&Secret::new("n8n")], "n8n is a name"), "n8n is a name");
        assert_eq!(hide(None, "nothing to hide"), "nothing to hide");
    }
}
