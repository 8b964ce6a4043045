//! See `heatsoak_fuzz::scsi::answers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::scsi::answers(data));
