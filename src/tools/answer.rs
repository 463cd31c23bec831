//! The envelope of every success: `{"success":true,"message":"…","data":{…}}`, as one compact text.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::budget::{self, Entry, Page, PageLimits};

/// The budget of ordinary answers, tokens.
pub(super) const MAX_TOKENS: usize = 20_000;

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

/// A success.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Success<'a, T> {
    success: bool,
    message: &'a str,
    /// Members that n8n's own object has and `data` never shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    /// What is not in `data`, where that is n8n's own object and has no place for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    data: &'a T,
    /// Where to go on, where `data` is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Members of n8n's own object that no answer shows, however small they are.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeftOut {
    members: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl LeftOut {
    /// These members, of an object in which this many values are clipped.
    pub(super) fn new(members: &[&'static str], clipped: u64) -> Self {
        let note = "update_workflow keeps them: the object may be written back without them";
        Self { members: members.to_vec(), note: (clipped == 0).then_some(note) }
    }
}

/// What was left out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Truncated {
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// Strings, lists and objects that are not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped_values: Option<u64>,
}

impl<'a, T: Serialize> Success<'a, T> {
    pub(super) fn new(message: &'a str, data: &'a T) -> Self {
        Self { success: true, message, left_out: None, truncated: None, data, next_cursor: None }
    }

    /// With the members that `data` never shows.
    pub(super) fn left_out(self, left_out: Option<LeftOut>) -> Self {
        Self { left_out, ..self }
    }

    /// With what is not in `data`.
    pub(super) fn truncated(self, truncated: Option<Truncated>) -> Self {
        Self { truncated, ..self }
    }

    /// With where to go on.
    pub(super) fn next_cursor(self, next_cursor: Option<String>) -> Self {
        Self { next_cursor, ..self }
    }

    pub(super) fn text(&self) -> String {
        // Keys are strings and no value can fail: there is nothing to report.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The text of a plain success.
pub(super) fn success<T: Serialize>(message: &str, data: &T) -> String {
    Success::new(message, data).text()
}

/// JSON that is written already.
pub(super) fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_default()
}

/// The answer with as many entries, in as much detail, as its budget holds. `write` puts a page into
/// its envelope, which does not grow with the entries.
pub(super) fn paged(entries: &[Entry], max_tokens: usize, write: impl Fn(&Page) -> String) -> Paged {
    let page = budget::whole(entries);
    let text = write(&page);
    if budget::fits(&text, max_tokens) {
        return Paged { page, text };
    }
    let envelope = budget::count(&write(&Page::default()));
    let mut limits = PageLimits {
        tokens: max_tokens.saturating_sub(envelope + ENVELOPE_GROWTH),
        bytes: budget::ANSWER_BYTES / 2,
        chars: usize::MAX,
    };
    let need = budget::need(entries, limits);
    loop {
        let page = budget::fill(entries, limits, need);
        let text = write(&page);
        if budget::fits(&text, max_tokens) || limits.tokens < LEAST_TOKENS {
            return Paged { page, text };
        }
        limits.tokens -= limits.tokens / 20;
    }
}

/// A page in its envelope.
pub(super) struct Paged {
    pub page: Page,
    pub text: String,
}

/// What an envelope may grow by when it must say what was left out, tokens.
const ENVELOPE_GROWTH: usize = 150;

/// A page is never given less, tokens.
const LEAST_TOKENS: usize = 100;
