//! See `fuzz_entries::nvme::features`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::features(data));
