//! x
pub mod budget;
pub mod cli;
pub mod config;
pub mod execution;
pub mod json;
pub mod n8n;
pub mod tools;
pub mod transport;
pub mod units;
