//! See `heatsoak_fuzz::nvme::connect`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::connect(data));
