//! See `heatsoak_fuzz::import::any`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::any(data));
