//! See `heatsoak_fuzz::nvme::power_measurement`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::power_measurement(data));
