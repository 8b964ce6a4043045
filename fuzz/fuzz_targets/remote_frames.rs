//! See `fuzz_entries::remote::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::remote::frames(data));
