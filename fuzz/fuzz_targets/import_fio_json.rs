//! See `heatsoak_fuzz::import::fio_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::import::fio_json(data));
