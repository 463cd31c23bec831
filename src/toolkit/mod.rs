//! What a tool is made of, whatever it works on: parameters and checked arguments, effect, answers inside a budget,
//! cursors, prompts, and the language of messages.
//!
//! n8n's tools ([`tools`](crate::tools)) and the coordination server's ([`coordination`](crate::coordination)) are two
//! neighbours on this toolkit; it knows neither.

pub mod answer;
mod arguments;
mod audience;
pub mod cursor;
mod effect;
mod locale;
mod nearest;
mod parameter;
mod prompt;
mod tool;

pub use answer::Answers;
pub use arguments::{ArgumentError, Arguments};
pub use audience::{Audience, kebab_case};
pub use effect::Effect;
pub use locale::Locale;
pub use nearest::nearest;
pub use parameter::{Kind, Parameter, schema};
pub use prompt::{Prompt, PromptArgument};
pub use tool::Tool;
