//! See `fuzz_entries::import::joined`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::import::joined(data));
