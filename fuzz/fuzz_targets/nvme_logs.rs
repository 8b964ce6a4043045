//! See `heatsoak_fuzz::nvme::logs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::logs(data));
