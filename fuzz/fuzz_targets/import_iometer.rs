//! See `heatsoak_fuzz::import::iometer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::iometer(data));
