//! Kinds of arguments as types: what a field of [`arguments!`](super::arguments) accepts, and the type that it is read as.

use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::parameter::{operand_path, signed, whole};
use super::{Kind, Words};

/// What a field of [`arguments!`](super::arguments) accepts, and the type that it is read as.
pub trait Argument {
    /// The type of the field.
    type Value;

    /// Which values are allowed.
    const KIND: Kind;

    /// Whether a call without it is refused.
    const REQUIRED: bool = true;

    /// Reads a value that [`KIND`](Self::KIND) allows; `None` if it does not.
    fn read(value: Value) -> Option<Self::Value>;

    /// The value if the argument was omitted; `None` if it is required.
    fn omitted() -> Option<Self::Value> {
        None
    }
}

/// An argument that a call may omit.
impl<A: Argument> Argument for Option<A> {
    type Value = Option<A::Value>;

    const KIND: Kind = A::KIND;
    const REQUIRED: bool = false;

    fn read(value: Value) -> Option<Self::Value> {
        A::read(value).map(Some)
    }

    fn omitted() -> Option<Self::Value> {
        Some(None)
    }
}

/// Declares a type for each of these variants of [`Kind`]: the type it is read as, how, and the value if it was omitted.
macro_rules! kinds {
    ($($kind:ident: $value:ty = $read:expr $(, or $default:expr)?;)+) => {$(
        #[doc = concat!("[`Kind::", stringify!($kind), "`].")]
        #[derive(Debug)]
        pub enum $kind {}

        impl Argument for $kind {
            type Value = $value;

            const KIND: Kind = Kind::$kind;

            fn read(value: Value) -> Option<$value> {
                $read(value)
            }

            $(
                const REQUIRED: bool = false;

                fn omitted() -> Option<$value> {
                    Some($default)
                }
            )?
        }
    )+};
}

kinds! {
    Id: String = text;
    IdOrFile: String = text;
    Text: String = text;
    AnyText: String = text;
    TextOrNull: Option<String> = |value: Value| if value.is_null() { Some(None) } else { text(value).map(Some) };
    Word: String = text;
    Date: String = text;
    Secret: String = text;
    Signed: i64 = |value| signed(&value);
    Amount: f64 = |value: Value| value.as_f64();
    Number: f64 = |value: Value| value.as_f64();
    Scalar: Value = Some;
    Operand: ScalarOrPath = |value: Value| Some(operand_path(&value).map_or(ScalarOrPath::Scalar(value), ScalarOrPath::Path));
    Flag: bool = |value: Value| value.as_bool();
    Switch: bool = |value: Value| value.as_bool(), or false;
    Texts: Vec<String> = |value| list(value)?.into_iter().map(text).collect();
    Object: Map<String, Value> = |value| if let Value::Object(members) = value { Some(members) } else { None };
    Objects: Vec<Value> = list;
    List: Vec<Value> = list;
}

/// The operand of a comparison.
#[derive(Clone, Debug)]
pub enum ScalarOrPath {
    /// A string, a number or a boolean.
    Scalar(Value),
    /// The path of another value.
    Path(String),
}

/// A string, or the text of an id, a number or a flag that was sent in its place.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn list(value: Value) -> Option<Vec<Value>> {
    if let Value::Array(values) = value { Some(values) } else { None }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug)]
pub enum Integer<const MIN: u64, const MAX: u64> {}

impl<const MIN: u64, const MAX: u64> Argument for Integer<MIN, MAX> {
    type Value = u64;

    const KIND: Kind = Kind::Integer { min: MIN, max: MAX, default: None };

    fn read(value: Value) -> Option<u64> {
        whole(&value)
    }
}

/// A whole number, 0 or more.
pub type Index = Integer<0, { u64::MAX }>;

/// A whole number from `MIN` to `MAX`; `DEFAULT` if it was omitted.
#[derive(Debug)]
pub enum IntegerOr<const DEFAULT: u64, const MIN: u64, const MAX: u64> {}

impl<const DEFAULT: u64, const MIN: u64, const MAX: u64> Argument for IntegerOr<DEFAULT, MIN, MAX> {
    type Value = u64;

    const KIND: Kind = Kind::Integer { min: MIN, max: MAX, default: Some(DEFAULT) };
    const REQUIRED: bool = false;

    fn read(value: Value) -> Option<u64> {
        whole(&value)
    }

    fn omitted() -> Option<u64> {
        Some(DEFAULT)
    }
}

/// How many entries a call skips; 0 if it was omitted.
pub type Offset = IntegerOr<0, 0, { u64::MAX }>;

/// One of the words of a type.
#[derive(Debug)]
pub struct Choice<T>(PhantomData<T>);

impl<T: Words> Argument for Choice<T> {
    type Value = T;

    const KIND: Kind = Kind::Choice(T::WORDS);

    fn read(value: Value) -> Option<T> {
        T::named(value.as_str()?)
    }
}
