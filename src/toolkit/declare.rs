//! Arguments as a struct: [`arguments!`](super::arguments) declares each of them once.

use super::{ArgumentError, Arguments};

/// Arguments that are read into the fields of a struct; [`arguments!`](super::arguments) implements it.
pub trait FromArguments: Sized {
    /// Arguments that are accepted, but not named as parameters.
    const IGNORED: &'static [&'static str] = &[];

    /// Reads checked arguments; documents among them, which may be megabytes, are moved.
    ///
    /// # Errors
    /// A required argument is missing: they were not checked.
    fn read(arguments: Arguments) -> Result<Self, ArgumentError>;
}

/// Declares the arguments of a tool as a struct. Each field is one parameter: its name, in camelCase on the wire, its
/// [kind](super::Argument) with bounds and default, and its description for an agent.
///
/// ```
/// use n8n_lens::toolkit::{Arguments, FromArguments, Id, IntegerOr, Number, arguments, schema};
/// use serde_json::json;
///
/// arguments! {
///     struct Search {
///         id: Id = "The execution's id.",
///         above: Option<Number> = "Only numbers above this.",
///         max_hits: IntegerOr<20, 1, 100> = "Hits to list.",
///     }
/// }
///
/// assert_eq!(schema(Search::PARAMETERS)["properties"]["maxHits"]["default"], 20);
/// let sent = json!({"id": 1234, "above": 0.5}).as_object().cloned().unwrap_or_default();
/// let Search { id, above, max_hits } = Search::read(Arguments::check(Search::PARAMETERS, &[], sent)?)?;
/// assert_eq!((id.as_str(), above, max_hits), ("1234", Some(0.5), 20));
/// # Ok::<_, n8n_lens::toolkit::ArgumentError>(())
/// ```
///
/// `struct Search: snake_case { … }` leaves the names unchanged. A last field `..rest: IGNORED` holds the names of those
/// arguments of the list `IGNORED` that were sent, which are accepted without being parameters.
#[macro_export]
macro_rules! arguments {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident { $($fields:tt)* }) => {
        $crate::arguments! { $(#[$meta])* $visibility struct $name: camel_case { $($fields)* } }
    };
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident: $case:ident {
            $($field:ident: $kind:ty = $description:expr,)*
            $(..$rest:ident: $ignored:expr)?
        }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($visibility $field: <$kind as $crate::toolkit::Argument>::Value,)*
            $($visibility $rest: Vec<String>,)?
        }

        impl $name {
            /// The parameters, in the order of the fields.
            $visibility const PARAMETERS: &'static [$crate::toolkit::Parameter] = &[$(
                $crate::toolkit::Parameter::of::<$kind>($crate::arguments!(@name $case $field), $description)
            ),*];
        }

        impl $crate::toolkit::FromArguments for $name {
            $(const IGNORED: &'static [&'static str] = $ignored;)?

            #[allow(unused_mut, unused_variables, reason = "a tool can have no arguments")]
            fn read(
                mut arguments: $crate::toolkit::Arguments,
            ) -> Result<Self, $crate::toolkit::ArgumentError> {
                Ok(Self {
                    $($field: arguments.take::<$kind>($crate::arguments!(@name $case $field))?,)*
                    $($rest: arguments.names($ignored),)?
                })
            }
        }
    };
    (@name $case:ident $field:ident) => {{
        const NAME: &$crate::toolkit::WireName = &$crate::toolkit::WireName::$case(stringify!($field));
        NAME.as_str()
    }};
}

/// The name of a field as it is sent.
#[derive(Debug)]
pub struct WireName {
    bytes: [u8; Self::MAX],
    length: usize,
}

impl WireName {
    /// A longer name does not compile.
    const MAX: usize = 32;

    /// `max_tokens` as `maxTokens`.
    pub const fn camel_case(field: &str) -> Self {
        Self::new(field, true)
    }

    /// `max_tokens` unchanged.
    pub const fn snake_case(field: &str) -> Self {
        Self::new(field, false)
    }

    const fn new(field: &str, joins_words: bool) -> Self {
        let field = field.as_bytes();
        let (mut bytes, mut length) = ([0; Self::MAX], 0);
        // `r#type` is the field `type`.
        let mut at = if let [b'r', b'#', ..] = field { 2 } else { 0 };
        while at < field.len() {
            let begins_word = joins_words && field[at] == b'_';
            at += begins_word as usize;
            bytes[length] = if begins_word { field[at].to_ascii_uppercase() } else { field[at] };
            length += 1;
            at += 1;
        }
        Self { bytes, length }
    }

    /// The name.
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(name) => name,
            Err(_) => "",
        }
    }
}
