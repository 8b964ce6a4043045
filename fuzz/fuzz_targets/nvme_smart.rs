//! See `heatsoak_fuzz::nvme::smart`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::smart(data));
