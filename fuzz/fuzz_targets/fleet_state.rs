//! See `fuzz_entries::fleet::state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::fleet::state(data));
