//! See `fuzz_entries::nvme::tcp_host`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_entries::nvme::tcp_host(data));
