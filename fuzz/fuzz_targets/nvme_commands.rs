//! See `heatsoak_fuzz::nvme::commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::commands(data));
