//! The parts that every tool is made of: parameters and checked arguments, effect, answers inside a budget,
//! cursors, prompts, and the language of messages.
//!
//! n8n's tools ([`tools`](crate::tools)) and the coordination server's ([`coordination`](crate::coordination)) both build
//! on this toolkit; it knows neither.

pub mod answer;
mod argument;
mod arguments;
mod audience;
pub mod cursor;
mod declare;
mod effect;
mod locale;
mod nearest;
mod parameter;
mod prompt;
mod tool;
mod words;

pub use answer::Answers;
pub use argument::{
    Amount, AnyText, Argument, Choice, Date, Flag, Id, IdOrFile, Index, Integer, IntegerOr, List, Number, Object,
    Objects, Offset, Operand, Scalar, ScalarOrPath, Secret, Signed, Switch, Text, TextOrNull, Texts, Word,
};
pub use arguments::{ArgumentError, Arguments};
pub use audience::{Audience, Term, kebab_case};
pub use declare::{FromArguments, WireName};
pub use effect::Effect;
pub use locale::Locale;
pub use nearest::nearest;
pub use parameter::{Kind, Parameter, schema};
pub use prompt::Prompt;
pub use tool::Tool;
pub use words::Words;
pub(crate) use words::words;

pub use crate::arguments;
