//! See `heatsoak_fuzz::import::nvme`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::nvme(data));
