//! See `fuzz_entries::nvme::commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::commands(data));
