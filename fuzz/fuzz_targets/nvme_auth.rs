//! See `fuzz_entries::nvme::auth`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::auth(data));
