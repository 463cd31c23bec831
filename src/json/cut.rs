//! How a text that is too long is shortened, in words that a reader can see.

use std::borrow::Cow;

/// A name above this many characters (Unicode code points) is cut to it wherever it is shown.
pub const CUT_NAME_CHARS: usize = 200;

/// A name above this many characters is not even held: no n8n has one, and memory must stay flat.
pub(super) const HELD_NAME_CHARS: usize = 1000;

/// The beginning of a text, and how many characters (Unicode code points) it has in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// As much of the text as is held.
    pub kept: String,
    /// Characters in all.
    pub chars: u64,
}

impl Beginning {
    /// The text up to `chars` characters, then `…[+N chars]` if there is more; and whether there is.
    pub fn cut(&self, chars: usize) -> (Cow<'_, str>, bool) {
        let end = self.kept.char_indices().nth(chars).map_or(self.kept.len(), |(at, _)| at);
        let shown = &self.kept[..end];
        let rest = self.chars.saturating_sub(shown.chars().count() as u64);
        if rest == 0 {
            return (shown.into(), false);
        }
        (format!("{shown}…[+{rest} chars]").into(), true)
    }

    /// The text as a name that is held: whole, unless it is above [`HELD_NAME_CHARS`].
    pub(super) fn into_name(self) -> String {
        if self.chars <= HELD_NAME_CHARS as u64 { self.kept } else { self.cut(CUT_NAME_CHARS).0.into_owned() }
    }
}

impl From<String> for Beginning {
    fn from(kept: String) -> Self {
        let chars = kept.chars().count() as u64;
        Self { kept, chars }
    }
}

/// A text up to `chars` characters, and how many more there are.
pub fn shorten(text: &str, chars: usize) -> String {
    Beginning::from(text.to_owned()).cut(chars).0.into_owned()
}

/// Whether a name was cut by [`cut_name`], here or in the filter.
pub(super) fn is_cut(name: &str) -> bool {
    name.len() > CUT_NAME_CHARS && split_cut(name).is_some_and(|(kept, _)| kept.chars().count() == CUT_NAME_CHARS)
}

/// A name as it is held: whole up to 1,000 characters, else as [`cut_name`] has it.
pub fn hold_name(name: &str) -> String {
    Beginning::from(name.to_owned()).into_name()
}

/// A name up to `chars` characters and the mark. One that was cut already keeps its true length.
pub fn shorten_name(name: &str, chars: usize) -> String {
    let name = match split_cut(name) {
        Some((kept, rest)) if kept.chars().count() == CUT_NAME_CHARS => {
            Beginning { kept: kept.to_owned(), chars: (CUT_NAME_CHARS as u64).saturating_add(rest) }
        }
        _ => Beginning::from(name.to_owned()),
    };
    name.cut(chars).0.into_owned()
}

/// A member name as it is shown: at most [`CUT_NAME_CHARS`] characters and the mark.
///
/// Cutting a name that is already cut changes nothing, so that the filter may cut a name of 500 MB
/// and the projection need not know.
pub fn cut_name(name: String) -> String {
    if name.len() <= CUT_NAME_CHARS { name } else { shorten_name(&name, CUT_NAME_CHARS) }
}

/// Whether `asked` means the name `name`: the name itself, or a cut form of it that an answer showed.
pub fn is_name(asked: &str, name: &str) -> bool {
    if asked == name {
        return true;
    }
    let parts = |name| {
        let (kept, rest) = split_cut(name).unwrap_or((name, 0));
        (kept, (kept.chars().count() as u64).saturating_add(rest))
    };
    let ((beginning, chars), (kept, total)) = (parts(asked), parts(name));
    let one_is_cut = beginning.len() != kept.len();
    one_is_cut && chars == total && (kept.starts_with(beginning) || beginning.starts_with(kept))
}

/// A cut text in its two parts: what is shown, and how many characters are not.
fn split_cut(text: &str) -> Option<(&str, u64)> {
    let (kept, mark) = text.rsplit_once("…[+")?;
    let rest = mark.strip_suffix(" chars]")?.parse().ok()?;
    Some((kept, rest))
}
