//! Bounded copies of values, and what is shown of them.
#![no_main]

#[path = "../properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::clipping::check(data));
