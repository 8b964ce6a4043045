//! See `heatsoak_fuzz::twin::discovery`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::twin::discovery(data));
