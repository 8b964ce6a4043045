//! See `fuzz_entries::import::monitor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::import::monitor(data));
