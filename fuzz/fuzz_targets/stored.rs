//! Executions as n8n stores them, with the views of their bodies.
#![no_main]

#[path = "../properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::flatted::same_views(data));
