//! See `fuzz_entries::scsi::answers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::scsi::answers(data));
