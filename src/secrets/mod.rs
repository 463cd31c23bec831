//! Everything that must never be shown: secret values, the names of secret headers and members, secrets quoted inside
//! other texts, and redirects that would carry a secret to another host.
//!
//! - [`Secret`] holds a value that cannot print itself; [`Redactor`] removes known secrets from a text, however they
//!   are spelled there.
//! - [`redact`] masks secrets in excerpts of executions: always in errors, in items on request (`--redact`).
//! - `outgoing` masks them in a request that a person copies.
//! - `withhold` keeps the secrets of this process from a program that it starts.
//! - `without_value` removes the value that a serde error quotes.
//! - `same_origin` follows redirects only to where headers with secrets may go.

mod mask;
mod names;
pub(crate) mod outgoing;
pub mod redact;
mod redactor;
mod redirects;
mod secret;
mod text;
#[cfg(feature = "application")]
mod without_value;

pub(crate) use mask::mask;
pub use redactor::Redactor;
pub(crate) use redirects::same_origin;
pub use secret::Secret;
#[cfg(feature = "application")]
pub(crate) use without_value::without_value;

/// Keeps the variables that can hold secrets of ours or of n8n from a program, such as npm or a browser, that needs none.
#[cfg(feature = "application")]
pub(crate) fn withhold(program: &mut std::process::Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(names::is_secret_variable) {
            program.env_remove(name);
        }
    }
}

/// What is shown in place of a secret.
pub const REDACTED: &str = "[redacted]";
