//! See `fuzz_entries::nvme::identify_lists`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::identify_lists(data));
