//! See `fuzz_entries::twin::saved_state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::twin::saved_state(data));
