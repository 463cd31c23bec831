//! Columns that hold one of a few words.

/// An enumeration whose members are the words that a column may hold, and that answers show.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$member_about:meta])* $member:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$member_about])* $member),+ }

        impl $name {
            /// All words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$member => $word),+ }
            }

            /// What the word means; `None` for any other.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$member),)+ _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl $crate::coordination::store::sql::Column for $name {
            fn read(cell: $crate::coordination::store::sql::Cell) -> Option<Self> {
                Self::parse(&String::read(cell)?)
            }
        }

        impl From<$name> for $crate::coordination::store::sql::Value<'_> {
            fn from(word: $name) -> Self {
                Self::Text(word.word())
            }
        }
    };
}
pub(super) use words;
