//! The description of an execution.
#![no_main]

#[path = "../properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::describe::check(data));
