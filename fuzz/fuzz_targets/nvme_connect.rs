//! See `fuzz_entries::nvme::connect`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::connect(data));
