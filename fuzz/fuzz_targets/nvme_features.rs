//! See `heatsoak_fuzz::nvme::features`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::features(data));
