//! Enums stored as text.

/// Defines an enum whose variants are stored, and shown in answers, as the given text.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// The texts of all variants, in order.
            pub const VALUES: &'static [&'static str] = &[$($text),+];

            /// The text of this variant.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The variant with this text; `None` if there is none.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::coordination::store::sql::Column for $name {
            fn read(cell: $crate::coordination::store::sql::Cell) -> Result<Self, $crate::coordination::store::StoreError> {
                Self::parse(&String::read(cell)?).ok_or_else($crate::coordination::store::sql::unexpected)
            }

            fn value(&self) -> $crate::coordination::store::sql::Value<'_> {
                self.as_str().into()
            }
        }
    };
}
pub(super) use text_enum;
