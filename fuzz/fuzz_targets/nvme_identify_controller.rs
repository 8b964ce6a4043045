//! See `fuzz_entries::nvme::identify_controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::identify_controller(data));
