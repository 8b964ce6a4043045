//! See `fuzz_entries::import::iometer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::import::iometer(data));
