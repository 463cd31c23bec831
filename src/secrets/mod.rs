//! Everything that must never be shown: secret values, the names of secret headers and members, secrets quoted inside
//! other texts, and redirects that would carry a secret to another host.
//!
//! - [`Secret`] holds a value that cannot print itself; [`Redactor`] removes known secrets from a text, however they
//!   are spelled there.
//! - [`redact`] masks secrets in excerpts of executions: always in errors, in items on request (`--redact`).
//! - `without_value` removes the value that a serde error quotes.
//! - `same_origin` follows redirects only to where headers with secrets may go.

mod names;
pub mod redact;
mod redactor;
mod redirects;
mod secret;
mod text;
#[cfg(feature = "application")]
mod without_value;

pub use redactor::Redactor;
pub(crate) use redirects::same_origin;
pub use secret::Secret;
#[cfg(feature = "application")]
pub(crate) use without_value::without_value;

/// What is shown in place of a secret.
pub const REDACTED: &str = "[redacted]";
