//! See `fuzz_entries::twin::controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::twin::controller(data));
