//! The envelope of every success: `{"success":true,"message":"…","data":{…}}`, as one compact text.

use serde::Serialize;

/// The language of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Locale {
    /// Japanese.
    #[default]
    Ja,
    /// English.
    En,
}

impl Locale {
    /// The text in this language.
    pub fn choose<T>(self, ja: T, en: T) -> T {
        match self {
            Self::Ja => ja,
            Self::En => en,
        }
    }
}

#[derive(Serialize)]
struct Success<'a, T> {
    success: bool,
    message: &'a str,
    data: &'a T,
}

/// The text of a success.
pub(super) fn success<T: Serialize>(message: &str, data: &T) -> String {
    let success = Success { success: true, message, data };
    // Keys are strings and no value can fail: there is nothing to report.
    serde_json::to_string(&success).unwrap_or_default()
}
