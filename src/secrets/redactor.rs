//! Removing known secrets from other texts.

use regex::{NoExpand, Regex, RegexBuilder};

use super::REDACTED;
use super::secret::{MIN_PART_BYTES, Secret};

/// Removes a set of secrets from texts, however they are spelled there, and even if a text ends within one.
pub struct Redactor {
    /// The longest first.
    spellings: Vec<String>,
    /// Any of the spellings; `None` if they are too large for a pattern, and then every text is redacted whole.
    pattern: Option<Regex>,
}

impl Redactor {
    /// Prepares for these secrets.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut spellings: Vec<_> = secrets.into_iter().flat_map(Secret::spellings).collect();
        // If one spelling is the beginning of another, the longer one has to match.
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        let any = spellings.iter().map(|spelling| regex::escape(spelling)).collect::<Vec<_>>().join("|");
        let pattern = RegexBuilder::new(&any).case_insensitive(true).build().ok();
        Self { spellings, pattern }
    }

    /// The length of the longest spelling of a secret, bytes.
    pub fn longest(&self) -> usize {
        self.spellings.first().map_or(0, String::len)
    }

    /// `text` with each secret replaced by [`REDACTED`].
    pub fn redact(&self, text: &str) -> String {
        if self.spellings.is_empty() {
            return text.to_owned();
        }
        let Some(pattern) = &self.pattern else { return REDACTED.to_owned() };
        let mut redacted = pattern.replace_all(text, NoExpand(REDACTED)).into_owned();
        let begun = self.spellings.iter().filter_map(|spelling| beginning_at_end(&redacted, spelling)).max();
        if let Some(begun) = begun {
            redacted.truncate(redacted.len() - begun);
            redacted.push_str(REDACTED);
        }
        redacted
    }
}

/// How many bytes at the end of `text` are the beginning of `secret`.
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
            let hidden = Redactor::new([&secret]).redact(&format!("it is {spelling}, they say"));
            assert_eq!(hidden, "it is [redacted], they say", "{spelling}");
        }
        assert_eq!(Redactor::new([&secret]).redact("ends with a/b+\"c<d"), "ends with [redacted]");
        assert_eq!(Redactor::new([&secret]).redact("ends with a/b+\"c"), "ends with a/b+\"c", "that may be anything");
        assert_eq!(Redactor::new([&Secret::new("n8n")]).redact("n8n is a name"), "n8n is a name");
        assert_eq!(Redactor::new(None).redact("nothing to hide"), "nothing to hide");
    }
}
