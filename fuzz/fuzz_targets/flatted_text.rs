//! Any text, read as flatted text.
#![no_main]

#[path = "../properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::flatted::any_text(data));
