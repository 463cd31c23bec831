//! Flatted text of any JSON.
#![no_main]

#[path = "../properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::flatted::same_as_the_body(data));
