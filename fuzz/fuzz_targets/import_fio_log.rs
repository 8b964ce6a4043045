//! See `fuzz_entries::import::fio_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::import::fio_log(data));
