//! See `heatsoak_fuzz::import::smartctl`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::smartctl(data));
