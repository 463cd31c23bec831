//! Answers: the envelope of a success, `{"success":true,"message":"…","data":{…}}`, as one compact text, and pages of
//! entries that keep it inside its budget.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::parameter::whole;
use super::{Argument, Kind};
use crate::budget::{self, Entry, Ladder, Page, PageLimits};
use crate::json::{Detail, Excerpt, Prefix, shorten};

/// The default budget of an answer, tokens.
pub const DEFAULT_TOKENS: usize = 20_000;

/// The default budget of an answer that points to a place instead of showing all of it, tokens.
pub const BRIEF_TOKENS: usize = 4000;

/// The largest budget that a call may ask for, tokens.
pub const MAX_TOKENS: usize = 25_000;

/// The token budget of one call, an argument of every tool whose answer may be large; `DEFAULT` if omitted.
#[derive(Debug)]
pub enum Tokens<const DEFAULT: usize> {}

impl<const DEFAULT: usize> Argument for Tokens<DEFAULT> {
    type Value = usize;

    const KIND: Kind = Kind::Integer { min: 1000, max: MAX_TOKENS as u64, default: Some(DEFAULT as u64) };
    const REQUIRED: bool = false;

    fn read(value: Value) -> Option<usize> {
        usize::try_from(whole(&value)?).ok()
    }

    fn omitted() -> Option<usize> {
        Some(DEFAULT)
    }
}

/// The description of the argument `maxTokens`.
pub const TOKENS: &str = "The largest answer, in tokens (o200k_base).";

/// The same, for tools whose answers are brief.
pub const FEW_TOKENS: &str = "The largest answer.";

/// A success.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Success<'a, T> {
    success: bool,
    message: &'a str,
    /// Members that n8n's own object has and `data` never shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    /// What was left out, if `data` is n8n's own object and has no room for the note.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
    data: &'a T,
    /// The next page, if `data` is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What was left out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncated {
    /// What is missing, and how to get it: sentences.
    pub reason: String,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// Strings, lists and objects that were shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped_values: Option<u64>,
}

/// Members of n8n's own object that no answer shows, however small they are.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    members: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl LeftOut {
    /// These members, left out of an object in which this many values are clipped.
    pub fn new(members: &[&'static str], clipped: u64) -> Self {
        let note = "update_workflow keeps them: the object may be written back without them";
        Self { members: members.to_vec(), note: (clipped == 0).then_some(note) }
    }
}

impl<'a, T: Serialize> Success<'a, T> {
    /// A success with nothing left out.
    pub fn new(message: &'a str, data: &'a T) -> Self {
        Self { success: true, message, left_out: None, truncated: None, data, next_cursor: None }
    }

    /// Adds the members that `data` never shows.
    pub fn left_out(self, left_out: Option<LeftOut>) -> Self {
        Self { left_out, ..self }
    }

    /// Adds what was left out.
    pub fn truncated(self, truncated: Option<Truncated>) -> Self {
        Self { truncated, ..self }
    }

    /// Adds the cursor of the next page.
    pub fn next_cursor(self, next_cursor: Option<String>) -> Self {
        Self { next_cursor, ..self }
    }

    /// The answer as it is sent.
    pub fn text(&self) -> String {
        // Keys are strings and no value can fail: there is nothing to report.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Whether a number is left out of an answer because it is 0, for `skip_serializing_if`.
pub fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// The text of a success that consists only of `data`.
pub fn success<T: Serialize>(message: &str, data: &T) -> String {
    Success::new(message, data).text()
}

/// A JSON object, which has a member, with more at its end.
///
/// ```
/// use n8n_lens::toolkit::answer::extended;
///
/// assert_eq!(extended(r#"{"a":1}"#, r#""b":2"#), r#"{"a":1,"b":2}"#);
/// ```
pub fn extended(object: &str, members: &str) -> String {
    format!("{},{members}}}", object.strip_suffix('}').unwrap_or(object))
}

/// JSON that is already text.
pub fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_default()
}

/// A value that is already JSON, in at most `chars` characters; a longer value, or a longer string, becomes its prefix as a string.
pub fn clipped_json(value: &str, chars: usize) -> Box<RawValue> {
    let text = serde_json::from_str::<String>(value);
    let text = text.as_deref().unwrap_or(value);
    match text.char_indices().nth(chars) {
        Some(_) => json(&Value::from(shorten(text, chars)).to_string()),
        None => json(value),
    }
}

/// A value in at most `chars` characters: as JSON if it is short, or else a prefix of its JSON as a string. `clipped` counts the cuts.
pub fn clipped(value: &Excerpt, chars: usize, clipped: &mut u64) -> Box<RawValue> {
    if let Excerpt::Text(text) = value {
        let (text, is_cut) = text.cut(chars);
        *clipped += u64::from(is_cut);
        return json(&serde_json::Value::from(text).to_string());
    }
    let (mut text, mut parts) = (String::new(), 0);
    value.write(Detail { chars, ..Detail::WHOLE }, &mut text, &mut parts);
    if text.chars().nth(chars).is_none() {
        *clipped += parts;
        return json(&text);
    }
    *clipped += 1;
    json(&serde_json::Value::from(shorten(&text, chars)).to_string())
}

/// Two different values, each as [`clipped`] writes it, so that the difference of texts is seen.
pub fn clipped_both(one: &Excerpt, other: &Excerpt, chars: usize, cut: &mut u64) -> [Box<RawValue>; 2] {
    let shown = [one, other].map(|value| clipped(value, chars, cut));
    match (one, other) {
        (Excerpt::Text(one), Excerpt::Text(other)) => {
            Prefix::cut_both(one, other, chars).map(|text| json(&Value::from(text).to_string()))
        }
        _ => shown,
    }
}

/// An answer with as many entries, in as much detail, as fit into `max_tokens`. `write` puts a page into its envelope,
/// whose size must not depend on the entries.
pub fn paged(entries: &[Entry], max_tokens: usize, write: impl Fn(&Page) -> String) -> Paged {
    let page = budget::whole(entries);
    let text = write(&page);
    if budget::fits(&text, max_tokens) {
        return Paged { page, text };
    }
    let envelope = budget::count(&write(&Page::default()));
    let limits = PageLimits {
        tokens: max_tokens.saturating_sub(envelope + ENVELOPE_GROWTH),
        bytes: budget::ANSWER_BYTES / 2,
        chars: usize::MAX,
    };
    let need = budget::need(entries, limits);
    let fewer = |tokens| (tokens >= MIN_TOKENS).then(|| tokens - tokens / 20);
    let write = |tokens| {
        let page = budget::fill(entries, PageLimits { tokens, ..limits }, need);
        Paged { text: write(&page), page }
    };
    Ladder::new(limits.tokens).then(fewer).largest_that_fits(max_tokens, write).answer
}

/// A page in its envelope.
pub struct Paged {
    /// What is shown.
    pub page: Page,
    /// The answer as it is sent.
    pub text: String,
}

impl AsRef<str> for Paged {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// How much an envelope may grow when it has to report what was left out, tokens.
const ENVELOPE_GROWTH: usize = 150;

/// The smallest page that is attempted, tokens.
const MIN_TOKENS: usize = 100;

/// The shape of a tool's answers, for the transports that publish it.
#[derive(Clone, Copy, Debug)]
pub enum Answers {
    /// `{success, message, data}`.
    Envelope,
    /// An object with these fields and their JSON types.
    Plain(&'static [(&'static str, &'static str)]),
}
