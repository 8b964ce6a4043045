//! See `fuzz_entries::nvme::discovery`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::discovery(data));
