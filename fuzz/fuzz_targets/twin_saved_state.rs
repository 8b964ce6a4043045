//! See `heatsoak_fuzz::twin::saved_state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::twin::saved_state(data));
