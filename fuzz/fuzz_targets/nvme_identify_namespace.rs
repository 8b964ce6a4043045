//! See `fuzz_entries::nvme::identify_namespace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::identify_namespace(data));
