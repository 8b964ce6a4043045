//! See `heatsoak_fuzz::nvme::persistent_events`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::persistent_events(data));
