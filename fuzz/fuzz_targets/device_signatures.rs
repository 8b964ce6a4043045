//! See `heatsoak_fuzz::scsi::device_signatures`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::scsi::device_signatures(data));
