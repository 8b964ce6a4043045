//! See `fuzz_entries::nvme::persistent_events`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::persistent_events(data));
