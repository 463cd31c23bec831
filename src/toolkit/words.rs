//! Types with a word for each of their values: in arguments, in answers, and in columns of a database.

/// A type with a word for each of its values; `words!` implements it.
pub trait Words: Sized {
    /// The words, in the order in which they are shown.
    const WORDS: &'static [&'static str];

    /// The value with this word; `None` if there is none.
    fn named(word: &str) -> Option<Self>;

    /// The word of this value.
    fn word(&self) -> &'static str;
}

/// Declares an enum with a word for each variant, which is also what it is serialized as:
///
/// ```ignore
/// words! {
///     /// How urgent a task is.
///     pub enum Priority {
///         /// The default.
///         Medium = "medium",
///         /// After everything else.
///         Low = "low",
///     }
/// }
/// assert_eq!(Priority::named("low"), Some(Priority::Low));
/// ```
///
/// `words!(Direction { Back = "back", Forward = "forward" });` assigns words to an enum that is declared elsewhere.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $($(#[$variant_meta])* $variant),+ }

        $crate::toolkit::words!($name { $($variant = $word),+ });

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::toolkit::Words::word(self))
            }
        }
    };
    ($type:ty { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $crate::toolkit::Words for $type {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn named(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
    };
}
pub(crate) use words;
