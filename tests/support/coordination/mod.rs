//! What the tests and the bench of the coordination server share.

/// A database for each test.
pub mod database;
/// The coordinator without a process around it.
pub mod harness;
