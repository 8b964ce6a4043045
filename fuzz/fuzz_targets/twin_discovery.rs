//! See `fuzz_entries::twin::discovery`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::twin::discovery(data));
