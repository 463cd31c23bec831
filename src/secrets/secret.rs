//! Secret values, and removing them from other texts.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use subtle::ConstantTimeEq;

use super::REDACTED;

/// A shorter part of a secret, or of its base64, could be part of any word.
pub(super) const MIN_PART_BYTES: usize = 8;

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

    /// The ways in which a text may spell it: plain, in JSON, HTML or a URL, or in base64 with other bytes before it.
    pub(super) fn spellings(&self) -> Vec<String> {
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
