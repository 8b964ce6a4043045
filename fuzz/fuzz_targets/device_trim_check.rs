//! See `fuzz_entries::scsi::device_trim_check`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::scsi::device_trim_check(data));
