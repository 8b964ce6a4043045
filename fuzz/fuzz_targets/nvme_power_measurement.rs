//! See `fuzz_entries::nvme::power_measurement`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::power_measurement(data));
