//! See `fuzz_entries::import::prometheus`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::import::prometheus(data));
