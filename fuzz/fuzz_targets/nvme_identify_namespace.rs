//! See `heatsoak_fuzz::nvme::identify_namespace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::identify_namespace(data));
