//! See `heatsoak_fuzz::import::csv`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::csv(data));
