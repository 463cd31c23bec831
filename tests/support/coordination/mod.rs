//! Code that the tests and the benchmark of the coordination server share.

/// The databases of the tests.
pub mod database;
/// The coordinator without a process around it.
pub mod harness;
