//! The language of messages.

/// The language of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    /// Japanese.
    #[default]
    Ja,
    /// English.
    En,
}

impl Locale {
    /// The one of the two that is in this language.
    pub fn choose<T>(self, ja: T, en: T) -> T {
        match self {
            Self::Ja => ja,
            Self::En => en,
        }
    }
}
