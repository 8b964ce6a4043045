//! See `heatsoak_fuzz::twin::controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::twin::controller(data));
