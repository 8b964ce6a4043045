//! See `heatsoak_fuzz::vssd::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::vssd::session(data));
