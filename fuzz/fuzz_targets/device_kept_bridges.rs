//! See `fuzz_entries::scsi::device_kept_bridges`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::scsi::device_kept_bridges(data));
