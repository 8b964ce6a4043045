//! See `fuzz_entries::vssd::session`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::vssd::session(data));
