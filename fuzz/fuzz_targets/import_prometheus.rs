//! See `heatsoak_fuzz::import::prometheus`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::prometheus(data));
